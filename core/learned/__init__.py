"""Learned habits of a project: what events show, and the habits derived from it."""
