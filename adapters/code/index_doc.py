"""One file as the index keeps it: its words with their lines, and its definitions. No text, and no secrets.

Law: a profile made from a document equals the one made from the text that the document was made from
(``features.Reader``), but for phrases, which only the text can tell, and for words of secrets, which are not kept.
"""

from __future__ import annotations

import json
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from ...core.turn.redact import redact
from .outline import Definition, Nesting, Outline
from .words import LONGEST_WORD, NAME, cjk_pairs, cjk_runs, joined_key, split_name, terms_of

NAME_PREFIX = "."
"""Before the key of a whole name among the terms, so that it is not taken for a stem."""

LEAST_DIGITS = 3
_SUSPECT = re.compile(
    r"(?P<run>[A-Za-z0-9+/_=-]{20,})|(?P<named>(?i:passw|secret|token|api_?key|credential)[\w-]{0,40}[\"']?[ \t]*[:=])"
)
"""What a line with a secret has: a long run, or a telling name that something is assigned to."""

HEAD = 20
"""Bytes of the five sizes before everything else."""


@dataclass(frozen=True, slots=True)
class Document:
    """``words`` (each once, as written) with the lines on which they stand; lines count from 1.

    ``lines`` holds those of the first word, then those of the second, …; ``ends`` says where each word's end.
    ``homes`` holds likewise the positions of the definitions that the words stand in (-1: in none), ``counts`` how
    often, and ``home_ends`` where each word's end. ``length`` is the text's, in characters.
    """

    length: int
    words: tuple[str, ...]
    ends: array[int]
    lines: array[int]
    home_ends: array[int]
    homes: array[int]
    counts: array[int]
    definitions: tuple[Definition, ...]

    def lines_of(self, at: int) -> array[int]:
        """The lines of the word at position ``at``, one for each time that it occurs."""
        return self.lines[self.ends[at - 1] if at else 0 : self.ends[at]]

    def homes_of(self, at: int) -> Iterator[tuple[int, int]]:
        """The definitions that the word at position ``at`` stands in, and how often in each."""
        start, end = self.home_ends[at - 1] if at else 0, self.home_ends[at]
        return zip(self.homes[start:end], self.counts[start:end], strict=True)


class KeptOutline:
    """The definitions of a document, as ``features`` asks for them; ``lines`` are the file's, once it is read."""

    def __init__(self, definitions: tuple[Definition, ...]) -> None:
        self.definitions = definitions
        self.lines: list[str] = []
        self._nesting = Nesting(definitions)

    def around(self, line: int) -> int:
        """The position of the innermost definition around ``line``, or -1."""
        return self._nesting.around(line)


def read_document(text: str, language: str) -> Document:
    """The document of ``text``."""
    outline = Outline(text, language)
    places: dict[str, list[int]] = {}
    for number, line in enumerate(_without_secrets(text).split("\n"), 1):
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
    return Document(len(text), words, ends, lines, home_ends, homes, counts, outline.definitions)


def _without_secrets(text: str) -> str:
    """``text`` with the secrets taken out of the lines that may hold one; the lines stay as many."""
    parts: list[str] = []
    done = 0
    for match in _SUSPECT.finditer(text):
        if match.start() < done or (match.lastgroup == "run" and not _is_mixed(match.group())):
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        line = text[max(start, done) : end]
        parts += [text[done : max(start, done)], redact(line).text.replace("\n", " ")]
        done = end
    return "".join((*parts, text[done:])) if parts else text


def _is_mixed(run: str) -> bool:
    """Whether an unbroken run of letters and digits looks as if it was drawn by lot."""
    return sum(character.isdigit() for character in run) >= LEAST_DIGITS or run.isupper()


def keys_of(word: str) -> tuple[str, ...]:
    """The terms of ``word``, and its key as a whole when it has several parts; a pair of CJK characters is its own."""
    if not word.isascii():
        return (word,)
    terms = terms_of(word)
    return (*terms, NAME_PREFIX + joined_key(word)) if len(split_name(word)) > 1 else terms


def encode(document: Document) -> bytes:
    """``document`` as bytes: sizes, then words, ends, lines and definitions, compressed."""
    words = "\n".join(document.words).encode("utf-8", "surrogatepass")
    rows = [[one.name, one.start_line, one.end_line, one.owner] for one in document.definitions]
    definitions = json.dumps(rows, separators=(",", ":")).encode()
    head = array("I", [document.length, len(document.words), len(words), len(document.lines), len(document.homes)])
    arrays = (document.ends, document.lines, document.home_ends, document.homes, document.counts)
    return zlib.compress(b"".join((head.tobytes(), words, *(one.tobytes() for one in arrays), definitions)), 1)


def decode(data: bytes) -> Document:
    """What ``encode`` made. Raises ValueError for anything else."""
    try:
        raw = zlib.decompress(data)
        length, number, size, places, homes = array("I", raw[:HEAD])
        at = HEAD + size
        words = tuple(raw[HEAD:at].decode("utf-8", "surrogatepass").split("\n")) if number else ()
        arrays = []
        for kind, count in (("I", number), ("I", places), ("I", number), ("i", homes), ("I", homes)):
            arrays.append(array(kind, raw[at : at + 4 * count]))
            at += 4 * count
        definitions = tuple([Definition(*row) for row in json.loads(raw[at:])])
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"no document: {error}") from None
    ends, lines, home_ends, found_in, counts = arrays
    lasts = (ends[-1] if ends else 0, home_ends[-1] if home_ends else 0)
    if not len(words) == len(ends) == len(home_ends) == number or lasts != (len(lines), len(counts)):
        raise ValueError("no document: its parts do not fit each other")
    return Document(length, words, ends, lines, home_ends, found_in, counts, definitions)
