"""Recognize what ends or continues a turn: a user's stop or pause, and an agent that waits for its user."""
