"""The analysis of a prompt: intent, signals and targets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Intent(StrEnum):
    """What the user wants. ``none``: the words leave no doubt that it is not code; a question is ``docs``."""

    DEBUG = "debug"
    REFACTOR = "refactor"
    DOCS = "docs"
    FEATURE = "feature"
    NONE = "none"


class SignalType(StrEnum):
    """The kinds of sign that a prompt is about code; ``SIGNAL_WEIGHTS`` has their weights."""

    EXPLICIT = "explicit"
    """The prompt names a file, an identifier or an error, or makes an explicit request."""
    IMPLICIT = "implicit"
    """Technical terms: function, test, endpoint, 函数, 報錯."""
    HISTORICAL = "historical"
    """References to the past: last commit, regression, used to work, 之前."""
    CODE = "code"
    """The prompt contains code, a diff or a stack trace."""


SIGNAL_WEIGHTS = {
    SignalType.EXPLICIT: 0.8,
    SignalType.IMPLICIT: 0.6,
    SignalType.HISTORICAL: 0.6,
    SignalType.CODE: 0.7,
}


@dataclass(frozen=True, slots=True)
class PromptSignal:
    """One sign that a prompt is about code."""

    type: SignalType
    match: str


@dataclass(frozen=True, slots=True)
class Targets:
    """What the prompt names: paths as written, identifiers without parentheses, error names and messages.

    Each tuple is in order of appearance (pasted symbols after the user's own), without repetition, and has at most
    ten entries of at most 200 characters. A path has no line number and may lead anywhere. ``stack_frames`` has one
    line for each frame, the innermost first.
    """

    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    stack_frames: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.symbols or self.errors or self.stack_frames)


@dataclass(frozen=True, slots=True)
class PromptAnalysis:
    """The analysis of a prompt.

    ``query`` is the text to search for: the user's own lines, with what they quote but without pasted text and URLs,
    and the targets; at most 6000 characters. ``allows_tier2``: the user requests, or consents to, tier-2 tools
    (impact, call chain, 影响, 调用链). ``prior`` is the log odds by the words alone that the prompt is about code; None
    if it names or shows code. With the intent ``none`` there are no signals and no consent, but ``targets`` and
    ``query`` are set.
    """

    intent: Intent
    signals: tuple[PromptSignal, ...] = ()
    targets: Targets = Targets()
    query: str = ""
    allows_tier2: bool = False
    prior: float | None = None

    @property
    def likely_intent(self) -> Intent:
        """The intent as far as the words alone tell: ``none`` if they are rather not about code."""
        return self.intent if self.prior is None or self.prior >= 0 else Intent.NONE
