"""Secrets that nobody issued, planted where secrets stand; written apart from the rules, so that it can disagree."""
