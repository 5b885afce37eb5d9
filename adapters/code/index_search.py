"""Questions answered from the index: which files deserve a careful look, and that look, without reading the tree.

Law: the same steps and the same numbers as in ``scan`` and ``features``, so that a question has the same answer
either way. A file that is not as it was indexed is read.
"""

from __future__ import annotations

import builtins
import os
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import nlargest
from itertools import compress

from ...core.ports import Cancellation
from .codebase import by_name, code_among
from .features import Profile, Reader
from .index_doc import NAME_PREFIX, Kept, KeptLines
from .index_store import RACY, Entry, IndexStore
from .kinds import Role
from .question import Question
from .scan import (
    CANDIDATES,
    K1,
    LATER_CANDIDATES,
    MAX_COUNTED,
    MAX_COUNTED_LATER,
    PATH_FACTOR,
    B,
    Counted,
    Scan,
    check,
    first_roles,
    idf_of,
    kind_of_cached,
    named_paths,
    names_asked,
    names_of,
    needles_of,
    path_terms,
    says_too_little,
    top,
    with_named,
)
from .tree import SourceCache, Tree
from .words import joined_key, stem

ROLES = tuple(Role)
LEAST = 1e-300
"""More than nothing: the least that a file may have to be a candidate."""


class Table:
    """The files of one tree in memory: where each document, name, path's term and role is."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = list(entries)
        self.at = {entry.path: position for position, entry in enumerate(entries)}
        self.of_doc: dict[int, list[int]] = defaultdict(list)
        self.of_name: dict[str, list[int]] = defaultdict(list)
        self.of_term: dict[str, list[int]] = defaultdict(list)
        roles = [kind_of_cached(entry.path).role for entry in entries]
        self._roles = bytes(map(ROLES.index, roles))
        self.size_of_role: dict[Role, int] = defaultdict(int)
        self.count_of_role: dict[Role, int] = defaultdict(int)
        self.groups: dict[frozenset[Role], _Group] = {}
        for position, entry in enumerate(entries):
            for name in names_of(entry.path):
                self.of_name[name].append(position)
            if not entry.doc:
                continue
            self.of_doc[entry.doc].append(position)
            self.size_of_role[roles[position]] += entry.size
            self.count_of_role[roles[position]] += 1
            for term in path_terms(entry.path):
                self.of_term[term].append(position)

    @cached_property
    def code(self) -> tuple[str, ...]:
        """The files that hold code, in the order of ``CodeBase.files``."""
        return code_among(entry.path for entry in self.entries)

    @cached_property
    def code_places(self) -> dict[int, int]:
        """Where each file that holds code, by its position, stands among them."""
        return {self.at[path]: place for place, path in enumerate(self.code)}

    @cached_property
    def code_by_name(self) -> dict[str, list[str]]:
        """The files that hold code by their names and folders."""
        return by_name(self.code)

    def renewed(self, changes: Sequence[Entry]) -> Table | None:
        """A table with ``changes``; None when it has to be made anew, because files came or are indexed now."""
        places = [self.at.get(entry.path, -1) for entry in changes]
        if any(
            at < 0 or bool(self.entries[at].doc) != bool(entry.doc) for at, entry in zip(places, changes, strict=True)
        ):
            return None
        other = copy(self)
        other.entries, other.of_doc, other.groups = list(self.entries), self.of_doc.copy(), {}
        other.size_of_role = self.size_of_role.copy()
        other.__dict__.pop("bytes", None)
        for at, entry in zip(places, changes, strict=True):
            old = self.entries[at]
            other.entries[at] = entry
            other.size_of_role[ROLES[self._roles[at]]] += entry.size - old.size if entry.doc else 0
            other.of_doc[old.doc] = [place for place in other.of_doc[old.doc] if place != at]
            other.of_doc[entry.doc] = sorted({*other.of_doc[entry.doc], at}) if entry.doc else []
        return other

    @cached_property
    def bytes(self) -> int:
        """The length of all files that are read."""
        return sum(entry.size for entry in self.entries)

    @cached_property
    def languages(self) -> Counter[str]:
        """How many files there are of each language; empty for what is no code."""
        return Counter(kind_of_cached(entry.path).language for entry in self.entries)

    def are(self, roles: set[Role]) -> builtins.bytes:
        """For each file 1 if it is for one of ``roles``, else 0."""
        return self._roles.translate(
            builtins.bytes([number < len(ROLES) and ROLES[number] in roles for number in range(256)])
        )

    def paths(self, positions: Iterable[int]) -> list[str]:
        return [self.entries[position].path for position in positions]


@dataclass(frozen=True, slots=True)
class _Group:
    """The files that are looked at together: where their documents are, and how their lengths count.

    ``alone`` are the documents of one file, ``shared`` those of several equal ones.
    """

    roles: set[Role]
    count: int
    average: float
    alone: dict[int, int]
    shared: dict[int, list[int]]
    norms: list[float]


@dataclass(frozen=True, slots=True)
class Looked:
    """Candidates that were looked at. ``stale`` are the paths that are not as they were indexed.

    Only while the index is open they can be completed.
    """

    profiles: list[Profile]
    stale: list[str]
    reader: Reader
    words: dict[int, str]
    documents: dict[str, tuple[int, Kept]]
    lines: dict[int, KeptLines]
    texts: dict[str, str | None]
    """Files that were read."""

    def complete(self, profiles: Sequence[Profile], store: IndexStore, tree: Tree) -> None:
        """Look closely at ``profiles``. Raises StorageError, and ValueError for damaged lines."""
        its = [(profile, *known) for profile in profiles if (known := self.documents.get(profile.path))]
        self.lines.update(store.lines([doc for _, doc, _ in its]))
        for profile, doc, kept in its:
            if doc not in self.lines:
                raise ValueError(f"the lines of {profile.path} are not there")
            text = partial(self._text, profile.path, tree)
            self.reader.complete(profile, kept, self.lines[doc], self.words, text)

    def _text(self, path: str, tree: Tree) -> str | None:
        if path not in self.texts:
            self.texts[path] = tree.text(path)
        return self.texts[path]

    def with_lines(self, profile: Profile, tree: Tree) -> Profile | None:
        """``profile``, complete, with the lines of the file and its hits; None when it cannot be read any more."""
        known = self.documents.get(profile.path)
        if known is None:
            return profile
        text = self._text(profile.path, tree)
        if text is None:
            return None
        if len(text) != profile.length:  # it has changed since it was looked at
            return self.reader.profile(profile.path, text)
        doc, kept = known
        profile.outline.lines = text.split("\n")
        self.reader.add_hits(profile, kept, self.lines[doc], self.words)
        return profile


def look_up(store: IndexStore, table: Table, question: Question, cancelled: Cancellation) -> Scan:
    """Rank the files of ``table`` roughly, as ``scan`` does. Raises StorageError, and ToolFailure when cancelled."""
    result = Scan([], {}, files=len(table.entries))
    asked = {position for name in names_asked(question) for position in table.of_name.get(name, ())}
    result.named = named_paths(table.paths(sorted(asked)), question)
    first = first_roles(question)
    chosen = _choose(store, needles_of(question), _group(table, first), MAX_COUNTED)
    scores, best_cover = _score(store, table, first, chosen, question, result, cancelled)
    ranked = top(scores, CANDIDATES)
    if says_too_little(ranked, best_cover):
        later = set(Role) - first - {Role.DATA}
        few = _choose(store, chosen, _group(table, later), MAX_COUNTED_LATER)
        scores, _ = _score(store, table, later, few, question, result, cancelled)
        ranked += top(scores, LATER_CANDIDATES if ranked else CANDIDATES)
    result.candidates = with_named(ranked, result.named)
    return result


def profiles_of(
    store: IndexStore,
    table: Table,
    tree: Tree,
    found: Scan,
    question: Question,
    cancelled: Cancellation,
    fresh: Container[int] = (),
) -> Looked:
    """A look at each candidate as a whole; those at the positions ``fresh`` are known to be as they were indexed.

    Raises StorageError, ValueError for a damaged document, and ``ToolFailure`` when cancelled.
    """
    reader = Reader(question)
    words = _words_of(store, question)
    stale: list[str] = []
    sound: dict[str, int] = {}
    for path, _ in found.candidates:
        position = table.at.get(path)
        entry = table.entries[position] if position is not None else None
        if entry and entry.doc and position in fresh:
            sound[path] = entry.doc
            continue
        stamp = tree.stamp(path)
        if entry and entry.doc and stamp == (entry.size, entry.stamp):
            sound[path] = entry.doc
        elif entry is None or (entry.stamp != RACY and stamp != ((entry.size, entry.stamp) if entry.stamp else None)):
            stale.append(path)
    kept = store.documents(sound.values())
    profiles: list[Profile] = []
    documents: dict[str, tuple[int, Kept]] = {}
    for path, _ in found.candidates:
        check(cancelled)
        if path in sound:
            if sound[path] not in kept:
                raise ValueError(f"the document of {path} is not there")
            documents[path] = sound[path], kept[sound[path]]
            profiles.append(reader.sketch(path, kept[sound[path]], words))
            continue
        text = tree.text(path)
        if text is not None:
            profiles.append(reader.profile(path, text))
    return Looked(profiles, stale, reader, words, documents, {}, {})


def changed_among(root: str, entries: Iterable[Entry]) -> list[str]:
    """Of ``entries`` those whose files have another size or time now, or are gone, or can be read now."""
    changed = []
    tree = Tree(root, SourceCache(0))
    for entry in entries:
        if not entry.stamp:
            if kind_of_cached(entry.path).role is not Role.DATA and tree.stamp(entry.path):
                changed.append(entry.path)
            continue
        try:
            status = os.lstat(f"{root}/{entry.path}")
        except OSError:
            changed.append(entry.path)
            continue
        if (status.st_mtime_ns or 1) != entry.stamp or status.st_size != entry.size:
            changed.append(entry.path)
    return changed


def _group(table: Table, roles: set[Role]) -> _Group:
    key = frozenset(roles)
    found = table.groups.get(key)
    if found is None:
        found = table.groups[key] = _new_group(table, roles)
    return found


def _new_group(table: Table, roles: set[Role]) -> _Group:
    count = sum(table.count_of_role[role] for role in roles)
    average = sum(table.size_of_role[role] for role in roles) / (count or 1) or 1.0
    is_meant = table.are(roles)
    alone: dict[int, int] = {}
    shared: dict[int, list[int]] = {}
    for doc, positions in table.of_doc.items():
        meant = [position for position in positions if is_meant[position]]
        if len(meant) == 1:
            alone[doc] = meant[0]
        elif meant:
            shared[doc] = meant
    norms = [K1 * (1 - B + B * min(entry.size / average, 8.0)) for entry in table.entries]
    return _Group(roles, count, average, alone, shared, norms)


def _choose(store: IndexStore, counted: Sequence[Counted], group: _Group, most: int) -> list[Counted]:
    """The ``most`` strings that tell files apart best."""
    if len(counted) <= most:
        return list(counted)
    worth = {
        needle.key: needle.weight * idf_of(group.count, min(group.count, store.frequency(_key(needle))))
        for needle in counted
    }
    order = {needle.key: number for number, needle in enumerate(counted)}
    return sorted(counted, key=lambda needle: (-worth[needle.key], order[needle.key]))[:most]


def _key(needle: Counted) -> str:
    """What the index has for a string that ``scan`` counts: a term, or the key of a whole name."""
    return NAME_PREFIX + joined_key(needle.key) if needle.is_name else needle.key


def _score(
    store: IndexStore,
    table: Table,
    roles: set[Role],
    chosen: Sequence[Counted],
    question: Question,
    result: Scan,
    cancelled: Cancellation,
) -> tuple[dict[str, float], float]:
    """``scan._score`` from the index."""
    group, entries = _group(table, roles), table.entries
    alone, shared, norms = group.alone, group.shared, group.norms
    totals, cover = [0.0] * len(entries), [0.0] * len(entries)
    everything = 0.0
    for needle in chosen:
        check(cancelled)
        hits: list[tuple[int, int]] = []
        for docs, counts in store.postings(_key(needle)):
            places = zip(map(alone.get, docs), counts, strict=True)
            hits += [(position, count) for position, count in places if position is not None]
            if shared:
                pairs = [(doc, count) for doc, count in zip(docs, counts, strict=True) if doc in shared]
                hits += [(position, count) for doc, count in pairs for position in shared[doc]]
        idf = idf_of(group.count, len(hits))
        result.idf.setdefault(needle.key, idf)
        gain = needle.weight * idf
        everything += gain
        for position, count in hits:
            totals[position] += gain * count * (K1 + 1) / (count + norms[position])
            cover[position] += gain
    is_meant = table.are(roles)
    bonus: dict[int, float] = defaultdict(float)
    for term, weight in question.terms.items():
        for position in table.of_term.get(term, ()):
            if is_meant[position]:
                bonus[position] += weight * result.idf.get(term, 1.0)
    result.scanned += group.count
    result.bytes += sum(table.size_of_role[one] for one in roles)
    for position, value in bonus.items():
        totals[position] += PATH_FACTOR * value
    least = max(min(nlargest(CANDIDATES, filter(None, totals)), default=0.0), LEAST)
    return (
        {entries[at].path: totals[at] for at in compress(range(len(totals)), map(least.__le__, totals))},
        max(cover, default=0.0) / (everything or 1.0),
    )


def _words_of(store: IndexStore, question: Question) -> dict[int, str]:
    """All words of the index that can have a meaning for the question, by their numbers."""
    keys = dict.fromkeys(question.terms)
    for joined in question.joined:
        keys |= dict.fromkeys((NAME_PREFIX + joined, stem(joined), stem(joined + "s")))
    words = store.words(keys)
    for name in question.names:
        number = store.number_of(name)
        if number:
            words[number] = name
    return words
