"""``--json``: one JSON object per line, the report first and the ending last."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.codex.workbench import Turn, Workbench
from processes import REPORT_SCHEMA, Finished
from repositories import PROMPT

THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
OFF = {"CI_AUTO_TOOLS": "off"}


def lines(out: bytes) -> list[dict[str, Any]]:
    """Each line of standard output; every one must be an object."""
    objects = [json.loads(line) for line in out.split(b"\n") if line]
    assert all(isinstance(line, dict) for line in objects)
    return objects


def ended(done: Finished) -> dict[str, Any]:
    return lines(done.stdout)[-1]


def test_json_is_the_report_then_codex_then_the_end(bench: Workbench) -> None:
    """upbeat's lines come first and last; the lines of Codex between them are unchanged."""
    odd = '{"type": "item.updated",  "item":{"text":"店\u2028\\u001b"}}'
    bench.script([{"raw": odd}, {"say": "it is in retry.py"}])
    done = bench.run("--json", PROMPT)
    first, *codex, last = lines(done.stdout)
    thread_id = bench.sessions()["default"]

    assert (0, "upbeat.prepared") == (done.code, first["type"])
    REPORT_SCHEMA.validate(first["report"])
    assert "RETRY_LIMIT = 3" in first["report"]["fused_context"]["for_model"]["additional_context"]
    assert ["thread.started", "turn.started", "item.updated", "item.completed", "turn.completed"] == [
        line["type"] for line in codex
    ]
    assert odd.encode() in done.stdout.split(b"\n")
    assert {
        "type": "upbeat.ended",
        "status": "completed",
        "thread_id": thread_id,
        "exit_code": 0,
        "resume_command": "codex-auto --session default",
        "session": "default",
        "reason": "",
    } == last


def test_json_continues_until_the_workflow_is_complete(bench: Workbench) -> None:
    """Codex's lines of each turn follow a line of upbeat, and there is one ending."""
    done_text = '<!-- VERDICT: {"stage": "DEV", "result": "PASS"} -->'
    bench.script([{"say": "Begun."}], [{"say": done_text}])
    done = bench.run("--json", "/upbeat:single add retries")
    output = lines(done.stdout)
    [onward] = [line for line in output if line["type"] == "upbeat.turn_continued"]

    assert (0, "completed") == (done.code, output[-1]["status"])
    assert ["thread.started", "thread.started"] == [line["type"] for line in output if line["type"] == "thread.started"]
    assert [onward["text"]] == bench.prompts()[1:]
    assert "upbeat: workflow single is complete: DEV ✓" in done.stderr


@pytest.mark.parametrize(
    ("turn", "code", "status", "why", "has_thread"),
    [
        ([{"fail": "Quota"}], 1, "failed", "turn_failed", True),
        ([{"say": "half"}, {"end": 3}], 1, "failed", "exited_mid_turn", True),
        ([{"refuse": "Error: thread x already has an active writer"}], 1, "failed", "active_writer", False),
        ([{"raw": "no JSON"}, {"raw": "[1]"}, {"raw": "7"}, {"say": "x"}], 0, "completed", "", True),
    ],
)
def test_json_has_the_ending(bench: Workbench, turn: Turn, code: int, status: str, why: str, has_thread: bool) -> None:
    """Whatever Codex does, each line is an object, and the last one is upbeat's."""
    bench.script(turn)
    done = bench.run("--once", "--json", "x", **OFF)
    last = ended(done)

    assert (code, code, status) == (done.code, last["exit_code"], last["status"])
    assert last["reason"].startswith(why)
    assert has_thread == bool(last["thread_id"]) == bool(last["resume_command"])


def test_json_reads_the_prompt_from_standard_input(bench: Workbench) -> None:
    """Without PROMPT, the prompt is read from standard input."""
    done = bench.run("--json", stdin=b"fix it\n", **OFF)

    assert ("completed", ["fix it\n"]) == (ended(done)["status"], bench.prompts())


def test_json_with_wrong_settings_sends_nothing(bench: Workbench) -> None:
    """Invalid settings exit with 20, and the last line is there."""
    done = bench.run("--json", "x", CI_AUTO_TOOLS="perhaps")

    assert (20, 20, "failed") == (done.code, ended(done)["exit_code"], ended(done)["status"])
    assert [] == bench.calls()


def test_json_in_plan_mode_is_a_plan(bench: Workbench) -> None:
    """If the settings ask for a dry run, the report and the ending are printed, and Codex is not started."""
    done = bench.run("--json", PROMPT, CI_AUTO_TOOLS_MODE="plan")
    first, last = lines(done.stdout)

    assert "1970-01-01T00:00:00Z" == first["report"]["created_at"]
    assert (0, "completed") == (last["exit_code"], last["status"])
    assert [] == bench.calls()
