"""How far a policy has sent turns on, and what stands in the way of sending the next one on; kept in one of its notes.

Law: what ``workflow/loop.py`` honours for a workflow holds here for everybody else. Asking, talking, breaking off and
the kill switch win; a workflow has the floor alone; every turn sent on is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..contract.event import (
    AskingUser,
    Compacting,
    Delegating,
    Event,
    Origin,
    PromptSubmitted,
    SessionStarted,
    ToolStarting,
    TurnEnding,
    TurnFailed,
    TurnInterrupted,
)
from ..turn.intent import read
from ..turn.mask import clip
from ..turn.reading import Intent
from ..workflow.loop import asks_user
from ..workflow.state import RunStatus
from .policy import View
from .silence_continuation import is_quiet

AFTER_COMPACTION_SECONDS = 60.0
"""A model that has just forgotten the conversation is not sent on with what stood in it."""
COOLDOWN_SECONDS = 5.0
"""A turn that ends so soon after it was sent on, with nothing done, has nothing to do."""

_NOTE = "drive "
_MOST_READ = 400
"""Characters at either end of a prompt that tell whether it is a question; to read all of a long one takes 20 ms."""


@dataclass(frozen=True, slots=True)
class Drive:
    """``total`` turns were sent on in all, ``sent`` since the user's last prompt, ``stale`` of them without progress.

    ``at`` is when the last one was, ``compacted_at`` when the conversation was summarised; seconds since the epoch.
    """

    total: int = 0
    sent: int = 0
    stale: int = 0
    errors: int = 0
    """Failed turns in a row."""
    at: float = 0.0
    compacted_at: float = 0.0
    mark: str = ""
    """What progress changes, as it was when a turn was last sent on."""
    is_held: bool = False
    """The user has asked something else, or broke the turn off: this turn may end."""
    has_asked: bool = False
    """The agent has asked its user by the client's tool, and has done nothing since."""
    has_worked: bool = False
    """A tool was called since the last turn was sent on."""
    is_over: bool = False
    """It sends nothing on any more until the user's next prompt."""


LISTENS_TO = (
    PromptSubmitted,
    AskingUser,
    ToolStarting,
    Delegating,
    TurnInterrupted,
    TurnFailed,
    Compacting,
    SessionStarted,
)
"""The events that ``seen`` makes something of."""


def of_notes(notes: Iterable[str]) -> Drive:
    """The drive that stands in ``notes``; a new one where there is none that can be read."""
    note = next((one for one in notes if one.startswith(_NOTE)), "")
    if not note:
        return Drive()
    try:
        given: Any = json.loads(note[len(_NOTE) :])
        return Drive(**{name: value for name, value in given.items() if name in _NAMES and _fits(name, value)})
    except (ValueError, AttributeError):
        return Drive()


def noted(notes: Iterable[str], drive: Drive) -> tuple[str, ...]:
    """``notes`` with ``drive`` among them."""
    others = tuple(one for one in notes if not one.startswith(_NOTE))
    told = {name: value for name, value in asdict(drive).items() if value != _DEFAULTS[name]}
    return (_NOTE + json.dumps(told, separators=(",", ":")), *others) if told else others


def seen(drive: Drive, event: Event, at: float) -> Drive:
    """``drive`` after ``event``: the very same when that changes nothing."""
    if event.source.agent_id:
        return drive
    match event:
        case PromptSubmitted(origin=Origin.USER):
            return replace(
                drive, sent=0, stale=0, errors=0, mark="", has_asked=False, is_over=False, is_held=_asks(event)
            )
        case AskingUser():
            return replace(drive, has_asked=True)
        case ToolStarting() | Delegating() if drive.has_asked or not drive.has_worked:
            return replace(drive, has_asked=False, has_worked=True)
        case TurnInterrupted():
            return replace(drive, is_held=True)
        case TurnFailed():
            return replace(drive, errors=drive.errors + 1)
        case Compacting() | SessionStarted(how="compact"):
            return replace(drive, compacted_at=at)
        case _:
            return drive


def hindrance(event: TurnEnding, view: View, drive: Drive) -> str:
    """Why this turn may end whatever is left to do; empty when nothing stands in the way."""
    run = view.state.run
    if is_quiet(view.state):
        return "quiet"
    if run is not None and run.status in (RunStatus.RUNNING, RunStatus.NEEDS_HUMAN):
        return "a workflow runs"
    standing = (
        ("switched off: loop.enabled", not view.caps.is_on),
        ("it has ended until the next prompt", drive.is_over),
        ("the user asked something else, or broke it off", drive.is_held),
        ("the agent asks its user", drive.has_asked or asks_user(event.message)),
        ("it only plans", event.is_planning),
        ("agents still work", bool(event.running)),
        ("just after a compaction", 0 <= view.at - drive.compacted_at < AFTER_COMPACTION_SECONDS),
        ("nothing was done since", not drive.has_worked and 0 <= view.at - drive.at < COOLDOWN_SECONDS),
    )
    return next((because for because, stands in standing if stands), "")


def released(drive: Drive) -> Drive:
    """``drive`` after a turn that was let go."""
    return replace(drive, is_held=False, has_asked=False)


def sent_on(drive: Drive, at: float, mark: str, stale: int) -> Drive:
    """``drive`` after a turn that was sent on. ``stale`` turns in a row have now ended without progress."""
    return replace(
        drive, total=drive.total + 1, sent=drive.sent + 1, stale=stale, at=at, mark=mark, errors=0, has_worked=False
    )


def _asks(event: PromptSubmitted) -> bool:
    """Whether the prompt is a question; a statement is taken for a word on the work."""
    return asks_user(event.prompt[-_MOST_READ:]) or read(clip(event.prompt[:_MOST_READ])).intent is Intent.DOCS


_DEFAULTS = asdict(Drive())
_NAMES = frozenset(one.name for one in fields(Drive))


def _fits(name: str, value: object) -> bool:
    return type(value) is type(_DEFAULTS[name]) or (type(value) is int and type(_DEFAULTS[name]) is float)
