"""Parse the verdict on a stage from an agent's final message.

Invariant: a marker overrides prose, and an unclear message is never a pass. Text in fences or quotations does not
count. A stage that can only pass has passed unless its agent reports that the work could not be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from upbeat.core.prompt.quoted_spans import clip_prompt
from upbeat.core.workflow.state import StepVerdict
from upbeat.core.workflow.verdict.marker import VerdictMarker, blank_out, find_verdict_markers
from upbeat.core.workflow.verdict.prose import (
    RETRO,
    REVIEWS,
    TESTS,
    classify_prose,
    find_cues,
    has_reason,
    normalize_for_matching,
    reports_not_done,
)

BAD_VERDICTS = (StepVerdict.FAIL, StepVerdict.REJECT, StepVerdict.ISSUES)
"""Negative verdicts from worst to mildest; of several, the first decides which repairs come first."""


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """A verdict, with the call and the step that its marker names; empty if it names none, or there is no marker."""

    verdict: StepVerdict
    call_id: str = ""
    step_key: str = ""


MAX_SCANNED_CHARS = 200_000
"""Characters searched for a marker; of a longer message, the beginning and the end."""

_VERDICT_BY_WORD = {
    **dict.fromkeys(("PASS", "PASSED", "OK", "APPROVE", "APPROVED"), StepVerdict.PASS),
    **dict.fromkeys(("FAIL", "FAILED", "FAILURE"), StepVerdict.FAIL),
    **dict.fromkeys(("REJECT", "REJECTED"), StepVerdict.REJECT),
    **dict.fromkeys(("ISSUE", "ISSUES"), StepVerdict.ISSUES),
}
_STAGE_TYPE_BY_VERDICT = {StepVerdict.FAIL: TESTS, StepVerdict.REJECT: REVIEWS, StepVerdict.ISSUES: RETRO}
_SENTENCE = re.compile(r"[^.!?。！？；;\n]+(?:[.!?](?!\s|$)[^.!?。！？；;\n]*)*[.!?。！？；;]*")


def parse_verdict(message: str, accepted: tuple[StepVerdict, ...]) -> ParsedVerdict:
    """Return the verdict of ``message`` on a stage whose verdicts are ``accepted``.

    FAIL in a marker counts for every stage; any other negative verdict is mapped to the stage's own. Contradicting
    markers are unclear, and so is an empty message.
    """
    text = _limit_length(message)
    if markers := find_verdict_markers(text):
        parsed = _merge_markers(markers)
        if parsed.verdict in (*accepted, StepVerdict.FAIL, StepVerdict.PASS, StepVerdict.UNCLEAR):
            return parsed
        return replace(parsed, verdict=_bad_verdict_of(accepted))
    if not text.strip():
        return ParsedVerdict(StepVerdict.UNCLEAR)
    text = clip_prompt(text)
    stage_type = next((_STAGE_TYPE_BY_VERDICT[word] for word in accepted if word in _STAGE_TYPE_BY_VERDICT), "")
    is_pass = classify_prose(text, stage_type) if stage_type else not reports_not_done(text)
    if is_pass is None:
        return ParsedVerdict(StepVerdict.UNCLEAR)
    return ParsedVerdict(StepVerdict.PASS if is_pass else _bad_verdict_of(accepted))


def contradicts_pass(message: str, accepted: tuple[StepVerdict, ...]) -> bool:
    """Return whether the text after the last marker says that the stage has not passed: ``… but 3 tests fail``."""
    text = _limit_length(message)
    markers = find_verdict_markers(text)
    rest = text[markers[-1].end :] if markers else ""
    if not any(char.isalpha() for char in rest):
        return False
    stage_type = next((_STAGE_TYPE_BY_VERDICT[word] for word in accepted if word in _STAGE_TYPE_BY_VERDICT), "")
    return classify_prose(rest, stage_type) is False if stage_type else reports_not_done(rest)


def parse_stage_verdicts(message: str) -> tuple[ParsedVerdict, ...]:
    """Return one verdict for each step that a marker of ``message`` names, in order; contradictions are unclear."""
    markers = find_verdict_markers(_limit_length(message))
    step_keys = dict.fromkeys(marker.step_key for marker in markers if marker.step_key)
    return tuple(_merge_markers(marker for marker in markers if marker.step_key == key) for key in step_keys)


def extract_failure_notes(message: str, limit: int = 500) -> str:
    """Return the sentences of ``message`` that explain the failure, or its beginning; at most ``limit`` characters."""
    text = _limit_length(message)
    text = blank_out(text, ((marker.start, marker.end) for marker in find_verdict_markers(text)))
    sentences = [" ".join(sentence.split()) for sentence in _SENTENCE.findall(clip_prompt(text))]
    sentences = [sentence for sentence in sentences if any(char.isalnum() for char in sentence)]
    kept = ""
    for sentence in list(filter(_explains_failure, sentences)) or sentences:
        joined = f"{kept} {sentence}" if kept else sentence
        if len(joined) > limit:
            return kept or joined[: limit - 1] + "…"
        kept = joined
    return kept


def _limit_length(message: str) -> str:
    return message if len(message) <= MAX_SCANNED_CHARS else clip_prompt(message)


def _merge_markers(markers: Iterable[VerdictMarker]) -> ParsedVerdict:
    """Return the verdict that all of ``markers`` agree on; unclear if they differ."""
    markers = tuple(markers)
    results = {_VERDICT_BY_WORD.get(marker.result, StepVerdict.UNCLEAR) for marker in markers}
    calls = {marker.call_id for marker in markers if marker.call_id}
    stages = {marker.step_key for marker in markers if marker.step_key}
    return ParsedVerdict(
        results.pop() if len(results) == 1 else StepVerdict.UNCLEAR,
        calls.pop() if len(calls) == 1 else "",
        stages.pop() if len(stages) == 1 else "",
    )


def _bad_verdict_of(accepted: tuple[StepVerdict, ...]) -> StepVerdict:
    """Return the stage's own negative verdict."""
    return next((verdict for verdict in accepted if verdict in _STAGE_TYPE_BY_VERDICT), StepVerdict.FAIL)


def _explains_failure(sentence: str) -> bool:
    normalized = normalize_for_matching(sentence)
    cues = (cue for stage_type in (TESTS, REVIEWS, RETRO) for cue in find_cues(normalized, stage_type))
    return has_reason(normalized) or any(cue.is_positive is not True for cue in cues)
