"""Large messages and files of workflows are read in bounded time, however they repeat themselves."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from upbeat.core.settings_layers import Layer
from upbeat.core.workflow.decide.loop import ends_in_question
from upbeat.core.workflow.handoff import parse_handoff
from upbeat.core.workflow.registry_file import load_registry
from upbeat.core.workflow.state import StepVerdict
from upbeat.core.workflow.tasks import TasksFile
from upbeat.core.workflow.verdict.classify import extract_failure_notes, parse_verdict

pytestmark = pytest.mark.bench

MESSAGES = [
    "tests pass, " * 4_000,
    "<!-- VERDICT: " * 3_500,
    "a" * 50_000,
    "1 failed " * 5_000,
    "(" * 50_000,
    "没有" * 22_500,
    "no " * 15_000,
    "1" * 50_000,
    "é" * 50_000,
    "a.b" * 15_000,
    "测试未通过" * 10_000,
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message[:12])
def test_a_verdict_is_read_in_time(message: str) -> None:
    """50 KB of any text are read in two seconds of processor time."""
    start = process_time()
    parse_verdict(message, (StepVerdict.PASS, StepVerdict.FAIL))
    parse_verdict(message, (StepVerdict.PASS, StepVerdict.ISSUES))
    extract_failure_notes(message)

    assert process_time() - start < 2


def test_a_question_is_recognized_in_time() -> None:
    """The end of 300 KB of text is read in two seconds of processor time."""
    start = process_time()

    assert not ends_in_question("?" + " " * 300_000 + "x")
    assert ends_in_question("Shall I?" + " *" * 100_000)
    assert process_time() - start < 2


@pytest.mark.parametrize(
    "text", ["**" * 30_000, "#" * 60_000, "# " + " " * 60_000 + "x", "\n" * 60_000, "- " * 30_000 + "**x**"]
)
def test_a_handoff_is_read_in_time(text: str) -> None:
    """60 KB of any text are read and cut in five seconds of processor time."""
    start = process_time()
    parse_handoff(text).truncate(1000)

    assert process_time() - start < 5


TASKS = {
    "spaces": "- [ ] " + " " * 60_000 + "x",
    "brackets": "- [ ] " + "(" * 60_000,
    "bars": "- [ ] " + "|" * 60_000,
    "a deep path": "- [ ] x | files: " + "a/" * 30_000,
    "heading": "#" + " " * 60_000 + "x",
    "many boxes": "- [ ] x\n" * 6_000,
    "many phases": "## Dev Phases\n" + "".join(f"### Phase {number}: x\n" for number in range(3_000)),
    "deep boxes": "".join(f"{' ' * depth}- [ ] x\n" for depth in range(600)),
    "line ends": "\r" * 60_000,
}


@pytest.mark.parametrize("text", TASKS.values(), ids=TASKS)
def test_a_tasks_file_is_read_in_time(text: str) -> None:
    """A large tasks file is read and checked in five seconds of processor time."""
    start = process_time()
    tasks = TasksFile.parse(text)

    assert isinstance((*tasks.problems, *tasks.overlaps), tuple)
    assert process_time() - start < 5


@pytest.mark.parametrize(
    "values",
    [
        {f"key{number}": 1 for number in range(5_000)},
        {"workflows": {f"w{number}": {"stages": [f"S{number}"]} for number in range(5_000)}},
        {"workflows": {"x": {"stages": [f"NO-{number}" for number in range(5_000)]}}},
        {"stages": {f"S{number}": {"agent": f"a{number}"} for number in range(3_000)}},
    ],
    ids=["keys", "workflows", "stages of one workflow", "agents"],
)
def test_a_workflow_file_is_read_in_time(values: dict[str, Any]) -> None:
    """The problems of a file with thousands of them are found in ten seconds of processor time."""
    start = process_time()

    assert load_registry([Layer("x", values)]).problems
    assert process_time() - start < 10
