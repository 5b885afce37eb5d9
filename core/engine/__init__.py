"""Handles one client event: context, evaluation, merging, and the ports the core needs."""
