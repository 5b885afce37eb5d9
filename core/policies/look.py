"""What policies may ask to have looked up before they are asked. Law: values only; ``Ground`` answers them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FilesAbove:
    """The files called one of ``names`` in the folder of ``path`` (absolute) and above, up to the repository's root.

    Answer: ``tuple[Document, ...]``, the nearest first; nothing outside the repository is read, nor in its root
    itself unless ``with_root``.
    """

    path: str
    names: tuple[str, ...]
    with_root: bool = True


@dataclass(frozen=True, slots=True)
class Existing:
    """Which of ``paths`` (absolute) exist. Answer: ``frozenset[str]``."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How full the window of the agent is that the event happened in, as of its last answer.

    Answer: ``Use``; nothing where the client's record does not tell, as between a compaction and the next answer.
    """


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """What has changed in the working tree. Answer: ``tuple[ChangedFile, ...]``, at most 50, sorted by path."""


@dataclass(frozen=True, slots=True)
class FilesIn:
    """The files of one folder of the repository (``folder`` is relative to its root), by name.

    Answer: ``tuple[Document, ...]``, at most 20, each at most 20,000 characters.
    """

    folder: str
    ending: str = ".md"


@dataclass(frozen=True, slots=True)
class RulesAbout:
    """The rules about ``paths`` (absolute) that other programs have in the repository, and that are trusted.

    Answer: ``tuple[Guidance, ...]`` (``core.rules.guidance``), the nearest first.
    """

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Features:
    """The features of the repository that are worked on or wait. Answer: ``Plans``."""


@dataclass(frozen=True, slots=True)
class PromptFile:
    """The file behind ``/name`` that a client of the user keeps prompts in.

    Answer: ``Document``, its path as people write it; a file of the repository only with its user's trust.
    """

    name: str


Look = FilesAbove | Existing | ContextUse | ChangedFiles | FilesIn | RulesAbout | Features | PromptFile


@dataclass(frozen=True, slots=True)
class Document:
    """A text file of the repository. ``path`` is relative to its root; ``text`` is cleaned and without secrets."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """Tokens in the model's window, and how many go in; ``window`` is 0 where nobody tells."""

    tokens: int
    window: int = 0

    @property
    def share(self) -> float:
        """From 0 to 1 or a little more; 0 where the window is unknown."""
        return self.tokens / self.window if self.window else 0.0

    @property
    def percent(self) -> int:
        """The share in whole per cent, never more than it is."""
        return int(self.share * 100)

    def put_into(self, template: str) -> str:
        """``template`` with ``{percent}``, ``{tokens}`` and ``{window}`` filled in, as a person reads numbers."""
        return template.format(percent=self.percent, tokens=f"{self.tokens:,}", window=f"{self.window:,}")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that differs from the last commit; lines are None for a binary or a new one that was not counted."""

    path: str
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class Plans:
    """Names of features, sorted: those that are worked on, and those that wait."""

    in_progress: tuple[str, ...] = ()
    backlog: tuple[str, ...] = ()
