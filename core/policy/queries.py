"""Queries of policies, answered before they are evaluated. Invariant: values only; ``WorldQueries`` answers them."""

from __future__ import annotations

from typing import Protocol

from upbeat.core.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FilesAboveQuery:
    """The files called one of ``names`` in the folder of ``path`` (absolute) and above, up to the repository root.

    Result: ``tuple[TextDocument, ...]``, the nearest first, from inside the repository, and from its root only
    if ``includes_root``.
    """

    path: str
    names: tuple[str, ...]
    includes_root: bool = True


@dataclass(frozen=True, slots=True)
class ExistingPathsQuery:
    """Which of ``paths`` (absolute) exist. Result: ``frozenset[str]``."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextUsageQuery:
    """The context-window usage of the agent that emitted the event, as of its last answer.

    Result: ``ContextUsage``; none if the client's record lacks it, as between a compaction and the next answer.
    """


@dataclass(frozen=True, slots=True)
class ChangedFilesQuery:
    """The changes of the working tree. Result: ``tuple[ChangedFile, ...]``, at most 50, sorted by path."""


@dataclass(frozen=True, slots=True)
class FolderFilesQuery:
    """The files of one folder (``folder`` is relative to the repository), by name.

    Result: ``tuple[TextDocument, ...]``, at most 20, each at most 20,000 characters.
    """

    folder: str
    suffix: str = ".md"


@dataclass(frozen=True, slots=True)
class GuidanceQuery:
    """The trusted rules of other programs about ``paths`` (absolute).

    Result: ``tuple[Guidance, ...]`` (``core.rules.formats.guidance``), the nearest first.
    """

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeaturesQuery:
    """The features in progress and in the backlog. Result: ``FeaturesByStatus``."""


@dataclass(frozen=True, slots=True)
class ScriptFilesQuery:
    """The files that a shell line may run as scripts. Result: ``ScriptFileReader``, which reads when asked."""


class ScriptFileReader(Protocol):
    """Reads small regular files."""

    def read(self, path: str) -> str | None:
        """Return the text of the file at the absolute ``path``; None if it is too large, or not a text file."""


@dataclass(frozen=True, slots=True)
class PromptFileQuery:
    """The saved prompt behind ``/name``.

    Result: ``TextDocument`` with a display path; a file of the repository only if it is trusted.
    """

    name: str


@dataclass(frozen=True, slots=True)
class OwnControlsQuery:
    """Which of these, as a command line writes them, are controls of upbeat or settings of a client.

    ``paths`` are controls or are inside of one, ``trees`` may also contain one, ``texts`` and the files ``scripts``
    name one or run a command that only the user runs. Result: ``tuple[str, ...]``, as written.
    """

    paths: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnReportQuery:
    """What upbeat's own ``command`` (context, why, status) shows of this session.

    Result: ``str``; none where the client would not show it to anybody.
    """

    command: str


@dataclass(frozen=True, slots=True)
class IsNewUserQuery:
    """Whether the user has not been told the commands, and would see a message. Result: ``bool``."""


Query = (
    FilesAboveQuery
    | ExistingPathsQuery
    | ContextUsageQuery
    | ChangedFilesQuery
    | FolderFilesQuery
    | GuidanceQuery
    | FeaturesQuery
    | PromptFileQuery
    | OwnControlsQuery
    | OwnReportQuery
    | IsNewUserQuery
    | ScriptFilesQuery
)


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A text file. ``path`` is relative to the repository; ``text`` is sanitized and redacted."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """Tokens in the context window and its size; ``window`` is 0 if unknown."""

    tokens: int
    window: int = 0

    @property
    def fraction(self) -> float:
        """From 0 to slightly above 1; 0 if the window is unknown."""
        return self.tokens / self.window if self.window else 0.0

    @property
    def percent(self) -> int:
        """Whole percent, rounded down."""
        return int(self.fraction * 100)

    @property
    def fields(self) -> dict[str, object]:
        """Return what a text says of it: percent, and tokens and window with thousands separators."""
        return {"percent": self.percent, "tokens": f"{self.tokens:,}", "window": f"{self.window:,}"}


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that differs from the last commit; lines are None if it is binary or untracked and not counted."""

    path: str
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class FeaturesByStatus:
    """Names of features, sorted, in progress and in the backlog."""

    in_progress: tuple[str, ...] = ()
    backlog: tuple[str, ...] = ()
