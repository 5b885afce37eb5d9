"""One file as the index stores it: its words with their lines, and its definitions, without text and secrets.

Invariant: features from a stored document equal those from its text, except for words of secrets.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from upbeat.adapters.code.index.columns import decode_columns, encode_columns, pack_numbers, pack_steps
from upbeat.adapters.code.query.terms import (
    CJK_RUN_PATTERN,
    IDENTIFIER_PATTERN,
    MAX_WORD_CHARS,
    cjk_bigrams,
    joined_key,
    split_identifier,
    terms_in,
)
from upbeat.adapters.code.syntax.outline import Outline
from upbeat.adapters.code.syntax.parsed_file import Definition, Nesting
from upbeat.adapters.code.syntax.word_roles import WordRole, split_by_role
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact

WHOLE_NAME_PREFIX = "."
"""Prefix of the key of a whole name, so that it differs from the stems."""

_ROLE_BITS, _SLOT_BITS = 3, 15
"""Bits for a role; bits for a definition (``MAX_DEFINITIONS``) and a role."""
_ROLE_MASK, _SLOT_MASK = (1 << _ROLE_BITS) - 1, (1 << _SLOT_BITS) - 1
_TOKEN = re.compile(rf"{IDENTIFIER_PATTERN.pattern}|\n")
_TOKEN_OR_CJK_RUN = re.compile(rf"{_TOKEN.pattern}|{CJK_RUN_PATTERN.pattern}")

_GENERATED = re.compile(r"generated (?:by|from|file|code|with|using)|do not edit|auto-?generated", re.I)
GENERATED_HEAD_CHARS = 400
"""Characters at the beginning of a file that say that a program wrote it."""

_COLUMNS = 8
"""Columns of a stored document."""


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """The words of a file, without duplicates and as written, with their lines and definitions.

    Attributes:
        length: Length of the text in characters.
        lines: The lines (from 1) of the first word, then those of the second, …; ``line_counts`` has the number of
            lines of each word.
        enclosing: Likewise the positions of the definitions around each word (-1: none), as many as
            ``enclosing_counts`` says, each once for every role of the word in it (``roles``); ``counts`` says how often
            the word occurs in each with that role.
        is_code: Whether the file can be parsed.
        is_generated: Whether its head says that a program wrote it.
    """

    length: int
    words: tuple[str, ...]
    line_counts: Sequence[int]
    lines: Sequence[int]
    enclosing_counts: Sequence[int]
    enclosing: array[int]
    roles: array[int]
    counts: Sequence[int]
    definitions: tuple[Definition, ...]
    is_code: bool = False
    is_generated: bool = False


class StoredDefinitions:
    """The definitions of a document, each created on demand."""

    def __init__(self, names: Sequence[str], owners: Sequence[str], starts: memoryview, ends: memoryview) -> None:
        self.names = names
        self.owners, self._starts, self._ends = owners, starts, ends
        self._cache: dict[int, Definition] = {}

    def __getitem__(self, index: int) -> Definition:
        if index not in self._cache:
            self._cache[index] = Definition(
                self.names[index], "definition", self._starts[index], self._ends[index], self.owners[index]
            )
        return self._cache[index]

    def line_count(self, index: int) -> int:
        """Return the number of lines of the definition at ``index``."""
        return self._ends[index] - self._starts[index] + 1

    @cached_property
    def nesting(self) -> Nesting:
        """The index of lines by definition."""
        return Nesting(self._starts.tolist(), self._ends.tolist())


class StoredDocument:
    """A document as it is stored; ``word_ids`` are in the order of ``IndexedDocument.words``."""

    def __init__(self, body: bytes) -> None:
        """Raises ValueError for anything that ``encode_indexed_document`` did not encode."""
        try:
            columns, text = decode_columns(body, _COLUMNS)
        except ValueError as error:
            raise ValueError(f"no document: {error}") from None
        head, self.word_ids, numbers, self._enclosing, self._counts, self._roles, starts, ends = columns
        if len(head) != 2:
            raise ValueError("no document: without a length")
        self.length: int = head[0]
        self.is_generated = bool(head[1])
        self._enclosing_ends = array("I", accumulate(numbers))
        homes = self._enclosing_ends[-1] if numbers else 0
        names = text.split("\n") if len(starts) else []
        is_whole = {homes} == {len(self._enclosing), len(self._counts), len(self._roles)}
        if not is_whole or len(self.word_ids) != len(numbers) or len(names) != 2 * len(starts) != 2 * len(ends):
            raise ValueError("no document: its parts do not match")
        self.size = len(text) + sum(column.nbytes for column in columns)
        self.definitions = StoredDefinitions(names[: len(starts)], names[len(starts) :], starts, ends)

    def has_any(self, word_ids: Iterable[int]) -> bool:
        """Return whether the document has a word with one of ``word_ids``."""
        return not set(word_ids).isdisjoint(self.word_ids)

    def enclosing_of(self, index: int) -> tuple[memoryview, memoryview]:
        """Return the definitions around the word at position ``index``, and how often it occurs in each.

        A definition is there once for every role of the word in it; ``roles_of`` has these.
        """
        start, end = self._enclosing_ends[index - 1] if index else 0, self._enclosing_ends[index]
        return self._enclosing[start:end], self._counts[start:end]

    def count_of(self, index: int) -> int:
        """Return how often the word at position ``index`` occurs."""
        start, end = self._enclosing_ends[index - 1] if index else 0, self._enclosing_ends[index]
        return self._counts[start] if end - start == 1 else sum(self._counts[start:end])

    def roles_of(self, index: int) -> memoryview:
        """Return the role (``WordRole``) that belongs to each definition and count of ``enclosing_of``."""
        return self._roles[self._enclosing_ends[index - 1] if index else 0 : self._enclosing_ends[index]]


class WordLines:
    """The lines of a document's words; stored separately, because few documents need them."""

    def __init__(self, body: bytes) -> None:
        """Raises ValueError for anything that ``encode_lines`` did not encode."""
        try:
            (counts, steps), _ = decode_columns(body, 2)
            self._ends, self._lines = array("I", accumulate(counts)), array("I", accumulate(steps))
        except (ValueError, OverflowError) as error:
            raise ValueError(f"no lines: {error}") from None
        if (self._ends[-1] if self._ends else 0) != len(self._lines):
            raise ValueError("no lines: the parts do not match")

    @property
    def size(self) -> int:
        """Return the bytes that they take."""
        return 4 * (len(self._ends) + len(self._lines))

    def lines_of(self, index: int) -> array[int]:
        """Return the line of each occurrence of the word at position ``index``."""
        return self._lines[self._ends[index - 1] if index else 0 : self._ends[index]]


def build_document(
    text: str, language: str, accepts: Callable[[str], bool] | None = None, content: str | None = None
) -> IndexedDocument:
    """Build the document of ``text``, without the words of secrets.

    Args:
        accepts: For a document for one query only: it has just the accepted words, and secrets are not removed.
        content: What ``redact_secrets`` returned for ``text``, if it is known.
    """
    outline = Outline(text, language)
    if content is None:
        content = text if accepts else redact_secrets(text)
    marks_by_word = _mark_words(content, language, outline)
    marks_by_word = {
        word: marks
        for word, marks in marks_by_word.items()
        if len(word) <= MAX_WORD_CHARS and (accepts is None or accepts(word))
    }
    slots, counts, enclosing_counts = [], [], []
    for marks in marks_by_word.values():
        if len(marks) == 1:
            slots.append(marks[0] & _SLOT_MASK)
            counts.append(1)
            enclosing_counts.append(1)
        else:
            count_by_slot: dict[int, int] = {}
            for mark in marks:
                slot = mark & _SLOT_MASK
                count_by_slot[slot] = count_by_slot.get(slot, 0) + 1
            slots += count_by_slot
            counts += count_by_slot.values()
            enclosing_counts.append(len(count_by_slot))
    return IndexedDocument(
        len(text),
        tuple(marks_by_word),
        list(map(len, marks_by_word.values())),
        [mark >> _SLOT_BITS for marks in marks_by_word.values() for mark in marks],
        enclosing_counts,
        array("h", [(slot >> _ROLE_BITS) - 1 for slot in slots]),
        array("B", [slot & _ROLE_MASK for slot in slots]),
        counts,
        outline.definitions,
        bool(language),
        bool(_GENERATED.search(text, 0, GENERATED_HEAD_CHARS)),
    )


def _mark_words(text: str, language: str, outline: Outline) -> dict[str, list[int]]:
    """Return the occurrences of each word, as the line, the definition around it and the role in one integer."""
    line_starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    first_slots = [
        number << _SLOT_BITS | (position + 1) << _ROLE_BITS
        for number, position in enumerate(outline.positions_by_line(), 1)
    ]
    documenting = {index for item in outline.definitions for index in outline.documenting_indexes(item)}
    is_ascii = text.isascii()
    find = (_TOKEN if is_ascii else _TOKEN_OR_CJK_RUN).findall
    marks_by_word: defaultdict[str, list[int]] = defaultdict(list)
    line = 0
    is_head = bool(language)
    for start, end, role in split_by_role(text, language, outline.definitions, line_starts[:-1]):
        if role is WordRole.COMMENT:
            if is_head or line in documenting:
                role = WordRole.DOC
        elif is_head and role is not WordRole.DOC:
            is_head = text[start:end].isspace()
        mark = first_slots[line] + role
        for found in find(text, start, end):
            if found == "\n":
                line += 1
                mark = first_slots[line] + role
            elif is_ascii or found.isascii():
                marks_by_word[found].append(mark)
            else:
                for pair in cjk_bigrams(found):
                    marks_by_word[pair].append(mark)
    return marks_by_word


def redact_secrets(text: str) -> str:
    """Return ``text`` without control characters and secrets; the number of lines stays the same."""
    return redact(strip_controls(text, preserve_lines=True), preserve_lines=True).text


def index_keys(word: str) -> tuple[str, ...]:
    """Return the keys under which the index has ``word``, the most selective one last; there is at least one.

    They are its terms, and its key as a whole name if it has several parts or no term; a CJK pair is its own key.
    """
    if not word.isascii():
        return (word,)
    terms = terms_in(word)
    if terms and len(split_identifier(word)) == 1:
        return terms
    return (*terms, WHOLE_NAME_PREFIX + joined_key(word))


def encode_indexed_document(document: IndexedDocument, word_ids: Sequence[int]) -> bytes:
    """Encode ``document`` without its lines; ``word_ids`` are the ids of its words. ``StoredDocument`` decodes it."""
    definitions = document.definitions
    starts, ends = [item.start_line for item in definitions], [item.end_line for item in definitions]
    columns = (
        *(
            array("I", (document.length, document.is_generated)),
            pack_numbers(word_ids),
            pack_numbers(document.enclosing_counts),
        ),
        *(document.enclosing, pack_numbers(document.counts), document.roles),
        *(pack_numbers(starts), pack_numbers(ends)),
    )
    return encode_columns(
        columns, "\n".join([*(item.name for item in definitions), *(item.parent for item in definitions)])
    )


def encode_lines(document: IndexedDocument) -> bytes:
    """Encode the lines of the words of ``document``. ``WordLines`` decodes it."""
    return encode_columns((pack_numbers(document.line_counts), pack_steps(document.lines)), "")
