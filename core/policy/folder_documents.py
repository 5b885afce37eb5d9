"""Inject the file of one name in a folder when a file of that folder is touched.

Invariant: each file is injected once per agent and compaction, framed as untrusted data, and not for the agent that
opened it. A folder that is done is not queried again.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import ToolFinished
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.policy.definition import NO_RESULT, PolicyContext, PolicyResult
from upbeat.core.policy.queries import FilesAboveQuery, Query, TextDocument
from upbeat.core.sanitize.frame import frame_untrusted
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit, truncate_to_limit
from upbeat.core.shell.touched_paths import touched_paths
from upbeat.core.workflow.state import SessionState

DOCUMENT_CAP = TextLimit(2400, LengthUnit.UTF8)
MAX_DOCUMENTS = 2
"""Files per event; the rest follow with the next event."""
MAX_FOLDERS = 3

_MAX_PATH_CHARS = 200


@dataclass(frozen=True, slots=True)
class FolderDocumentInjector:
    """The files called ``file_name``, shown below the policy's text ``heading``.

    ``should_show`` decides for each of them, given all documents, including those with ``companion_names``.
    """

    policy_name: str
    file_name: str
    should_show: Callable[[TextDocument, Sequence[TextDocument], PolicyContext, ToolFinished], bool]
    companion_names: tuple[str, ...] = ()
    includes_root: bool = True
    """Whether the file in the root counts."""

    def queries(self, event: ToolFinished, state: SessionState) -> tuple[Query, ...]:
        """Return a query for each touched folder that is not done."""
        if event.has_failed:
            return ()
        return tuple(query for query, _note in self._pending_queries(event, state.notes_of(self.policy_name)))

    def on_tool_finished(self, event: ToolFinished, context: PolicyContext) -> PolicyResult:
        """Inject what is new about the folders of ``event``."""
        if event.has_failed:
            return NO_RESULT
        agent, notes, own = event.source.short_agent_id, list(context.notes), touched_paths(event)
        new: list[TextDocument] = []
        for query, done_note in self._pending_queries(event, context.notes):
            documents: tuple[TextDocument, ...] = context.query_results.get(query) or ()
            pending = [
                document
                for document in documents
                if posixpath.basename(document.path) == self.file_name
                and self.should_show(document, documents, context, event)
                and f"{agent} saw {_path_digest(document.path)}" not in notes
            ]
            shown = pending[: MAX_DOCUMENTS - len(new)]
            new += [document for document in shown if posixpath.join(context.root, document.path) not in own]
            notes += [f"{agent} saw {_path_digest(document.path)}" for document in shown]
            if documents and shown == pending:
                notes.append(done_note)
        if len(notes) == len(context.notes):
            return NO_RESULT
        effects = tuple(InjectContext(self._text(document, context)) for document in new)
        names = tuple(document.path for document in new)
        return PolicyResult(effects, "first touch of the folder" if new else "", tuple(notes), names)

    def _pending_queries(self, event: ToolFinished, notes: Sequence[str]) -> Iterator[tuple[FilesAboveQuery, str]]:
        """Yield the query for each folder that is not done, and the note that it is."""
        paths = touched_paths(event)
        if not paths:
            return
        agent = event.source.short_agent_id
        folders = dict.fromkeys(posixpath.dirname(path) for path in paths)
        for folder in list(folders)[:MAX_FOLDERS]:
            note = f"{agent} in {_path_digest(folder)}"
            if note not in notes:
                yield (
                    FilesAboveQuery(
                        posixpath.join(folder, self.file_name),
                        (self.file_name, *self.companion_names),
                        self.includes_root,
                    ),
                    note,
                )

    def _text(self, document: TextDocument, context: PolicyContext) -> str:
        path = document.path[:_MAX_PATH_CHARS]
        folder = posixpath.dirname(path)
        heading = context.text("heading", path=path, folder=f"{folder}/" if folder else "./")
        note = load_messages("policies", context.language).group("folder-documents")["truncation_note"]
        body, _cut = truncate_to_limit(document.text.strip(), DOCUMENT_CAP, note.format(path=path))
        return f"{heading}\n{frame_untrusted(body, context.nonce, source=path)}"


def _path_digest(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()[:16]
