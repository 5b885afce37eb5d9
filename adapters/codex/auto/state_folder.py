"""``<repository>/.upbeat``: small JSON files that are replaced whole or not at all.

Law: at whatever point a writer is killed, a file is the old one or the new one (``atomic``). Nothing is followed out of
the repository: neither the folder nor a file in it may be a symbolic link. Reading writes nothing.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from typing import Any

from ...local import atomic
from ...local.lock import take
from ...local.opening import NotRegularError, open_at

FOLDER = ".upbeat"
SCHEMA_VERSION = "1.0"
MAX_BYTES = 1 << 20

_IGNORE = b"*\n!auto-tools.toml\n"
"""The state stays out of commits; the project's own settings file does not."""

_LOCK_SECONDS = 3.0
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def opened(root: str) -> Iterator[int]:
    """The folder of the repository at ``root``, to look into. FileNotFoundError when there is none."""
    folder = os.open(os.path.join(root, FOLDER), _FOLDER_FLAGS)
    try:
        yield folder
    finally:
        os.close(folder)


@contextlib.contextmanager
def opened_to_write(root: str) -> Iterator[int]:
    """The folder, made if need be, for one writer at a time, so that two lose none of each other's entries.

    A lock that somebody holds for seconds is not waited for: the files stay whole without it.
    """
    with contextlib.suppress(FileExistsError):
        os.mkdir(os.path.join(root, FOLDER), 0o755)
    with opened(root) as folder:
        take(folder, _LOCK_SECONDS)
        _ignore_in_git(folder)
        yield folder


def read(folder: int, name: str, content: str) -> dict[str, Any]:
    """The document in the file ``name``, which holds an object ``content``.

    Raises:
        ValueError: it cannot be understood; the text says why.
    """
    try:
        descriptor = open_at(name, folder)
    except NotRegularError as error:
        raise ValueError(error.strerror) from None
    with open(descriptor, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES} bytes")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(document, dict) or not isinstance(document.get(content), dict):
        raise ValueError(f"no '{content}' in it")
    if not str(document.get("schema_version", "")).startswith("1."):
        raise ValueError(f"schema version {document.get('schema_version')!r}")
    return document


def replace(folder: int, name: str, document: dict[str, Any], *, durable: bool = True) -> None:
    """Make ``document`` the file ``name``; ``durable``: it also survives a power cut from now on.

    Raises OSError, also for a document that ``read`` would not take.
    """
    data = data_of(document)
    if len(data) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"would have more than {MAX_BYTES} bytes", name)
    atomic.write_in(folder, name, data, private=True, durable=durable)


def data_of(document: dict[str, Any]) -> bytes:
    """What ``document`` is in a file."""
    text = json.dumps({**document, "schema_version": SCHEMA_VERSION}, ensure_ascii=True, indent=2)
    return text.encode("ascii") + b"\n"


def set_aside(folder: int, name: str, stamp: str) -> str:
    """Rename a file that cannot be understood, so that a person can look at it; its new name."""
    taken = set(os.listdir(folder))
    names = (f"{name}.broken-{stamp}{f'-{number}' if number else ''}" for number in range(len(taken) + 1))
    free = next(one for one in names if one not in taken)
    os.rename(name, free, src_dir_fd=folder, dst_dir_fd=folder)
    return free


def reason_of(error: OSError) -> str:
    """Why the folder or a file in it could not be used, in words."""
    return "is a symbolic link" if error.errno == errno.ELOOP else str(error.strerror)


def _ignore_in_git(folder: int) -> None:
    """A file of the person's own is left alone; ours appears whole, since an empty one would ignore nothing."""
    with contextlib.suppress(FileNotFoundError):
        os.stat(".gitignore", dir_fd=folder, follow_symlinks=False)
        return
    with contextlib.suppress(FileExistsError):
        atomic.write_in(folder, ".gitignore", _IGNORE, durable=False, is_new=True)
