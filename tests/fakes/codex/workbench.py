"""A repository, a home and a fake Codex on the search path: what a test of codex-auto needs around it."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from processes import BIN, Finished, Fork, command_lines_with, wait_until
from repositories import make_repository, write

from upbeat.adapters.codex.transport.exec import transport
from upbeat.adapters.codex_auto.app.main import main
from upbeat.adapters.codex_auto.conversation import conversation
from upbeat.adapters.codex_auto.sessions.session import Session
from upbeat.adapters.codex_auto.sessions.store import SessionStore

LOADED = (transport, conversation)
"""What ``main`` imports when it is needed is here already, so that a fork need not."""

PROGRAM = Path(__file__).with_name("codex.py")
CODEX_AUTO = str(BIN / "codex-auto")
Turn = list[dict[str, Any]]


@dataclass(frozen=True)
class Workbench:
    """The folders of one test. ``make_workbench`` makes them."""

    folder: Path

    @property
    def repository(self) -> Path:
        return self.folder / "shop 店"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def codex_home(self) -> Path:
        """Where the fake keeps its script, its threads and its record."""
        return self.folder / "codex"

    @property
    def program(self) -> Path:
        return self.folder / "bin" / "codex"

    @property
    def store(self) -> SessionStore:
        """The sessions of the repository."""
        return SessionStore(self.home / ".local/state", os.path.realpath(self.repository))

    def environment(self, **extra: str) -> dict[str, str]:
        """Everything that codex-auto gets; nothing of ours."""
        return {
            "PATH": f"{self.program.parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "FAKE_CODEX": str(self.codex_home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **extra,
        }

    def script(self, *turns: Turn) -> None:
        """What the fake does in its next starts."""
        (self.codex_home / "script.json").write_text(json.dumps(turns))

    def calls(self) -> list[dict[str, Any]]:
        """Every start of the fake so far, with its arguments and what it read."""
        path = self.codex_home / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().split("\n") if line] if path.exists() else []

    def prompts(self) -> list[str]:
        """What each start has read."""
        return [call["stdin"] for call in self.calls()]

    def add_thread(self, thread_id: str) -> str:
        """Make ``thread_id`` one that can be resumed."""
        (self.codex_home / "threads").mkdir(exist_ok=True)
        (self.codex_home / "threads" / thread_id).write_text("0")
        return thread_id

    def sessions(self) -> dict[str, str]:
        """The threads of the sessions that have a name."""
        return {row.name: row.session.thread_id for row in self.store.read(0) if row.session and row.name}

    def remember(self, thread_id: str, name: str = "default") -> str:
        """Store a session that continues ``thread_id``."""
        store = self.store
        store.claim(name, Session(thread_id, "then", "then", "/", root=store.root), 0)
        store.release()
        return thread_id

    def processes(self) -> list[list[str]]:
        """The command lines of living processes that the fake, or what it started, left behind."""
        return command_lines_with(f"FAKE_CODEX={self.codex_home}", "UPBEAT_WRAPPED=1")

    def has_ended(self, seconds: float = 3) -> bool:
        """Whether no such process is left within ``seconds``."""
        return wait_until(lambda: not self.processes(), seconds)

    def files(self) -> dict[str, bytes]:
        """Every file below the repository and the home, except Git's own and the shared memory of SQLite."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for folder in (self.repository, self.home)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and ".git" not in path.parts and path.suffix != ".db-shm"
        }

    def start(self, *arguments: str, cwd: Path | None = None, **extra: str) -> Fork:
        """Start codex-auto with nothing on its standard input."""
        return Fork(main, arguments, cwd or self.repository, self.environment(**extra))

    def start_program(self, *arguments: str, **extra: str) -> subprocess.Popen[bytes]:
        """Start codex-auto as its user does, imports and all, with pipes."""
        return subprocess.Popen(
            [CODEX_AUTO, *arguments],
            cwd=self.repository,
            env=self.environment(**extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *arguments: str, stdin: bytes = b"", cwd: Path | None = None, **extra: str) -> Finished:
        """Run codex-auto to its end."""
        with Fork(main, arguments, cwd or self.repository, self.environment(**extra), stdin) as fork:
            return fork.wait()


@cache
def _template() -> Path:
    """One repository that all others are copied from: git takes longer than that."""
    folder = Path(tempfile.mkdtemp(prefix="upbeat-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make_repository(folder / "repository")


def make_workbench(folder: Path, *, git: bool = True) -> Workbench:
    """A workbench below ``folder``, whose repository is under git or just a folder."""
    bench = Workbench(folder)
    for made in (bench.home, bench.codex_home, bench.program.parent):
        made.mkdir(parents=True)
    if git:
        shutil.copytree(_template(), bench.repository)
    else:
        write(bench.repository)
    # -S: the fake needs the standard library only, and starts in a third of the time
    bench.program.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{PROGRAM.read_text()}")
    bench.program.chmod(0o755)
    return bench
