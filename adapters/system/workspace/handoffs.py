"""Store the whole reports of subagents: ``<state_home>/upbeat/handoffs/<run>/<STEP>.md``.

Invariant: files are private and hold no secret, and their number and size are limited. ``store`` never raises: a report
that cannot be stored must not cost a turn. Runs that nothing was added to for a month are removed.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from time import time

from upbeat.adapters.system.files import atomic
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.workflow.handoff import MAX_WHOLE_CHARS

FOLDER = "upbeat/handoffs"
MAX_RUNS = 500
MAX_AGE_SECONDS = 30 * 86400.0
_NAME = re.compile(r"[\w-][\w.-]{0,99}", re.ASCII)
_SEPARATOR = "\n\n---\n\n"


class LocalHandoffs:
    """Implements ``core.engine.ports.HandoffFiles`` on files of the user."""

    def __init__(self, state_home: Path) -> None:
        self._folder = state_home / FOLDER

    @property
    def folder(self) -> str:
        """The absolute folder of all runs."""
        return os.path.abspath(self._folder)

    def store(self, run_id: str, name: str, text: str, *, is_more: bool) -> None:
        """Store ``text``, redacted, in the file ``name`` of a run, or append it."""
        if not _NAME.fullmatch(run_id) or not _NAME.fullmatch(name):
            return
        clean = sanitize_text(text[:MAX_WHOLE_CHARS], preserve_lines=True).text
        with suppress(OSError):
            folder = self._folder / run_id
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._remove_old_runs()
            path = folder / name
            before = path.read_text(encoding="utf-8", errors="replace") if is_more and path.exists() else ""
            data = (before + _SEPARATOR * bool(before) + clean)[: 2 * MAX_WHOLE_CHARS].encode("utf-8", "replace")
            atomic.write_file(path, data, is_private=True, is_durable=False)

    def _remove_old_runs(self) -> None:
        runs = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for number, run in enumerate(runs):
            if number >= MAX_RUNS or time() - run.stat().st_mtime > MAX_AGE_SECONDS:
                shutil.rmtree(run, ignore_errors=True)
