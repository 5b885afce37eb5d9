"""``upbeat exec``: a command with everything of its own, and its exit code told."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.workspace.evidence_files import read_exec_key
from upbeat.core.workflow.evidence.exec_mark import read_mark

UPBEAT = [sys.executable, "-m", "upbeat", "exec"]


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def upbeat_run(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*UPBEAT, *words], input=text, capture_output=True, text=True, check=False)


def recorded_code(output: str, *words: str) -> int | None:
    """Return the exit code that the hook reads for ``words``."""
    found = read_mark(read_exec_key(read_environment()), words, output, time.time())
    return found[0] if found else None


def without_mark(output: str) -> str:
    return re.sub(r" \[\d+-[0-9a-f]{8}-[0-9a-f]{32}\]\n$", "\n", output)


@pytest.mark.parametrize("code", [0, 3, 255])
def test_exit_code_is_the_commands(code: int) -> None:
    """The exit code is the command's, and so are stdout and stderr, with one line at the end of each."""
    done = upbeat_run("--", "sh", "-c", f"echo out; echo err >&2; exit {code}")

    assert (code, f"out\n\nupbeat: exit {code}\n") == (done.returncode, without_mark(done.stdout))
    assert f"err\nupbeat: sh -c 'echo out; echo err >&2; exit {code}' exited with code {code}\n" == done.stderr
    assert code == recorded_code(done.stdout, "sh", "-c", f"echo out; echo err >&2; exit {code}")


def test_output_without_an_end_of_line() -> None:
    """The line for the hook is a line of its own, whatever the command printed last."""
    words = ("sh", "-c", "printf abc; exit 1")

    assert 1 == recorded_code(upbeat_run(*words).stdout, *words)


def test_exit_code_survives_a_pipe() -> None:
    """The exit code is reported even behind a pipe that hides it."""
    line = f"{' '.join(UPBEAT)} -- sh -c 'echo out; exit 4' 2>/dev/null | tail -3"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)

    assert (0, 4) == (done.returncode, recorded_code(done.stdout, "sh", "-c", "echo out; exit 4"))


def test_stdin_is_the_commands() -> None:
    """What comes in goes to the command; options after the command are its own."""
    assert "hello\n\nupbeat: exit 0\n" == without_mark(upbeat_run("cat", "-u", text="hello\n").stdout)


def test_command_that_is_not_there(tmp_path: Path) -> None:
    """A command that cannot be run has the exit codes that shells use, and a sentence."""
    (tmp_path / "plain").write_text("x")
    missing = upbeat_run("--", "no-such-command-here")
    plain = upbeat_run(str(tmp_path / "plain"))

    assert (127, 127) == (missing.returncode, recorded_code(missing.stdout, "no-such-command-here"))
    assert "upbeat: command 'no-such-command-here' not found on PATH" in missing.stderr
    assert (126, 126) == (plain.returncode, recorded_code(plain.stdout, str(tmp_path / "plain")))


def test_usage() -> None:
    """Without a command there is the usage, and 2."""
    assert (2, "") == (upbeat_run().returncode, upbeat_run("--").stdout)
    assert (0, "usage: upbeat exec [--] COMMAND [ARGUMENT…]\n") == (
        upbeat_run("--help").returncode,
        upbeat_run("--help").stdout,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_pass_through(number: signal.Signals, tmp_path: Path) -> None:
    """A signal reaches the command, which may answer it; the exit code is still its own."""
    script = f"trap 'echo caught; exit 9' {number.name[3:]}; echo ready; while :; do sleep 0.05; done"
    words = [*UPBEAT, "sh", "-c", script]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert "ready\n" == process.stdout.readline()
        process.send_signal(number)
        try:
            rest = process.communicate(timeout=30)[0]
        finally:
            process.kill()

        assert (9, "caught\n\nupbeat: exit 9\n") == (process.returncode, without_mark(rest))


def test_a_command_that_is_killed() -> None:
    """A command that a signal ended has 128 and that signal's number."""
    assert 128 + signal.SIGKILL == upbeat_run("sh", "-c", "kill -KILL $$").returncode


@pytest.mark.bench
def test_starts_quickly() -> None:
    """A command starts without loading the rest of upbeat."""
    start = time.monotonic()
    upbeat_run("true")

    assert time.monotonic() - start < 5
    assert os.path.exists(sys.executable)
