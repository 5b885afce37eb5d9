"""A model server for tests: it speaks both clients' protocols, answers from a script, and records what it was sent."""
