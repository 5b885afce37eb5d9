"""The files of one indexed tree in memory."""

from __future__ import annotations

from dataclasses import replace

from upbeat.adapters.code.files.file_types import classify_file
from upbeat.adapters.code.index.file_table import FileTable
from upbeat.adapters.code.index.store import FileEntry

ENTRIES = [
    FileEntry("shop/cart.py", 7, 10, 10, 1),
    FileEntry("README.md", 8, 5, 5, 1),
    FileEntry("copy/cart.py", 7, 10, 10, 1),
]


def test_files_are_found_by_path_document_and_role() -> None:
    """Identical files share a document, and a mask selects the files of a role."""
    table = FileTable(ENTRIES)
    role = classify_file("README.md").role

    assert (1, [0, 2], 25) == (table.position_by_path["README.md"], table.positions_by_doc[7], table.total_bytes)
    assert {"python": 2} == {name: count for name, count in table.files_by_language.items() if name == "python"}
    assert bytes(classify_file(entry.path).role is role for entry in ENTRIES) == table.role_mask([role])
    assert (True, False) == (table.is_indexed("README.md"), table.is_indexed("nowhere.md"))


def test_a_changed_file_gets_its_new_document() -> None:
    """A change gives a new table; the old one stays the same."""
    table = FileTable(ENTRIES)
    assert 25 == table.total_bytes
    changed = table.with_changes([replace(ENTRIES[0], size=20, doc_id=9)])

    assert changed is not None
    assert ([2], [0], 35) == (changed.positions_by_doc[7], changed.positions_by_doc[9], changed.total_bytes)
    assert ([0, 2], 25) == (table.positions_by_doc[7], table.total_bytes)


def test_a_new_or_newly_readable_file_needs_another_table() -> None:
    """An unknown path, and a file that loses its document, cannot be changed in place."""
    table = FileTable(ENTRIES)

    assert [None, None] == [
        table.with_changes([replace(ENTRIES[0], path="new.py")]),
        table.with_changes([replace(ENTRIES[0], doc_id=0)]),
    ]
