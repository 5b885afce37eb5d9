"""Read settings, rules, workflows and trust from files."""
