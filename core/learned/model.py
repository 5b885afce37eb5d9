"""Learned habits of a project, each with a confidence score.

Invariant: pure. A stored habit has its confidence when it was last observed; the decayed confidence is computed on
reading and never stored, so that decay does not depend on how often habits are read. A habit needs nine observations
to apply.

==========================  ======
first observation           0.30
each further observation    + 0.05
contradiction               - 0.10
each week without           - 0.02
applies at                  0.70
is forgotten below          0.20
==========================  ======
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

INITIAL_CONFIDENCE = 0.30
CONFIRMATION_GAIN = 0.05
CONTRADICTION_LOSS = 0.10
WEEKLY_DECAY = 0.02
APPLY_THRESHOLD = 0.70
FORGET_THRESHOLD = 0.20
SKILL_MIN_HABITS = 5
AGENT_MIN_HABITS = 8
MAX_GLOBAL_HABITS = 50
MAX_PROJECT_HABITS = 500
WEEK_SECONDS = 7 * 24 * 3600.0


class HabitType(StrEnum):
    """The subject of a habit."""

    ERROR_RESOLUTIONS = "error_resolutions"
    """What made a failed command succeed."""
    TOOL_PREFERENCES = "tool_preferences"
    """Which tool would have replaced the one that was used."""
    WORKFLOW_ROUTING = "workflow_routing"
    """Which workflow the user chooses for a kind of request."""
    AGENT_PERFORMANCE = "agent_performance"
    """How the stages of an agent end."""
    WORDING = "wording"
    """How the user wants things phrased."""


EXCLUSIVE_TYPES = frozenset({HabitType.WORKFLOW_ROUTING, HabitType.AGENT_PERFORMANCE})
"""Types in which a trigger has one action: an observation contradicts the others."""


@dataclass(frozen=True, slots=True)
class HabitObservation:
    """One observation: when ``trigger``, then ``action``."""

    type: HabitType
    trigger: str
    action: str
    tag: str


@dataclass(frozen=True, slots=True)
class Habit:
    """A habit observed ``count`` times. Times are seconds since the epoch; ``confidence`` is 0 to 1."""

    id: str
    type: HabitType
    trigger: str
    action: str
    tag: str
    confidence: float
    count: int
    first_seen: float
    last_seen: float


@dataclass(frozen=True, slots=True)
class AutomationSuggestion:
    """One tag has enough habits to justify a skill or an agent."""

    tag: str
    count: int
    kind: Literal["skill", "agent"]


def update_habits(habits: Iterable[Habit], observations: Iterable[HabitObservation], now: float) -> tuple[Habit, ...]:
    """Return ``habits`` after ``observations`` without forgotten ones, the most confident first."""
    by_id = {habit.id: habit for habit in habits}
    for observation in observations:
        _apply_observation(by_id, observation, now)
    kept = [habit for habit in by_id.values() if _decay(habit, now).confidence >= FORGET_THRESHOLD]
    return tuple(_by_confidence(kept)[:MAX_PROJECT_HABITS])


def decay_habits(habits: Iterable[Habit], now: float) -> tuple[Habit, ...]:
    """Return ``habits`` with their confidence at ``now``, the most confident first."""
    decayed = (_decay(habit, now) for habit in habits)
    return tuple(_by_confidence(habit for habit in decayed if habit.confidence >= FORGET_THRESHOLD))


def reliable_habits(habits: Iterable[Habit], now: float) -> tuple[Habit, ...]:
    """Return the habits that apply at ``now``."""
    return tuple(habit for habit in decay_habits(habits, now) if habit.confidence >= APPLY_THRESHOLD)


def promote_habits(global_habits: Iterable[Habit], project_habits: Iterable[Habit], now: float) -> tuple[Habit, ...]:
    """Return the user's habits plus those that apply in a project: the most confident ones, as last observed."""
    by_id = {habit.id: habit for habit in global_habits}
    for habit in project_habits:
        known = by_id.get(habit.id)
        if _decay(habit, now).confidence >= APPLY_THRESHOLD and (known is None or habit.last_seen >= known.last_seen):
            by_id[habit.id] = habit
    kept = [habit for habit in by_id.values() if _decay(habit, now).confidence >= APPLY_THRESHOLD]
    return tuple(sorted(kept, key=lambda habit: (-_decay(habit, now).confidence, habit.id))[:MAX_GLOBAL_HABITS])


def suggest_automations(habits: Iterable[Habit], now: float) -> tuple[AutomationSuggestion, ...]:
    """Return the tags that justify a skill or an agent, those with the most habits first."""
    tags = Counter(habit.tag for habit in decay_habits(habits, now) if habit.tag)
    return tuple(
        AutomationSuggestion(tag, count, "agent" if count >= AGENT_MIN_HABITS else "skill")
        for tag, count in sorted(tags.items(), key=lambda item: (-item[1], item[0]))
        if count >= SKILL_MIN_HABITS
    )


def remove_habit(habits: Iterable[Habit], habit_id: str) -> tuple[Habit, ...]:
    """Return ``habits`` without the one with this ID."""
    return tuple(habit for habit in habits if habit.id != habit_id)


def habit_id_of(observation: HabitObservation) -> str:
    """Return the ID of the observed habit; it is the same on every machine."""
    parts = "\0".join((observation.type, observation.trigger, observation.action, observation.tag))
    return hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()[:12]


def _apply_observation(habits: dict[str, Habit], observation: HabitObservation, now: float) -> None:
    name = habit_id_of(observation)
    if observation.type in EXCLUSIVE_TYPES:
        trigger = (observation.type, observation.trigger, observation.tag)
        for other in list(habits.values()):
            if (other.type, other.trigger, other.tag) == trigger and other.id != name:
                habits[other.id] = _adjust_confidence(other, -CONTRADICTION_LOSS, now)
    old = habits.get(name)
    if old is not None:
        habits[name] = replace(_adjust_confidence(old, CONFIRMATION_GAIN, now), count=old.count + 1)
    else:
        type_, trigger_, action, tag = observation.type, observation.trigger, observation.action, observation.tag
        habits[name] = Habit(name, type_, trigger_, action, tag, INITIAL_CONFIDENCE, 1, now, now)


def _adjust_confidence(habit: Habit, change: float, now: float) -> Habit:
    """Return the habit as observed now, its decayed confidence changed by ``change``."""
    confidence = _clamp_confidence(_decay(habit, now).confidence + change)
    return replace(habit, confidence=confidence, last_seen=max(now, habit.last_seen))


def _decay(habit: Habit, now: float) -> Habit:
    weeks = max(0, int((now - habit.last_seen) // WEEK_SECONDS))
    return replace(habit, confidence=_clamp_confidence(habit.confidence - WEEKLY_DECAY * weeks)) if weeks else habit


def _clamp_confidence(confidence: float) -> float:
    return round(min(1.0, max(0.0, confidence)), 4)


def _by_confidence(habits: Iterable[Habit]) -> list[Habit]:
    return sorted(habits, key=lambda habit: (-habit.confidence, -habit.last_seen, habit.id))
