"""The store returns documents, postings and words as they were added."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from upbeat.adapters.code.index.document import build_document
from upbeat.adapters.code.index.store import (
    FileEntry,
    IndexStore,
    ensure_private_folder,
    open_existing,
    open_or_create,
    remove_index,
)

TEXTS = {b"a": "def saveUpload(limit):\n    return limit\n", b"b": "limit = 3\n"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[IndexStore]:
    store = open_or_create(tmp_path)
    batch = store.new_batch()
    for digest, text in TEXTS.items():
        batch.add(digest, build_document(text, "python"))
    with store.transaction():
        store.add_batch(batch)
    yield store
    store.close()


def test_postings_count_each_document(store: IndexStore) -> None:
    """A term leads to the documents that contain it, with their counts."""
    assert [([1, 2], [2, 1])] == [(list(docs), list(counts)) for docs, counts in store.postings("limit")]
    assert (2, 0) == (store.key_frequency("limit"), store.key_frequency("nothing"))


def test_words_are_found_in_any_case(store: IndexStore) -> None:
    """Words are found by their keys and as written, and the ids of a word in all its capitalizations."""
    words = store.words_of_keys(["upload"], ["limit", "saveupload"])

    assert {"saveUpload", "limit"} == set(words.values())
    assert frozenset(number for number, word in words.items() if word == "saveUpload") == (
        store.word_ids_any_case("saveUpload")
    )


def test_documents_are_stored_once(store: IndexStore) -> None:
    """Stored content is found by its digest; a document that is missing makes the index invalid."""
    assert {b"a": (1, len(TEXTS[b"a"]))} == store.find_digests([b"a", b"c"])
    assert {1, 2} == store.get_documents([1, 2]).keys() == store.get_word_lines([1, 2]).keys()
    assert (2, 0, 1) == store.count_documents()
    for read in (store.get_documents, store.get_word_lines):
        with pytest.raises(ValueError, match="lacks"):
            read([1, 9])


def test_entries_belong_to_their_tree(store: IndexStore) -> None:
    """A change is seen by its version, and a failed transaction leaves nothing."""
    tree = store.add_tree("/r")
    entry = FileEntry("a.py", 1, 3, 3, 7)
    with store.transaction():
        store.put_entries(tree.id, [entry])
        store.update_tree(tree.id, True, "{}")
    with contextlib.suppress(RuntimeError), store.transaction():
        store.delete_entries(tree.id, ["a.py"])
        raise RuntimeError

    assert [entry] == store.list_entries(tree.id) == store.changed_entries(tree.id, tree.version, 1)
    assert (entry, None) == (store.find_entry(tree.id, "a.py"), store.find_entry(tree.id, "b.py"))
    assert (1, 1) == store.count_files(tree.id)


def test_a_removed_index_is_gone(tmp_path: Path) -> None:
    """Nothing is opened where nothing is; a new index is empty."""
    open_or_create(tmp_path).close()
    remove_index(tmp_path)

    assert open_existing(tmp_path) is None


def test_a_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    """A path that is no folder is not used as one."""
    (tmp_path / "x").write_text("")

    with pytest.raises(OSError, match="x"):
        ensure_private_folder(tmp_path / "x")
