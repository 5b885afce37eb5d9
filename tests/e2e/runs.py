"""Runs one command beside the stub model, fenced in, and reads what came of it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .received import Request, main_requests, read_requests
from .sandbox import Sandbox

LAUNCHER = Path(__file__).with_name("launcher.py")
DEFAULT_TIMEOUT = 90.0

ScriptRules = Sequence[dict[str, Any]]
"""The stub's rules, as ``stubs/script.py`` describes them."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One launcher command line and the files it writes."""

    argv: list[str]
    record: Path
    report: Path

    def requests(self) -> list[Request]:
        """Everything that the stub model has received so far."""
        return read_requests(self.record)

    def turns(self) -> list[Request]:
        """Of those, the turns of the agent and its subagents: no titles, probes and counts."""
        return main_requests(self.requests())

    def left_behind(self) -> list[list[str]]:
        """The command lines of the processes that outlived the command."""
        return [process["command"] for process in self._report()["left_behind"]]

    def interfaces(self) -> list[str]:
        """The network interfaces that the command could see."""
        interfaces: list[str] = self._report()["interfaces"]
        return interfaces

    def _report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.report.read_text(encoding="utf-8"))
        return report


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended."""

    exit_code: int
    stdout: str
    stderr: str
    launch: Launch

    @property
    def requests(self) -> list[Request]:
        """Everything that the stub model received."""
        return self.launch.requests()

    @property
    def turns(self) -> list[Request]:
        """Of those, the turns of the agent and its subagents."""
        return self.launch.turns()

    def json_lines(self) -> list[dict[str, Any]]:
        """Standard output as one JSON object per line."""
        return [json.loads(line) for line in self.stdout.split("\n") if line]


def prepare_launch(
    sandbox: Sandbox, command: Sequence[str], script: ScriptRules = (), cwd: Path | None = None
) -> Launch:
    """The launcher command line for ``command``, with fresh files for its script, record and report."""
    folder = Path(tempfile.mkdtemp(prefix="launch-", dir=sandbox.root))
    script_file, record, report = (folder / name for name in ("script.json", "requests.jsonl", "report.json"))
    script_file.write_text(json.dumps(list(script)), encoding="utf-8")
    record.touch()
    files = ["--record", str(record), "--script", str(script_file), "--report", str(report)]
    where = ["--cwd", str(cwd or sandbox.repository)]
    return Launch([sys.executable, "-E", str(LAUNCHER), *files, *where, "--", *command], record, report)


def run(
    sandbox: Sandbox,
    command: Sequence[str],
    *,
    stdin: str = "",
    script: ScriptRules = (),
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> Finished:
    """Run ``command`` to its end. Its first word is looked up on the sandbox's ``PATH``.

    If it does not end in time, ``subprocess.TimeoutExpired`` is raised once it and all it started are gone.
    """
    launch = prepare_launch(sandbox, command, script, cwd)
    with subprocess.Popen(
        launch.argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=sandbox.environment(**(env or {})),
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(stdin.encode(), timeout=timeout)
        except BaseException:
            process.terminate()  # the launcher ends its command, and whatever the command left
            raise
    return Finished(process.returncode, out.decode(), err.decode(), launch)
