"""The journal on disk: one SQLite database for all sessions of a user."""
