"""Completions at the prompt: commands after a slash, the repository's files after ``@`` or in a path.

Invariant: typing never waits. Files are listed in one thread and matched in another; a slow listing offers nothing.
A name that cannot be typed, or that would control the terminal, is not offered.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from upbeat.adapters.codex_auto.view.explain import WORKFLOW_VERBS

MAX_COMPLETIONS = 30
"""Files that are offered at a time."""

LISTING_MAX_AGE_SECONDS = 20.0
"""A listing older than this is refreshed in the background."""

_FIRST_LISTING_SECONDS = 2.0
"""How long the first completion waits for the first listing, in its thread."""

_MAX_PATH_CHARS = 300
"""Characters before the cursor that can be a path."""

_COMMAND = re.compile(r"/([a-z]*)")
_ARGUMENT = re.compile(r"/workflow +([a-z]*)")
_WORKFLOW = re.compile(r"/workflow +start +([\w-]*)")
_QUOTED = re.compile(r'@"([^"\n]*)$')
_AT = re.compile(r"(?<![A-Za-z0-9._-])@([^\s\"@]*)$")
_PATH = re.compile(r"(?<![^\s(\[,;:，。；：（「『“])([A-Za-z0-9_.-]+/[^\s\"@]*)$")
_WORD = re.compile(r"(?<![^\s(\[,;:，。；：（「『“])([^\s\"@/][^\s\"@]*)$")
_PLAIN = re.compile(r"[A-Za-z0-9_./+~-]+")


def path_fragment(text_before_cursor: str, *, is_explicit: bool = False) -> re.Match[str] | None:
    """Return the match of the path (group 1) that ends ``text_before_cursor``; ``is_explicit``: the user pressed Tab.

    A completion replaces the whole match.
    """
    line = text_before_cursor[-_MAX_PATH_CHARS:].rpartition("\n")[2]
    patterns = (_QUOTED, _AT, _PATH, _WORD) if is_explicit else (_QUOTED, _AT, _PATH)
    for pattern in patterns:
        if match := pattern.search(line):
            return match
    return None


def is_command_start(text: str) -> bool:
    """Return whether ``text`` can become a command or a known argument."""
    return any(pattern.fullmatch(text) for pattern in (_COMMAND, _ARGUMENT, _WORKFLOW))


def quote_path(path: str) -> str:
    """Return ``path`` as it appears in a prompt: quoted unless it is plain ASCII without spaces."""
    return path if _PLAIN.fullmatch(path) else f'"{path}"'


def match_files(files: Sequence[tuple[str, str]], fragment: str, limit: int = MAX_COMPLETIONS) -> list[str]:
    """Return the ``files`` (pairs of path and case-folded path) that ``fragment`` can mean, the best matches first."""
    sought = fragment.casefold().removeprefix("./")
    tiers: tuple[list[str], ...] = ([], [], [])
    for path, folded in files:
        position = folded.find(sought)
        if position < 0:
            continue
        tier = tiers[0 if position == 0 else 1 if folded.startswith(sought, folded.rfind("/") + 1) else 2]
        if len(tier) < limit:
            tier.append(path)
    return [path for tier in tiers for path in tier][:limit]


@dataclass(slots=True)
class RepositoryFiles:
    """The files of the repository, listed by ``listing`` in a thread and kept for a while."""

    list_files: Callable[[], Iterable[str]]
    _files: tuple[tuple[str, str], ...] = ()
    _listed_at: float = 0.0
    _is_listing: bool = False
    _first_listing_done: threading.Event = field(default_factory=threading.Event)

    def __call__(self) -> Sequence[tuple[str, str]]:
        """Each file with its folded name; empty while the first listing takes too long."""
        if not self._is_listing and (not self._listed_at or monotonic() - self._listed_at > LISTING_MAX_AGE_SECONDS):
            self._is_listing = True
            threading.Thread(target=self._refresh, name="list-files", daemon=True).start()
        self._first_listing_done.wait(_FIRST_LISTING_SECONDS)
        return self._files

    def _refresh(self) -> None:
        try:
            typeable = (path for path in self.list_files() if path.isprintable() and '"' not in path)
            self._files = tuple((path, path.casefold()) for path in typeable if not path.endswith("/"))
        finally:
            self._listed_at = monotonic()
            self._is_listing = False
            self._first_listing_done.set()


class PromptCompleter(Completer):
    """Completes commands and workflows, both pairs of name and description, and files."""

    def __init__(
        self,
        commands: Sequence[tuple[str, str]],
        files: Callable[[], Sequence[tuple[str, str]]],
        workflows: Callable[[], Sequence[tuple[str, str]]] = tuple,
    ) -> None:
        self._commands = commands
        self._files = files
        self._workflows = workflows

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        if is_command_start(before):
            yield from self._complete_command(before)
            return
        fragment = path_fragment(before, is_explicit=complete_event.completion_requested)
        if fragment:
            for path in match_files(self._files(), fragment[1]):
                yield Completion(quote_path(path), -len(fragment[0]), display=path)

    def _complete_command(self, text_before_cursor: str) -> Iterator[Completion]:
        if match := _COMMAND.fullmatch(text_before_cursor):
            for name, description in self._commands:
                if name.startswith(match[1]):
                    yield Completion(f"/{name}", -len(match[1]) - 1, display_meta=description)
        elif match := _WORKFLOW.fullmatch(text_before_cursor):
            for name, description in self._workflows():
                if name.startswith(match[1]):
                    yield Completion(name, -len(match[1]), display_meta=description)
        elif match := _ARGUMENT.fullmatch(text_before_cursor):
            verbs = (verb for verb in WORKFLOW_VERBS if verb.startswith(match[1]))
            yield from (Completion(verb, -len(match[1])) for verb in verbs)
