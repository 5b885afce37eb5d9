"""One turn, step by step: read the prompt, plan, fuse, strip, redact, screen, truncate, frame, report."""
