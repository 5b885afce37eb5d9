"""Rules that users write: Markdown with front matter, read into values and matched against events."""
