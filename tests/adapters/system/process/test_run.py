"""A program has its time and its room, and nothing that it started outlives it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from fakes.odd_programs import HOWS, write
from processes import pids_with_home

from upbeat.adapters.system.process import tree
from upbeat.adapters.system.process.run import capture_output

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
