"""What is understood of a prompt: the nouns that ``signals``, ``intent`` and ``plan`` share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Intent(StrEnum):
    """What the user wants done. ``none`` means that the prompt is not about code; a question about it is ``docs``."""

    DEBUG = "debug"
    REFACTOR = "refactor"
    DOCS = "docs"
    FEATURE = "feature"
    NONE = "none"


class SignalType(StrEnum):
    """How a prompt shows that it is about code; ``SIGNAL_WEIGHTS`` says how much each is worth."""

    EXPLICIT = "explicit"
    """A file, an identifier, an error or an explicit request is named."""
    IMPLICIT = "implicit"
    """Words of the craft: function, test, endpoint, 函数, 報錯."""
    HISTORICAL = "historical"
    """What was there before: last commit, regression, used to work, 之前."""
    CODE = "code"
    """Code, a diff or a stack trace stands in the prompt."""


SIGNAL_WEIGHTS = {
    SignalType.EXPLICIT: 0.8,
    SignalType.IMPLICIT: 0.6,
    SignalType.HISTORICAL: 0.6,
    SignalType.CODE: 0.7,
}


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason to believe that a prompt is about code."""

    type: SignalType
    match: str


@dataclass(frozen=True, slots=True)
class Targets:
    """What the prompt names: paths as written, identifiers without call brackets, error names and messages.

    Each is in order of appearance (pasted symbols after the user's own), without repetition, at most ten, each at
    most 200 characters. A path has no line number, and may lead anywhere. ``frames`` are those of stack traces, each
    in one line, the innermost first.
    """

    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.symbols or self.errors or self.frames)


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt, understood.

    ``query`` is what to search for: the prompt's own prose without fences and quoted asides, with the
    targets, at most 2000 characters. ``allows_depth`` is True when the user asks for, or consents to,
    tier-2 tools (impact, call chain, 影响, 调用链). ``signals`` say why the intent is not ``none``: with ``none``
    there are no signals and no consent, while ``targets`` and ``query`` are there for whoever looks things up anyway.
    """

    intent: Intent
    signals: tuple[Signal, ...] = ()
    targets: Targets = Targets()
    query: str = ""
    allows_depth: bool = False
