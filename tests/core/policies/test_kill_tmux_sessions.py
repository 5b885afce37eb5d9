"""Which tmux sessions are killed at the end of a session, and which are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st
from policy_play import HERE, asked, finished, shell, starting, view_of

from upbeat.core.contract.event import SessionEnded
from upbeat.core.policies.kill_tmux_sessions import MAX_SESSIONS, POLICY
from upbeat.core.policy.definition import KillTmuxSessions, TmuxSession

LINES = read_groups(Path(__file__).with_name("tmux_lines.tsv"))


def played(line: str, *, reason: str = "other", is_finished: bool = True) -> tuple[str, ...]:
    """The sessions that are killed after ``line`` has run from second 1000 to 1005."""
    begun = asked(POLICY, starting(shell(line)), view_of(POLICY, at=1000)).notes or ()
    ended = asked(POLICY, finished(shell(line)), view_of(POLICY, begun, at=1005)).notes if is_finished else None
    word = asked(POLICY, SessionEnded(HERE, reason), view_of(POLICY, ended or begun))
    return tuple(
        session.name
        for side_effect in word.side_effects
        if isinstance(side_effect, KillTmuxSessions)
        for session in side_effect.sessions
    )


@pytest.mark.parametrize("line", [line for (line,) in LINES["none"]])
def test_notes_nothing_for(line: str) -> None:
    """A session in the foreground, without a name, on another server or in quoted text is not noted."""
    assert () == played(line)


@pytest.mark.parametrize(("line", "names"), LINES["starts"])
def test_ends(line: str, names: str) -> None:
    """A detached session that the agent started is killed, whatever ended its own."""
    assert tuple(names.split()) == played(line) == played(line, reason="clear")


def test_the_interval_of_a_session() -> None:
    """A session must have been created during the call, within a second on both sides."""
    line = "tmux new -d -s work"
    begun = asked(POLICY, starting(shell(line)), view_of(POLICY, at=1000)).notes or ()
    ended = asked(POLICY, finished(shell(line), failed=True), view_of(POLICY, begun, at=1005)).notes or ()
    word = asked(POLICY, SessionEnded(HERE), view_of(POLICY, ended))

    assert (("work 1000",), ("work 1000 1005",)) == (begun, ended)
    assert (KillTmuxSessions((TmuxSession("work", 999, 1006),)),) == word.side_effects
    assert () == word.notes


def test_a_session_of_an_open_call_is_kept() -> None:
    """A session whose call has not returned is not killed."""
    assert () == played("tmux new -d -s work", is_finished=False)


def test_the_latest_are_remembered() -> None:
    """Only so many sessions are noted, the latest."""
    many = " && ".join(f"tmux new -d -s s{number}" for number in range(MAX_SESSIONS + 5))

    assert [f"s{number}" for number in range(5, MAX_SESSIONS + 5)] == list(played(many))


@given(st.text(max_size=100), st.lists(st.text(max_size=20)))
def test_anything(text: str, notes: list[str]) -> None:
    """No line and no note raises."""
    known = view_of(POLICY, tuple(notes))
    for event in (starting(shell(f"tmux new -d {text}")), finished(shell(f"tmux new -d {text}")), SessionEnded(HERE)):
        asked(POLICY, event, known)
