"""The counts that test runners print and people repeat: "12 passed, 1 failed", ``Tests run: 12, Failures: 0``.

Law: a number above zero of failures is a failure, a number above zero of passes without one is a pass, and a zero
alone says nothing. A part of a whole ("11/12 passed") is not a pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from .marker import without

_UNIT = (
    r"(?:(?:unit|integration|e2e|regression|new|existing|acceptance|of the|of)\s+){0,3}"
    r"(?:(?:tests?|test cases|cases|specs?|examples?|checks?|scenarios?|suites?|assertions?)\s+)?"
    r"(?:(?:are|is|were|was|have|has|now|all|both|still)\s+){0,3}"
)
_PASSED = r"(?:passed|passing|passes|pass|green|succeeded|successful)"
_FAILED = r"(?:failed|failing|fails|fail|failures?|red|broken)"
_OTHER_THINGS = r"(?:attempts?|logins?|requests?|cases? (?:are )?(?:covered|handled)|modes?)"
_ZH_UNIT = r"\s*(?:个|项|条|例|组)?\s*(?:单元|集成|回归|端到端)?(?:测试|用例|检查|场景|断言)*\s*"


@dataclass(frozen=True, slots=True)
class Tally:
    """One count. ``good`` is None for one that says nothing by itself; ``is_whole`` when it counts failures too."""

    good: bool | None
    start: int
    end: int
    is_whole: bool = False


Judge = Callable[[re.Match[str]], tuple[bool | None, bool]]


def _number(text: str | None) -> int:
    digits = re.sub(r"\D", "", text or "")[:9]
    return int(digits) if digits else 0


def _bad_count(found: re.Match[str]) -> tuple[bool | None, bool]:
    return (False if _number(found[1]) else None), not _number(found[1])


def _good_count(found: re.Match[str]) -> tuple[bool | None, bool]:
    return (True if _number(found[1]) else None), False


def _share(found: re.Match[str]) -> tuple[bool | None, bool]:
    done, of = _number(found[1]), _number(found[2])
    return (None, False) if not of or done > of else (done == of or None, done == of)


def _run(found: re.Match[str]) -> tuple[bool | None, bool]:
    """Tests run, then failures and perhaps errors."""
    failures = _number(found[2]) + _number(found[3] if found.re.groups > 2 else "")
    return (False if failures else True if _number(found[1]) else None), True


def _good(_found: re.Match[str]) -> tuple[bool | None, bool]:
    return True, True


def _bad(_found: re.Match[str]) -> tuple[bool | None, bool]:
    return False, True


_TABLE: tuple[tuple[str, Judge], ...] = (
    # whole lines of runners
    (r"^[ \t]*test result: ok\. (?=[1-9])[^\n]*?\b0 failed[^\n]*", _good),
    (r"^[ \t]*test result: failed\.[^\n]*", _bad),
    (r"^[ \t]*ok \((?:\d+ tests?, \d+ assertions?)\)", _good),
    (r"^[ \t]*ran ([1-9]\d*) tests? in [^\n]*\n\s*ok\b[^\n]*", _good),
    (r"^[ \t]*failed \((?:failures|errors|unexpected successes|skipped)=[^\n]*", _bad),
    (r"^[ \t]*ok[ \t]+\S+[ \t]+(?:\d[\d.]*s|\(cached\))[^\n]*", _good),
    (r"^[ \t]*-{3} fail:[^\n]*", _bad),
    (r"^fail[ \t]+\S+[ \t]+(?:\d[\d.]*s|\[[^\]\n]*\])[^\n]*", _bad),
    (r"^[ \t]*failed \S+::\S+[^\n]*", _bad),
    (r"^[ \t]*not ok \d+(?![^\n]*# (?:todo|skip))[^\n]*", _bad),
    (r"\bbuild success(?:ful)?\b", _good),
    (r"\bbuild fail(?:ed|ure)\b", _bad),
    (r"\bpassed!\s+-\s+failed:\s+0,[^\n]*", _good),
    (r"\bfailed!\s+-\s+failed:\s+[1-9][^\n]*", _bad),
    (r"\btests run:\s*(\d+),\s*failures:\s*(\d+)(?:,\s*errors:\s*(\d+))?[^\n]*", _run),
    (r"\btests:\s*(\d+), assertions: \d+(?:, errors: \d+)?, failures: (\d+)[^\n]*", _run),
    (r"(?<![\w./])(\d[\d,]*) (?:tests?|examples?|specs?|scenarios?), (\d+|no) failures?(?:, (\d+) errors?)?", _run),
    # label: number
    (r"(?<![\w-])(?:failed|failures?|failing|fail|errors|errored)\s*[:=]\s*(\d[\d,]*)(?![\w.])", _bad_count),
    (r"(?<![\w-])(?:passed|passing|pass|succeeded)\s*[:=]\s*(\d[\d,]*)(?![\w./])", _good_count),
    (r"(?:失败|未通过|不通过|报错)(?:了|数|的?(?:测试|用例)(?:数)?(?:有|为|是)?)?\s*[:：=]\s*(\d+)", _bad_count),
    (r"(?:失败|未通过)(?:了|的?(?:测试|用例)有)\s*(\d+)", _bad_count),
    (r"通过(?:了|数|的?(?:测试|用例)(?:数)?(?:有|为|是)?)?\s*[:：=]\s*(\d+)", _good_count),
    # a part of a whole
    (rf"(?<![\w./-])(\d+)\s*/\s*(\d+)\s*{_UNIT}{_PASSED}(?!\w)", _share),
    (rf"(?<![\w./-])(\d+)\s+(?:out )?of\s+(?:the\s+)?(\d+)\s+{_UNIT}{_PASSED}(?!\w)", _share),
    (rf"(?<![\w./-])(\d+)\s*/\s*(\d+){_ZH_UNIT}(?:已|都|均|全部)*(?:通过|成功)", _share),
    # number word
    (rf"(?<![\w./:-])(\d[\d,]*|no|zero)\s+{_UNIT}(?:did not pass|didn't pass|not passing)(?!\w)", _bad_count),
    (
        rf"(?<![\w./:-])(\d[\d,]*|no|zero)\s+{_UNIT}{_FAILED}(?![\w-])(?!\s+{_OTHER_THINGS})",
        _bad_count,
    ),
    (r"(?<=passed, )(\d+) errors?\b", _bad_count),
    (r"(?<=failed, )(\d+) errors?\b", _bad_count),
    (rf"(?<![\w./:-])(\d[\d,]*)\s+{_UNIT}{_PASSED}(?![\w-])", _good_count),
    (
        rf"(?<![\w./:-])(\d+){_ZH_UNIT}(?:仍|仍然|还|都|均|全部|运行)*(?:失败|未通过|不通过|没有?通过|没过|报错)",
        _bad_count,
    ),
    (rf"(?<![\w./:-])(\d+){_ZH_UNIT}(?:已|已经|现在|现已|都|均|全部|全|运行)*(?:通过|成功|全绿)", _good_count),
    (r"通过了?\s*(\d+)\s*(?:个|项|条|例)(?!失败|未)", _good_count),
    (r"失败了?\s*(\d+)\s*(?:个|项|条|例)?(?!通过)", _bad_count),
    (
        r"(?:没有|无|零)(?:任何|一个)?(?:测试|用例)?(?:的)?(?:失败|未通过)(?:的)?(?:测试|用例|项)?",
        lambda _: (None, True),
    ),
)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], Judge], ...]:
    return tuple((re.compile(pattern, re.MULTILINE), judge) for pattern, judge in _TABLE)


def tallies(folded: str) -> tuple[Tally, ...]:
    """The counts in ``folded`` (lower case, simplified), in order and apart; the more exact form wins."""
    return tuple(sorted(_found(folded), key=lambda tally: tally.start))


def _found(text: str) -> Iterator[Tally]:
    for pattern, judge in _compiled():
        places = []
        for match in pattern.finditer(text):
            good, is_whole = judge(match)
            places.append(match.span())
            yield Tally(good, match.start(), match.end(), is_whole)
        text = without(text, places, "\0")
