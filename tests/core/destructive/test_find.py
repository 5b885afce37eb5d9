"""Hazards of whole shell lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_play import DESTRUCTIVE_LINES, ROOT

from upbeat.core.destructive import Hazard, Severity, ShellLocation, find_hazards

AT_ROOT = ShellLocation(ROOT, ROOT)


def found(line: str) -> list[tuple[str, str]]:
    """The kind and severity of each hazard of ``line``."""
    return [(hazard.kind, hazard.severity.value) for hazard in find_hazards(line, AT_ROOT)]


@pytest.mark.parametrize("effect", ["deny", "ask"])
def test_no_hazard_is_missed(effect: str) -> None:
    """Every line of the corpus that is denied or asked about has a hazard."""
    lines = DESTRUCTIVE_LINES[effect]

    assert [] == [line for line in lines if not find_hazards(line, AT_ROOT)]


def test_the_most_severe_hazard_is_first() -> None:
    """Hazards that are denied precede those that are asked about."""
    assert [("delete-system", "deny"), ("git-branch", "ask")] == found("git branch -D x; rm -rf /")


def test_what_the_line_has_saved_is_not_lost() -> None:
    """After a stash or a commit in the same line uncommitted changes do not count."""
    assert [("git-changes", "deny")] == found("git reset --hard")
    assert [] == [kind for kind, severity in found("git stash -u && git reset --hard") if severity != "none"]


def test_a_line_that_cannot_be_parsed_is_asked_about() -> None:
    """A syntax error lowers a denial to a question, and text that looks destructive is a hazard."""
    assert {"ask"} == {severity for _kind, severity in found("rm -rf / 'unclosed")}
    assert ("unparsed", "ask") in found('git reset --hard "unclosed')


def test_a_fork_bomb() -> None:
    """A function that starts itself twice in the background is denied."""
    assert Hazard("fork-bomb", Severity.DENY, "fork bomb") in find_hazards(":(){ :|:& };:", AT_ROOT)


@given(st.text(max_size=200))
def test_any_line(line: str) -> None:
    """No line raises."""
    find_hazards(f"rm -rf {line}", AT_ROOT)
