"""A record explained: whole texts and whole documents, in both languages."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import datetime
from string import Formatter

from journal_values import RUN, record, step

from upbeat.core.journal.chain import Break
from upbeat.core.journal.codec import body_of
from upbeat.core.journal.entry import RENAMED, Entry, Health, KnownSession, Pruned, Verified
from upbeat.core.journal.explain import document, explain
from upbeat.core.journal.overview import (
    health_lines,
    line,
    log_document,
    moment,
    pruned_lines,
    status,
    status_document,
    verified_document,
    verified_lines,
)
from upbeat.core.journal.record import Record
from upbeat.core.journal.texts import EN, TEXTS, ZH
from upbeat.core.workflow.state import NEW, Loop, Run, StepStatus

FACTS, STATE = step(NEW, 1)
ENTRY = Entry(7, body_of(record(facts=FACTS, turn={"run_id": "r", "tools": ["ci_search:ok"]})), "0" * 64, "f" * 64)
BARE = Entry(8, body_of(Record("2026-01-02T03:04:05.678Z", "Tea")), "f" * 64, "e" * 64)
HEALTH = Health("/s/upbeat/journal.db", True, 3 * 1024 * 1024, 1234, 5, "2026-01-01T00:00:00.000Z", "", "wal")


def test_why() -> None:
    """Who said what, on what grounds, from which file, what was done, how long it took."""
    expected = """\
record 7: TurnEnding at 2026-01-02T03:04:05.678Z, claude-code
  session s-1
  in /repo
what came in: stop_hook_active=false
the turn: run_id=r, tools=["ci_search:ok"]
facts: workflow_started

loop: send on
  because PLAN is not done
  looked at step=PLAN, n=1
  configured at /home/auto-tools.toml:3
  took 1.2 ms

what was done:
  keep_going, 15 characters
  | go on
  | with PLAN
in all 3.2 ms, 0 characters injected"""

    assert expected == explain(ENTRY, EN)


def test_why_without_anybody() -> None:
    """Where nobody said anything, that is what is said."""
    assert """\
record 8: Tea at 2026-01-02T03:04:05.678Z, -

no part of upbeat had a say in it

nothing was done
in all 0 ms, 0 characters injected""" == explain(BARE, EN)


def test_why_in_chinese() -> None:
    """The same is told in Chinese."""
    assert """\
记录 8：Tea，2026-01-02T03:04:05.678Z，-

upbeat 的任何部分都没有参与

什么也没做
共 0 毫秒，注入 0 个字符""" == explain(BARE, ZH)


def test_the_document_of_why() -> None:
    """The document has all of it, with its version."""
    assert {
        "schema_version": "1.0",
        "record": {
            "seq": 7,
            "at": "2026-01-02T03:04:05.678Z",
            "event": "TurnEnding",
            "client": "claude-code",
            "session_id": "s-1",
            "agent_id": "",
            "root": "/repo",
            "milliseconds": 3.2,
            "injected_chars": 0,
            "about": {"stop_hook_active": False},
            "turn": {"run_id": "r", "tools": ["ci_search:ok"]},
        },
        "said": [
            {
                "part": "loop",
                "decided": "send on",
                "because": "PLAN is not done",
                "looked_at": {"step": "PLAN", "n": 1},
                "configured_at": "/home/auto-tools.toml:3",
                "milliseconds": 1.25,
            }
        ],
        "effects": [{"kind": "keep_going", "text": "go on\nwith PLAN", "characters": 15}],
        "facts": ["workflow_started"],
    } == document(ENTRY)


def test_a_spoilt_record_is_still_explained() -> None:
    """A record in a form that nobody writes does not break its explanation."""
    spoilt = Entry(9, {"event": 5, "said": "x", "effects": [3], "milliseconds": "y", "about": [1]}, "", "")

    assert "record 9: 5 at , -\nwhat came in: [1]\n" in explain(spoilt, EN)
    assert "     9  -            -         5                   y ms" == line(spoilt)


def test_a_line() -> None:
    """A record on one line: number, time, client, session, event, what was decided and done, milliseconds."""
    assert (
        "     7  2026-01-02 03:04:05Z  claude-code  s-1       TurnEnding          "
        "loop send on; → keep_going 15  3.2 ms" == line(ENTRY)
    )
    assert "     8  2026-01-02 03:04:05Z  -            -         Tea                 0.0 ms" == line(BARE)


def test_the_document_of_the_log() -> None:
    """Each record is there as it is stored, with its place in the chain."""
    told = log_document([ENTRY])

    assert {
        "schema_version": "1.0",
        "records": [{"seq": 7, **ENTRY.body, "previous": "0" * 64, "hash": "f" * 64}],
    } == told
    assert told == json.loads(json.dumps(told))


def session(run: Run | None = None, loop: Loop = NEW.loop, problem: str = "", **more: object) -> KnownSession:
    state = replace(NEW, run=run, loop=loop, **more)  # type: ignore[arg-type]
    return KnownSession("session-1", "/repo", "codex-cli", state, 7, 1767323045.0, ENTRY, problem)


WORKING = replace(
    RUN,
    steps=(
        replace(RUN.steps[0], status=StepStatus.DONE),
        replace(RUN.steps[1], status=StepStatus.ACTIVE),
        RUN.steps[2],
    ),
)


def test_status() -> None:
    """The sessions of a repository, a line each, and how the journal is."""
    sessions = (
        session(WORKING, Loop(iterations=4)),
        session(RUN, Loop(ended="no progress"), has_ended=True),
        session(),
        session(problem="run: not\na run"),
    )

    assert """\
/repo
  codex-cli  session-  standard running  DEV (1/3 done)  sent on 4 times  TurnEnding at 2026-01-02 03:04:05Z
  codex-cli  session-  standard running  PLAN (0/3 done)  sent on 0 times  loop over: no progress  closed  TurnEnding at 2026-01-02 03:04:05Z
  codex-cli  session-  no workflow  TurnEnding at 2026-01-02 03:04:05Z
  codex-cli  session-  its state cannot be read (run: not a run), so it counts as new  TurnEnding at 2026-01-02 03:04:05Z
journal: /s/upbeat/journal.db: 1,234 records of 5 sessions, 3.0 MB, since 2026-01-01 00:00:00Z
  healthy (wal)""" == status("/repo", sessions, HEALTH, EN)  # noqa: E501


def test_a_session_that_got_another_name_is_not_listed() -> None:
    """All of it goes on under that name."""
    renamed = Entry(7, body_of(Record("2026-01-02T03:04:05.678Z", RENAMED)), "0" * 64, "f" * 64)
    sessions = (replace(session(RUN), last=renamed), replace(session(), last=None))

    assert 1 == status("/repo", sessions, HEALTH, EN).count("session-  ")
    assert [None] == [one["workflow"] for one in status_document("/repo", sessions, HEALTH)["sessions"]]
    assert f"  {EN.no_session}" in status("/repo", sessions[:1], HEALTH, EN).splitlines()


def test_the_document_of_the_status() -> None:
    """Workflow, stages, loop and last event are data, too."""
    told = status_document("/repo", (session(WORKING, Loop(iterations=4)), session()), HEALTH)
    first, second = told["sessions"]

    assert {
        "session_id": "session-1",
        "client": "codex-cli",
        "root": "/repo",
        "updated_at": "2026-01-02T03:04:05Z",
        "has_ended": False,
        "compactions": 0,
        "workflow": {
            "name": "standard",
            "feature": "",
            "goal": "",
            "status": "running",
            "reason": "",
            "stages": ["DEV"],
            "done": 1,
            "steps": 3,
        },
        "loop": {"iterations": 4, "errors": 0, "stale": 0, "ended": ""},
        "last_event": {"seq": 7, "event": "TurnEnding", "at": "2026-01-02T03:04:05.678Z"},
        "problem": "",
    } == first
    assert (None, "1.0", "/repo") == (second["workflow"], told["schema_version"], told["repository"])
    assert {each.name for each in fields(Health)} == set(told["journal"])


def test_the_health_of_the_journal() -> None:
    """What is wrong is told with what there is to do."""
    bad = replace(HEALTH, problem="disk full", failures=3, last_failure="now", damaged=("a.db", "b.db"))

    assert ["journal: /x: not there yet; the first event makes it"] == list(health_lines(Health("/x", False), EN))
    assert [
        "/s/upbeat/journal.db",
        "  NOTHING CAN BE STORED: disk full",
        "  3 events could not be stored, the last: now; upbeat log prune begins to count anew",
        "  set aside as damaged: a.db, b.db; delete them when nobody wants to look at them",
    ] == list(health_lines(bad, EN))


def test_what_was_pruned_and_verified() -> None:
    """The results of pruning and verifying, as text and as data."""
    broken = Verified(5, 2, 1, Break(4, "was changed after it was written"), ("s",))

    assert ["2 records and 1 sessions taken out; the journal takes 3.0 MB"] == list(
        pruned_lines(Pruned(2, 1), HEALTH, EN)
    )
    assert 2 == len(list(pruned_lines(Pruned(2, 1, is_finished=False), HEALTH, EN)))
    assert ["5 records, 1 sessions: unchanged since they were written, each state what its records say"] == list(
        verified_lines(Verified(5, 0, 1), EN)
    )
    assert [
        "2 older records were pruned",
        "BROKEN at record 4: it was changed after it was written; what comes before it can be trusted",
        "the state of session s is not what its records say; please report it",
    ] == list(verified_lines(broken, EN))
    assert {
        "schema_version": "1.0",
        "is_whole": False,
        "records": 5,
        "pruned": 2,
        "sessions": 1,
        "broken": {"seq": 4, "problem": "was changed after it was written"},
        "differing": ["s"],
    } == verified_document(broken)


def test_moments() -> None:
    """A time is shown without T and milliseconds; what is none is shown as it is."""
    assert ("2026-01-02 03:04:05Z", "", "soon") == (moment("2026-01-02T03:04:05.678Z"), moment(""), moment("soon"))
    assert datetime.fromisoformat(moment("2026-01-02T03:04:05.678Z"))


def test_both_languages_fill_the_same_blanks() -> None:
    """Whatever one language says the other says too, with the same values."""
    for each in fields(EN):
        blanks = [
            {name for _, name, _, _ in Formatter().parse(getattr(texts, each.name))} - {None}
            for texts in TEXTS.values()
        ]

        assert blanks[0] == blanks[1], each.name
