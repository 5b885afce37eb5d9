"""The sessions of a repository and who works on them."""
