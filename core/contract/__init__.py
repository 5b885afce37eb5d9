"""The nouns of upbeat, version 1: codes, events, effects, findings, and the turn report."""
