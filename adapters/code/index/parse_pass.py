"""The second pass of an index build: parses files for the tools that follow calls and imports.

Invariant: it runs after the tree is complete and can stop at any time without losing finished work. Secrets are
redacted before parsing, because signatures are stored as written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from upbeat.adapters.code.files.tree import WorkingTree
from upbeat.adapters.code.index.code_record import encode_code
from upbeat.adapters.code.index.document import redact_secrets
from upbeat.adapters.code.index.store import IndexStore
from upbeat.adapters.code.syntax.parse import parse_source

BATCH_DOCUMENTS = 60
MAX_FILL_RATIO = 0.95
"""Share of the disk limit at which parsing stops."""


def parse_documents(
    store: IndexStore,
    tree_id: int,
    working_tree: WorkingTree,
    should_stop: Callable[[], bool],
    max_bytes: int,
    paths: Iterable[str] = (),
    on_progress: Callable[[int, int], None] | None = None,
) -> int:
    """Parse the documents of the tree, or of ``paths``, that are not parsed yet, until ``should_stop``.

    Returns:
        The number of documents that were parsed.

    Raises:
        StorageError: The index cannot be written.
    """
    waiting = store.unparsed_entries(tree_id, paths)
    done = 0
    for start in range(0, len(waiting), BATCH_DOCUMENTS):
        if should_stop() or store.size() > MAX_FILL_RATIO * max_bytes:
            break
        rows = []
        for entry in waiting[start : start + BATCH_DOCUMENTS]:
            if should_stop():
                break
            text = (
                working_tree.read_text(entry.path)
                if working_tree.file_stamp(entry.path) == (entry.size, entry.mtime_ns)
                else None
            )
            if text is not None:
                parsed = parse_source(entry.path, redact_secrets(text).encode("utf-8", "replace"))
                rows.append((entry.doc_id, encode_code(parsed), {definition.name for definition in parsed.definitions}))
        with store.transaction():
            store.add_parsed(rows)
        done += len(rows)
        if on_progress:
            on_progress(done, len(waiting))
    return done
