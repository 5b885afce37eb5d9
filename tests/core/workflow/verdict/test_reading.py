"""Which files a call showed to its agent, and when a reviewer has read what it reviews."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract import event as events
from upbeat.core.workflow.verdict.reading import MAX_PATHS_PER_CALL, has_read_changes, relevant_changes, shown_files

ROOT = "/repo"
SOURCE = events.EventSource(events.ClientName.CLAUDE_CODE, ROOT, "s", "agent")
DIFF = "diff --git a/shop/a.py b/shop/a.py\n--- a/shop/a.py\n+++ b/shop/a.py\n@@ -1,2 +1,3 @@ def f():\n+x\n"
OUTPUTS = {
    "diff": DIFF,
    "text": "x = 1\n",
    "hits": "shop/a.py:3:x = 1\n",
    "stat": " shop/a.py | 2 +-\n",
    "none": "",
    "count": "0\n",
}
LINES = read_groups(Path(__file__).with_name("reading_calls.tsv"))


def shell(command: str, output: str, cwd: str = ROOT) -> events.ToolFinished:
    """A finished call of the shell."""
    source = events.EventSource(SOURCE.client, cwd, "s", "agent")
    call = events.Call("c", "Bash", {"command": command}, events.ToolKind.SHELL)
    return events.ToolFinished(source, call, output, command)


@pytest.mark.parametrize(("output", "command"), LINES["shows"])
def test_lines_that_show_the_file(output: str, command: str) -> None:
    """What reads a file, searches it or prints a diff of it shows it."""
    assert "shop/a.py" in shown_files(shell(command, OUTPUTS[output]), ROOT)


@pytest.mark.parametrize(("output", "command"), LINES["hides"])
def test_lines_that_do_not_show_it(output: str, command: str) -> None:
    """Names, counts, output that goes elsewhere, other repositories and imitated diffs show nothing of it."""
    assert "shop/a.py" not in shown_files(shell(command, OUTPUTS[output]), ROOT)


def test_tools_that_read_and_search() -> None:
    """A file tool shows its file; a search shows the files of its hits, and one file that it was limited to."""
    read = events.Call("c", "Read", {}, events.ToolKind.READ, ("/repo/shop/a.py", "/etc/passwd"))
    grep = events.Call("c", "Grep", {"pattern": "x", "path": "shop/b.py"}, events.ToolKind.SEARCH)

    assert ("shop/a.py",) == shown_files(events.ToolFinished(SOURCE, read), ROOT)
    assert () == shown_files(events.ToolFinished(SOURCE, read, has_failed=True), ROOT)
    assert {"shop/a.py", "shop/b.py"} <= set(shown_files(events.ToolFinished(SOURCE, grep, OUTPUTS["hits"]), ROOT))
    assert () == shown_files(events.ToolFinished(SOURCE, grep, ""), ROOT)


def test_what_a_review_has_to_read() -> None:
    """One of the changed files; if none is known, any file; specifications only if nothing else has changed."""
    assert has_read_changes(["a.py"], ["a.py", "b.py"])
    assert not has_read_changes(["c.py"], ["a.py"])
    assert has_read_changes(["c.py"], None)
    assert has_read_changes(["c.py"], [])
    assert not has_read_changes([], None)
    assert ("a.py",) == relevant_changes(["a.py", "specs/features/in-progress/x/tasks.md"])
    assert ("specs/x.md",) == relevant_changes(["specs/x.md"])


@given(command=st.text(max_size=60), output=st.text(max_size=200))
def test_any_line_and_any_output(command: str, output: str) -> None:
    """Whatever ran and whatever it printed, the files are below the repository, each once, and not too many."""
    files = shown_files(shell(f"git {command}", output), ROOT)

    assert len(set(files)) == len(files) <= MAX_PATHS_PER_CALL
    assert not any(file.startswith(("/", "../")) for file in files)


def test_names_that_git_escapes() -> None:
    """A name that is not ASCII is in quotes, its bytes in octal digits."""
    name = "shop/\u5e97.py"
    escaped = "".join(f"\\{byte:03o}" for byte in "\u5e97".encode())
    diff = f'--- "a/shop/{escaped}.py"\n+++ "b/shop/{escaped}.py"\n@@ -1 +1 @@\n+x\n'

    assert (name,) == shown_files(shell("git diff", diff), ROOT)
