"""Read git repositories."""
