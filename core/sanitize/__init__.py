"""Sanitize untrusted text: control characters, secrets, prompt injection, framing."""
