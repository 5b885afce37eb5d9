"""One file as the index stores it: its words with their lines, and its definitions, without text and secrets.

Invariant: features from a stored document equal those from its text, except for words of secrets.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from sys import byteorder
from typing import Literal

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

_MAX_UINT16 = 0xFFFF
ROLE_COUNT = len(WordRole)
_SLOT_BITS = 15
"""Bits for a definition (``MAX_DEFINITIONS``) and a role."""
_SLOT_MASK = (1 << _SLOT_BITS) - 1
_TOKEN = re.compile(rf"{IDENTIFIER_PATTERN.pattern}|\n")
_TOKEN_OR_CJK_RUN = re.compile(rf"{_TOKEN.pattern}|{CJK_RUN_PATTERN.pattern}")

_WIDTHS = {"I": 4, "H": 2, "h": 2, "B": 1}
_HEADER_FIELDS = 7
"""Integers in the header: checksum, length, words, enclosing positions, definitions, bytes of names, is wide."""


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """The words of a file, without duplicates and as written, with their lines and definitions.

    Attributes:
        length: Length of the text in characters.
        lines: The lines (from 1) of the first word, then those of the second, …; ``line_ends`` has the end of each.
        enclosing: Likewise the positions of the definitions around each word (-1: none), ending at
            ``enclosing_ends``, each once for every role of the word in it (``roles``); ``counts`` says how often the
            word occurs in each with that role.
        is_code: Whether the file can be parsed.
    """

    length: int
    words: tuple[str, ...]
    line_ends: array[int]
    lines: array[int]
    enclosing_ends: array[int]
    enclosing: array[int]
    roles: bytearray
    counts: array[int]
    definitions: tuple[Definition, ...]
    is_code: bool = False


class StoredDefinitions:
    """The definitions of a document, each created on demand."""

    def __init__(self, names: Sequence[str], owners: Sequence[str], starts: memoryview, ends: memoryview) -> None:
        self.names = names
        self._owners, self._starts, self._ends = owners, starts, ends
        self._cache: dict[int, Definition] = {}

    def __getitem__(self, index: int) -> Definition:
        if index not in self._cache:
            self._cache[index] = Definition(
                self.names[index], "definition", self._starts[index], self._ends[index], self._owners[index]
            )
        return self._cache[index]

    @cached_property
    def nesting(self) -> Nesting:
        """The index of lines by definition."""
        return Nesting(self._starts.tolist(), self._ends.tolist())


class StoredDocument:
    """A document as it is stored; ``word_ids`` are in the order of ``IndexedDocument.words``."""

    def __init__(self, body: bytes) -> None:
        """Raises ValueError for anything that ``encode_indexed_document`` did not encode."""
        view = memoryview(body)
        self._body, self.size = body, len(body)
        if len(body) < 4 * _HEADER_FIELDS:
            raise ValueError("no document: too short")
        checksum, self.length, words, homes, definitions, size, is_wide = view[: 4 * _HEADER_FIELDS].cast("I")
        if checksum != zlib.crc32(view[4:]):
            raise ValueError("no document: damaged")
        wide: Literal["I", "H"] = "I" if is_wide else "H"
        kinds: tuple[Literal["I", "H", "h", "B"], ...] = ("I", wide, "h", wide, "I", "B")
        parts: list[memoryview] = []
        offset = 4 * _HEADER_FIELDS
        for kind, number in zip(kinds, (words, words, homes, homes, 2 * definitions, homes), strict=True):
            end = offset + number * _WIDTHS[kind]
            parts.append(view[offset:end].cast(kind))
            offset = end
        self.word_ids, self._enclosing_ends, self._enclosing, self._counts, lines, self._roles = parts
        texts = str(view[offset : offset + size], "utf-8", "surrogatepass").split("\n")
        if len(view) != offset + size or (definitions and len(texts) != 2 * definitions):
            raise ValueError("no document: its parts do not match")
        names, owners = texts[:definitions], texts[definitions:]
        self.definitions = StoredDefinitions(names, owners, lines[:definitions], lines[definitions:])

    def has_any(self, word_ids: Iterable[int]) -> bool:
        """Return whether the document has a word with one of ``word_ids``."""
        end = 4 * (_HEADER_FIELDS + len(self.word_ids))
        for word_id in word_ids:
            needle = word_id.to_bytes(4, byteorder)
            offset = self._body.find(needle, 4 * _HEADER_FIELDS, end)
            while offset >= 0:
                if offset % 4 == 0:
                    return True
                offset = self._body.find(needle, offset + 1, end)
        return False

    def enclosing_of(self, index: int) -> tuple[memoryview, memoryview]:
        """Return the definitions around the word at position ``index``, and how often it occurs in each.

        A definition is there once for every role of the word in it; ``roles_of`` has these.
        """
        start, end = self._enclosing_ends[index - 1] if index else 0, self._enclosing_ends[index]
        return self._enclosing[start:end], self._counts[start:end]

    def roles_of(self, index: int) -> memoryview:
        """Return the role (``WordRole``) that belongs to each definition and count of ``enclosing_of``."""
        return self._roles[self._enclosing_ends[index - 1] if index else 0 : self._enclosing_ends[index]]

    def role_counts(self, index: int) -> list[int]:
        """Return how often the word at position ``index`` occurs in each role, in the order of ``WordRole``."""
        totals = [0] * ROLE_COUNT
        for role, count in zip(self.roles_of(index), self.enclosing_of(index)[1], strict=True):
            totals[role] += count
        return totals


class WordLines:
    """The lines of a document's words; stored separately, because few documents need them."""

    def __init__(self, body: bytes) -> None:
        """Raises ValueError for anything that ``encode_lines`` did not encode."""
        try:
            numbers = array("I", zlib.decompress(body))
        except (zlib.error, ValueError) as error:
            raise ValueError(f"no lines: {error}") from None
        number = numbers[0] if numbers else 0
        self._ends, self._lines = numbers[1 : 1 + number], numbers[1 + number :]
        if not numbers or (self._ends[-1] if number else 0) != len(self._lines):
            raise ValueError("no lines: the parts do not match")

    @property
    def size(self) -> int:
        """Return the bytes that they take."""
        return 4 * (len(self._ends) + len(self._lines))

    def lines_of(self, index: int) -> array[int]:
        """Return the line of each occurrence of the word at position ``index``."""
        return self._lines[self._ends[index - 1] if index else 0 : self._ends[index]]


def build_document(text: str, language: str, accepts: Callable[[str], bool] | None = None) -> IndexedDocument:
    """Build the document of ``text``, without the words of secrets.

    With ``accepts`` the document is for one query only: it has just the accepted words, and secrets are not removed.
    """
    outline = Outline(text, language)
    content = text if accepts else redact_secrets(text)
    marks_by_word = _mark_words(content, language, outline, accepts)
    lines, line_ends = array("I"), array("I", accumulate(map(len, marks_by_word.values())))
    enclosing, roles, counts, enclosing_ends = array("h"), bytearray(), array("I"), array("I")
    for marks in marks_by_word.values():
        lines.extend([mark >> _SLOT_BITS for mark in marks])
        slots: dict[int, int] = {}
        for mark in marks:
            slot = mark & _SLOT_MASK
            slots[slot] = slots.get(slot, 0) + 1
        for slot, count in slots.items():
            enclosing.append(slot // ROLE_COUNT - 1)
            roles.append(slot % ROLE_COUNT)
            counts.append(count)
        enclosing_ends.append(len(counts))
    return IndexedDocument(
        len(text),
        tuple(marks_by_word),
        line_ends,
        lines,
        enclosing_ends,
        enclosing,
        roles,
        counts,
        outline.definitions,
        bool(language),
    )


def _mark_words(
    text: str, language: str, outline: Outline, accepts: Callable[[str], bool] | None
) -> dict[str, list[int]]:
    """Return the occurrences of each word, as the line, the definition around it and the role in one integer."""
    line_starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    first_slots = [
        number << _SLOT_BITS | (position + 1) * ROLE_COUNT
        for number, position in enumerate(outline.positions_by_line(), 1)
    ]
    find = (_TOKEN if text.isascii() else _TOKEN_OR_CJK_RUN).findall
    marks_by_word: dict[str, list[int]] = {}
    rejected: set[str] = set()
    line = 0
    for start, end, role in split_by_role(text, language, outline.definitions, line_starts[:-1]):
        mark = first_slots[line] + role
        for found in find(text, start, end):
            if found == "\n":
                line += 1
                mark = first_slots[line] + role
                continue
            for word in (found,) if found.isascii() else cjk_bigrams(found):
                marks = marks_by_word.get(word)
                if marks is not None:
                    marks.append(mark)
                elif word not in rejected:
                    if len(word) <= MAX_WORD_CHARS and (accepts is None or accepts(word)):
                        marks_by_word[word] = [mark]
                    else:
                        rejected.add(word)
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
    is_wide = len(document.enclosing) > _MAX_UINT16 or max(document.counts, default=0) > _MAX_UINT16
    wide = "I" if is_wide else "H"
    definitions = document.definitions
    names = "\n".join([*(item.name for item in definitions), *(item.parent for item in definitions)])
    text = names.encode("utf-8", "surrogatepass")
    sizes = (document.length, len(word_ids), len(document.enclosing), len(definitions), len(text), int(is_wide))
    lines = array("I", [*(item.start_line for item in definitions), *(item.end_line for item in definitions)])
    arrays = (
        *(array("I", sizes), array("I", word_ids), array(wide, document.enclosing_ends)),
        *(array("h", document.enclosing), array(wide, document.counts), lines, document.roles),
    )
    body = b"".join((*arrays, text))
    return array("I", [zlib.crc32(body)]).tobytes() + body


def encode_lines(document: IndexedDocument) -> bytes:
    """Encode the lines of the words of ``document``. ``WordLines`` decodes it."""
    head = array("I", [len(document.line_ends)])
    return zlib.compress(b"".join((head.tobytes(), document.line_ends.tobytes(), document.lines.tobytes())), 1)
