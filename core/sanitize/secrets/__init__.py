"""Finds secrets in text."""
