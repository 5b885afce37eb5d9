"""What is common to all clients: the registry, past sessions and transcripts."""
