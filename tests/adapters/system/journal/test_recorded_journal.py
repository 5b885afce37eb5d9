"""A journal that commit 689b1e2 (schema version 2) wrote opens, replays, explains and verifies.

``recorded_v2.sql`` is the dump of it: a workflow with a finished and an unclear step, a denied command, a compaction,
a goal, a session that its client renamed, an unreadable payload, and two pruned records.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from session_journal import rebuild_state

from upbeat.adapters.hook_entry.answer import answer_event
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.wiring import build_application
from upbeat.core.contract.event import SubagentRequested
from upbeat.core.journal.explain import explanation_document
from upbeat.core.journal.replay import decode_event
from upbeat.core.journal.stats import StatsCollector
from upbeat.core.workflow.state import RunStatus, StepStatus, StepVerdict

RECORDED = Path(__file__).with_name("recorded_v2.sql")


@pytest.fixture
def state_home(tmp_path: Path) -> Path:
    """A state folder with the recorded journal."""
    folder = tmp_path / "home" / ".local" / "state"
    (folder / "upbeat").mkdir(parents=True)
    connection = sqlite3.connect(folder / "upbeat" / "journal.db")
    connection.executescript(RECORDED.read_text(encoding="utf-8"))
    connection.close()
    return folder


@pytest.fixture(params=["as it is", "migrated"])
def journal(state_home: Path, request: pytest.FixtureRequest) -> SqliteJournal:
    """The journal before anything is written, and after the first transaction has migrated it."""
    opened = SqliteJournal(state_home, FakeClock())
    if request.param == "migrated":
        with opened.transaction():
            pass
    return opened


def test_it_verifies(journal: SqliteJournal) -> None:
    """The hash chain holds, and every session's state is what its records say."""
    verified = journal.verify()

    assert (True, 23, 2, 4) == (verified.is_intact, verified.records, verified.pruned_records, verified.sessions)


def test_the_sessions(journal: SqliteJournal) -> None:
    """Each session has its workflow, steps, evidence and notes; one is renamed."""
    sessions = {session.session_id: session for session in journal.sessions()}
    state = sessions["s-run"].state

    assert ["", "", "", ""] == [session.problem for session in sessions.values()]
    assert state.run is not None
    assert (RunStatus.RUNNING, "quick", 1) == (state.run.status, state.run.workflow, state.loop.iterations)
    assert [(StepStatus.DONE, StepVerdict.PASS, 1), (StepStatus.PENDING, StepVerdict.UNCLEAR, 1)] == [
        (step.status, step.verdict, step.attempts) for step in state.run.steps if step.attempts
    ]
    assert [("tests", 0)] == [(evidence.kind, evidence.exit_code) for evidence in state.evidence]
    assert state == rebuild_state(journal, "s-run")
    assert {"codex-new"} == {name for name, session in sessions.items() if session.is_renamed}
    assert {"restore-context-after-compaction", "pursue-goal"} == {
        page.policy for page in sessions["s-goal"].state.policy_notes
    }


def test_the_log_and_why(journal: SqliteJournal) -> None:
    """Events, effects and explanations have their present names."""
    records = journal.records()
    documents = [explanation_document(entry) for entry in records]
    denied = documents[0]

    assert {"UserQuestionRequested", "SubagentRequested", "SubagentReturned", "SessionAdopted", "invalid_payload"} <= {
        entry.text_field("event") for entry in records
    }
    assert ("deny", "rule no-rm", "Deny") == (
        denied["effects"][0]["kind"],
        denied["explanations"][0]["component"],
        denied["explanations"][0]["decision"],
    )
    assert ("shell", ["model_responded"]) == (denied["record"]["event_fields"]["tool_kind"], denied["facts"])
    assert {"inject_context", "deny", "prepend_prompt", "continue_turn"} <= {
        effect["kind"] for document in documents for effect in document["effects"]
    }


def test_records_are_replayed_and_counted(journal: SqliteJournal) -> None:
    """``upbeat backtest`` gets the events, ``upbeat stats`` the injections."""
    stats = StatsCollector()
    bodies = [entry.body for entry in journal.records()]
    for body in bodies:
        stats.add(body)
    events = [decode_event(body, lambda _client, call, _folder: call) for body in bodies]

    assert ["upbeat:developer", "upbeat:tester"] == [
        event.agent_type for event in events if isinstance(event, SubagentRequested)
    ]
    assert {"turn", "workflow"} <= {source.part for source in stats.build_report(30).sources}


def test_a_running_workflow_is_resumed(state_home: Path, tmp_path: Path) -> None:
    """The session goes on with its workflow: the next stop is answered with the open steps, and is recorded."""
    home = state_home.parents[1]
    environment = Environment({}, home / ".config", state_home, home / ".local/share", home)
    application = build_application(environment)
    payload = {
        "session_id": "s-run",
        "cwd": str(tmp_path),
        "hook_event_name": "Stop",
        "last_assistant_message": "Done.",
    }

    output = answer_event("claude-code", payload | {"stop_hook_active": False, "transcript_path": ""}, application)
    journal = application.runtime.journal
    application.close()

    assert "REVIEW" in json.dumps(output)
    assert isinstance(journal, SqliteJournal)
    assert journal.verify().is_intact
    assert "TurnEnding" == journal.records(last=1)[0].text_field("event")
