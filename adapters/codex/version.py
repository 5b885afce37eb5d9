"""Check the version of Codex in the background: nothing waits for it, and a failure is only a warning.

``codex exec resume`` reads its prompt from standard input since 0.150.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.system.process.find_program import Version, format_version, get_version

MIN_CODEX_VERSION = (0, 150, 0)
NEWEST_CODEX_VERSION = (0, 169, 0)
"""The newest version that was tested."""


@dataclass(slots=True)
class CodexVersion:
    """The version of the Codex at ``program``, once it is known."""

    program: str
    variables: Mapping[str, str]
    version: Version | None = None
    problem: str = ""
    """Why there is no version: the output of the program or the error of the system."""
    _thread: threading.Thread | None = None
    _is_reported: bool = False

    def start_query(self) -> None:
        """Start the query in a thread, the first time."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._query_version, name="codex-version", daemon=True)
            self._thread.start()

    def take_warning(self, texts: Texts) -> str:
        """Return the warning once; empty if there is none, or the version is not known yet."""
        if self._is_reported:
            return ""
        text = self.warning(texts)
        self._is_reported = bool(text)
        return text

    def warning(self, texts: Texts) -> str:
        """Return what is wrong with Codex; empty if nothing is, or the version is not known yet."""
        if self.problem:
            return texts["codex_broken"].format(reason=self.problem)
        if self.version and self.version < MIN_CODEX_VERSION:
            return texts["codex_old"].format(
                version=format_version(self.version), oldest=format_version(MIN_CODEX_VERSION)
            )
        return ""

    def _query_version(self) -> None:
        result = get_version(self.program, self.variables)
        if isinstance(result, str):
            self.problem = result
        else:
            self.version = result
