"""What the prompt offers to complete: commands after a slash, the repository's files after ``@`` or in a path.

Law: typing never waits. The files are listed in a thread, matched in another, and a listing that takes too long
offers nothing. A name that could not be typed, or that would act on the terminal, is not offered.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from .workflow_view import VERBS

MOST = 30
"""Files that are offered at once."""

FRESH_SECONDS = 20.0
"""A listing this old is made anew, in the background."""

_FIRST_SECONDS = 2.0
"""How long the first completion waits for the first listing, in its thread."""

_LOOKED_AT = 300
"""Characters before the cursor that can be a path."""

_COMMAND = re.compile(r"/([a-z]*)")
_ARGUMENT = re.compile(r"/workflow +([a-z]*)")
_WORKFLOW = re.compile(r"/workflow +start +([\w-]*)")
_QUOTED = re.compile(r'@"([^"\n]*)$')
_AT = re.compile(r"(?<![A-Za-z0-9._-])@([^\s\"@]*)$")
_PATH = re.compile(r"(?<![^\s(\[,;:，。；：（「『“])([A-Za-z0-9_.-]+/[^\s\"@]*)$")
_WORD = re.compile(r"(?<![^\s(\[,;:，。；：（「『“])([^\s\"@/][^\s\"@]*)$")
_PLAIN = re.compile(r"[A-Za-z0-9_./+~-]+")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A path that is being typed: its ``part`` so far, and the length of what a completion replaces."""

    part: str
    length: int


def wanted_path(before: str, *, asked: bool = False) -> Wanted | None:
    """The path at the end of ``before``, the text up to the cursor; ``asked``: the person pressed Tab."""
    line = before[-_LOOKED_AT:].rpartition("\n")[2]
    for pattern in (_QUOTED, _AT, _PATH, *((_WORD,) if asked else ())):
        if found := pattern.search(line):
            return Wanted(found[1], len(found[0]))
    return None


def is_command_start(text: str) -> bool:
    """Whether ``text`` may become a command, or an argument that is known."""
    return any(pattern.fullmatch(text) for pattern in (_COMMAND, _ARGUMENT, _WORKFLOW))


def quoted(path: str) -> str:
    """``path`` as it goes into a prompt: between quotation marks unless it is plain ASCII without spaces."""
    return path if _PLAIN.fullmatch(path) else f'"{path}"'


def matching(files: Sequence[tuple[str, str]], part: str, most: int = MOST) -> list[str]:
    """Of ``files`` (path, and path folded), those that ``part`` may mean: by path, by name, by any part."""
    sought = part.casefold().removeprefix("./")
    tiers: tuple[list[str], ...] = ([], [], [])
    for path, folded in files:
        at = folded.find(sought)
        if at < 0:
            continue
        tier = tiers[0 if at == 0 else 1 if folded.startswith(sought, folded.rfind("/") + 1) else 2]
        if len(tier) < most:
            tier.append(path)
    return [path for tier in tiers for path in tier][:most]


@dataclass(slots=True)
class RepositoryFiles:
    """The files of the repository, listed by ``listing`` in a thread and kept for a while."""

    listing: Callable[[], Iterable[str]]
    _files: tuple[tuple[str, str], ...] = ()
    _listed_at: float = 0.0
    _is_listing: bool = False
    _there: threading.Event = field(default_factory=threading.Event)

    def __call__(self) -> Sequence[tuple[str, str]]:
        """Each file with its folded name; empty while the first listing takes too long."""
        if not self._is_listing and (not self._listed_at or monotonic() - self._listed_at > FRESH_SECONDS):
            self._is_listing = True
            threading.Thread(target=self._list, name="list-files", daemon=True).start()
        self._there.wait(_FIRST_SECONDS)
        return self._files

    def _list(self) -> None:
        try:
            self._files = tuple((path, path.casefold()) for path in self.listing() if _can_be_typed(path))
        finally:
            self._listed_at = monotonic()
            self._is_listing = False
            self._there.set()


class PromptCompleter(Completer):
    """Completes commands, given as pairs of name and help, the names of workflows, given so, too, and files."""

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
            yield from self._of_command(before)
            return
        wanted = wanted_path(before, asked=complete_event.completion_requested)
        if wanted:
            for path in matching(self._files(), wanted.part):
                yield Completion(quoted(path), -wanted.length, display=path)

    def _of_command(self, before: str) -> Iterator[Completion]:
        if found := _COMMAND.fullmatch(before):
            part, offered = found[1], [(f"/{name}", does) for name, does in self._commands if name.startswith(found[1])]
            yield from (Completion(text, -len(part) - 1, display_meta=does) for text, does in offered)
        elif found := _WORKFLOW.fullmatch(before):
            known = [(name, text) for name, text in self._workflows() if name.startswith(found[1])]
            yield from (Completion(name, -len(found[1]), display_meta=text) for name, text in known)
        elif found := _ARGUMENT.fullmatch(before):
            verbs = [verb for verb in VERBS if verb.startswith(found[1])]
            yield from (Completion(verb, -len(found[1])) for verb in verbs)


def _can_be_typed(path: str) -> bool:
    return path.isprintable() and '"' not in path and not path.endswith("/")
