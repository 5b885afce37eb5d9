"""Analyzes a prompt: intent, signals, and the files, symbols and errors it names."""
