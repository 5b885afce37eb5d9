"""Who a repository is: the id of its oldest commit, by its own files alone. Starts no process, so plan mode may ask.

Law: only objects of the repository itself are read, never more than a commit takes, and nothing that lies there
makes it raise or wait.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from .git_root import RootInfo, find_root, problem_of, read_head, read_small
from .opening import read_file

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

MAX_COMMIT_BYTES = 1_000_000


def first_commit(root: str) -> str | None:
    """The id of the oldest commit that first parents reach from HEAD; None without one. Starts no process.

    In a shallow clone that is the oldest commit at hand.
    """
    info = find_root(root)
    if problem_of(info):
        return None
    from dulwich import errors  # half of start-up time for callers that never ask

    foreign = (
        errors.ApplyDeltaError,
        errors.ChecksumMismatch,
        errors.FileFormatException,
        errors.NotGitRepository,
    )
    try:
        return _oldest(info)
    except (*foreign, OSError, LookupError, ValueError, TypeError, AssertionError, zlib.error, struct.error):
        return None


def _oldest(info: RootInfo) -> str | None:
    commit = read_head(info)
    if not commit:
        return None
    from dulwich.objects import ObjectID

    store = _store(info, commit)
    try:
        shallow = set(read_small(info.common_dir, "shallow").split())
        graph = store.get_commit_graph()
        while commit not in shallow:
            known = graph.get_parents(ObjectID(commit.encode())) if graph else None
            parents = _parents(_raw(info, store, commit)) if known is None else [one.decode() for one in known]
            if not parents:
                break
            commit = parents[0]
        return commit
    finally:
        store.close()


def _store(info: RootInfo, commit: str) -> DiskObjectStore:
    from dulwich.object_store import DiskObjectStore

    path = f"{info.common_dir}/objects"
    if len(commit) == 40:
        return DiskObjectStore(path)
    from dulwich.object_format import SHA256

    return DiskObjectStore(path, object_format=SHA256)


def _raw(info: RootInfo, store: DiskObjectStore, commit: str) -> bytes:
    """The commit as it is stored. Raises LookupError, and what dulwich raises for what is damaged."""
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


def _parents(raw: bytes) -> list[str]:
    """The parents named in the head of a raw commit."""
    head, _, _ = raw.partition(b"\n\n")
    return [line[len(b"parent ") :].decode("ascii") for line in head.split(b"\n") if line.startswith(b"parent ")]
