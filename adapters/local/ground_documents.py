"""Text files of a repository, as policies put them before a model.

Law: what is opened lies below the real root, is a regular file and no credential by its name; a link counts when it
leads to such a file. No more than the bound is read, and what is read is cleaned before anything is cut for good.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

from ...core.policies.look import Document
from ...core.turn.clean import clean
from ...core.turn.exclude import is_sensitive
from ...core.turn.strip import strip
from ...core.turn.truncate import Cap, fit
from .documents import entries_of
from .opening import is_below, read_file, real_path

MAX_CHARS = 20_000
MAX_BYTES = 64_000
MAX_FILES = 20
MAX_LISTED = 2000
"""Names of a folder that are looked at."""

MAX_DEPTH = 40
"""Folders above a file that are looked into, from the nearest on."""


def above(root: str, path: str, names: tuple[str, ...], *, with_root: bool = True) -> tuple[Document, ...]:
    """The files called one of ``names`` in the folder of ``path`` and above, up to ``root``, the nearest first.

    Those in ``root`` itself only ``with_root``. Nothing for a path outside ``root``. Raises OSError or ValueError for
    paths that the system does not take.
    """
    folder = real_path(os.path.dirname(path))
    folders = (one for one in _folders(root, folder) if with_root or one != root)
    found = (_document(root, os.path.join(one, name)) for one in folders for name in names)
    return tuple(islice((one for one in found if one), MAX_FILES))


def inside(root: str, folder: str, ending: str) -> tuple[Document, ...]:
    """The files of ``folder`` (relative to ``root``) whose names end in ``ending``, by name; others as ``above``."""
    place = real_path(os.path.join(root, folder))
    if not is_below(root, place) or not os.path.isdir(place):
        return ()
    with entries_of(place, root) as entries:
        names = sorted(entry.name for entry in islice(entries, MAX_LISTED) if entry.name.endswith(ending))
    found = (_document(root, os.path.join(place, name)) for name in names)
    return tuple(islice((one for one in found if one), MAX_FILES))


def _folders(root: str, folder: str) -> Iterator[str]:
    """``folder`` and those above it, ``root`` as the last; none for a folder outside."""
    for _ in range(MAX_DEPTH):
        if not is_below(root, folder):
            return
        yield folder
        if folder == root:
            return
        folder = os.path.dirname(folder)


def _document(root: str, path: str) -> Document | None:
    """The text at ``path``, which lies in a real folder of ``root``; None when it is not to be read."""
    if not os.path.lexists(path):
        return None
    real = real_path(path)
    shown = os.path.relpath(path, root)
    if not is_below(root, real) or is_sensitive(shown) or is_sensitive(os.path.relpath(real, root)):
        return None
    try:
        data = read_file(os.path.relpath(real, root), MAX_BYTES + 1, root)
    except OSError:
        return None
    if b"\0" in data:
        return None
    text = clean(_whole_lines(data).decode("utf-8", "replace")).text
    name = " ".join(strip(os.fsencode(shown).decode("utf-8", "replace")).split())
    return Document(name, fit(text, Cap(MAX_CHARS))[0]) if text.strip() else None


def _whole_lines(data: bytes) -> bytes:
    """``data``; of a file that goes on the whole lines only: half a secret would not be seen as one."""
    return data if len(data) <= MAX_BYTES else data[: data.rfind(b"\n") + 1]
