"""Which files may be overwritten, and which must be read first."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st
from policy_play import HERE, IN_CODEX, ROOT, asked, call, finished, queried, shell, starting, view_of

from upbeat.core.contract.event import Call, EventSource, ToolKind, ToolStarting
from upbeat.core.policies.require_read_before_write import MAX_KNOWN_FILES, POLICY
from upbeat.core.policy.definition import PolicyContext
from upbeat.core.policy.queries import ExistingPathsQuery
from upbeat.core.workflow.state import SessionState

THERE = ("README.md", "src/a.py", "test.log", "build/x.js")
STATE = SessionState(root=ROOT)


def added(*paths: str) -> Call:
    """A patch that adds files."""
    return call("apply_patch", ToolKind.WRITE, tuple(str(Path(ROOT, path)) for path in paths))


def known(event: ToolStarting, notes: tuple[str, ...], language: str = "en") -> PolicyContext:
    """The context with the answers to the policy's queries."""
    found = {
        look: frozenset(path for path in look.paths if path.removeprefix(f"{ROOT}/") in THERE)
        for look in queried(POLICY, event, STATE)
        if isinstance(look, ExistingPathsQuery)
    }
    return view_of(POLICY, notes, found, language, STATE)


def said(made: Call, *before: Call, source: EventSource = IN_CODEX, language: str = "en") -> list[str]:
    """The texts of the effects of a call after the calls ``before``."""
    notes: tuple[str, ...] = ()
    for one in before:
        told = asked(POLICY, finished(one, source=source), view_of(POLICY, notes, state=STATE)).notes
        notes = notes if told is None else told
    event = starting(made, source)
    return [effect.text for effect in asked(POLICY, event, known(event, notes, language)).effects]


def made(text: str) -> Call:
    """The call that a field of ``overwriting_calls.tsv`` describes."""
    verb, *paths = text.split()
    if verb == "edit":
        return call("apply_patch", ToolKind.EDIT, tuple(str(Path(ROOT, path)) for path in paths))
    return added(*paths) if verb == "patch" else shell(text)


CALLS = read_cases(Path(__file__).with_name("overwriting_calls.tsv"))


@pytest.mark.parametrize("calls", [calls for path, _name, *calls in CALLS if path == "none"])
def test_says_nothing_for(calls: list[str]) -> None:
    """Says nothing for new files, known ones, others, and what loses nothing."""
    assert [] == said(*map(made, calls))


@pytest.mark.parametrize(("path", "calls"), [(path, calls) for path, _name, *calls in CALLS if path != "none"])
def test_says(path: str, calls: list[str]) -> None:
    """Overwriting an unread file is denied, with the alternative in both languages."""
    [english] = said(*map(made, calls))
    [chinese] = said(*map(made, calls), language="zh")

    assert f"`{path}` exists" in english
    assert "Read it first" in english
    assert f"`{path}` 已存在" in chinese


def test_beside_a_guarded_write_tool() -> None:
    """Where the client guards its own write tool, only the shell is checked."""
    line = shell("echo x > README.md")

    assert [] == said(added("README.md"), source=HERE)
    assert 1 == len(said(line, source=HERE))
    assert [] == said(line, shell("cat README.md"), source=HERE)


def test_the_latest_are_remembered() -> None:
    """The number of noted files is limited; a file that is read again is the latest."""
    notes = tuple(f"f{number}" for number in range(MAX_KNOWN_FILES))
    seen = view_of(POLICY, notes, state=STATE)

    assert (*notes[1:], "README.md") == asked(POLICY, finished(shell("cat README.md"), source=IN_CODEX), seen).notes
    assert (*notes[1:], "f0") == asked(POLICY, finished(shell("cat f0"), source=IN_CODEX), seen).notes


@given(st.text(max_size=100))
def test_anything(text: str) -> None:
    """No line raises."""
    for line in (text, f"cat {text} > {text}"):
        event = starting(shell(line), IN_CODEX)
        asked(POLICY, event, known(event, ()))
        asked(POLICY, finished(shell(line), source=IN_CODEX), view_of(POLICY, state=STATE))
