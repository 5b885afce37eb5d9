"""A program has limits on time and output, and nothing that it started outlives it."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from pathlib import Path

import pytest
from fakes.odd_programs import HOWS, write
from processes import is_gone, pids_with_home

from upbeat.adapters.system.process import run, tree
from upbeat.adapters.system.process.run import MAX_ERROR_CHARS, ProgramResult, capture_output, run_program

PATH = {"PATH": os.defpath}


def test_what_it_prints(tmp_path: Path) -> None:
    """The output of a program that ends well, in its folder, with its variables and nothing on stdin."""
    script = "pwd -P; echo $WORD; cat; echo complaint >&2"

    assert f"{tmp_path.resolve()}\nword\n".encode() == capture_output(
        ["/bin/sh", "-c", script], str(tmp_path), PATH | {"WORD": "word"}, 20
    )


@pytest.mark.parametrize(
    "command", [["/bin/sh", "-c", "echo a; exit 3"], ["/nowhere/at/all"], ["/bin/sh", "-c", "kill $$"]]
)
def test_what_fails(command: list[str]) -> None:
    """A program that is not there, or does not end well, gives nothing."""
    assert capture_output(command, "/", PATH, 20) is None


def test_too_much() -> None:
    """What says more than there is room for gives nothing."""
    assert (b"12345", None) == tuple(
        capture_output(["/bin/echo", "-n", "12345"], "/", PATH, 20, max_bytes=n) for n in (5, 4)
    )


def test_it_stops_when_asked() -> None:
    """A cancellation ends it long before its time."""
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    started = time.monotonic()

    assert capture_output(["/bin/sleep", "60"], "/", PATH, 50, cancelled) is None
    assert time.monotonic() - started < 20


NEEDS_PROC = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


@NEEDS_PROC
@pytest.mark.parametrize("how", HOWS)
def test_nothing_outlives_its_time(tmp_path: Path, how: str) -> None:
    """After the time limit neither the program nor anything that it started is left, whatever it does against it."""
    program = write(tmp_path, "odd", how)
    started = time.monotonic()
    output = capture_output([str(program)], "/", PATH | {"HOME": str(tmp_path)}, 0.3)
    seconds = time.monotonic() - started

    assert (None, True) == (output, seconds < 10)
    assert [] == pids_with_home(tmp_path)


@NEEDS_PROC
@pytest.mark.parametrize("ending", ["echo hi", "echo no; exit 3"], ids=["well", "badly"])
def test_children_do_not_outlive_its_end(tmp_path: Path, ending: str) -> None:
    """If a program exits and leaves processes of its group behind, they are killed, and its daemons too."""
    script = f"(setsid sleep 60 >/dev/null 2>&1 </dev/null &); sleep 60 >/dev/null 2>&1 & {ending}"
    output = capture_output(["/bin/sh", "-c", script], "/", PATH | {"HOME": str(tmp_path)}, 20)

    assert output == (b"hi\n" if ending == "echo hi" else None)
    assert [] == pids_with_home(tmp_path)


def test_who_leaves_nothing_of_its_group_costs_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git is called often: behind a program that ends as it should the process table is not read."""
    looks: list[str] = []
    monkeypatch.setattr(tree, "_iter_processes", lambda: looks.append("looked") or iter(()))

    assert (b"hi\n", []) == (capture_output(["/bin/echo", "hi"], "/", PATH, 20), looks)


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that does not end by itself is killed soon after its time."""
    monkeypatch.setattr(run, "_EXIT_GRACE_SECONDS", 0.1)


def python(code: str, cwd: Path, seconds: float = 20, words: bytes = b"", until: bytes = b"") -> ProgramResult:
    command = [sys.executable, "-I", "-S", "-c", code]
    return run_program(
        command, variables=PATH, cwd=str(cwd), timeout_seconds=seconds, stdin_data=words, stop_marker=until
    )


def test_what_it_said(tmp_path: Path) -> None:
    """Its exit code, its output, and the last line that it complained of."""
    code = "import sys; print(sys.stdin.read()); sys.stderr.write('one\\ntwo\\n'); sys.exit(3)"

    assert ProgramResult(3, b"hello\n", "two") == python(code, tmp_path, words=b"hello")


def test_only_until_it_has_said_enough(tmp_path: Path) -> None:
    """With a stop marker a server is stopped once it has answered."""
    ended = python("import sys\nfor line in sys.stdin: print(line, flush=True)", tmp_path, words=b"a\n", until=b"a\n")

    assert (0, b"a\n") == (ended.exit_code, ended.output[:2])


@pytest.mark.usefixtures("short_grace")
def test_it_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """At the end of its time all is gone, also what has left its process group."""
    script = "setsid sleep 600 & echo $!; exec sleep 600"
    ended = run_program(["/bin/sh", "-c", script], variables=PATH, cwd=str(tmp_path), timeout_seconds=1)

    assert ended.exit_code is None
    assert is_gone(int(ended.output))


def test_a_long_complaint_is_cut(tmp_path: Path) -> None:
    """However much it writes to stderr, the user gets one line of bounded length."""
    ended = python("import sys; sys.stderr.write('x' * 100000)", tmp_path)

    assert "x" * MAX_ERROR_CHARS == ended.last_error_line


@pytest.mark.usefixtures("short_grace")
def test_a_flood_of_complaints_is_kept_nowhere(tmp_path: Path) -> None:
    """It may complain without an end: of that the last is known, it takes no room on disk, and the time is kept."""
    largest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, largest[1]))  # for whatever is started here
    try:
        ended = run_program(
            ["/bin/sh", "-c", "echo a; exec yes no >&2"], variables=PATH, cwd=str(tmp_path), timeout_seconds=0.5
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
        variables=PATH,
        cwd=str(tmp_path),
        timeout_seconds=30,
    )

    assert (0, True) == (ended.exit_code, time.monotonic() - started < 10)
    assert is_gone(int(ended.output))


def test_what_cannot_be_started(tmp_path: Path) -> None:
    """No such program: the system's own error."""
    with pytest.raises(FileNotFoundError):
        run_program([str(tmp_path / "none")], variables=PATH, cwd=str(tmp_path), timeout_seconds=1)
