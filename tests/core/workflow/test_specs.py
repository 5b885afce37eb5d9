"""The names, transitions and initial files of features."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_json_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow import specs
from upbeat.core.workflow.registry import Registry, Stage, Workflow
from upbeat.core.workflow.tasks import TasksFile

CASES = read_json_groups(Path(__file__).with_name("specs_cases.jsonl"))


@pytest.mark.parametrize("name", ["retry", "retry-limit", "v2", "2026", "a" * 60, "登录", "登录-v2", "größe"])
def test_feature_names(name: str) -> None:
    """A name consists of lower case letters, of any script, and digits with hyphens."""
    assert ("", True) == (specs.feature_name_problem(name), specs.is_feature_name(name))


@pytest.mark.parametrize(("name", "suggestion"), CASES["invalid name"])
def test_invalid_feature_names(name: str, suggestion: str) -> None:
    """Any other name is refused, with a valid suggestion if something of it remains."""
    rule = "a feature name has at most 60 lower case letters, digits and hyphens"

    assert (f"{rule}; try '{suggestion}'" if suggestion else rule) == specs.feature_name_problem(name)
    assert not suggestion or specs.is_feature_name(suggestion)


@given(st.text(max_size=80))
def test_a_name_is_one_path_component(name: str) -> None:
    """A valid name is one component of a path, and not a special folder."""
    assert not specs.is_feature_name(name) or (name == name.strip("./\0 \n") and "/" not in name)


@pytest.mark.parametrize(("verb", "status", "expected"), CASES["transition"])
def test_transitions(verb: str, status: str, expected: str) -> None:
    """A transition that the table does not have is refused with the possible ones."""
    assert expected == specs.transition_problem(verb, "x", specs.FeatureStatus(status))


@given(st.lists(st.sampled_from(sorted(specs.STATUS_TRANSITIONS)), max_size=12))
def test_only_the_archive_is_final(verbs: list[str]) -> None:
    """After any transitions, a feature that is not archived can be archived."""
    status = specs.FeatureStatus.BACKLOG
    for verb in verbs:
        status = status if specs.transition_problem(verb, "x", status) else specs.STATUS_TRANSITIONS[verb].to_status

    assert status is specs.FeatureStatus.ARCHIVED or (
        status in specs.LIVE_STATUSES and not specs.transition_problem("archive", "x", status)
    )


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        (set(), "2026-01-02_x"),
        ({"2026-01-01_x", "x"}, "2026-01-02_x"),
        ({"2026-01-02_x"}, "2026-01-02_x-2"),
        ({"2026-01-02_x", "2026-01-02_x-2", "2026-01-02_x-4"}, "2026-01-02_x-3"),
    ],
)
def test_archive_names(taken: set[str], expected: str) -> None:
    """The folder begins with the date, and gets a number if it exists."""
    assert expected == specs.archive_folder_name("x", "2026-01-02", taken)


@pytest.mark.parametrize(("folder", "expected"), CASES["archived"])
def test_parse_archive_folder_name(folder: str, expected: list[str] | None) -> None:
    """Only a folder with a date and a valid name is an archived feature."""
    assert (expected and tuple(expected)) == specs.parse_archive_folder_name(folder)


REGISTRY = Registry(
    {},
    {
        "DEV": Stage("DEV", "developer", text={"en": "Write it.", "zh": "寫。"}),
        "TEST": Stage("TEST", "tester", text={"en": "Test it."}),
        "LOOK": Stage("LOOK", "qa"),
    },
    {},
)
WORKFLOW = Workflow("mine", (("TEST",), ("DEV",), ("TEST:2", "LOOK")))


def test_a_new_tasks_file() -> None:
    """A new tasks file has a box for each step, in the user's language if possible; parallel steps are marked."""
    expected = Path(__file__).with_name("new_tasks_zh.md").read_text(encoding="utf-8")

    assert expected == specs.render_new_tasks(
        "retry", WORKFLOW, REGISTRY, specs.FeatureStatus.BACKLOG, "2026-01-02", "zh"
    )


def test_each_step_checks_its_own_box() -> None:
    """In a new file, the key of a step checks exactly the box of that step."""
    tasks = TasksFile.parse(
        specs.render_new_tasks("retry", WORKFLOW, REGISTRY, specs.FeatureStatus.BACKLOG, "2026-01-02", "en")
    )

    assert [[index] for index in range(4)] == [
        [index for index, box in enumerate(tasks.tick([key]).checkboxes) if box.is_done] for key in WORKFLOW.step_keys
    ]


@pytest.mark.parametrize(("language", "first"), [("en", "Scenario: "), ("zh", "场景："), ("de", "Scenario: ")])
def test_a_new_bdd_file(language: str, first: str) -> None:
    """A new file has a scenario with GIVEN, WHEN and THEN, explained in the user's language."""
    lines = specs.render_new_bdd("retry", language).splitlines()

    assert ("# retry", True) == (lines[0], lines[4].startswith(f"## {first}"))
    assert ["GIVEN", "WHEN", "THEN"] == [line.split()[0] for line in lines[6:]]
