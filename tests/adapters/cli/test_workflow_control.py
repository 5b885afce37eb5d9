"""``upbeat workflow start|stop|continue`` on a real journal: which session is controlled."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Here
from fakes.clock import FakeClock

from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.record import Record
from upbeat.core.workflow.facts import SessionBegan, SessionClosed, WorkflowStarted, apply_facts
from upbeat.core.workflow.state import NEW_SESSION, RunStatus, WorkflowRun, WorkflowStep

STATE = ".local/state"
MINE = {"CLAUDE_CODE_SESSION_ID": "s-1"}


@pytest.fixture
def home(tmp_path: Path, repo: Path) -> Path:
    """The sessions s-1 and s-10, each with a workflow, s-10 the later one."""
    made = SqliteJournal(tmp_path / "home" / STATE, FakeClock())
    for name in ("s-1", "s-10"):
        run = WorkflowRun(f"run of {name}", "single", (WorkflowStep("DEV", "DEV", 0),))
        facts = (SessionBegan("claude-code", str(repo)), WorkflowStarted(run, 0.0))
        with made.transaction() as transaction:
            transaction.append(
                Record("", "SessionStarted", "claude-code", name, root=str(repo), facts=facts),
                apply_facts(facts, NEW_SESSION),
            )
    made.close()
    return tmp_path / "home"


def statuses(home: Path) -> dict[str, RunStatus]:
    known = SqliteJournal(home / STATE, FakeClock()).sessions()
    return {session.session_id: session.state.run.status for session in known if session.state.run}


@pytest.mark.parametrize(
    ("arguments", "variables", "stopped"),
    [
        (["--session", "s-1"], {}, {"s-1"}),
        (["--session", "s-10"], {}, {"s-10"}),
        ([], {}, {"s-1", "s-10"}),
    ],
    ids=["complete id", "another", "all"],
)
def test_stop(
    here: Here, repo: Path, home: Path, arguments: list[str], variables: dict[str, str], stopped: set[str]
) -> None:
    """A complete session id stops that session, even if another id begins with it; without one, all are stopped."""
    done = here("workflow", "stop", *arguments, cwd=repo, home=home, **variables)

    assert (0, "") == (done.code, done.stderr)
    assert stopped == {name for name, status in statuses(home).items() if status is RunStatus.STOPPED}


def test_a_command_from_within_a_session(here: Here, repo: Path, home: Path) -> None:
    """An agent starts a workflow in its own session, not in the latest one, and only if none is open there."""
    refused = here("workflow", "start", "quick", "more", cwd=repo, home=home, **MINE)
    assert {"s-1": RunStatus.RUNNING, "s-10": RunStatus.RUNNING} == statuses(home)
    here("workflow", "stop", "--session", "s-1", cwd=repo, home=home)
    done = here("workflow", "start", "quick", "more", cwd=repo, home=home, **MINE)
    known = SqliteJournal(home / STATE, FakeClock()).sessions()

    assert (1, 0) == (refused.code, done.code)
    assert {"s-1": "quick", "s-10": "single"} == {
        session.session_id: session.state.run.workflow for session in known if session.state.run
    }


@pytest.mark.parametrize(
    ("name", "hint"), [("quik", "did you mean 'quick'?"), ("xyz", "run `upbeat workflow list` to see them all")]
)
def test_an_unknown_workflow(here: Here, repo: Path, home: Path, name: str, hint: str) -> None:
    """Starting an unknown workflow fails with the nearest name, and changes nothing."""
    done = here("workflow", "start", name, cwd=repo, home=home, **MINE)

    assert (2, b"", f"upbeat: no workflow '{name}'; {hint}\n") == (done.code, done.stdout, done.stderr)
    assert {RunStatus.RUNNING} == set(statuses(home).values())


def test_a_command_from_an_unknown_session(here: Here, repo: Path, home: Path) -> None:
    """A command in a shell of an unknown session fails and changes no other session."""
    done = here("workflow", "start", "quick", "more", cwd=repo, home=home, CLAUDE_CODE_SESSION_ID="elsewhere")
    known = SqliteJournal(home / STATE, FakeClock()).sessions()

    assert 0 != done.code
    assert "this shell's session elsewhere is not known in" in done.stderr
    assert "--session" in done.stderr
    assert {"single"} == {session.state.run.workflow for session in known if session.state.run}


@pytest.mark.parametrize("name", ["s-", "x"])
def test_an_ambiguous_or_unknown_session(here: Here, repo: Path, home: Path, name: str) -> None:
    """An id that matches several sessions, or none, is refused."""
    done = here("workflow", "stop", "--session", name, cwd=repo, home=home)

    assert 0 != done.code
    assert "`upbeat status` lists them" in done.stderr
    assert {RunStatus.RUNNING} == set(statuses(home).values())


HAND_OVER = ["workflow", "resume", "--client", "codex", "--no-start", "--session", "s-10"]


@pytest.mark.parametrize(("force", "code"), [([], 1), (["--force"], 0)])
def test_a_session_that_lives_is_not_handed_over(
    here: Here, repo: Path, home: Path, force: list[str], code: int
) -> None:
    """Without a terminal to ask at, the workflow of a session that has not ended stays there unless forced."""
    done = here(*HAND_OVER, *force, cwd=repo, home=home)
    refused = "upbeat: session s-10 of claude-code has not ended; its last event was "

    assert (code, bool(code)) == (done.code, done.stderr.startswith(refused))
    assert bool(code) == done.stderr.endswith("end it first, or pass --force if it is gone\n")
    assert (b"" if code else b"upbeat: workflow single waits for the next codex-cli session") == done.stdout[:60]


def test_a_session_that_has_ended_is_handed_over(here: Here, repo: Path, home: Path) -> None:
    """The workflow of an ended session is offered at once."""
    journal = SqliteJournal(home / STATE, FakeClock())
    with journal.transaction() as transaction:
        ended = apply_facts((SessionClosed(),), transaction.state("s-10"))
        record = Record("", "SessionEnded", "claude-code", "s-10", root=str(repo), facts=(SessionClosed(),))
        transaction.append(record, ended)
    journal.close()
    done = here(*HAND_OVER, cwd=repo, home=home)

    assert (0, True) == (done.code, done.stdout.startswith(b"upbeat: workflow single waits for the next"))


@pytest.mark.parametrize(
    "words", [["stop"], ["continue"], ["start", "quick", "a goal"], ["resume", "--client", "codex"]]
)
def test_where_upbeat_is_off_nothing_is_done(here: Here, repo: Path, home: Path, words: list[str]) -> None:
    """A command that could do nothing says so, and how to switch upbeat on."""
    assert 0 == here("off", cwd=repo, home=home).code
    done = here("workflow", *words, cwd=repo, home=home)

    assert (1, b"") == (done.code, done.stdout)
    assert done.stderr.startswith("upbeat: switched off in ")
    assert "so nothing was done; switch it on first (upbeat on)" in done.stderr
    assert {"s-1": RunStatus.RUNNING, "s-10": RunStatus.RUNNING} == statuses(home)


def test_a_start_without_a_goal(here: Here, repo: Path, home: Path) -> None:
    """A workflow needs a goal, which every delegated prompt carries."""
    done = here("workflow", "start", "quick", cwd=repo, home=home)

    assert (1, "upbeat: what should quick achieve? upbeat workflow start quick GOAL\n") == (done.code, done.stderr)


def test_a_start_says_what_it_replaces(here: Here, repo: Path, home: Path) -> None:
    """A session has one workflow: a start in its user's own shell names the one that it replaces."""
    done = here("workflow", "start", "quick", "another", "goal", "--session", "s-10", cwd=repo, home=home)

    assert (0, "upbeat: replaces the workflow single of this session (0 of 1 steps passed)\n") == (
        done.code,
        done.stderr,
    )
