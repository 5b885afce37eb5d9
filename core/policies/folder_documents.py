"""What a file of one name says about the folder it lies in, shown when a file of that folder is touched.

Law: each file is shown once to each agent until the conversation is summarised, in a frame of untrusted data, and not
to the agent that has opened it itself. A folder about which all was shown is not looked at again.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..contract.effect import Inject
from ..contract.event import Event, ToolFinished
from ..turn.frame import frame
from ..turn.truncate import Cap, Unit, fit
from ..workflow.state import SessionState
from .look import Document, FilesAbove, Look
from .policy import SILENT, View, Word, Words
from .touched import touched

MAX_TEXT = Cap(2400, Unit.UTF8)
"""What is shown of one file: the file has the rest."""
MAX_SHOWN = 2
"""Files that are shown at one event; the others come with the next."""
MAX_FOLDERS = 3
"""Folders of one event that are looked at."""

_LONGEST_PATH = 200
_REST = Words("\n… ({path} has the rest)", "\n…（其余见 {path}）")


@dataclass(frozen=True, slots=True)
class Shows:
    """What a policy shows: the files called ``name``. ``heading`` has {path} and {folder}.

    ``also`` are names that ``is_shown`` has to see beside it: it is asked about each file called ``name``, with all
    that were found and the event.
    """

    policy: str
    name: str
    heading: Words
    is_shown: Callable[[Document, Sequence[Document], View, Event], bool]
    also: tuple[str, ...] = ()
    with_root: bool = True
    """The file in the root counts as well."""

    def looks(self, event: Event, state: SessionState) -> tuple[Look, ...]:
        """The files above each folder that was touched and not done with yet."""
        if not isinstance(event, ToolFinished) or event.failed:
            return ()
        return tuple(look for look, _done in self._open(event, state.notes(self.policy)))

    def finished(self, event: ToolFinished, view: View) -> Word:
        """Shows what is new about the folders of ``event``."""
        if event.failed:
            return SILENT
        agent, notes, own = event.source.agent_mark, list(view.notes), touched(event)
        new: list[Document] = []
        for look, done in self._open(event, view.notes):
            found: tuple[Document, ...] = view.found.get(look) or ()
            wanted = [one for one in found if self._is_meant(one, found, view, event)]
            left = [one for one in wanted if f"{agent} saw {_mark(one.path)}" not in notes]
            shown = left[: MAX_SHOWN - len(new)]
            new += [one for one in shown if posixpath.join(view.root, one.path) not in own]
            notes += [f"{agent} saw {_mark(one.path)}" for one in shown]
            if found and shown == left:
                notes.append(done)
        if len(notes) == len(view.notes):
            return SILENT
        effects = tuple(Inject(self._text(one, view)) for one in new)
        names = tuple(one.path for one in new)
        return Word(effects, "first touch of the folder" if new else "", tuple(notes), names)

    def _open(self, event: ToolFinished, notes: Sequence[str]) -> Iterator[tuple[FilesAbove, str]]:
        """What to look at for each folder that is not done with, and the note that it is."""
        paths = touched(event)
        if not paths:
            return
        agent = event.source.agent_mark
        folders = dict.fromkeys(posixpath.dirname(path) for path in paths)
        for folder in list(folders)[:MAX_FOLDERS]:
            done = f"{agent} in {_mark(folder)}"
            if done not in notes:
                yield FilesAbove(posixpath.join(folder, self.name), (self.name, *self.also), self.with_root), done

    def _is_meant(self, one: Document, found: Sequence[Document], view: View, event: Event) -> bool:
        return posixpath.basename(one.path) == self.name and self.is_shown(one, found, view, event)

    def _text(self, document: Document, view: View) -> str:
        path = document.path[:_LONGEST_PATH]
        folder = posixpath.dirname(path)
        heading = self.heading.of(view.language).format(path=path, folder=f"{folder}/" if folder else "./")
        body, _cut = fit(document.text.strip(), MAX_TEXT, _REST.of(view.language).format(path=path))
        return f"{heading}\n{frame(body, view.nonce, source=path)}"


def _mark(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()[:16]
