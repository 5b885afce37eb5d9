"""The files of one indexed tree in memory: their positions by path, document, name and path term."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import Any

from upbeat.adapters.code.files.file_types import FileRole, classify_file, group_by_name, select_code_files
from upbeat.adapters.code.index.store import FileEntry
from upbeat.adapters.code.query.terms import names_of_path, path_terms

ALL_ROLES = tuple(FileRole)


class FileTable:
    """The files of one tree; a position is an index into ``entries``."""

    def __init__(self, entries: Sequence[FileEntry]) -> None:
        self.entries = list(entries)
        self.position_by_path = {entry.path: position for position, entry in enumerate(entries)}
        self.positions_by_doc: dict[int, list[int]] = defaultdict(list)
        self.positions_by_name: dict[str, list[int]] = defaultdict(list)
        self.positions_by_term: dict[str, list[int]] = defaultdict(list)
        self._roles = bytes([ALL_ROLES.index(classify_file(entry.path).role) for entry in entries])
        self.groups_by_roles: dict[frozenset[FileRole], Any] = {}
        """Groups that ``IndexSource`` keeps from one query to the next."""
        for position, entry in enumerate(entries):
            for name in names_of_path(entry.path):
                self.positions_by_name[name].append(position)
            if entry.doc_id:
                self.positions_by_doc[entry.doc_id].append(position)
                for term in path_terms(entry.path):
                    self.positions_by_term[term].append(position)

    @cached_property
    def code_files(self) -> tuple[str, ...]:
        """The files that contain code, in the order of ``CodeBase.files``."""
        return select_code_files(entry.path for entry in self.entries)

    @cached_property
    def code_order(self) -> dict[int, int]:
        """For each file that contains code, by its position, its index in ``code_files``."""
        return {self.position_by_path[path]: index for index, path in enumerate(self.code_files)}

    @cached_property
    def code_files_by_name(self) -> dict[str, list[str]]:
        """The files that contain code by their names and folders."""
        return group_by_name(self.code_files)

    @cached_property
    def total_bytes(self) -> int:
        """Length of all indexed files in bytes."""
        return sum(entry.size for entry in self.entries)

    @cached_property
    def files_by_language(self) -> Counter[str]:
        """Number of files of each language; the empty name stands for files that are not code."""
        return Counter(classify_file(entry.path).language for entry in self.entries)

    def is_indexed(self, path: str) -> bool:
        """Return whether ``path`` is a file of the tree whose words are in the index."""
        position = self.position_by_path.get(path)
        return position is not None and bool(self.entries[position].doc_id)

    def with_changes(self, changes: Sequence[FileEntry]) -> FileTable | None:
        """Return a table with ``changes``; None when files were added or became readable and it must be rebuilt."""
        positions = [self.position_by_path.get(entry.path, -1) for entry in changes]
        if any(
            position < 0 or bool(self.entries[position].doc_id) != bool(entry.doc_id)
            for position, entry in zip(positions, changes, strict=True)
        ):
            return None
        other = copy(self)
        other.entries, other.groups_by_roles = list(self.entries), {}
        other.positions_by_doc = by_doc = self.positions_by_doc.copy()
        other.__dict__.pop("total_bytes", None)
        for position, entry in zip(positions, changes, strict=True):
            old = self.entries[position]
            other.entries[position] = entry
            by_doc[old.doc_id] = [known for known in by_doc[old.doc_id] if known != position]
            by_doc[entry.doc_id] = sorted({*by_doc[entry.doc_id], position}) if entry.doc_id else []
        return other

    def role_mask(self, roles: Iterable[FileRole]) -> bytes:
        """Return for each file 1 if it has one of ``roles``, else 0."""
        wanted = {ALL_ROLES.index(role) for role in roles}
        return self._roles.translate(bytes([number in wanted for number in range(256)]))
