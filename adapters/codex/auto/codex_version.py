"""Which Codex this is, and whether it is one to rely on. Law: asked in the background, never waited for, never fatal.

``codex exec resume`` takes its prompt from standard input, and answers as recorded, since 0.150.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from ...local.program import Version, ask_version, dotted
from .texts import Texts

OLDEST = (0, 150, 0)


@dataclass(slots=True)
class CodexVersion:
    """The version of the Codex at ``program``, as soon as it has said it."""

    program: str
    variables: Mapping[str, str]
    version: Version | None = None
    problem: str = ""
    """Why there is no version: the program's own words, or the system's."""
    _thread: threading.Thread | None = None
    _complained: bool = False

    def ask(self) -> None:
        """Begin to ask, the first time. A thread of its own does it, for which nobody has to wait."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._ask, name="codex-version", daemon=True)
            self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait for the answer, if there is to be one."""
        if self._thread:
            self._thread.join(seconds)

    def complaint(self, texts: Texts) -> str:
        """What a person should know about it, once; empty when all is well, or nothing is known yet."""
        if self._complained:
            return ""
        said = self.finding(texts)
        self._complained = bool(said)
        return said

    def finding(self, texts: Texts) -> str:
        """What is wrong with it; empty when nothing is, or nothing is known yet."""
        if self.problem:
            return texts.codex_broken.format(reason=self.problem)
        if self.version and self.version < OLDEST:
            return texts.codex_old.format(version=dotted(self.version), oldest=dotted(OLDEST))
        return ""

    def _ask(self) -> None:
        asked = ask_version(self.program, self.variables)
        if isinstance(asked, str):
            self.problem = asked
        else:
            self.version = asked
