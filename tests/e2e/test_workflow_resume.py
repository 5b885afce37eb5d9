"""Workflows beyond one session: handed to another client, cut off by a crash, beside others in one repository."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from processes import read_log

from .runs import Finished, run
from .sandbox import Sandbox
from .workflow_scripts import Round
from .workflow_sessions import (
    CLIENTS,
    Played,
    carry_out,
    carry_out_until,
    course,
    effects,
    facts,
    part,
    prepare,
    rounds_of,
    said,
    status,
)


def of_session(records: list[Mapping[str, Any]], session: str) -> list[Mapping[str, Any]]:
    """The records of one session."""
    return [record for record in records if record["session_id"] == session]


@pytest.mark.parametrize(("first", "second", "name"), [("claude", "codex", "codex"), ("codex", "claude", "claude")])
def test_another_client_continues_the_workflow(sandbox: Sandbox, first: str, second: str, name: str) -> None:
    """It knows the finished steps, guards the others, has the evidence, and completes."""
    prepare(sandbox, "codex")
    carry_out(sandbox, first, "[workflow:standard] add retries to save_order", rounds_of("begun"))
    former = read_log(sandbox.home)[-1]["session_id"]
    handed = run(sandbox, ["upbeat", "workflow", "resume", "--client", name, "--no-start"])
    assert (0, "") == (handed.exit_code, handed.stdout.partition("waits for the next")[0].replace(OFFER, ""))
    done = carry_out(sandbox, second, "continue", rounds_of("finished"))

    records = read_log(sandbox.home)
    later = [record for record in records if record["session_id"] not in ("", former)]
    latest = later[-1]["session_id"]
    opening = done.turns[0].texts_with("upbeat · workflow standard: PLAN ✓ → ARCH ✓ → TEST → DEV → [REVIEW, TEST:2]")
    assert opening
    assert len(effects(later[:1], "inject_context")[0]) <= 2000
    [adopted] = facts(later, "workflow_adopted")
    assert [("tests", 0)] == [(item["kind"], item["exit_code"]) for item in adopted["evidence"]]
    assert ["DEV cannot start yet: TEST must finish first. Delegate that now, then DEV."] == effects(later, "deny")
    assert "run complete" == course(of_session(records, latest))[-1]
    assert ["run handed_over"] == [item[:15] for item in course(of_session(records, former))[-1:]]
    statuses = {item["session_id"]: item["workflow"]["status"] for item in status(sandbox) if item["workflow"]}
    assert {former: "handed_over", latest: "complete"} == statuses


OFFER = "upbeat: workflow standard "


def test_a_killed_client_loses_one_call(sandbox: Sandbox, client: str) -> None:
    """Resumed, it repeats the interrupted step and nothing else. While it lived, nobody could take its workflow."""
    prepare(sandbox, client)
    hand_over = ["upbeat", "workflow", "resume", "--client", "claude" if client == "codex" else "codex", "--no-start"]
    refused: list[Finished] = []

    def has_run() -> bool:
        if not (sandbox.repository / "checks").exists() or not facts(read_log(sandbox.home), "command_ran"):
            return False
        refused.append(run(sandbox, hand_over))
        return True

    carry_out_until(sandbox, client, "[workflow:tdd] add retries to save_order", rounds_of("cut_off"), has_run)
    before = read_log(sandbox.home)
    session = before[-1]["session_id"]
    carry_out(sandbox, client, "continue", rounds_of("repeated"), session=session)

    steps = course(of_session(read_log(sandbox.home), session))
    assert ["TEST pass", "DEV allow", "DEV started", "call lost", "DEV allow", "DEV started", "DEV pass"] == [
        step for step in steps if step.startswith(("TEST pass", "DEV", "call"))
    ]
    assert "run complete" == steps[-1]
    assert [1] == [done.exit_code for done in refused]
    assert "has not ended; its last event was" in refused[0].stderr


WALKS = """
[workflows.walk]
stages = ["PLAN", "ARCH", "DEV", "DOCS"]

[workflows.stroll]
stages = ["ARCH", "PLAN", "DOCS", "DEV"]
"""


def test_sessions_stay_apart(sandbox: Sandbox) -> None:
    """Three clients work in one repository at the same time, on workflows of the user's own; none sees another's."""
    file = sandbox.home / ".config" / "upbeat" / "workflows.toml"
    file.parent.mkdir(parents=True)
    file.write_text(WALKS, encoding="utf-8")
    prepare(sandbox, "codex")
    orders = {"claude": "walk", "claude-oldest": "walk", "codex": "stroll"}
    agents = {
        "walk": ("planner", "architect", "developer", "doc-updater"),
        "stroll": ("architect", "planner", "doc-updater", "developer"),
    }

    def go(client: str) -> Played:
        rounds: list[Round] = [
            [part(agent, f"Be the {agent} now.", "PASS", "sleep 1")] for agent in agents[orders[client]]
        ]
        done = carry_out(sandbox, client, f"[workflow:{orders[client]}] {client}", [*rounds, "That is it."])
        return Played(sandbox, done, [])

    with ThreadPoolExecutor(len(CLIENTS)) as pool:
        list(pool.map(go, CLIENTS))

    records = read_log(sandbox.home)
    sessions = {one["workflow"]["goal"]: one for one in status(sandbox)}
    assert set(CLIENTS) == set(sessions)
    for client, order in orders.items():
        assert (order, "complete") == tuple(sessions[client]["workflow"][name] for name in ("name", "status"))
        mine = of_session(records, sessions[client]["session_id"])
        assert ["allow"] * 4 == said(mine, "step_guard")
        assert 8 + 4 + 2 == len(course(mine))
