"""Calls of Codex's tools in client-independent fields."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.tools import describe_call, split_quoted_line, unwrap_shell_command
from upbeat.core.contract.event import Call, FileEdit, Task, ToolKind

PATCH = "*** Begin Patch\n*** Update File: a.py\n-old\n+new\n*** Move to: b.py\n*** End Patch"


def call(tool: str, **fields: object) -> Call:
    return Call("c", tool, fields)


@pytest.mark.parametrize(("tool", "kind"), [("spawn_agent", ToolKind.DELEGATE), ("unknown", ToolKind.OTHER)])
def test_a_tool_has_a_kind(tool: str, kind: ToolKind) -> None:
    """A known tool gets its kind, and any other one ``OTHER``."""
    assert replace(call(tool), kind=kind) == describe_call(call(tool), "/r")


def test_a_patch_names_its_files() -> None:
    """A patch that updates and moves a file edits both paths, the new one first, resolved from the working folder."""
    described = describe_call(call("apply_patch", command=PATCH), "/r")

    assert (ToolKind.EDIT, ("/r/b.py", "/r/a.py")) == (described.kind, described.paths)
    assert (FileEdit("/r/b.py", "", ""), FileEdit("/r/a.py", "new", "old")) == described.edits


def test_a_patch_that_only_adds_files_writes() -> None:
    """A patch of new files is a write."""
    described = describe_call(call("apply_patch", input="*** Add File: n.py\n+x\n"), "/r")

    assert (ToolKind.WRITE, ("/r/n.py",)) == (described.kind, described.paths)


def test_a_plan_is_the_whole_task_list() -> None:
    """Each step of a plan is a task, done if it is completed; anything but an object is skipped."""
    plan = [{"step": "a", "status": "completed"}, {"step": "b", "status": "pending"}, 5]
    described = describe_call(call("update_plan", plan=plan), "/r")

    assert ((Task("a", True), Task("b", False)), True) == (described.tasks, described.is_full_task_list)


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("/bin/bash -lc ls", "ls"),
        ("bash -c 'a b'", "a b"),
        ('/bin/bash -lc "it\'s "\'$x `y` \'"\\\\"', "it's $x `y` \\"),
        ("/bin/bash -lc 'one\ntwo'", "one\ntwo"),
        ("/tmp/evil/bash -lc ls", "/tmp/evil/bash -lc ls"),
        ("bash -lc ls extra", "bash -lc ls extra"),
        ('/bin/bash -lc "$x"', '/bin/bash -lc "$x"'),
        ("/bin/bash -lc ls; id", "/bin/bash -lc ls; id"),
        ("<command included NUL byte>", "<command included NUL byte>"),
        ("", ""),
    ],
)
def test_the_script_of_a_shell(line: str, script: str) -> None:
    """Only a shell in a folder of the system is left out, and only if the line is quoted in Codex's way."""
    assert script == unwrap_shell_command(line)


@given(st.lists(st.text(st.characters(exclude_characters="\0")), min_size=1))
def test_a_quoted_line_has_its_words(words: list[str]) -> None:
    """Quoted words are the same words again, whatever they contain."""
    assert tuple(words) == split_quoted_line(shlex.join(words))
