"""Which commands that really ran are evidence of passing tests, and why the others are not."""
