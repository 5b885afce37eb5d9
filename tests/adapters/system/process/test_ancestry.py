"""The processes that a process descends from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from upbeat.adapters.system.process import ancestry
from upbeat.adapters.system.process.ancestry import ancestors_of, descends_from_program

FIND = (
    "import os, sys; from upbeat.adapters.system.process.ancestry import descends_from_program as find;"
    "print(find(os.getpid(), {'claude', 'codex'}))"
)


def test_the_line() -> None:
    """The line begins with the process itself and goes on with its parent; an ended process has none."""
    own, parent, *_ = ancestors_of(os.getpid())

    assert (os.getpid(), os.getppid(), os.getppid()) == (own.pid, own.parent_pid, parent.pid)
    assert own.identity != parent.identity
    assert () == ancestors_of(2**22 + 1)


def test_a_program_far_above(tmp_path: Path) -> None:
    """A client is found by its name, through the shells between; a program with another name is none."""
    client = tmp_path / "claude"
    shutil.copy("/bin/sh", client)
    script = f'/bin/sh -c "true; {sys.executable} -c \\"$FIND\\"; true"; true'
    found = subprocess.run(
        [client, "-c", script], env=os.environ | {"FIND": FIND}, capture_output=True, text=True, check=True
    )

    assert "claude" == found.stdout.strip()
    assert "" == descends_from_program(os.getpid(), {"no-such-program"})


def test_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no /proc, ``ps`` tells the same line."""
    expected = [process.pid for process in ancestors_of(os.getpid())]
    monkeypatch.setattr(ancestry.os.path, "exists", lambda _path: False)
    if not os.access("/bin/ps", os.X_OK):
        pytest.skip("there is no /bin/ps")

    assert expected == [process.pid for process in ancestors_of(os.getpid())]
