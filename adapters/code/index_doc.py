"""One file as the index keeps it: its words with their lines, and its definitions. No text, and no secrets.

Law: a profile made from a document equals the one made from the text that the document was made from
(``features.Reader``), but for phrases, which only the text can tell, and for words of secrets, which are not kept.
"""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from sys import byteorder
from typing import Literal, overload

from ...core.turn.redact import redact
from ...core.turn.strip import strip
from .outline import Definition, Nesting, Outline
from .words import LONGEST_WORD, NAME, cjk_pairs, cjk_runs, joined_key, split_name, terms_of

NAME_PREFIX = "."
"""Before the key of a whole name among the terms, so that it is not taken for a stem."""

_NARROW = 0xFFFF
"""The largest number in two bytes."""

_HEAD = 7
"""Whole numbers before everything else: checksum, length, words, homes, definitions, bytes of names, wide or not."""


@dataclass(frozen=True, slots=True)
class Document:
    """``words`` (each once, as written) with the lines on which they stand; lines count from 1.

    ``lines`` holds those of the first word, then those of the second, …; ``ends`` says where each word's end.
    ``homes`` holds likewise the positions of the definitions that the words stand in (-1: in none), ``counts`` how
    often, and ``home_ends`` where each word's end. ``length`` is the text's, in characters; ``is_code`` says that it
    can be parsed.
    """

    length: int
    words: tuple[str, ...]
    ends: array[int]
    lines: array[int]
    home_ends: array[int]
    homes: array[int]
    counts: array[int]
    definitions: tuple[Definition, ...]
    is_code: bool = False


class KeptDefinitions(Sequence[Definition]):
    """The definitions of a document, each made when it is asked for."""

    def __init__(self, names: Sequence[str], owners: Sequence[str], starts: memoryview, ends: memoryview) -> None:
        self.names = names
        self.starts, self.ends = starts, ends
        self._owners = owners
        self._made: dict[int, Definition] = {}

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, at: int) -> Definition: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Definition]: ...
    def __getitem__(self, at: int | slice) -> Definition | Sequence[Definition]:
        try:
            return self._made[at]  # type: ignore[index]
        except (KeyError, TypeError):
            if isinstance(at, slice):
                return [self[one] for one in range(*at.indices(len(self)))]
            found = self._made[at] = Definition(self.names[at], self.starts[at], self.ends[at], self._owners[at])
            return found


class KeptOutline:
    """The definitions of a document, as ``features`` asks for them; ``lines`` are the file's, once it is read."""

    def __init__(self, definitions: KeptDefinitions) -> None:
        self.definitions = definitions
        self.names = definitions.names
        self.lines: list[str] = []
        self._nesting: Nesting | None = None

    def around(self, line: int) -> int:
        """The position of the innermost definition around ``line``, or -1."""
        if self._nesting is None:
            self._nesting = Nesting(self.definitions.starts.tolist(), self.definitions.ends.tolist())
        return self._nesting.around(line)


class Kept:
    """A document as it lies in the index: ``ids`` has the numbers of its words, in the order of ``Document.words``."""

    def __init__(self, body: bytes) -> None:
        """Raises ValueError for what ``encode`` did not make."""
        view = memoryview(body)
        self._body, self.size = body, len(body)
        if len(body) < 4 * _HEAD:
            raise ValueError("no document: too short")
        checksum, self.length, words, homes, definitions, size, is_wide = view[: 4 * _HEAD].cast("I")
        if checksum != zlib.crc32(view[4:]):
            raise ValueError("no document: damaged")
        wide: Literal["I", "H"] = "I" if is_wide else "H"
        kinds: tuple[Literal["I", "H", "h"], ...] = ("I", wide, "h", wide, "I")
        parts: list[memoryview] = []
        at = 4 * _HEAD
        for kind, number in zip(kinds, (words, words, homes, homes, 2 * definitions), strict=True):
            end = at + number * (4 if kind == "I" else 2)
            parts.append(view[at:end].cast(kind))
            at = end
        self.ids, self._home_ends, self._homes, self._counts, lines = parts
        texts = str(view[at : at + size], "utf-8", "surrogatepass").split("\n")
        if len(view) != at + size or (definitions and len(texts) != 2 * definitions):
            raise ValueError("no document: its parts do not fit each other")
        names, owners = texts[:definitions], texts[definitions:]
        self._definitions = KeptDefinitions(names, owners, lines[:definitions], lines[definitions:])

    def outline(self) -> KeptOutline:
        """Its definitions, without lines; one for each who asks, as lines may be added."""
        return KeptOutline(self._definitions)

    def has_any(self, numbers: Iterable[int]) -> bool:
        """Whether a word of the document has one of ``numbers``."""
        for number in numbers:
            wanted = number.to_bytes(4, byteorder)
            at = self._body.find(wanted, 4 * _HEAD, 4 * (_HEAD + len(self.ids)))
            while at >= 0:
                if at % 4 == 0:
                    return True
                at = self._body.find(wanted, at + 1, 4 * (_HEAD + len(self.ids)))
        return False

    def among(self, words: Container[int]) -> Iterable[int]:
        """The positions of its words that are in ``words``, in order."""
        return compress(range(len(self.ids)), map(words.__contains__, self.ids))

    def count_of(self, at: int) -> int:
        """How often the word at position ``at`` stands in the document."""
        start, end = self._home_ends[at - 1] if at else 0, self._home_ends[at]
        return self._counts[start] if end - start == 1 else sum(self._counts[start:end])

    def homes_of(self, at: int) -> tuple[memoryview, memoryview]:
        """The definitions that the word at position ``at`` stands in, and how often in each."""
        start, end = self._home_ends[at - 1] if at else 0, self._home_ends[at]
        return self._homes[start:end], self._counts[start:end]


class KeptLines:
    """The lines of a document's words; kept apart, because few documents are asked for them."""

    def __init__(self, body: bytes) -> None:
        """Raises ValueError for what ``encode_lines`` did not make."""
        try:
            found = array("I", zlib.decompress(body))
        except (zlib.error, ValueError) as error:
            raise ValueError(f"no lines: {error}") from None
        number = found[0] if found else 0
        self._ends, self._lines = found[1 : 1 + number], found[1 + number :]
        if not found or (self._ends[-1] if number else 0) != len(self._lines):
            raise ValueError("no lines: the parts do not fit each other")

    @property
    def size(self) -> int:
        """Bytes that they take."""
        return 4 * (len(self._ends) + len(self._lines))

    def of(self, at: int) -> array[int]:
        """The lines of the word at position ``at``, one for each time that it occurs."""
        return self._lines[self._ends[at - 1] if at else 0 : self._ends[at]]


def read_document(text: str, language: str) -> Document:
    """The document of ``text``."""
    outline = Outline(text, language)
    places: dict[str, list[int]] = {}
    for number, line in enumerate(without_secrets(text).split("\n"), 1):
        for word in NAME.findall(line):
            found = places.get(word)
            if found is None:
                places[word] = [number]
            else:
                found.append(number)
        if not line.isascii():
            for pair in cjk_pairs(" ".join(cjk_runs(line))):
                places.setdefault(pair, []).append(number)
    words = tuple([word for word in places if len(word) <= LONGEST_WORD])
    lines = array("I")
    for word in words:
        lines.extend(places[word])
    ends = array("I", accumulate([len(places[word]) for word in words]))
    home_of = [-1, *(outline.around(line) for line in range(1, len(outline.lines) + 1))]
    homes, counts, home_ends = array("i"), array("I"), array("I")
    for word in words:
        found_in = Counter([home_of[line] for line in places[word]])
        homes.extend(found_in)
        counts.extend(found_in.values())
        home_ends.append(len(homes))
    return Document(len(text), words, ends, lines, home_ends, homes, counts, outline.definitions, bool(language))


def without_secrets(text: str) -> str:
    """``text`` without what nobody sees and without secrets; the lines stay as many."""
    return redact(strip(text, keeps_lines=True), keeps_lines=True).text


def keys_of(word: str) -> tuple[str, ...]:
    """The terms of ``word``, and its key as a whole when it has several parts; a pair of CJK characters is its own."""
    if not word.isascii():
        return (word,)
    terms = terms_of(word)
    return (*terms, NAME_PREFIX + joined_key(word)) if len(split_name(word)) > 1 else terms


def first_key(word: str) -> str:
    """The key under which the number of ``word`` is looked up; every word has one."""
    return next(iter(keys_of(word)), NAME_PREFIX + joined_key(word))


def encode(document: Document, ids: Sequence[int]) -> bytes:
    """``document`` without its lines as bytes; ``ids`` are the numbers of its words. ``Kept`` reads it."""
    is_wide = len(document.homes) > _NARROW or max(document.counts, default=0) > _NARROW
    wide = "I" if is_wide else "H"
    definitions = document.definitions
    names = "\n".join([*(one.name for one in definitions), *(one.owner for one in definitions)])
    text = names.encode("utf-8", "surrogatepass")
    sizes = (document.length, len(ids), len(document.homes), len(definitions), len(text), int(is_wide))
    lines = array("I", [*(one.start_line for one in definitions), *(one.end_line for one in definitions)])
    homes = array("h", document.homes)
    arrays = (array("I", ids), array(wide, document.home_ends), homes, array(wide, document.counts), lines)
    body = b"".join((array("I", sizes).tobytes(), *(one.tobytes() for one in arrays), text))
    return array("I", [zlib.crc32(body)]).tobytes() + body


def encode_lines(document: Document) -> bytes:
    """The lines of the words of ``document`` as bytes. ``KeptLines`` reads it."""
    head = array("I", [len(document.ends)])
    return zlib.compress(b"".join((head.tobytes(), document.ends.tobytes(), document.lines.tobytes())), 1)
