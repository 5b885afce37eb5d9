"""What upbeat has seen often enough to believe: small habits of a project, each with how sure it is.

Law: pure. A stored observation says how sure it was when it was last seen; ``as_of`` says how sure it is now, and is
never stored, so that forgetting does not depend on how often somebody looks. Nothing is sure before it was seen nine
times.

======================  ==========================================================
first seen              0.30
seen again              + 0.05
contradicted            - 0.10
each whole week unseen  - 0.02
applies                 from 0.70 on
forgotten               below 0.20
======================  ==========================================================
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

START = 0.30
CONFIRMED = 0.05
CONTRADICTED = 0.10
WEEKLY = 0.02
APPLIES = 0.70
FORGOTTEN = 0.20
SKILL_AT = 5
AGENT_AT = 8
MOST_GLOBAL = 50
MOST_PER_PROJECT = 500
WEEK = 7 * 24 * 3600.0


class ObservationType(StrEnum):
    """What an observation is about."""

    ERROR_RESOLUTIONS = "error_resolutions"
    """What made a command succeed that had failed."""
    TOOL_PREFERENCES = "tool_preferences"
    """Which tool would have done what another one was used for."""
    WORKFLOW_ROUTING = "workflow_routing"
    """Which workflow its user chose for which kind of request."""
    AGENT_PERFORMANCE = "agent_performance"
    """How an agent's stages end."""
    WORDING = "wording"
    """How its user wants things put."""


EXCLUSIVE = frozenset({ObservationType.WORKFLOW_ROUTING, ObservationType.AGENT_PERFORMANCE})
"""Types in which one trigger has one action: what is seen contradicts the others."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One thing that was seen once: when ``trigger``, then ``action``. ``agrees`` is False for what speaks against."""

    type: ObservationType
    trigger: str
    action: str
    tag: str
    agrees: bool = True


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that was seen ``count`` times. Times are seconds since the epoch; ``confidence`` is 0 to 1."""

    id: str
    type: ObservationType
    trigger: str
    action: str
    tag: str
    confidence: float
    count: int
    first_seen: float
    last_seen: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """Enough was seen under one tag to make something of it."""

    tag: str
    count: int
    kind: Literal["skill", "agent"]


def observe(known: Iterable[Observation], sightings: Iterable[Sighting], now: float) -> tuple[Observation, ...]:
    """``known`` after ``sightings``, the surest first; what is forgotten by now is gone."""
    found = {one.id: one for one in known}
    for sighting in sightings:
        _add(found, sighting, now)
    left = [one for one in found.values() if _now(one, now).confidence >= FORGOTTEN]
    return tuple(_surest(left)[:MOST_PER_PROJECT])


def as_of(known: Iterable[Observation], now: float) -> tuple[Observation, ...]:
    """``known`` with the confidence that is left at ``now``, the surest first; for showing and deciding."""
    return tuple(_surest(one for one in (_now(one, now) for one in known) if one.confidence >= FORGOTTEN))


def applying(known: Iterable[Observation], now: float) -> tuple[Observation, ...]:
    """Those that are sure enough at ``now`` to act on."""
    return tuple(one for one in as_of(known, now) if one.confidence >= APPLIES)


def graduate(everywhere: Iterable[Observation], project: Iterable[Observation], now: float) -> tuple[Observation, ...]:
    """The user's own list, with what is sure in a project: the surest 50, each as it was last seen."""
    found = {one.id: one for one in everywhere}
    for one in project:
        other = found.get(one.id)
        if _now(one, now).confidence >= APPLIES and (other is None or one.last_seen >= other.last_seen):
            found[one.id] = one
    left = [one for one in found.values() if _now(one, now).confidence >= APPLIES]
    return tuple(sorted(left, key=lambda one: (-_now(one, now).confidence, one.id))[:MOST_GLOBAL])


def proposals(known: Iterable[Observation], now: float) -> tuple[Proposal, ...]:
    """What is worth a skill or an agent of its own: tags with many observations, the most first."""
    tags = Counter(one.tag for one in as_of(known, now) if one.tag)
    return tuple(
        Proposal(tag, count, "agent" if count >= AGENT_AT else "skill")
        for tag, count in sorted(tags.items(), key=lambda item: (-item[1], item[0]))
        if count >= SKILL_AT
    )


def without(known: Iterable[Observation], observation_id: str) -> tuple[Observation, ...]:
    """``known`` without the one of this id."""
    return tuple(one for one in known if one.id != observation_id)


def id_of(sighting: Sighting) -> str:
    """The id of what ``sighting`` is a sighting of: the same on every machine."""
    parts = "\0".join((sighting.type, sighting.trigger, sighting.action, sighting.tag))
    return hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()[:12]


def _add(found: dict[str, Observation], sighting: Sighting, now: float) -> None:
    name = id_of(sighting)
    if sighting.type in EXCLUSIVE and sighting.agrees:
        for other in list(found.values()):
            rival = (other.type, other.trigger, other.tag) == (sighting.type, sighting.trigger, sighting.tag)
            if rival and other.id != name:
                found[other.id] = _moved(other, -CONTRADICTED, now)
    old = found.get(name)
    if old is not None:
        change = CONFIRMED if sighting.agrees else -CONTRADICTED
        seen = _moved(old, change, now)
        found[name] = replace(seen, count=seen.count + 1) if sighting.agrees else seen
    elif sighting.agrees:
        found[name] = Observation(
            name, sighting.type, sighting.trigger, sighting.action, sighting.tag, START, 1, now, now
        )


def _moved(one: Observation, change: float, now: float) -> Observation:
    """``one`` with what time has taken from it, and ``change``; seen now."""
    current = _now(one, now)
    return replace(current, confidence=_bounded(current.confidence + change), last_seen=max(now, one.last_seen))


def _now(one: Observation, now: float) -> Observation:
    weeks = max(0, int((now - one.last_seen) // WEEK))
    return replace(one, confidence=_bounded(one.confidence - WEEKLY * weeks)) if weeks else one


def _bounded(confidence: float) -> float:
    return round(min(1.0, max(0.0, confidence)), 4)


def _surest(some: Iterable[Observation]) -> list[Observation]:
    return sorted(some, key=lambda one: (-one.confidence, -one.last_seen, one.id))
