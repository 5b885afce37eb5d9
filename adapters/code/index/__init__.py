"""The persistent index of a repository."""
