"""Which Codex this is, and whether it is one to rely on. Law: asked in the background, never waited for, never fatal.

``codex exec resume`` takes its prompt from standard input, and answers as recorded, since 0.150.
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from .texts import Texts

OLDEST = (0, 150, 0)
SECONDS = 10.0
"""How long ``codex --version`` may take."""

_VERSION = re.compile(r"\b(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
Version = tuple[int, ...]


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
        try:
            asked = subprocess.run(
                [self.program, "--version"],
                env=dict(self.variables),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                start_new_session=True,
            )
        except OSError as error:
            self.problem = f"{self.program}: {error.strerror}"
            return
        except subprocess.TimeoutExpired:
            self.problem = f"{self.program} --version: > {SECONDS:g} s"
            return
        self.version = version_in(asked.stdout.decode("utf-8", "replace")) if asked.returncode == 0 else None
        if self.version is None:
            said = (asked.stderr or asked.stdout).decode("utf-8", "replace").strip().split("\n")[-1]
            self.problem = f"{self.program} --version: exit {asked.returncode} {said[:200]}".rstrip()


def version_in(text: str) -> Version | None:
    """The first version number in ``text``."""
    found = _VERSION.search(text)
    return tuple(int(part) for part in found.groups()) if found else None


def dotted(version: Version) -> str:
    """``version`` as people write it."""
    return ".".join(str(part) for part in version)
