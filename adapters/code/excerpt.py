"""From ranked files to rows: the places in them that answer best, and the lines that show it.

Law: every row says where it is from. Where it has text, its line numbers are those of the text.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ...core.contract.finding import LEAST_WORTH, Excerpt, Finding
from .features import Corpus, Part, Profile
from .kinds import Role
from .places import ranked_parts
from .question import Question
from .scan import kind_of_cached
from .words import joined_key, terms_of

WHOLE_LINES = 200
"""A definition that is no longer is shown as a whole."""

WINDOW_LINES = 20
"""Of a longer one, and of what stands outside of all, the heaviest lines."""

WINDOW_WORTH = 0.45
"""What a window is worth of what the whole would be."""

MAX_CHARS = 11_000
MAX_LINE_CHARS = 240
MAX_PARTS = 14
"""Places of one file that may be shown."""

FILE_POWER = 3
"""How steeply the worth of a file's places falls with its score: where the first is sure, it gets the room."""

COST_POWER = 0.2
"""How steeply a place's worth falls with the characters it takes."""

ASIDE_WORTH = 0.1
"""What lines of tests, documentation and examples are worth of what those of sources would be, unless they are asked
for: a report that names a failing test is about what the test calls."""

MAX_ALSO = 2
"""Further definitions of a file that are named without being shown."""

LEAST_ALSO = 0.25
"""Of the best part's score, for a definition to be named."""

MAX_WORDS = 2
"""Words, and names, that a row says it was found by: the lines that it has instead say more."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A file with its place in the order. ``score`` lies in 0..1; ``named`` says how exactly the query names it."""

    profile: Profile
    score: float
    named: float


def shown(path: str) -> str:
    """``path`` as it may be printed: control, format and undecodable characters as escapes."""
    if path.isprintable():
        return path
    return "".join(_escape(character) for character in path)


def _escape(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    if 0xDC80 <= ord(character) <= 0xDCFF:  # an undecodable byte
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def findings(ranked: Sequence[Ranked], question: Question, corpus: Corpus) -> tuple[Finding, ...]:
    """One row for each file, best file first, with the places of it that are worth showing, inside ``MAX_CHARS``."""
    places = [_places(file, at, question, corpus) for at, file in enumerate(ranked)]
    visible = {place.key for place in _chosen([place for row in places for place in row])}
    return tuple(_row(file, row, visible, question, corpus) for file, row in zip(ranked, places, strict=True))


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of the file ``at`` that may be shown: ``share`` of the file's best score, and its lines."""

    at: int
    part: Part
    symbol: str
    share: float
    start: int
    end: int
    text: str
    worth: float

    @property
    def key(self) -> tuple[int, int]:
        """The file, and the position of the definition in it."""
        return self.at, self.part.position

    def meets(self, other: _Place) -> bool:
        return self.at == other.at and self.start <= other.end and other.start <= self.end


def _places(file: Ranked, at: int, question: Question, corpus: Corpus) -> list[_Place]:
    """The parts of a file, best first, each with the lines that would be shown of it."""
    parts = ranked_parts(file.profile, question, corpus)[:MAX_PARTS]
    return [_place(file, at, part, share, question, corpus) for share, part in parts]


def _place(file: Ranked, at: int, part: Part, share: float, question: Question, corpus: Corpus) -> _Place:
    outline = file.profile.outline
    first, last = _range(file.profile, part)
    is_whole = part.position >= 0 and last - first < WHOLE_LINES
    start, end = (first, last) if is_whole else window(first, last, _weights(part, question, corpus))
    text = source_lines(outline.lines, start, end)
    worth = file.score**FILE_POWER * share * (1.0 if is_whole else WINDOW_WORTH)
    if not question.asks_for(kind_of_cached(file.profile.path).role):
        worth *= ASIDE_WORTH
    worth /= max(len(text) / 1000, 0.05) ** COST_POWER
    symbol = outline.definitions[part.position].symbol if part.position >= 0 else ""
    return _Place(at, part, symbol, share, start, end, text, max(round(worth, 6), LEAST_WORTH))


def _chosen(places: Sequence[_Place]) -> list[_Place]:
    """Those that are worth most and do not overlap, as far as ``MAX_CHARS`` go."""
    chosen: list[_Place] = []
    left = MAX_CHARS
    for place in sorted(places, key=lambda place: (-place.worth, place.at, place.start)):
        if place.text and len(place.text) <= left and not any(place.meets(other) for other in chosen):
            chosen.append(place)
            left -= len(place.text)
    return chosen


def _row(
    file: Ranked, places: Sequence[_Place], visible: Container[tuple[int, int]], question: Question, corpus: Corpus
) -> Finding:
    """The file's row: its best place, then the others that are shown, then those that are only named."""
    profile = file.profile
    role = kind_of_cached(profile.path).role
    path = shown(profile.path)
    if not places:
        why = _why(file, None, question, corpus)
        return Finding(path, kind="doc" if role is Role.DOCS else "file", score=file.score, why=why)
    main, *others = places
    definition = profile.outline.definitions[main.part.position] if main.part.position >= 0 else None
    has_text = main.key in visible
    start, end = (main.start, main.end) if has_text else _range(profile, main.part)
    return Finding(
        path=path,
        title=profile.outline.lines[definition.start_line - 1].strip()[:MAX_LINE_CHARS] if definition else "",
        symbol=main.symbol,
        kind=_kind(main.part, definition.name if definition else "", role, question),
        start_line=start,
        end_line=end,
        score=file.score,
        why=_why(file, main.part, question, corpus),
        text=main.text if has_text else "",
        worth=main.worth,
        more=_further(others, visible),
    )


def _further(places: Sequence[_Place], visible: Container[tuple[int, int]]) -> tuple[Excerpt, ...]:
    """The further places of a file that are shown, as they follow in it, and the best of the others by name."""
    here = sorted((place for place in places if place.key in visible), key=lambda place: place.start)
    named = [place for place in places if place.key not in visible and place.symbol and place.share >= LEAST_ALSO]
    return (
        *(Excerpt(place.symbol, place.start, place.end, place.text, place.worth) for place in here),
        *(Excerpt(place.symbol, place.start, place.end) for place in named[:MAX_ALSO]),
    )


def _kind(part: Part, name: str, role: Role, question: Question) -> str:
    if role is Role.DOCS:
        return "doc"
    is_meant = name in question.names or joined_key(name) in part.exact or set(terms_of(name)) & set(question.terms)
    return "definition" if name and is_meant else "reference"


def _range(profile: Profile, part: Part) -> tuple[int, int]:
    """The lines of a definition; outside of all, from the first to the last hit."""
    if part.position >= 0:
        definition = profile.outline.definitions[part.position]
        return definition.start_line, definition.end_line
    lines = [line for line, _ in part.hits]
    return min(lines), max(lines)


def _weights(part: Part, question: Question, corpus: Corpus) -> dict[int, float]:
    """How much each line of ``part`` says."""
    weights: dict[int, float] = {}
    for line, terms in part.hits:
        gain = sum(question.terms[term] * corpus.idf.get(term, 0.0) for term in terms)
        weights[line] = weights.get(line, 0.0) + gain + 0.1
    return weights


def window(first: int, last: int, weights: dict[int, float], size: int = WINDOW_LINES) -> tuple[int, int]:
    """The ``size`` lines of ``first``..``last`` with the greatest weight, the earliest of equals."""
    if last - first < size:
        return first, last
    lines = sorted(line for line in weights if first <= line <= last)
    sums = list(accumulate((weights[line] for line in lines), initial=0.0))
    best_start, best = first, -1.0
    for line in (first, *lines):  # a window can only be better than the one before it when a weight comes in
        start = min(max(first, line - size + 1), last - size + 1)
        total = sums[bisect_left(lines, start + size)] - sums[bisect_left(lines, start)]
        if total > best + 1e-9:
            best_start, best = start, total
    return best_start, best_start + size - 1


def source_lines(lines: Sequence[str], start: int, end: int) -> str:
    """The lines ``start``..``end``, without what is too long of any."""
    bare = [line.rstrip() for line in lines[start - 1 : end]]
    if max(map(len, bare), default=0) > MAX_LINE_CHARS:
        bare = [line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…" for line in bare]
    return "\n".join(bare)


def _why(file: Ranked, part: Part | None, question: Question, corpus: Corpus) -> str:
    """Which words matched, the most telling first."""
    reasons = []
    if file.named >= 0.5:
        reasons.append("named in the query")
    terms = part.terms if part else file.profile.terms
    order = sorted(terms, key=lambda term: (-question.terms[term] * corpus.idf.get(term, 0.0), term))
    words = list(dict.fromkeys(question.words.get(term, term) for term in order))[:MAX_WORDS]
    exact = sorted(name for name in (part.exact if part else ()) if question.names.get(name, 0.0) >= 0.5)[:MAX_WORDS]
    if exact:
        reasons.append("name " + ", ".join(exact))
    if words:
        reasons.append("words " + ", ".join(words))
    return "; ".join(reasons) or "path"
