"""Secrets that nobody issued, planted where secrets are found; written apart from the rules, so that it can disagree."""
