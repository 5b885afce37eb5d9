"""Turns ranked files into findings: the passages that answer best, and their lines.

Invariant: every finding has a path; when it has text, its line numbers are those of the text.
"""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.query.features import DefinitionHits, FileFeatures
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.signals import CorpusStatistics, score_definition, score_terms
from upbeat.adapters.code.query.terms import joined_key, terms_in
from upbeat.core.contract.finding import MIN_OPTIONAL_SCORE, Excerpt, Finding

MAX_WHOLE_LINES = 200
"""Longest definition that is shown completely."""

WINDOW_LINES = 20
"""Lines that are shown of a longer definition, and of code outside all definitions."""

WINDOW_VALUE = 0.45
"""Value of a window, compared with the complete definition."""

MAX_CHARS = 11_000
MAX_LINE_CHARS = 240
MAX_PASSAGES = 14
"""Passages of one file that can be shown."""

FILE_SCORE_EXPONENT = 3
"""How steeply the value of a file's passages falls with its score: a clear winner gets most of the budget."""

LENGTH_EXPONENT = 0.2
"""How steeply the value of a passage falls with its length."""

OFF_TARGET_VALUE = 0.1
"""Value of tests, documentation and examples, compared with sources, unless the query asks for them: a report that
names a failing test is about what the test calls."""

MAX_NAMED_PASSAGES = 2
"""Further definitions of a file that are named but not shown."""

MIN_NAMED_SHARE = 0.25
"""Share of the best definition's value from which on a definition is named."""

MAX_REASON_WORDS = 2
"""Words, and names, that a finding lists as its reason."""


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A ranked file. ``score`` is in 0..1; ``name_match`` says how completely the query names the file (0..1)."""

    features: FileFeatures
    score: float
    name_match: float


def printable_path(path: str) -> str:
    """Return ``path`` with control, format and undecodable characters as escapes."""
    if path.isprintable():
        return path
    return "".join(_escape(character) for character in path)


def _escape(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    if 0xDC80 <= ord(character) <= 0xDCFF:  # an undecodable byte
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def build_findings(
    ranked: Sequence[RankedFile], search_query: SearchQuery, corpus: CorpusStatistics
) -> tuple[Finding, ...]:
    """Return one finding for each file, best file first, with its best passages within ``MAX_CHARS``."""
    passages = [
        [
            _passage(file, index, hits, share, search_query, corpus)
            for share, hits in rank_definitions(file.features, search_query, corpus)[:MAX_PASSAGES]
        ]
        for index, file in enumerate(ranked)
    ]
    visible = {passage.key for passage in _select_passages([passage for row in passages for passage in row])}
    return tuple(
        _file_finding(file, row, visible, search_query, corpus) for file, row in zip(ranked, passages, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Passage:
    """A part of a file that can be shown; ``share`` is its value compared with the file's best passage."""

    file_index: int
    hits: DefinitionHits
    symbol: str
    share: float
    start: int
    end: int
    text: str
    value: float

    @property
    def key(self) -> tuple[int, int]:
        """Return the file, and the position of the definition in it."""
        return self.file_index, self.hits.position

    def overlaps(self, other: _Passage) -> bool:
        return self.file_index == other.file_index and self.start <= other.end and other.start <= self.end


def _passage(
    file: RankedFile,
    file_index: int,
    hits: DefinitionHits,
    share: float,
    search_query: SearchQuery,
    corpus: CorpusStatistics,
) -> _Passage:
    outline = file.features.outline
    first, last = _line_range(file.features, hits)
    is_whole = hits.position >= 0 and last - first < MAX_WHOLE_LINES
    start, end = (first, last) if is_whole else heaviest_window(first, last, _line_weights(hits, search_query, corpus))
    text = source_lines(outline.lines, start, end)
    value = file.score**FILE_SCORE_EXPONENT * share * (1.0 if is_whole else WINDOW_VALUE)
    if not search_query.wants_role(classify_file(file.features.path).role):
        value *= OFF_TARGET_VALUE
    value /= max(len(text) / 1000, 0.05) ** LENGTH_EXPONENT
    symbol = outline.definitions[hits.position].symbol if hits.position >= 0 else ""
    return _Passage(file_index, hits, symbol, share, start, end, text, max(round(value, 6), MIN_OPTIONAL_SCORE))


def _select_passages(passages: Sequence[_Passage]) -> list[_Passage]:
    """Return the most valuable passages that do not overlap, within ``MAX_CHARS``."""
    selected: list[_Passage] = []
    remaining_chars = MAX_CHARS
    for passage in sorted(passages, key=lambda passage: (-passage.value, passage.file_index, passage.start)):
        if 0 < len(passage.text) <= remaining_chars and not any(passage.overlaps(other) for other in selected):
            selected.append(passage)
            remaining_chars -= len(passage.text)
    return selected


def _file_finding(
    file: RankedFile,
    passages: Sequence[_Passage],
    visible: Container[tuple[int, int]],
    search_query: SearchQuery,
    corpus: CorpusStatistics,
) -> Finding:
    """Return the file's finding: its best passage, then the others that are shown, then those that are only named."""
    features = file.features
    role = classify_file(features.path).role
    path = printable_path(features.path)
    if not passages:
        why = _reason(file, None, search_query, corpus)
        return Finding(path, kind="doc" if role is FileRole.DOCS else "file", score=file.score, why=why)
    main, *others = passages
    definition = features.outline.definitions[main.hits.position] if main.hits.position >= 0 else None
    has_text = main.key in visible
    start, end = (main.start, main.end) if has_text else _line_range(features, main.hits)
    return Finding(
        path=path,
        title=features.outline.lines[definition.start_line - 1].strip()[:MAX_LINE_CHARS] if definition else "",
        symbol=main.symbol,
        kind=_finding_kind(main.hits, definition.name if definition else "", role, search_query),
        start_line=start,
        end_line=end,
        score=file.score,
        why=_reason(file, main.hits, search_query, corpus),
        text=main.text if has_text else "",
        optional_score=main.value,
        more_excerpts=_further_excerpts(others, visible),
    )


def _further_excerpts(passages: Sequence[_Passage], visible: Container[tuple[int, int]]) -> tuple[Excerpt, ...]:
    """Return the further passages that are shown, in file order, and the best of the others by name."""
    shown = sorted((item for item in passages if item.key in visible), key=lambda item: item.start)
    named = [item for item in passages if item.key not in visible and item.symbol and item.share >= MIN_NAMED_SHARE]
    return (
        *(Excerpt(item.symbol, item.start, item.end, item.text, item.value) for item in shown),
        *(Excerpt(item.symbol, item.start, item.end) for item in named[:MAX_NAMED_PASSAGES]),
    )


def _finding_kind(hits: DefinitionHits, name: str, role: FileRole, search_query: SearchQuery) -> str:
    if role is FileRole.DOCS:
        return "doc"
    is_meant = (
        name in search_query.names
        or joined_key(name) in hits.exact_names
        or set(terms_in(name)) & set(search_query.terms)
    )
    return "definition" if name and is_meant else "reference"


def _line_range(features: FileFeatures, hits: DefinitionHits) -> tuple[int, int]:
    """Return the lines of a definition; outside all definitions, from the first to the last hit."""
    if hits.position >= 0:
        definition = features.outline.definitions[hits.position]
        return definition.start_line, definition.end_line
    lines = [line for line, _ in hits.line_terms]
    return min(lines), max(lines)


def _line_weights(hits: DefinitionHits, search_query: SearchQuery, corpus: CorpusStatistics) -> dict[int, float]:
    """Return the weight of each line with a hit."""
    weights: dict[int, float] = {}
    for line, terms in hits.line_terms:
        gain = sum(search_query.terms[term] * corpus.idf.get(term, 0.0) for term in terms)
        weights[line] = weights.get(line, 0.0) + gain + 0.1
    return weights


def heaviest_window(first: int, last: int, weights: dict[int, float], size: int = WINDOW_LINES) -> tuple[int, int]:
    """Return the ``size`` lines of ``first``..``last`` with the largest weight, the earliest of equals."""
    if last - first < size:
        return first, last
    lines = sorted(line for line in weights if first <= line <= last)
    sums = list(accumulate((weights[line] for line in lines), initial=0.0))
    best_start, best = first, -1.0
    for line in (first, *lines):  # only a window that ends at a weight can be better
        start = min(max(first, line - size + 1), last - size + 1)
        total = sums[bisect_left(lines, start + size)] - sums[bisect_left(lines, start)]
        if total > best + 1e-9:
            best_start, best = start, total
    return best_start, best_start + size - 1


def source_lines(lines: Sequence[str], start: int, end: int) -> str:
    """Return the lines ``start``..``end``; long lines are truncated."""
    bare = [line.rstrip() for line in lines[start - 1 : end]]
    if max(map(len, bare), default=0) > MAX_LINE_CHARS:
        bare = [line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…" for line in bare]
    return "\n".join(bare)


def _reason(file: RankedFile, hits: DefinitionHits | None, search_query: SearchQuery, corpus: CorpusStatistics) -> str:
    """Return the words that matched, the most specific first."""
    reasons = []
    if file.name_match >= 0.5:
        reasons.append("named in the query")
    terms = hits.terms if hits else file.features.term_counts
    order = sorted(terms, key=lambda term: (-search_query.terms[term] * corpus.idf.get(term, 0.0), term))
    words = list(dict.fromkeys(search_query.word_by_term.get(term, term) for term in order))[:MAX_REASON_WORDS]
    exact = sorted(name for name in (hits.exact_names if hits else ()) if search_query.names.get(name, 0.0) >= 0.5)[
        :MAX_REASON_WORDS
    ]
    if exact:
        reasons.append("name " + ", ".join(exact))
    if words:
        reasons.append("words " + ", ".join(words))
    return "; ".join(reasons) or "path"


WEIGHTS = {
    "score": 1.27,
    "title": 0.82,
    "name": 0.89,
    "name_words": 0.8,
    "line": 1.02,
    "term_volume": 1.76,
    "is_qualified": 1.5,
    "is_outside": -2.39,
}
"""Weight of each signal of a definition (``_definition_signals``), scaled to at most 1 within the file."""

SHARE_STEEPNESS = 0.5
"""How steeply a definition's share falls with its distance from the best one."""


def rank_definitions(
    features: FileFeatures, search_query: SearchQuery, corpus: CorpusStatistics
) -> list[tuple[float, DefinitionHits]]:
    """Return the definitions of one file with hits, best first, each with its share of the best one's value (0..1]."""
    scored = [(score_definition(features, hits, corpus), hits) for hits in features.definition_hits.values()]
    rows = [
        (_definition_signals(score, features, hits, search_query, corpus), hits) for score, hits in scored if score > 0
    ]
    maxima = {name: max((row[name] for row, _ in rows), default=0.0) or 1.0 for name in WEIGHTS}
    sums = [(sum(weight * row[name] / maxima[name] for name, weight in WEIGHTS.items()), hits) for row, hits in rows]
    best = max((total for total, _ in sums), default=0.0)
    ranked = sorted(sums, key=lambda item: (-item[0], item[1].position))
    return [(math.exp(SHARE_STEEPNESS * (total - best)), hits) for total, hits in ranked]


def _definition_signals(
    score: float, features: FileFeatures, hits: DefinitionHits, search_query: SearchQuery, corpus: CorpusStatistics
) -> dict[str, float]:
    """Return the signals of one definition: scores, name match, best line and total term count.

    ``is_qualified`` says that the query names it with its owner (``Session.send``).
    """
    gains = corpus.term_gains
    name = features.outline.definitions[hits.position].name if hits.position >= 0 else ""
    words = terms_in(name)
    return {
        "score": score,
        "title": score_terms(features, hits, corpus.title_gains),
        "name": search_query.names.get(name, 0.0),
        "name_words": sum(term in search_query.terms for term in words) / (len(words) or 1),
        "line": _best_line_gain(hits, gains),
        "term_volume": sum(gains.get(term, 0.0) * math.log1p(count) for term, count in hits.terms.items()),
        "is_qualified": float(hits.position in features.qualified_positions),
        "is_outside": float(hits.position < 0),
    }


def _best_line_gain(hits: DefinitionHits, gains: Mapping[str, float]) -> float:
    """Return the summed gains of the terms on the best line."""
    lines: dict[int, tuple[str, ...]] = {}
    for line, terms in hits.line_terms:
        known = lines.get(line)
        lines[line] = terms if known is None or known == terms else known + terms
    return max([sum([gains.get(term, 0.0) for term in {*terms}]) for terms in {*lines.values()}], default=0.0)
