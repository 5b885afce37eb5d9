"""From ranked files to rows: the places in them that answer best, and the lines that show it.

Law: every row says where it is from. Where it has text, its line numbers are those of the text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ...core.contract.finding import Finding
from .features import Corpus, Part, Profile, part_score
from .kinds import Role
from .question import Question
from .scan import kind_of_cached
from .words import joined_key, terms_of

WINDOW_LINES = 20
MAX_CHARS = 6000
MAX_LINE_CHARS = 240
TEXT_FILES = 5
"""Files of which lines are shown."""

PARTS_OF_PLACE = (3, 2)
"""Rows of the first, second, … file; one of each further file. Twelve rows are fused, and ten files may come."""

LEAST_SHARE = 0.4
"""Of the best part's score, for a further part of the same file to have a row."""

MAX_ALSO = 4
"""Further definitions that a file's first row names."""

LEAST_ALSO = 0.25
"""Of the best part's score, for a definition to be named."""

MAX_WORDS = 5


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
    """The rows of all files, best file first; the first files' rows carry text, inside ``MAX_CHARS``."""
    rows: list[Finding] = []
    left = MAX_CHARS
    for place, file in enumerate(ranked):
        parts = _scored_parts(file.profile, corpus)
        most = PARTS_OF_PLACE[place] if place < len(PARTS_OF_PLACE) else 1
        best = parts[0][0] if parts else 0.0
        chosen = [(part, score / best) for score, part in parts[:most] if score >= LEAST_SHARE * best]
        for number, (part, share) in enumerate(chosen or [(None, 1.0)]):
            row = _row(file, part, share, left if place < TEXT_FILES else 0, question, corpus)
            if number == 0:
                row = replace(row, why=row.why + _also(file.profile, parts[len(chosen) :], LEAST_ALSO * best))
            left -= len(row.text)
            rows.append(row)
    return tuple(rows)


def _scored_parts(profile: Profile, corpus: Corpus) -> list[tuple[float, Part]]:
    """The parts of one file that say anything, best first."""
    scored = [(part_score(profile, part, corpus), part) for part in profile.parts.values()]
    return sorted((item for item in scored if item[0] > 0), key=lambda item: (-item[0], item[1].position))


def _also(profile: Profile, parts: Sequence[tuple[float, Part]], least: float) -> str:
    """The definitions of ``parts`` with their first lines, as the end of a reason."""
    definitions = (
        profile.outline.definitions[part.position] for score, part in parts if score >= least and part.position >= 0
    )
    named = [f"{definition.symbol}:{definition.start_line}" for definition in islice(definitions, MAX_ALSO)]
    return f"; also {', '.join(named)}" if named else ""


def _row(file: Ranked, part: Part | None, share: float, room: int, question: Question, corpus: Corpus) -> Finding:
    profile = file.profile
    role = kind_of_cached(profile.path).role
    path = shown(profile.path)
    if part is None:
        return Finding(
            path,
            kind="doc" if role is Role.DOCS else "file",
            score=file.score,
            why=_why(file, None, question, corpus),
        )
    first, last = _range(profile, part)
    definition = profile.outline.definitions[part.position] if part.position >= 0 else None
    title = profile.outline.lines[definition.start_line - 1].strip()[:MAX_LINE_CHARS] if definition else ""
    text = ""
    start, end = first, last
    if room > 0:
        start, end = window(first, last, _weights(part, question, corpus))
        text, end = _text(profile.outline.lines, start, end, room)
    if room > 0 and not text:
        start, end = first, last
    return Finding(
        path=path,
        title=title,
        symbol=definition.symbol if definition else "",
        kind=_kind(part, definition.name if definition else "", role, question),
        start_line=start,
        end_line=end,
        score=round(file.score * (0.7 + 0.3 * share), 4),
        why=_why(file, part, question, corpus),
        text=text,
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
    best_start, best = first, -1.0
    total = sum(weights.get(line, 0.0) for line in range(first, first + size))
    for start in range(first, last - size + 2):
        if total > best + 1e-9:
            best_start, best = start, total
        total += weights.get(start + size, 0.0) - weights.get(start, 0.0)
    return best_start, best_start + size - 1


def _text(lines: Sequence[str], start: int, end: int, room: int) -> tuple[str, int]:
    """The lines ``start``..``end`` as far as ``room`` characters go, and the last line that is in."""
    kept: list[str] = []
    for line in lines[start - 1 : end]:
        bare = line.rstrip()
        bare = bare if len(bare) <= MAX_LINE_CHARS else bare[: MAX_LINE_CHARS - 1] + "…"
        room -= len(bare) + 1
        if room < 0:
            break
        kept.append(bare)
    return "\n".join(kept), start + len(kept) - 1


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
