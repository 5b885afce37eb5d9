"""Benchmarks of localization: whether search and the prepared block name the files that a bug fix touches."""
