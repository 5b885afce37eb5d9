"""Workflows: what stages there are, which one is next, and when it is over."""
