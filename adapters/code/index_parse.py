"""The second part of an index: what the syntax of each file says, for the tools that follow calls and imports.

Law: a question does not wait for it; it is done after the tree is complete, file by file, the stored documents that
have not been parsed yet. What was done stays, whenever it is stopped. Secrets are taken out before: signatures and
names of literals are kept as they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .index_code import encode_code
from .index_doc import without_secrets
from .index_store import IndexStore
from .parse import parse
from .tree import Tree

BATCH = 60
ROOM = 0.95
"""Of the limit on disk, beyond which no more is parsed."""


def parse_documents(
    store: IndexStore,
    tree: int,
    files: Tree,
    is_over: Callable[[], bool],
    max_bytes: int,
    paths: Iterable[str] = (),
    report: Callable[[int, int], None] | None = None,
) -> int:
    """Parse what of the tree, or of ``paths``, is not parsed yet, until ``is_over``; how many documents were.

    Raises StorageError.
    """
    waiting = store.unparsed(tree, paths)
    done = 0
    for start in range(0, len(waiting), BATCH):
        if is_over() or store.size() > ROOM * max_bytes:
            break
        rows = []
        for entry in waiting[start : start + BATCH]:
            if is_over():
                break
            text = files.text(entry.path) if files.stamp(entry.path) == (entry.size, entry.stamp) else None
            if text is not None:
                parsed = parse(entry.path, without_secrets(text).encode("utf-8", "replace"))
                rows.append((entry.doc, encode_code(parsed), {one.name for one in parsed.definitions}))
        with store.transaction():
            store.add_code(rows)
        done += len(rows)
        if report:
            report(done, len(waiting))
    return done
