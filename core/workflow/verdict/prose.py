"""Classify the prose of a message without a verdict marker: does it report that a stage passed or failed?

Invariant: doubt never results in a pass. A statement that is negated, expected, past, fixed, conditional, fenced or
quoted does not count. Contradicting statements are unclear, unless the negative one comes last.

Test counts ("12 passed, 1 failed", ``Tests run: 12, Failures: 0``) are statements, too: failures above zero are a
failure; passes above zero without failures are a pass; a zero alone means nothing. A part of a whole ("11/12 passed")
is not a pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from upbeat.core.package_data import load_rows, load_toml
from upbeat.core.prompt.phrases import to_simplified
from upbeat.core.prompt.quoted_spans import SpanKind, mask_prompt
from upbeat.core.workflow.verdict.marker import blank_out

TESTS = "tests"
REVIEWS = "reviews"
RETRO = "retro"

_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$|[*_)\"'])|[。！？!?；;\n]+")
_CLAUSE_END = re.compile(
    r"[,，:：、()|]|\s[-–—]+\s|[-=]>|→|\b(?:but|however|and|while|whereas|though|although|yet|so)\b"
    r"|但是?|不过|然而|可是|并且|而且|因此|所以"
)
_DECORATION = re.compile(r"[*#✅❌✔✗✘🟢🔴☑\ufe0f]|(?<![\w])_+|_+(?!\w)|^[ \t]*[-+>][ \t]", re.MULTILINE)
_QUESTION = re.compile(r"[?？]\s*\Z|[吗呢]\s*[?？。]?\s*\Z")
_ALTERNATIVE = re.compile(r"(?:\bor|\bnor|或|/|\|)\s{0,2}\Z")
_POSITIVE_VERDICTS = {TESTS: ("pass",), REVIEWS: ("pass", "approve"), RETRO: ("pass",)}
_NEGATIVE_VERDICTS = {TESTS: ("fail",), REVIEWS: ("fail", "reject"), RETRO: ("fail", "issues")}
_CONTEXT_CHARS = 400
"""Maximum number of characters of a sentence examined on each side of a cue."""

MAX_CUES = 200
"""If there are more, only the last ones count."""

_ZH_NEGATION_REACH = 10
"""Number of characters a Chinese negation applies to."""


@dataclass(frozen=True, slots=True)
class ResultCount:
    """One count. ``is_positive`` is None if it means nothing by itself; ``covers_all`` if it includes failures."""

    is_positive: bool | None
    start: int
    end: int
    covers_all: bool = False


@dataclass(frozen=True, slots=True)
class VerdictCue:
    """One statement about the result. ``is_positive`` is None for a doubt, which prevents a pass and nothing more."""

    is_positive: bool | None
    start: int
    end: int
    covers_all: bool = False
    """It is about everything, such as "all tests", or includes a count of failures."""


def normalize_for_matching(text: str) -> str:
    """Return ``text`` in lower case and simplified characters, with all offsets unchanged."""
    return to_simplified(text).translate(_extra_simplified())


@cache
def _extra_simplified() -> dict[int, str]:
    return str.maketrans(load_toml(__package__, "phrases.toml")["extra_simplified"])


def classify_prose(text: str, stage_type: str) -> bool | None:
    """Return whether ``text`` (without markers) reports a pass of a stage of ``stage_type``; None if it is unclear."""
    normalized = _blank_quoted(text)
    cues = find_cues(normalized, stage_type)
    positive = [cue for cue in cues if cue.is_positive]
    negative = [cue for cue in cues if cue.is_positive is False]
    if not positive:
        return False if negative else None
    last = positive[-1]
    sentence = _sentence_around(normalized, last.start)
    if negative:
        start = negative[-1].start
        if start > last.start or _sentence_around(normalized, start) == sentence:
            return False
    if len(positive) + len(negative) < len(cues):
        return None
    return True if not negative or (last.covers_all and _matches("present", sentence[0])) else None


def reports_not_done(text: str) -> bool:
    """Return whether a sentence of ``text`` clearly states that the work could not be done."""
    normalized = _blank_quoted(text)
    start = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(normalized)), len(normalized)):
        sentence = normalized[start:end]
        indent = len(sentence) - len(sentence.lstrip())
        if match := _compile_table("not_done").search(sentence[indent:]):
            before = sentence[: indent + match.start()]
            if not any(_matches(table, before) for table in ("condition", "past", "negation")):
                return True
        start = end
    return False


def has_reason(normalized: str) -> bool:
    """Return whether a sentence contains a word that gives a reason."""
    return _matches("reasons", normalized)


def find_cues(normalized: str, stage_type: str) -> tuple[VerdictCue, ...]:
    """Return the statements in ``normalized`` that count, in order."""
    return tuple(sorted(_iter_cues(normalized, stage_type), key=lambda cue: cue.start))


def _iter_cues(normalized: str, stage_type: str) -> Iterator[VerdictCue]:
    counted = []
    if stage_type == TESTS:
        counts = find_result_counts(normalized)
        none_failed = any(count.is_positive is None and count.covers_all for count in counts)
        for count in counts[-MAX_CUES:]:
            counted.append((count.start, count.end))
            if count.is_positive is not None:
                cue = VerdictCue(count.is_positive, count.start, count.end, count.covers_all or none_failed)
                yield from _interpret_cue(normalized, cue, stage_type)
        yield from _iter_doubts(normalized)
    normalized = blank_out(normalized, counted)
    for is_positive, verdicts in ((False, _NEGATIVE_VERDICTS), (True, _POSITIVE_VERDICTS)):
        matches = list(_standalone_pattern(verdicts[stage_type]).finditer(normalized))
        for match in matches:
            if match.end() > match.start():
                yield VerdictCue(is_positive, match.start("said"), match.end(), covers_all=True)
        normalized = blank_out(normalized, (match.span() for match in matches))
    for is_positive, match in list(_iter_phrases(normalized, stage_type))[-MAX_CUES:]:
        if not _ALTERNATIVE.search(normalized[max(match.start() - 5, 0) : match.start()]):
            covers_all = _matches("completeness", _clause_around(normalized, *match.span())[0] + match[0])
            cue = VerdictCue(is_positive, match.start(), match.end(), covers_all)
            yield from _interpret_cue(normalized, cue, stage_type)


def _iter_doubts(normalized: str) -> Iterator[VerdictCue]:
    """Yield doubts: something was not run or ended abnormally."""
    for match in list(_compile_table("doubt").finditer(normalized))[-MAX_CUES:]:
        sentence, start = _sentence_around(normalized, match.start())
        if not _matches("description", sentence[: match.start() - start]):
            for cue in _interpret_cue(normalized, VerdictCue(False, match.start(), match.end()), TESTS):
                yield VerdictCue(None, cue.start, cue.end)


def _is_limited(sentence: str, before: str, later: str, stage_type: str) -> bool:
    """Return whether a positive statement holds only for a part, or not yet."""
    if _matches("partial", before) or _matches("exception", sentence) or _matches("contrast", later):
        return True
    return stage_type == REVIEWS and _matches("postponed", sentence)


def _iter_phrases(normalized: str, stage_type: str) -> Iterator[tuple[bool, re.Match[str]]]:
    """Yield the matching phrases; of two that overlap, the one that begins first, then the longer one."""
    matches = [
        (is_positive, match)
        for is_positive, table in ((False, "negative"), (True, "positive"))
        for match in _compile_table(table, stage_type).finditer(normalized)
    ]
    end = 0
    for is_positive, match in sorted(matches, key=lambda item: (item[1].start(), -item[1].end())):
        if match.start() >= end:
            yield is_positive, match
            end = match.end()


def _interpret_cue(normalized: str, cue: VerdictCue, stage_type: str) -> Iterator[VerdictCue]:
    """Yield ``cue`` as its context modifies it: unchanged, as a doubt, or not at all."""
    before, after = _clause_around(normalized, cue.start, cue.end)
    sentence, start = _sentence_around(normalized, cue.start)
    earlier, later = sentence[: cue.start - start], sentence[cue.end - start :]
    if _QUESTION.search(sentence) or _matches("condition", earlier) or _matches("hypothesis", before):
        return
    if _is_denied(before) or (cue.is_positive and _is_limited(sentence, before, later, stage_type)):
        return
    if _matches("condition", later):
        if not cue.is_positive:
            yield VerdictCue(None, cue.start, cue.end)
        return
    own = before + normalized[cue.start : cue.end] + after
    is_present = _matches("persisting", own)
    was = _last_end("past", earlier) > _last_end("present", earlier) or _matches("past", after)
    if was and not is_present:
        return
    is_about = _matches("description", before) or (
        normalized.startswith("fail", cue.start) and _matches("naming", before)
    )
    is_repaired = _matches("repaired", before) or _matches("repaired", later)
    if not cue.is_positive and not is_present and (is_about or is_repaired):
        return
    yield cue


def _blank_quoted(text: str) -> str:
    """Return ``text`` normalized, with fences, quotations and decoration blanked out."""
    shown = (SpanKind.FENCE, SpanKind.INLINE, SpanKind.QUOTE, SpanKind.URL)
    spans = ((span.start, span.end) for span in mask_prompt(text).spans if span.kind in shown)
    return _DECORATION.sub(lambda match: " " * len(match[0]), normalize_for_matching(blank_out(text, spans)))


def _sentence_around(text: str, offset: int) -> tuple[str, int]:
    """Return the sentence around ``offset``, within the context limit, and its start."""
    low, high = max(offset - _CONTEXT_CHARS, 0), min(offset + _CONTEXT_CHARS, len(text))
    ends = [low, *(match.end() for match in _SENTENCE_END.finditer(text, low, high)), high]
    start = max(end for end in ends if end <= offset)
    return text[start : min((end for end in ends if end > offset), default=high)], start


def _clause_around(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the text before and after a span in its clause."""
    sentence, offset = _sentence_around(text, start)
    low, high = start - offset, max(end - offset, 0)
    cuts = list(_CLAUSE_END.finditer(sentence))
    left = max((cut.end() for cut in cuts if cut.end() <= low), default=0)
    right = min((cut.start() for cut in cuts if cut.start() >= high), default=len(sentence))
    return sentence[left:low], sentence[high:right]


def _is_denied(before: str) -> bool:
    matches = list(_compile_table("negation").finditer(before))
    if not matches:
        return False
    last = matches[-1]
    return last[0].isascii() or len(before) - last.end() <= _ZH_NEGATION_REACH


def _matches(table: str, text: str) -> bool:
    return _compile_table(table).search(text) is not None


def _last_end(table: str, text: str) -> int:
    return max((match.end() for match in _compile_table(table).finditer(text)), default=-1)


def _patterns(table: str, key: str = "") -> list[str]:
    """Return the patterns of a table of ``phrases.toml``, with its fragments filled in."""
    tables = load_toml(__package__, "phrases.toml")
    text: str = tables[table][key] if key else tables[table]
    for name, fragment in tables["fragments"].items():
        text = text.replace(f"{{{name}}}", fragment)
    return [pattern for line in text.splitlines() for pattern in line.split("  ")]


@cache
def _compile_table(table: str, key: str = "") -> re.Pattern[str]:
    """Return one pattern for a whole table; ASCII patterns match whole words."""
    parts = (rf"(?<![a-z0-9_]){part}(?![a-z0-9_])" if part.isascii() else part for part in _patterns(table, key))
    return re.compile("|".join(f"(?:{part})" for part in parts), re.MULTILINE)


@cache
def _standalone_pattern(verdicts: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for a verdict alone on its line or after a label and a colon, unless it is one of several."""
    said = "|".join(pattern for verdict in verdicts for pattern in _patterns("standalone", verdict))
    labels = "|".join(_patterns("labels"))
    return re.compile(
        rf"(?:^[ \t]*|(?:{labels})\s{{0,3}}(?:[:：=—–-]+|\bis\b|是|为)\s{{0,4}})(?P<said>{said})"
        r"(?![a-z0-9_])(?=[ \t]*(?:[.!。！,，;；:：(（—–-]|$))(?!\s{0,3}(?:/|\||-\w|\bor\b|或))",
        re.MULTILINE,
    )


# Counts


def find_result_counts(normalized: str) -> tuple[ResultCount, ...]:
    """Return the counts in ``normalized`` (lower case, simplified), in order; the more exact pattern wins."""
    counts: list[ResultCount] = []
    for kind, pattern in _count_patterns():
        matches = list(pattern.finditer(normalized))
        for match in matches:
            is_positive, covers_all = _interpret_count(kind, match)
            counts.append(ResultCount(is_positive, match.start(), match.end(), covers_all))
        normalized = blank_out(normalized, (match.span() for match in matches), "\0")
    return tuple(sorted(counts, key=lambda count: count.start))


@cache
def _count_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    compiled = []
    for kind, pattern in load_rows(__package__, "counts.tsv"):
        for name, fragment in load_toml(__package__, "count_fragments.toml").items():
            pattern = pattern.replace(f"{{{name}}}", fragment)
        compiled.append((kind, re.compile(pattern, re.MULTILINE)))
    return tuple(compiled)


def _interpret_count(kind: str, match: re.Match[str]) -> tuple[bool | None, bool]:
    """Return whether a count of this ``kind`` (the first column of ``counts.tsv``) is positive and covers failures."""
    numbers = [int(re.sub(r"\D", "", text or "")[:9] or 0) for text in match.groups()]
    match kind:
        case "failed":
            return (False if numbers[0] else None), not numbers[0]
        case "passed":
            return (True if numbers[0] else None), False
        case "fraction":
            done, total = numbers
            return (None, False) if not total or done > total else (done == total or None, done == total)
        case "summary":  # tests, failures, and errors in some formats
            return (False if sum(numbers[1:]) else True if numbers[0] else None), True
        case "neutral":  # failures that the tests expect
            return None, False
        case _:
            return {"positive": True, "negative": False, "none_failed": None}[kind], True
