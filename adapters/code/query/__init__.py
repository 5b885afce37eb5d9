"""Answers a query: candidates, features, ranking, excerpts."""
