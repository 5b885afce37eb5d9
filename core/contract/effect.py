"""Effects: what should happen in answer to an event, independent of the client. Adapters execute or degrade them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from upbeat.core.lazy_dataclass import dataclass, field

if TYPE_CHECKING:
    from upbeat.core.contract.codes import LimitCode
    from upbeat.core.contract.report import TurnReport


@dataclass(frozen=True, slots=True)
class _TextEffect:
    """An effect with a text for the model or the user."""

    text: str


class InjectContext(_TextEffect):
    """Add ``text`` to the model's context as data, not as an instruction."""


class NotifyUser(_TextEffect):
    """Show ``text`` to the user; the model does not see it."""


class AnswerPrompt(_TextEffect):
    """Answer the prompt with ``text`` for the user; the prompt does not reach the model."""


class Deny(_TextEffect):
    """Block the call; ``text`` gives the model the reason and an alternative."""


class RequestApproval(_TextEffect):
    """Ask the user to approve the call; ``text`` says what to consider."""


class ApproveCall(_TextEffect):
    """Run the call without asking the user, where the client would ask; ``text`` says why."""


@dataclass(frozen=True, slots=True)
class RewriteInput(_TextEffect):
    """Run the call with ``fields`` of its input replaced; ``text`` says what changed."""

    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RelabelOptions(_TextEffect):
    """Show the user other option labels: ``new_labels`` maps each original label to its replacement."""

    new_labels: Mapping[str, str] = field(default_factory=dict)


class RewriteOutput(_TextEffect):
    """Show the model ``text`` instead of the tool's output."""


class PrependPrompt(_TextEffect):
    """Prepend ``text`` to the prompt for a subagent; the rest of the call is unchanged."""


class ContinueTurn(_TextEffect):
    """Continue the turn; ``text`` tells the agent what is left to do."""


class EndTurn(_TextEffect):
    """End the turn, whatever else would continue it; ``text`` tells the user why."""


class RequestCompaction(_TextEffect):
    """Request a compaction of the conversation; ``text`` asks the user if the client offers no way to request one."""


Effect = (
    InjectContext
    | NotifyUser
    | AnswerPrompt
    | Deny
    | RequestApproval
    | ApproveCall
    | RewriteInput
    | RelabelOptions
    | RewriteOutput
    | PrependPrompt
    | ContinueTurn
    | EndTurn
    | RequestCompaction
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decision of one component about one event, and the reason; shown by ``upbeat why``.

    ``decision`` has a word or two, ``reason`` one sentence; ``inputs`` are the values that were used and
    ``config_location`` is the file and line of the configuration, if any.
    """

    component: str
    decision: str
    reason: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    config_location: str = ""
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """The effects that one part proposes. Those with the lower ``rank`` come first, then by the name of the part.

    ``is_budgeted``: its context counts against what policies and rules may inject.
    """

    part: str
    effects: tuple[Effect, ...]
    rank: int = 50
    explanations: tuple[Explanation, ...] = ()
    is_budgeted: bool = True
    is_held_out: bool = False
    """Its context is withheld to measure the difference it makes (``inject.holdout_percent``)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one event: ordered effects, and the report of the turn or the reason there is none."""

    effects: tuple[Effect, ...] = ()
    report: TurnReport | None = None
    skip_reason: LimitCode | None = None
    explanations: tuple[Explanation, ...] = ()


EMPTY_DECISION = Decision()
