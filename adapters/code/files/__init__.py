"""The files of a working tree."""
