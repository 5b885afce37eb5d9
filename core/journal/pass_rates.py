"""Count how many attempts the stages of workflows need until they pass, over records.

Invariant: pure and streaming. A step counts once it has ended; an unclear result is a failed attempt.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from upbeat.core.json_fields import mappings_of, text_of
from upbeat.core.workflow.registry import stage_of_step_key
from upbeat.core.workflow.state import StepVerdict

PASS_AT = 3
"""``pass@k`` is reported for 1 and for this k."""
MAX_SESSIONS = 2000


@dataclass(frozen=True, slots=True)
class StageAttempts:
    """The steps of one stage, and how many of them passed at the first attempt and within ``PASS_AT``."""

    stage: str
    steps: int = 0
    passed_at_once: int = 0
    passed_in_time: int = 0


class PassCounter:
    """Counts over the bodies of records, which it takes in their order."""

    def __init__(self) -> None:
        self._steps: OrderedDict[str, dict[str, list[bool]]] = OrderedDict()
        """Session -> the steps of its current run -> whether each attempt passed."""
        self._counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])

    def add(self, body: Mapping[str, Any]) -> None:
        """Count the steps that end in one record."""
        for fact in mappings_of(body, "facts"):
            kind = fact.get("kind")
            if kind == "workflow_started":
                self._close(text_of(body, "session_id"))
            elif kind == "step_finished":
                self._steps_of(text_of(body, "session_id")).setdefault(text_of(fact, "step_key"), []).append(
                    fact.get("verdict") == StepVerdict.PASS.value
                )

    def stages(self) -> tuple[StageAttempts, ...]:
        """Return the stages, the most frequent first; runs that are not over count as they stand."""
        for session_id in list(self._steps):
            self._close(session_id)
        counts = sorted(self._counts.items(), key=lambda pair: (-pair[1][0], pair[0]))
        return tuple(StageAttempts(stage, *numbers) for stage, numbers in counts if stage)

    def _steps_of(self, session_id: str) -> dict[str, list[bool]]:
        steps = self._steps.setdefault(session_id, {})
        self._steps.move_to_end(session_id)
        if len(self._steps) > MAX_SESSIONS:
            self._close(next(iter(self._steps)))
        return steps

    def _close(self, session_id: str) -> None:
        for stage, attempts in _by_stage(self._steps.pop(session_id, {})):
            numbers = self._counts[stage]
            numbers[0] += 1
            numbers[1] += attempts[0]
            numbers[2] += any(attempts[:PASS_AT])


def _by_stage(steps: Mapping[str, list[bool]]) -> Iterator[tuple[str, list[bool]]]:
    for key, attempts in steps.items():
        yield stage_of_step_key(key), attempts
