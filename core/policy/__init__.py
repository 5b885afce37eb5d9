"""The Policy type, its queries and side effects, and code that several policies share."""
