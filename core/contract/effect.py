"""What should happen, in words that belong to no client. An adapter carries it out, or says how it degrades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .codes import LimitCode
    from .report import TurnReport


@dataclass(frozen=True, slots=True)
class Inject:
    """Put ``text`` before the model, as context that is not an instruction."""

    text: str


@dataclass(frozen=True, slots=True)
class TellUser:
    """Show ``text`` to the person; the model does not see it."""

    text: str


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not let the call happen; ``text`` tells the model why, and the way out."""

    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Let the person decide whether the call happens; ``text`` says what is to be weighed."""

    text: str


@dataclass(frozen=True, slots=True)
class RewriteInput:
    """Let the call happen with ``fields`` of its input replaced, the rest as it was. ``text`` says what changed."""

    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relabel:
    """Show the person other labels to choose from: ``labels`` maps one as it is to what it is called instead."""

    text: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RewriteOutput:
    """Show the model ``text`` in the place of what the tool said."""

    text: str


@dataclass(frozen=True, slots=True)
class PutBefore:
    """Put ``text`` in front of the prompt that is handed to another agent; the rest of the call stays as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class KeepGoing:
    """Do not let the agent end its turn; ``text`` tells it what is left to do."""

    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Let the turn end, whoever wants to send it on; ``text`` tells the person why."""

    text: str


@dataclass(frozen=True, slots=True)
class Compact:
    """The conversation should be summarised now; ``text`` tells the person so where the client cannot be told."""

    text: str


Effect = (
    Inject | TellUser | Deny | Ask | RewriteInput | Relabel | RewriteOutput | PutBefore | KeepGoing | Stop | Compact
)


@dataclass(frozen=True, slots=True)
class Said:
    """What one part of upbeat said to one event, and why: what ``upbeat why`` shows.

    ``part`` is the part's name, ``decided`` its answer in a word or two, ``because`` one sentence, ``looked_at``
    the inputs that it used, ``configured_at`` the file and line of its configuration, if any.
    """

    part: str
    decided: str
    because: str = ""
    looked_at: Mapping[str, Any] = field(default_factory=dict)
    configured_at: str = ""
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one event: the effects in order, the report when a turn was prepared, and why not if not."""

    effects: tuple[Effect, ...] = ()
    report: TurnReport | None = None
    silent_because: LimitCode | None = None
    said: tuple[Said, ...] = ()


NO_OPINION = Decision()
