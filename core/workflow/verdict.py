"""What an agent's final message says of its stage.

Law: a marker outranks words; unclear means unclear and is never a pass. Words in a fence or a quotation are shown,
not said. A stage that can only pass has passed when its agent says anything but that the work could not be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from ..turn.mask import clip
from .marker import Marker, markers, without
from .wording import RETRO, REVIEWS, TESTS, fold_all, gives_reason, hear, says_undone, signs


class Verdict(StrEnum):
    """How a stage ended. ``unclear`` is never a pass."""

    NONE = ""
    PASS = "pass"  # noqa: S105 -- a verdict
    FAIL = "fail"
    REJECT = "reject"
    ISSUES = "issues"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Reading:
    """A verdict and how it was found. ``call`` and ``stage`` are the marker's; ``quote`` is what decided."""

    verdict: Verdict
    by: Literal["marker", "words", "none"] = "none"
    call: str = ""
    stage: str = ""
    quote: str = ""


MAX_READ = 200_000
"""Characters that are searched for a marker; of a longer message, its beginning and end. Words: always those."""

_RESULTS = {
    **dict.fromkeys(("PASS", "PASSED", "OK", "APPROVE", "APPROVED"), Verdict.PASS),
    **dict.fromkeys(("FAIL", "FAILED", "FAILURE"), Verdict.FAIL),
    **dict.fromkeys(("REJECT", "REJECTED"), Verdict.REJECT),
    **dict.fromkeys(("ISSUE", "ISSUES"), Verdict.ISSUES),
}
_FAMILY = {Verdict.FAIL: TESTS, Verdict.REJECT: REVIEWS, Verdict.ISSUES: RETRO}
_UNIT = re.compile(r"[^.!?。！？；;\n]+(?:[.!?](?!\s|$)[^.!?。！？；;\n]*)*[.!?。！？；;]*")


def read(message: str, accepted: tuple[Verdict, ...]) -> Reading:
    """What ``message`` says of a stage that may end with the verdicts ``accepted``.

    A marker that says FAIL is believed for every stage; one with a bad verdict that is not the stage's own is taken
    for the one that is. Two markers that say different things are unclear, and so is an empty message.
    """
    text = _bounded(message)
    found = markers(text)
    if found:
        return _fitted(_merged(found), accepted)
    if not text.strip():
        return Reading(Verdict.UNCLEAR)
    family = next((_FAMILY[verdict] for verdict in accepted if verdict in _FAMILY), "")
    if not family:
        return _of_work(clip(text))
    heard = hear(clip(text), family)
    if heard.good is None:
        return Reading(Verdict.UNCLEAR)
    return Reading(Verdict.PASS if heard.good else _bad(accepted), "words", quote=heard.quote)


def read_all(message: str) -> tuple[Reading, ...]:
    """One reading for each stage that a marker of ``message`` names, in order; contradictions are unclear."""
    found = markers(_bounded(message))
    stages = dict.fromkeys(one.stage for one in found if one.stage)
    return tuple(_merged([one for one in found if one.stage == stage]) for stage in stages)


def notes(message: str, limit: int = 500) -> str:
    """The sentences of ``message`` that say what is wrong and why, for whoever repairs it; at most ``limit`` long.

    When none does, its beginning.
    """
    text = _bounded(message)
    text = without(text, ((one.start, one.end) for one in markers(text)))
    units = [" ".join(unit.split()) for unit in _UNIT.findall(clip(text))]
    units = [unit for unit in units if any(char.isalnum() for char in unit)]
    telling = [unit for unit in units if _tells(unit)]
    return _fit(telling or units, limit)


def _bounded(message: str) -> str:
    return message if len(message) <= MAX_READ else clip(message)


def _merged(found: Iterable[Marker]) -> Reading:
    """The one thing that all of ``found`` say."""
    found = tuple(found)
    results = {_RESULTS.get(one.result, Verdict.UNCLEAR) for one in found}
    calls = {one.call for one in found if one.call}
    stages = {one.stage for one in found if one.stage}
    return Reading(
        results.pop() if len(results) == 1 else Verdict.UNCLEAR,
        "marker",
        calls.pop() if len(calls) == 1 else "",
        stages.pop() if len(stages) == 1 else "",
        " ".join(dict.fromkeys(one.result[:40] for one in found)),
    )


def _fitted(reading: Reading, accepted: tuple[Verdict, ...]) -> Reading:
    if reading.verdict in (*accepted, Verdict.FAIL, Verdict.PASS, Verdict.UNCLEAR):
        return reading
    return replace(reading, verdict=_bad(accepted))


def _bad(accepted: tuple[Verdict, ...]) -> Verdict:
    """The stage's own word for a bad end."""
    return next((verdict for verdict in accepted if verdict in _FAMILY), Verdict.FAIL)


def _of_work(text: str) -> Reading:
    """A stage that can only pass: done, unless its agent says that it could not be."""
    undone = says_undone(text)
    if undone:
        return Reading(Verdict.FAIL, "words", quote=undone)
    return Reading(Verdict.PASS, "words")


def _tells(unit: str) -> bool:
    folded = fold_all(unit)
    if gives_reason(folded):
        return True
    return any(sign.good is not True for family in (TESTS, REVIEWS, RETRO) for sign in signs(folded, family))


def _fit(units: list[str], limit: int) -> str:
    """As many of ``units`` as fit, whole ones first; a first one that is too long is cut."""
    kept = ""
    for unit in units:
        joined = f"{kept} {unit}" if kept else unit
        if len(joined) > limit:
            return kept or joined[: limit - 1] + "…"
        kept = joined
    return kept
