"""Reads an agent's verdict and checks the evidence behind it."""
