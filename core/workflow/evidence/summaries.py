"""Read a runner's own summary: how many tests it executed, and how many of them failed.

Invariant: only lines of the form that the runner prints count (``summaries.toml``); a number in a sentence does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from upbeat.core.package_data import load_toml

MAX_LINE = 2000
"""Longer lines are no summaries, unless they are a report."""
MAX_CHARS = 400_000
"""Of longer output the end is read."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PREFIX = re.compile(r"^(?:[\w@/.-]+-\d+\s+\|\s|@?[\w@/.-]+:[\w:.-]+: |\w+#\w+: )")
"""What programs put before the lines of another: ``app-1  | ``, ``web:test: ``."""
_NAME = re.compile(r"^@?[\w@/.-]+(?: [\w:-]+)?: ")
"""The name of a package before a line."""
_COUNT = re.compile(r"(\d+)\s+(?:(?:tests?|scenarios?|features?|specs?|suites?)\s+)?([a-z]+)")
_NAMED_COUNT = re.compile(r"([A-Z][a-z]+): (\d+)")
_PASSED = frozenset({"passed", "passing", "succeeded", "pass", "xpassed", "success", "ok", "passes"})
_FAILED = frozenset(
    {"failed", "failing", "error", "errors", "failures", "fail", "undefined", "broken", "flunked", "fails"}
)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a summary says. ``executed`` is at least 1 if it says that tests passed without saying how many."""

    executed: int
    failed: int


@dataclass(frozen=True, slots=True)
class _Format:
    lines: tuple[re.Pattern[str], ...]
    needs: re.Pattern[str] | None
    dots: re.Pattern[str] | None
    takes_last: bool


@cache
def _format(name: str) -> _Format:
    table: Mapping[str, Any] = load_toml(__package__, "summaries.toml")[name]
    compiled = tuple(re.compile(line) for line in table["lines"])
    needs, dots = (re.compile(table[key], re.MULTILINE) if key in table else None for key in ("needs", "dots"))
    return _Format(compiled, needs, dots, table.get("use") == "last")


def clean_output(output: str) -> str:
    """Return ``output`` without colors and without the prefixes that other programs put before its lines."""
    text = _ANSI.sub("", output[-MAX_CHARS:]).replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(_PREFIX.sub("", line.rstrip()) for line in text.split("\n"))


def read_summary(output: str, formats: Iterable[str]) -> Summary | None:
    """Return what ``output`` (clean) says in the first of ``formats`` that it has; None if it has none of them."""
    found = [summary for name in formats if (summary := _read_format(output, _format(name)))]
    worst = sorted(found, key=lambda one: (not one.failed, not one.executed))
    return worst[0] if worst else None


def read_all_formats(output: str) -> Summary | None:
    """Return what ``output`` says in any known format; a failure counts before a pass."""
    return read_summary(output, load_toml(__package__, "summaries.toml"))


def _read_format(output: str, form: _Format) -> Summary | None:
    if form.needs and not form.needs.search(output):
        return None
    groups = list(_groups(output, form))
    if not groups:
        return _read_dots(output, form.dots) if form.dots else None
    return _add_up(groups)


def _groups(output: str, form: _Format) -> Iterator[dict[str, str]]:
    """Yield the named groups of each matching line; only of the last one of each expression if the format says so."""
    last: dict[int, dict[str, str]] = {}
    for line in output.split("\n"):
        if len(line) > MAX_LINE and not line.startswith(("{", "<", "[")):
            continue
        bare = _NAME.sub("", line)
        for number, pattern in enumerate(form.lines):
            if match := pattern.search(line) or (pattern.search(bare) if bare != line else None):
                groups = {name: value for name, value in match.groupdict().items() if value is not None}
                if not form.takes_last:
                    yield groups
                last[number] = groups
                break
    if form.takes_last:
        yield from last.values()


def _add_up(groups: list[dict[str, str]]) -> Summary:
    sums: dict[str, int] = {}
    for group in groups:
        for name, value in group.items():
            if name in ("counts", "counts2"):
                for kind, number in _split_counts(value, name):
                    sums[kind] = sums.get(kind, 0) + number
            else:
                sums[name] = sums.get(name, 0) + (int(value) if value.isdecimal() else 1)
    failed = sum(sums.get(name, 0) for name in ("failed", "errors", "bad"))
    skipped = sums.get("skipped", 0) + sums.get("excluded", 0)
    passed = sums.get("passed", 0) + sums.get("one", 0)
    counted = max(sums.get("ran", 0), sums.get("total", 0)) - skipped
    executed = passed + failed if "passed" in sums else max(counted, passed)
    says_nothing_ran = "zero" in sums or ("verbose" in sums and "one" not in sums)
    if (not executed and (sums.get("ok") or sums.get("how") or (sums.get("pkg") and "verbose" not in sums))) or (
        not executed and sums.get("weak") and not says_nothing_ran
    ):
        executed = 1
    return Summary(max(executed, 0), failed)


def _split_counts(text: str, form: str) -> Iterator[tuple[str, int]]:
    """Yield ``passed`` and ``failed`` with their numbers from ``12 passed, 3 skipped``."""
    pairs = (
        _COUNT.findall(text) if form == "counts" else [(number, name) for name, number in _NAMED_COUNT.findall(text)]
    )
    for number, word in pairs:
        kind = word.lower()
        if kind in _PASSED:
            yield "passed", int(number)
        elif kind in _FAILED:
            yield "failed", int(number)
        elif kind in ("skipped", "incomplete", "pending", "todo"):
            yield "skipped", int(number)


def _read_dots(output: str, dots: re.Pattern[str]) -> Summary | None:
    """Read the progress line of a runner that was told to print no summary."""
    marks = "".join(match["dots"] for match in dots.finditer(output))
    if not marks:
        return None
    return Summary(sum(marks.count(mark) for mark in ".X"), sum(marks.count(mark) for mark in "FE"))
