"""Which files an event touches, in particular those that a shell line reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_play import call, finished, shell, starting

from upbeat.core.contract.event import Event, PromptSubmitted, SessionEnded, ToolKind
from upbeat.core.policy.touched_paths import MAX_FILES, MAX_LINE_CHARS, paths_read_by, touched_paths

READS_NOTHING = {
    "no program that reads": "make test",
    "a word that looks like one": "echo catalogue && git cat-file -p HEAD",
    "what is piped": "pytest -q | tail -20",
    "text that is put into a file": "cat > a.txt <<'EOF'\nhello\nEOF",
    "a variable": 'cat $FILE "$HOME/a.txt"',
    "a pattern": "head -5 src/*.py src/?.py src/[ab].py",
    "the home folder": "cat ~/.bashrc",
    "standard input": "cat -",
    "a program of sed without a file": "git log | sed -n 1,5p",
    "a program of awk without a file": "ls -l | awk '{print $5}'",
    "a pattern of grep without a file": "ps ax | grep python.py",
    "a search of folders": "grep -rn foo src && rg foo src lib/ .",
    "no valid line": "cat 'a.txt",
    "a program that is named in a text": "git commit -m 'cat a.txt'",
    "a folder that has to be worked out": 'cd "$(git rev-parse --show-toplevel)" && cat a.txt',
    "a line that is very long": "cat a.txt " + "x" * MAX_LINE_CHARS,
}

READS = {
    "cat": ("cat a.txt", ["/repo/a.txt"]),
    "several": ("cat -n a.txt b/c.txt", ["/repo/a.txt", "/repo/b/c.txt"]),
    "each once": ("cat a.txt; head a.txt ./a.txt", ["/repo/a.txt"]),
    "an absolute path": ("nl -ba /etc/hosts", ["/etc/hosts"]),
    "a path with dots": ("cat b/../../other/a.txt", ["/other/a.txt"]),
    "a path in quotes": ("cat 'a b.txt' \"c d.txt\" e\\ f.txt", ["/repo/a b.txt", "/repo/c d.txt", "/repo/e f.txt"]),
    "lines by sed": ("sed -n '1,200p' core/a.py", ["/repo/core/a.py"]),
    "a script of sed by option": ("sed -n -e 1p -e 3p a.py", ["/repo/a.py"]),
    "the first lines": ("head -n 50 a.py", ["/repo/a.py"]),
    "the first lines in short": ("head -50 a.py", ["/repo/a.py"]),
    "the last lines": ("tail --lines=5 a.py", ["/repo/a.py"]),
    "awk": ("awk -F: 'NR>5 {print $1}' n=1 data/a.csv", ["/repo/data/a.csv"]),
    "grep in one file": ("grep -n -A 3 'def f' core/a.py Makefile", ["/repo/core/a.py", "/repo/Makefile"]),
    "grep with several patterns": ("grep -e a -e b core/a.py", ["/repo/core/a.py"]),
    "rg in one file": ("rg -n -g '!x' foo core/a.py core", ["/repo/core/a.py"]),
    "bat": ("bat --line-range 1:5 a.py", ["/repo/a.py"]),
    "after going there": ("cd web && cat a.ts && cd ../api; head b.py", ["/repo/web/a.ts", "/repo/api/b.py"]),
    "in a chain": ("git status && cat a.txt | wc -l || true", ["/repo/a.txt"]),
    "behind a wrapper": ("timeout 5 /bin/cat a.txt", ["/repo/a.txt"]),
    "inside a shell": ("bash -lc 'cat a.txt'", ["/repo/a.txt"]),
    "a variable that the line tells": ("F=a.py; cat $F", ["/repo/a.py"]),
    "after the options": ("cat -- -a.txt", []),
}


@pytest.mark.parametrize("command", READS_NOTHING.values(), ids=READS_NOTHING)
def test_reads_nothing(command: str) -> None:
    """A line that passes no file to a reading program reads none."""
    assert paths_read_by(command, "/repo") == ()


@pytest.mark.parametrize(("command", "paths"), READS.values(), ids=READS)
def test_reads(command: str, paths: list[str]) -> None:
    """Each file that a line reads is found, relative to the folder of its command."""
    assert paths_read_by(command, "/repo") == tuple(paths)


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
