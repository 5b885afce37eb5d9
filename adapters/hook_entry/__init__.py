"""The entry points of hooks: one event in, one answer out."""
