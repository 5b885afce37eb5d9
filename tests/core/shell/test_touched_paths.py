"""Which files an event touches, in particular those that a shell line reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st
from policy_play import call, finished, shell, starting

from upbeat.core.contract.event import Event, PromptSubmitted, SessionEnded, ToolKind
from upbeat.core.shell.touched_paths import MAX_FILES, MAX_LINE_CHARS, paths_read_by, touched_paths

LINES = read_groups(Path(__file__).with_name("reading_lines.tsv"))
LONG_LINE = "cat a.txt " + "x" * MAX_LINE_CHARS


@pytest.mark.parametrize("command", [*(line for (line,) in LINES["none"]), LONG_LINE])
def test_reads_nothing(command: str) -> None:
    """A line that passes no file to a reading program reads none."""
    assert paths_read_by(command, "/repo") == ()


@pytest.mark.parametrize(("command", "paths"), LINES["reads"])
def test_reads(command: str, paths: str) -> None:
    """Each file that a line reads is found, relative to the folder of its command."""
    assert tuple(paths.split("|")) == paths_read_by(command, "/repo")


def test_many_files_are_bounded() -> None:
    """The number of files is limited."""
    assert len(paths_read_by("cat " + " ".join(f"f{number}" for number in range(100)), "/repo")) == MAX_FILES


EVENTS: dict[str, tuple[Event, tuple[str, ...]]] = {
    "a file that was read": (finished(call("Read", ToolKind.READ, ("/repo/a.py",))), ("/repo/a.py",)),
    "a file that is about to be edited": (starting(call("Edit", ToolKind.EDIT, ("/repo/a.py",))), ("/repo/a.py",)),
    "a line of the shell": (finished(shell("cat a.py")), ("/repo/a.py",)),
    "a search in one file": (finished(call("Grep", ToolKind.SEARCH, ("/repo/a.py",))), ()),
    "a search": (finished(call("Grep", ToolKind.SEARCH)), ()),
    "a prompt": (PromptSubmitted(finished(shell("")).source, "cat a.py"), ()),
    "the end": (SessionEnded(finished(shell("")).source), ()),
}


@pytest.mark.parametrize(("event", "paths"), EVENTS.values(), ids=EVENTS)
def test_touched(event: Event, paths: tuple[str, ...]) -> None:
    """The touched files are those of the call, or those that a shell line reads."""
    assert touched_paths(event) == paths


PIECES = st.sampled_from([*"cat sed-ngrp '\"$;|&<>()\n\\/.ab", "cat ", "sed -n ", "cd "])


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_line_raises(command: str) -> None:
    """For any line, the paths are absolute and normalized."""
    assert all(path.startswith("/") and "//" not in path[1:] for path in paths_read_by(command, "/repo"))
