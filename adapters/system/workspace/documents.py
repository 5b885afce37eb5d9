"""Read text files of a repository that policies inject into a model's context.

Invariant: only regular files below the real root are opened, directly or through a link, and none whose name suggests
credentials. At most ``MAX_BYTES`` are read, and the text is sanitized before it is truncated.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

from upbeat.adapters.system.files.bounded_read import scan_entries
from upbeat.adapters.system.files.safe_open import is_below, read_file, real_path
from upbeat.core.policy.queries import TextDocument
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.sensitive_files import is_credential_path
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit

MAX_CHARS = 20_000
MAX_BYTES = 64_000
MAX_FILES = 20
MAX_LISTED = 2000
"""Names per folder that are considered."""

MAX_DEPTH = 40
"""Folders above a file that are searched, the nearest first."""


def documents_above(
    root: str, path: str, names: tuple[str, ...], *, with_root: bool = True
) -> tuple[TextDocument, ...]:
    """Return the files called one of ``names`` in the folder of ``path`` and above, the nearest first.

    ``root`` itself is included if ``with_root``. A path outside ``root`` has none.

    Raises:
        OSError, ValueError: The system does not accept the path.
    """
    above = _folders_up_to(root, real_path(os.path.dirname(path)))
    paths = (os.path.join(folder, name) for folder in above if with_root or folder != root for name in names)
    return tuple(islice(filter(None, (_read_document(root, path) for path in paths)), MAX_FILES))


def documents_in(root: str, folder: str, suffix: str) -> tuple[TextDocument, ...]:
    """Return the files of ``folder`` (relative to ``root``) whose names end in ``suffix``, sorted by name."""
    real = real_path(os.path.join(root, folder))
    if not is_below(root, real) or not os.path.isdir(real):
        return ()
    with scan_entries(real, root) as entries:
        names = sorted(entry.name for entry in islice(entries, MAX_LISTED) if entry.name.endswith(suffix))
    return tuple(islice(filter(None, (_read_document(root, os.path.join(real, name)) for name in names)), MAX_FILES))


def _folders_up_to(root: str, folder: str) -> Iterator[str]:
    """Yield ``folder`` and its parents up to ``root``; nothing for a folder outside ``root``."""
    for _ in range(MAX_DEPTH):
        if not is_below(root, folder):
            return
        yield folder
        if folder == root:
            return
        folder = os.path.dirname(folder)


def _read_document(root: str, path: str) -> TextDocument | None:
    """Return the document at ``path``; None if it may not or cannot be read."""
    if not os.path.lexists(path):
        return None
    real = real_path(path)
    shown = os.path.relpath(path, root)
    if not is_below(root, real) or is_credential_path(shown) or is_credential_path(os.path.relpath(real, root)):
        return None
    try:
        data = read_file(os.path.relpath(real, root), MAX_BYTES + 1, root)
    except OSError:
        return None
    if b"\0" in data:
        return None
    if len(data) > MAX_BYTES:  # whole lines only: half a secret would not be recognized
        data = data[: data.rfind(b"\n") + 1]
    text = sanitize_text(data.decode("utf-8", "replace")).text
    name = " ".join(strip_controls(os.fsencode(shown).decode("utf-8", "replace")).split())
    return TextDocument(name, truncate_to_limit(text, TextLimit(MAX_CHARS))[0]) if text.strip() else None
