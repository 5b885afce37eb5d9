"""Phrases and texts that several parts share."""
