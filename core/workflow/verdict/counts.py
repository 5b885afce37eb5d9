"""Find the test counts in output and reports: "12 passed, 1 failed", ``Tests run: 12, Failures: 0``.

Invariant: failures above zero are a failure; passes above zero without failures are a pass; a zero alone means
nothing. A part of a whole ("11/12 passed") is not a pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from upbeat.core.package_data import load_rows
from upbeat.core.workflow.verdict.marker import blank_out

_FRAGMENTS = {
    "unit": (
        r"(?:(?:unit|integration|e2e|regression|new|existing|acceptance|of the|of)\s+){0,3}"
        r"(?:(?:tests?|test cases|cases|specs?|examples?|checks?|scenarios?|suites?|assertions?)\s+)?"
        r"(?:(?:are|is|were|was|have|has|now|all|both|still)\s+){0,3}"
    ),
    "passed": r"(?:passed|passing|passes|pass|green|succeeded|successful)",
    "failed": r"(?:failed|failing|fails|fail|failures?|red|broken)",
    "non_tests": r"(?:attempts?|logins?|requests?|cases? (?:are )?(?:covered|handled)|modes?)",
    "zh_unit": r"\s*(?:个|项|条|例|组)?\s*(?:单元|集成|回归|端到端)?(?:测试|用例|检查|场景|断言)*\s*",
}


@dataclass(frozen=True, slots=True)
class ResultCount:
    """One count. ``is_positive`` is None if it means nothing by itself; ``covers_all`` if it includes failures."""

    is_positive: bool | None
    start: int
    end: int
    covers_all: bool = False


CountParser = Callable[[re.Match[str]], tuple[bool | None, bool]]


def _parse_number(text: str | None) -> int:
    digits = re.sub(r"\D", "", text or "")[:9]
    return int(digits) if digits else 0


def _parse_failed_count(match: re.Match[str]) -> tuple[bool | None, bool]:
    return (False if _parse_number(match[1]) else None), not _parse_number(match[1])


def _parse_passed_count(match: re.Match[str]) -> tuple[bool | None, bool]:
    return (True if _parse_number(match[1]) else None), False


def _parse_fraction(match: re.Match[str]) -> tuple[bool | None, bool]:
    done, of = _parse_number(match[1]), _parse_number(match[2])
    return (None, False) if not of or done > of else (done == of or None, done == of)


def _parse_run_summary(match: re.Match[str]) -> tuple[bool | None, bool]:
    """Parse the number of tests, then failures and optionally errors."""
    failures = _parse_number(match[2]) + _parse_number(match[3] if match.re.groups > 2 else "")
    return (False if failures else True if _parse_number(match[1]) else None), True


_PARSERS: dict[str, CountParser] = {
    "failed": _parse_failed_count,
    "passed": _parse_passed_count,
    "fraction": _parse_fraction,
    "summary": _parse_run_summary,
    "positive": lambda _match: (True, True),
    "negative": lambda _match: (False, True),
    "none_failed": lambda _match: (None, True),
}


@cache
def _compile_patterns() -> tuple[tuple[re.Pattern[str], CountParser], ...]:
    compiled = []
    for parser, pattern in load_rows(__package__, "counts.tsv"):
        for name, fragment in _FRAGMENTS.items():
            pattern = pattern.replace(f"{{{name}}}", fragment)
        compiled.append((re.compile(pattern, re.MULTILINE), _PARSERS[parser]))
    return tuple(compiled)


def find_result_counts(normalized: str) -> tuple[ResultCount, ...]:
    """Return the counts in ``normalized`` (lower case, simplified), in order; the more exact pattern wins."""
    return tuple(sorted(_iter_result_counts(normalized), key=lambda count: count.start))


def _iter_result_counts(text: str) -> Iterator[ResultCount]:
    for pattern, parse in _compile_patterns():
        spans = []
        for match in pattern.finditer(text):
            is_positive, covers_all = parse(match)
            spans.append(match.span())
            yield ResultCount(is_positive, match.start(), match.end(), covers_all)
        text = blank_out(text, spans, "\0")
