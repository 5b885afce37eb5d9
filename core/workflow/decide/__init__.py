"""Decides what a workflow says to an event."""
