"""Turns ranked files into findings: the passages that answer best, and their lines.

Invariant: every finding has a path; when it has text, its line numbers are those of the text.
"""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.query.features import DefinitionHits, FileFeatures
from upbeat.adapters.code.query.parse_query import SearchQuery
from upbeat.adapters.code.query.rank import CorpusStatistics, RankedFile, score_definition
from upbeat.adapters.code.query.terms import joined_key, terms_in
from upbeat.adapters.code.syntax.parsed_file import Definition
from upbeat.core.contract.finding import MIN_OPTIONAL_SCORE, Excerpt, Finding

MAX_WHOLE_LINES = 200
"""Longest definition that is shown completely, if it has no more than ``MAX_CHARS``."""

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

SHORT_FACTOR, MAX_SHORT_LINES = 0.6, 2
"""Value of passages that are hardly more than a name."""

LENGTH_EXPONENT = 0.2
"""How steeply the value of a passage falls with its length."""

OFF_TARGET_VALUE = 0.1
"""Value of tests, documentation and examples, compared with sources, unless the query asks for them: a report that
names a failing test is about what the test calls."""

NAMED_VALUE = 10.0
"""Value of a definition that the query names: more than any other."""

MIN_NAMED_LINES = 8
"""Lines that are shown of a definition that the query names, if no other one begins there."""

MAX_NAMED_PASSAGES = 2
"""Further definitions of a file that are named but not shown."""

MIN_NAMED_SHARE = 0.25
"""Share of the best definition's value from which on a definition is named."""

MAX_REASON_WORDS = 2
"""Words, and names, that a finding lists as its reason."""


def printable_path(path: str) -> str:
    """Return ``path`` with control, format and undecodable characters as escapes."""
    if path.isprintable():
        return path
    escaped = ""
    for character in path:
        if character.isprintable() or unicodedata.category(character) == "Zs":
            escaped += character
        elif 0xDC80 <= ord(character) <= 0xDCFF:  # an undecodable byte
            escaped += f"\\x{ord(character) - 0xDC00:02x}"
        else:
            escaped += character.encode("unicode_escape").decode("ascii")
    return escaped


def build_findings(
    ranked: Sequence[RankedFile], search_query: SearchQuery, corpus: CorpusStatistics
) -> tuple[Finding, ...]:
    """Return one finding for each file, best file first, with its best passages within ``MAX_CHARS``."""
    passages = [
        [
            _passage(file, index, hits, share, search_query, corpus)
            for share, hits in _rank_named_first(file, search_query, corpus)[:MAX_PASSAGES]
        ]
        for index, file in enumerate(ranked)
    ]
    _select_shown([passage for row in passages for passage in row])
    return tuple(_file_finding(file, row, search_query, corpus) for file, row in zip(ranked, passages, strict=True))


def _rank_named_first(
    file: RankedFile, search_query: SearchQuery, corpus: CorpusStatistics
) -> list[tuple[float, DefinitionHits]]:
    """Return ``rank_definitions`` with the definitions that the query names, or whose lines it names, at its head."""
    ranked = rank_definitions(file.features, search_query, corpus)
    nesting = file.features.document.definitions.nesting
    of_lines = [nesting.enclosing_position(first) for first, _ in file.named_lines]
    named = [*dict.fromkeys((*of_lines, *file.named_positions))]
    by_position = file.features.definition_hits
    if not ranked and not named and file.name_match >= 1.0:
        named = [-1]  # the head of a file that is named and shares no other word with the query
    first = [(1.0, by_position.get(position) or DefinitionHits(position)) for position in named]
    return first + [row for row in ranked if row[1].position not in named]


@dataclass(slots=True)
class _Passage:
    """A part of a file that can be shown.

    Attributes:
        lines: First and last line of the definition; outside all definitions, of the hits.
        share: Its value compared with the file's best passage.
        start: First line of ``text``, which may be only a part of ``lines``; ``end`` is its last line.
    """

    file_index: int
    hits: DefinitionHits
    symbol: str
    lines: tuple[int, int]
    share: float
    start: int
    end: int
    text: str
    value: float
    is_shown: bool = False

    @property
    def whole(self) -> tuple[int, int]:
        """The lines of the definition, if ``text`` has only a part of them."""
        is_part = self.start > self.lines[0] or self.end < self.lines[1]
        return self.lines if is_part else (0, 0)


def _passage(
    file: RankedFile,
    file_index: int,
    hits: DefinitionHits,
    share: float,
    search_query: SearchQuery,
    corpus: CorpusStatistics,
) -> _Passage:
    definition = file.features.document.definitions[hits.position] if hits.position >= 0 else None
    head_lines = (1, min(WINDOW_LINES, max(len(file.features.text_lines) - 1, 1)))
    named_lines = [lines for lines in file.named_lines if _position_of(file, lines[0]) == hits.position]
    if definition:
        first, last = definition.start_line, definition.end_line
    else:
        hit_lines = [line for line, _ in hits.line_terms] or [lines[0] for lines in named_lines] or head_lines
        first, last = min(hit_lines), max(hit_lines)
    is_whole = definition is not None and last - first < MAX_WHOLE_LINES and _has_room(file, first, last)
    is_named = bool(named_lines) or hits.position in file.named_positions
    if is_whole:
        start, end = first, _extended_end(file, hits.position, first, last) if is_named else last
    elif named_lines:
        start, end = _window_around(named_lines[0], len(file.features.text_lines))
    elif is_named:
        start, end = first, first + WINDOW_LINES - 1
    else:
        start, end = heaviest_window(first, last, _line_weights(hits, search_query, corpus))
    if definition is None:
        first, last = start, end
    text = source_lines(file.features.text_lines, start, end)
    value = file.score**FILE_SCORE_EXPONENT * share * (1.0 if is_whole else WINDOW_VALUE)
    if classify_file(file.features.path).role not in search_query.wanted_roles:
        value *= OFF_TARGET_VALUE
    value *= SHORT_FACTOR if end - start < MAX_SHORT_LINES else 1.0
    value /= max(len(text) / 1000, 0.05) ** LENGTH_EXPONENT
    value = NAMED_VALUE * file.score if is_named else max(round(value, 6), MIN_OPTIONAL_SCORE)
    symbol = definition.symbol if definition else ""
    return _Passage(file_index, hits, symbol, (first, last), share, start, end, text, value)


def _has_room(file: RankedFile, first: int, last: int) -> bool:
    """Return whether the lines ``first``..``last`` are short enough to be shown together."""
    return sum(min(len(line), MAX_LINE_CHARS) + 1 for line in file.features.text_lines[first - 1 : last]) <= MAX_CHARS


def _extended_end(file: RankedFile, position: int, first: int, last: int) -> int:
    """Return the last line to show of a named definition: an outline ends too early in a text of several lines."""
    definitions = file.features.document.definitions
    owner, limit = definitions[position].parent, first + MIN_NAMED_LINES
    nearby = (
        definitions[index] for index in range(position + 1, min(position + MIN_NAMED_LINES, len(definitions.names)))
    )
    following = next((item.start_line for item in nearby if item.parent == owner), limit)
    end = min(limit, following, len(file.features.text_lines) + 1) - 1
    while end > last and not file.features.text_lines[end - 1].strip():
        end -= 1
    return max(last, end)


def _position_of(file: RankedFile, line: int) -> int:
    return file.features.document.definitions.nesting.enclosing_position(line)


def _window_around(lines: tuple[int, int], total: int) -> tuple[int, int]:
    """Return ``WINDOW_LINES`` around ``lines`` in a file of ``total`` lines, or as much of a longer range."""
    margin = max(0, WINDOW_LINES - (lines[1] - lines[0] + 1)) // 2
    start = max(1, min(lines[0], total) - margin)
    return start, min(total, max(start + WINDOW_LINES - 1, min(lines[1], start + MAX_WHOLE_LINES)))


def _select_shown(passages: Sequence[_Passage]) -> None:
    """Mark the most valuable passages that do not overlap, within ``MAX_CHARS``, as shown."""
    lines_by_file: dict[int, list[tuple[int, int]]] = defaultdict(list)
    remaining_chars = MAX_CHARS
    for passage in sorted(passages, key=lambda passage: (-passage.value, passage.file_index, passage.start)):
        shown = lines_by_file[passage.file_index]
        is_free = not any(passage.start <= end and start <= passage.end for start, end in shown)
        if 0 < len(passage.text) <= remaining_chars and is_free:
            passage.is_shown = True
            shown.append((passage.start, passage.end))
            remaining_chars -= len(passage.text)


def _file_finding(
    file: RankedFile, passages: Sequence[_Passage], search_query: SearchQuery, corpus: CorpusStatistics
) -> Finding:
    """Return the finding: its best passage, the others that are shown, in file order, and the best that are named."""
    features = file.features
    role = classify_file(features.path).role
    path = printable_path(features.path)
    if not passages:
        why = _reason(file, None, search_query, corpus)
        return Finding(path, kind="doc" if role is FileRole.DOCS else "file", score=file.score, why=why)
    main, *others = passages
    shown = sorted((item for item in others if item.is_shown), key=lambda item: item.start)
    named = [item for item in others if not item.is_shown and item.symbol and item.share >= MIN_NAMED_SHARE]
    definition = features.document.definitions[main.hits.position] if main.hits.position >= 0 else None
    start, end = (main.start, main.end) if main.is_shown else main.lines
    return Finding(
        path=path,
        title=source_lines(features.text_lines, definition.start_line, definition.start_line).strip()
        if definition
        else "",
        symbol=main.symbol,
        kind=_finding_kind(main.hits, definition.name if definition else "", role, search_query),
        start_line=start,
        end_line=end,
        score=file.score,
        why=_reason(file, main.hits, search_query, corpus),
        text=main.text if main.is_shown else "",
        optional_score=main.value,
        whole=main.whole if main.is_shown else main.lines,
        more_excerpts=(
            *(Excerpt(item.symbol, item.start, item.end, item.text, item.value, item.whole) for item in shown),
            *(Excerpt(item.symbol, item.start, item.end) for item in named[:MAX_NAMED_PASSAGES]),
        ),
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


def _line_weights(hits: DefinitionHits, search_query: SearchQuery, corpus: CorpusStatistics) -> dict[int, float]:
    """Return the weight of each line with a hit."""
    weights: dict[int, float] = defaultdict(float)
    for line, terms in hits.line_terms:
        gain = sum(search_query.terms[term] * corpus.idf.get(term, 0.0) for term in terms)
        weights[line] = weights[line] + gain + 0.1
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
    "score": 1.7,
    "name": 0.42,
    "name_words": 0.8,
    "neighbor_words": 0.8,
    "line": 1.25,
    "term_volume": 0.75,
    "length": 1.8,
    "is_qualified": 1.2,
    "is_outside": -2.6,
}
"""Weight of each signal of a definition (``_definition_signals``), scaled to at most 1 within the file."""

SHORT_LINES = 8
"""Lines up to which all definitions count as equally short."""

SHARE_STEEPNESS = 0.5
"""How steeply a definition's share falls with its distance from the best one."""


def rank_definitions(
    features: FileFeatures, search_query: SearchQuery, corpus: CorpusStatistics
) -> list[tuple[float, DefinitionHits]]:
    """Return the definitions of one file with hits, best first, each with its share of the best one's value (0..1]."""
    scored = [(score_definition(features, hits, corpus), hits) for hits in features.definition_hits.values()]
    gain_by_terms: dict[tuple[str, ...], float] = {}
    rows = [
        (_definition_signals(score, features, hits, search_query, corpus, gain_by_terms), hits)
        for score, hits in scored
        if score > 0
    ]
    totals = [0.0] * len(rows)
    for name, weight in WEIGHTS.items():
        values = [row[name] for row, _ in rows]
        maximum = max(values, default=0.0) or 1.0
        totals = [total + weight * value / maximum for total, value in zip(totals, values, strict=True)]
    best = max(totals, default=0.0)
    ranked = sorted(zip(totals, (hits for _, hits in rows), strict=True), key=lambda item: (-item[0], item[1].position))
    return [(math.exp(SHARE_STEEPNESS * (total - best)), hits) for total, hits in ranked]


def _definition_signals(
    score: float,
    features: FileFeatures,
    hits: DefinitionHits,
    search_query: SearchQuery,
    corpus: CorpusStatistics,
    gain_by_terms: dict[tuple[str, ...], float],
) -> dict[str, float]:
    """Return the signals of one definition: scores, name match, best line and total term count.

    ``is_qualified`` says that the query names it with its owner (``Session.send``). What does the work is longer than
    what only has its name; for a question, what is too long to be shown completely counts by what is shown.

    Args:
        gain_by_terms: The gains of the terms of lines, known from other definitions; it grows.
    """
    gains = corpus.term_gains
    definition = features.document.definitions[hits.position] if hits.position >= 0 else None
    name = definition.name if definition else ""
    words = terms_in(name)
    return {
        "score": score,
        "length": math.log1p(max(_line_count(definition, search_query.is_question), SHORT_LINES))
        if definition
        else 0.0,
        "neighbor_words": float(len(search_query.neighbors.keys() & words)),
        "name": search_query.names.get(name, 0.0),
        "name_words": sum([search_query.terms.get(term, 0.0) for term in words]) / (len(words) or 1),
        "line": _best_line(hits, gains, gain_by_terms),
        "term_volume": sum([gains[term] * math.log1p(count) for term, count in hits.terms.items() if term in gains]),
        "is_qualified": float(hits.position in features.qualified_positions),
        "is_outside": float(hits.position < 0),
    }


def _best_line(hits: DefinitionHits, gains: Mapping[str, float], gain_by_terms: dict[tuple[str, ...], float]) -> float:
    """Return the largest sum of the ``gains`` of the terms on one line of the definition."""
    terms_by_line: dict[int, tuple[str, ...]] = {}
    for line, terms in hits.line_terms:
        before = terms_by_line.get(line)
        if before is None:
            terms_by_line[line] = terms
        elif before != terms:
            terms_by_line[line] = before + terms
    best = 0.0
    for terms in {*terms_by_line.values()}:
        gain = gain_by_terms.get(terms)
        if gain is None:
            gain = gain_by_terms[terms] = sum([gains.get(term, 0.0) for term in dict.fromkeys(terms)])
        best = max(best, gain)
    return best


def _line_count(definition: Definition, is_shown_only: bool) -> int:
    """Return how many lines ``definition`` has, or only how many of them can be shown."""
    lines = definition.end_line - definition.start_line + 1
    return WINDOW_LINES if is_shown_only and lines > MAX_WHOLE_LINES else lines
