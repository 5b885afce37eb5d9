"""Decide which of upbeat's hooks are active, from observations of the clients and of this machine."""
