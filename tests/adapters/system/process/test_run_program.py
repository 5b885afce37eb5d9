"""A program that is looked at ends in time, and all that it started with it."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import pytest
from processes import is_gone

from upbeat.adapters.system.process import run
from upbeat.adapters.system.process.run import MAX_ERROR_CHARS, ProgramResult, run_program

VARIABLES = {"PATH": "/usr/bin:/bin"}


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that does not end by itself is killed soon."""
    monkeypatch.setattr(run, "_EXIT_GRACE_SECONDS", 0.1)


def python(code: str, cwd: Path, seconds: float = 20, words: bytes = b"", until: bytes = b"") -> ProgramResult:
    command = [sys.executable, "-I", "-S", "-c", code]
    return run_program(
        command, variables=VARIABLES, cwd=str(cwd), timeout_seconds=seconds, stdin_data=words, stop_marker=until
    )


def test_what_it_said(tmp_path: Path) -> None:
    """Its exit code, its output, and the last line that it complained of."""
    code = "import sys; print(sys.stdin.read()); sys.stderr.write('one\\ntwo\\n'); sys.exit(3)"

    assert ProgramResult(3, b"hello\n", "two") == python(code, tmp_path, words=b"hello")


def test_only_until_it_has_said_enough(tmp_path: Path) -> None:
    """With a stop marker a server is stopped once it has answered."""
    ended = python("import sys\nfor line in sys.stdin: print(line, flush=True)", tmp_path, words=b"a\n", until=b"a\n")

    assert (0, b"a\n") == (ended.exit_code, ended.output[:2])


def test_it_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """At the end of its time all is gone, also what has left its process group."""
    script = "setsid sleep 600 & echo $!; exec sleep 600"
    ended = run_program(["/bin/sh", "-c", script], variables=VARIABLES, cwd=str(tmp_path), timeout_seconds=1)

    assert ended.exit_code is None
    assert is_gone(int(ended.output))


def test_a_long_complaint_is_cut(tmp_path: Path) -> None:
    """However much it writes to stderr, the user gets one line of bounded length."""
    ended = python("import sys; sys.stderr.write('x' * 100000)", tmp_path)

    assert "x" * MAX_ERROR_CHARS == ended.last_error_line


def test_a_flood_of_complaints_is_kept_nowhere(tmp_path: Path) -> None:
    """It may complain without an end: of that the last is known, it takes no room on disk, and the time is kept."""
    largest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, largest[1]))  # for whatever is started here
    try:
        ended = run_program(
            ["/bin/sh", "-c", "echo a; exec yes no >&2"], variables=VARIABLES, cwd=str(tmp_path), timeout_seconds=0.5
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, largest)

    assert (None, b"a\n", True) == (ended.exit_code, ended.output, ended.last_error_line in ("no", "n"))


def test_it_may_complain_at_length_before_it_leaves(tmp_path: Path) -> None:
    """More stderr than a pipe holds, after stdout is closed, does not block the exit."""
    code = "import os, sys; os.close(1); sys.stderr.write('x\\n' * 100000 + 'last words'); sys.exit(3)"

    assert ProgramResult(3, b"", "last words") == python(code, tmp_path)


def test_who_holds_its_pipes_is_not_waited_for(tmp_path: Path) -> None:
    """It has ended when it has ended, whatever it leaves behind; that is gone, too."""
    started = time.monotonic()
    ended = run_program(
        ["/bin/sh", "-c", "setsid sleep 60 & sleep 60 & echo $!"],
        variables=VARIABLES,
        cwd=str(tmp_path),
        timeout_seconds=30,
    )

    assert (0, True) == (ended.exit_code, time.monotonic() - started < 10)
    assert is_gone(int(ended.output))


def test_what_cannot_be_started(tmp_path: Path) -> None:
    """No such program: the system's own error."""
    with pytest.raises(FileNotFoundError):
        run_program([str(tmp_path / "none")], variables=VARIABLES, cwd=str(tmp_path), timeout_seconds=1)
