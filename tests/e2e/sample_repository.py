"""A small git repository for a client to work in: Python code, awkward file names, and secrets that must never leak."""

from __future__ import annotations

from pathlib import Path

from repositories import make_repository, read_tree

ENV_SECRET = "sk-live-9f8e7d6c5b4a39281706f5e4d3c2b1a0"
"""Stands in ``.env``."""
KEY_SECRET = "AKIA" + "Q3EXAMPLE7TESTKEY"[:16]
"""Stands in a comment of ``shop/storage.py``; looks like an AWS access key id."""
SECRETS = (ENV_SECRET, KEY_SECRET)


def make_sample_repository(folder: Path) -> Path:
    """Write the repository into ``folder``, with everything but ``.env`` in one commit."""
    files = read_tree(Path(__file__).with_suffix(".txt"))
    for name, secret in (("ENV_SECRET", ENV_SECRET), ("KEY_SECRET", KEY_SECRET)):
        files = {path: text.replace(f"{{{name}}}", secret) for path, text in files.items()}
    return make_repository(folder, files)
