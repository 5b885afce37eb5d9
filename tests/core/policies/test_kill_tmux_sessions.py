"""Which tmux sessions are killed at the end of a session, and which are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_play import HERE, asked, finished, shell, starting, view_of

from upbeat.core.contract.event import SessionEnded
from upbeat.core.policies.kill_tmux_sessions import MAX_SESSIONS, POLICY
from upbeat.core.policy.definition import KillTmuxSessions, TmuxSession

SAYS_NOTHING = (
    "tmux new -s work",
    "tmux new-session -d",
    "tmux new -d -s $NAME",
    "tmux new -d -s 'a b'",
    "tmux -L own new -d -s work",
    "tmux -S /tmp/s new -d -s work",
    "tmux kill-session -t work",
    "tmux new-window -d -n work",
    "tmux attach -t new-d",
    "echo 'tmux new -d -s work'",
    'git commit -m "tmux new -d -s work"',
    "# tmux new -d -s work",
    "tmux ls",
    "screen -dmS work",
    "new -d -s work",
    "",
)
NOTES = {
    "tmux new -d -s work": ("work",),
    "tmux new-session -d -s work 'npm run dev'": ("work",),
    "tmux new-session -ds work -x 200 -y 50": ("work",),
    "tmux new -dswork": ("work",),
    "tmux new-session -A -d -n window -s work -c /tmp bash": ("work",),
    "tmux has-session -t a 2>/dev/null || tmux new -d -s a": ("a",),
    "cd web && /usr/bin/tmux new -d -s 'web' && sleep 1": ("web",),
    "tmux new -d -s a \\; new -d -s b": ("a", "b"),
    "bash -c 'tmux new -d -s work'": ("work",),
    "for n in a b; do tmux new -d -s $n; done": ("a", "b"),
}


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


@pytest.mark.parametrize("line", SAYS_NOTHING)
def test_notes_nothing_for(line: str) -> None:
    """A session in the foreground, without a name, on another server or in quoted text is not noted."""
    assert () == played(line)


@pytest.mark.parametrize(("line", "names"), NOTES.items(), ids=list(NOTES))
def test_ends(line: str, names: tuple[str, ...]) -> None:
    """A detached session that the agent started is killed, whatever ended its own."""
    assert names == played(line) == played(line, reason="clear")


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
