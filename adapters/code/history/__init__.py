"""What git history says about files."""
