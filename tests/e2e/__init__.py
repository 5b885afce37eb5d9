"""Drives the real clients against a stub model in a network namespace that has nothing but loopback."""
