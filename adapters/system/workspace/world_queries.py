"""Answer the queries of policies about this machine, and perform their side effects.

Invariant: outside the repository, only the user's files for the clients are read, and scripts that a line is about to
run. A query never raises; an answer that is not available is None.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from upbeat.core.contract.event import EventSource
from upbeat.core.policy import queries
from upbeat.core.policy.definition import MarkIntroduced, SideEffect
from upbeat.core.workflow.specs import FeatureStatus

if TYPE_CHECKING:
    from upbeat.adapters.system.config.guidance import GuidanceFiles
    from upbeat.adapters.system.environment import Environment
    from upbeat.adapters.system.journal.store import SqliteJournal
    from upbeat.adapters.system.workspace.workspace import LocalWorkspace
    from upbeat.core.engine.ports import Transcripts


class LocalWorldQueries:
    """Implements ``core.engine.ports.WorldQueries`` with its sources; without its source, an answer is None.

    Of ``prompt_folders``, where users keep prompts, the first has precedence. ``client_controls`` are the clients'
    settings.
    """

    def __init__(
        self,
        transcripts: Transcripts | None = None,
        guidance: GuidanceFiles | None = None,
        specs: LocalWorkspace | None = None,
        environment: Environment | None = None,
        prompt_folders: Sequence[Path] = (),
        client_controls: Sequence[Path] = (),
        open_journal: Callable[[], SqliteJournal] | None = None,
        is_headless: Callable[[EventSource], bool] = lambda _source: False,
    ) -> None:
        self._transcripts = transcripts
        self._guidance = guidance
        self._specs = specs
        self._environment = environment
        self._prompt_folders = prompt_folders
        self._client_controls = client_controls
        self._open_journal = open_journal
        self._is_headless = is_headless

    def query(self, query: queries.Query, source: EventSource, root: str) -> object | None:
        """Return the answer to ``query``; None if it is not available."""
        try:
            return self._answer(query, source, root)
        except (OSError, ValueError):  # names that the system does not accept
            return None

    def perform(self, side_effect: SideEffect, root: str) -> None:
        """Perform ``side_effect``."""
        if isinstance(side_effect, MarkIntroduced):
            if self._environment:
                from upbeat.adapters.system.workspace.own_reports import mark_introduced

                mark_introduced(self._environment.state_home)
            return
        from upbeat.adapters.system.workspace.side_effects import perform_side_effect

        perform_side_effect(side_effect, root)

    def _answer(self, query: queries.Query, source: EventSource, root: str) -> object | None:
        match query:
            case queries.ExistingPathsQuery():
                return frozenset(path for path in query.paths if os.path.lexists(path))
            case queries.GuidanceQuery():
                return self._guidance.guidance_for(root, query.paths) if self._guidance else None
            case queries.ContextUsageQuery():
                return self._transcripts.context_usage(source) if self._transcripts else None
            case queries.FeaturesQuery() if self._specs:
                statuses = (FeatureStatus.IN_PROGRESS, FeatureStatus.BACKLOG)
                return queries.FeaturesByStatus(*(self._specs.names_with_status(root, status) for status in statuses))
            case queries.PromptFileQuery() if self._environment:
                from upbeat.adapters.system.config.prompt_files import find_prompt_file

                return find_prompt_file(query.name, root, self._environment, self._prompt_folders)
            case queries.OwnControlsQuery() if self._environment:
                from upbeat.adapters.system.workspace.own_controls import OwnControls

                return OwnControls(self._environment, self._client_controls).find(query, source.cwd, root)
            case queries.FilesAboveQuery():
                from upbeat.adapters.system.workspace.documents import documents_above

                return documents_above(root, query.path, query.names, with_root=query.includes_root)
            case queries.FolderFilesQuery():
                from upbeat.adapters.system.workspace.documents import documents_in

                return documents_in(root, query.folder, query.suffix)
            case queries.ScriptFilesQuery():
                from upbeat.adapters.system.workspace.script_files import LocalScriptFiles

                return LocalScriptFiles()
            case queries.ChangedFilesQuery():
                from upbeat.adapters.system.workspace.uncommitted import changed_files

                return changed_files(root)
            case queries.OwnReportQuery():
                return self._report(query.command, source, root)
            case queries.IsNewUserQuery() if self._environment and not self._environment.is_wrapped:
                from upbeat.adapters.system.workspace.own_reports import is_new_user

                return is_new_user(self._environment.state_home) and not self._is_headless(source)
            case _:
                return None

    def _report(self, command: str, source: EventSource, root: str) -> str | None:
        """Return what upbeat's own command shows; None where nobody would see it."""
        if self._open_journal is None or self._environment is None or self._is_headless(source):
            return None
        from upbeat.adapters.system.workspace.own_reports import report_on_itself

        journal = self._open_journal()
        try:
            return report_on_itself(command, source.session_id, root, journal, self._environment.language)
        finally:
            journal.close()
