"""Identify a repository by the id of its oldest commit. Starts no process, so plan mode can use it.

Invariant: it reads only objects of the repository itself, and never more than a commit needs. No content of the
repository makes it raise or wait.
"""

from __future__ import annotations

import re
import struct
import zlib
from typing import TYPE_CHECKING

from upbeat.adapters.system.files.safe_open import read_file
from upbeat.adapters.system.git.root import RootInfo, find_root, git_problem, read_head, read_small

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

MAX_COMMIT_BYTES = 1_000_000


def first_commit(root: str) -> str | None:
    """Return the id of the oldest commit on the first-parent line of HEAD; None if there is none.

    In a shallow clone this is the oldest commit that was fetched.
    """
    info = find_root(root)
    if git_problem(info):
        return None
    from dulwich import errors  # half of the start-up time of callers that do not need it

    dulwich_errors = (
        errors.ApplyDeltaError,
        errors.ChecksumMismatch,
        errors.FileFormatException,
        errors.NotGitRepository,
    )
    try:
        return _oldest_commit(info)
    except (*dulwich_errors, OSError, LookupError, ValueError, TypeError, AssertionError, zlib.error, struct.error):
        return None


def _oldest_commit(info: RootInfo) -> str | None:
    commit = read_head(info)
    if not commit:
        return None
    from dulwich.object_format import SHA1, SHA256
    from dulwich.object_store import DiskObjectStore
    from dulwich.objects import ObjectID

    store = DiskObjectStore(f"{info.common_dir}/objects", object_format=SHA1 if len(commit) == 40 else SHA256)
    try:
        shallow = set(read_small(info.common_dir, "shallow").split())
        graph = store.get_commit_graph()
        while commit not in shallow:
            ids = graph.get_parents(ObjectID(commit.encode())) if graph else None
            if ids is None:
                header = _raw_commit(info, store, commit).partition(b"\n\n")[0]
                ids = re.findall(rb"^parent (\S+)$", header, re.M)
            if not ids:
                break
            commit = ids[0].decode("ascii")
        return commit
    finally:
        store.close()


def _raw_commit(info: RootInfo, store: DiskObjectStore, commit: str) -> bytes:
    """Return the stored bytes of a commit. Raises LookupError, and dulwich's errors for damaged objects."""
    try:
        packed = read_file(f"objects/{commit[:2]}/{commit[2:]}", MAX_COMMIT_BYTES, info.common_dir)
    except FileNotFoundError:
        from dulwich.objects import ObjectID

        name = ObjectID(commit.encode())
        if not store.contains_packed(name):
            raise LookupError(commit) from None
        return bytes(store.get_raw(name)[1])
    kind, _, raw = zlib.decompressobj().decompress(packed, MAX_COMMIT_BYTES).partition(b"\0")
    if not kind.startswith(b"commit "):
        raise ValueError("not a commit")
    return raw
