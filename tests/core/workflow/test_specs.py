"""A feature's name, its ways to go, and what a new one holds."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.registry import Registry, Stage, Workflow
from upbeat.core.workflow.specs import (
    LIVE_STATUSES,
    STATUS_TRANSITIONS,
    FeatureStatus,
    archive_folder_name,
    feature_name_problem,
    is_feature_name,
    parse_archive_folder_name,
    render_new_bdd,
    render_new_tasks,
    transition_problem,
)
from upbeat.core.workflow.tasks import TasksFile


@pytest.mark.parametrize("name", ["retry", "retry-limit", "v2", "2026", "a" * 60])
def test_names(name: str) -> None:
    """Lower case and digits with hyphens make a name."""
    assert ("", True) == (feature_name_problem(name), is_feature_name(name))


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("My Feature", "my-feature"),
        ("retry_limit", "retry-limit"),
        ("../../etc", "etc"),
        ("-x-", "x"),
        ("a--b", "a-b"),
        ("a/b", "a-b"),
        ("a\n", "a"),
        ("A" * 61, "a" * 60),
        ("x" * 59 + "-yz", "x" * 59),
    ],
)
def test_other_names(name: str, better: str) -> None:
    """Any other name is refused, with one that would do."""
    takes = "a feature name has at most 60 lower case letters, digits and hyphens"

    assert f"{takes}; try '{better}'" == feature_name_problem(name)
    assert is_feature_name(better)


@pytest.mark.parametrize("name", ["", "功能", "..", "/"])
def test_names_without_a_better_one(name: str) -> None:
    """Where nothing is left of a name nothing is suggested."""
    assert "a feature name has at most 60 lower case letters, digits and hyphens" == feature_name_problem(name)


@given(st.text(max_size=80))
def test_no_name_leads_anywhere(name: str) -> None:
    """A name that is taken is one part of a path, and none that stands for another folder."""
    assert not is_feature_name(name) or (name == name.strip("./\0 \n") and "/" not in name)


@pytest.mark.parametrize(
    ("verb", "status", "expected"),
    [
        ("start", FeatureStatus.BACKLOG, ""),
        ("start", FeatureStatus.IN_PROGRESS, "x is already in-progress"),
        ("start", FeatureStatus.PAUSED, "cannot start x: its status is paused; possible: resume, backlog, archive"),
        ("pause", FeatureStatus.BACKLOG, "cannot pause x: its status is backlog; possible: start, archive"),
        ("resume", FeatureStatus.PAUSED, ""),
        ("backlog", FeatureStatus.PAUSED, ""),
        ("archive", FeatureStatus.ARCHIVED, "x is already archived"),
        ("start", FeatureStatus.ARCHIVED, "cannot start x: its status is archived; possible: nothing"),
    ],
)
def test_ways_to_go(verb: str, status: FeatureStatus, expected: str) -> None:
    """A feature goes where the table says; anything else is refused with the ways that there are."""
    assert expected == transition_problem(verb, "x", status)


@given(st.lists(st.sampled_from(sorted(STATUS_TRANSITIONS)), max_size=12))
def test_only_the_archive_is_an_end(verbs: list[str]) -> None:
    """Whatever was done, a feature that is not in the archive can still be worked on and put away."""
    status = FeatureStatus.BACKLOG
    for verb in verbs:
        status = status if transition_problem(verb, "x", status) else STATUS_TRANSITIONS[verb].to_status

    assert status is FeatureStatus.ARCHIVED or (
        status in LIVE_STATUSES and not transition_problem("archive", "x", status)
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
    """The folder has the date; one that is taken gets a number."""
    assert expected == archive_folder_name("x", "2026-01-02", taken)


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("2026-01-02_retry-limit", ("2026-01-02", "retry-limit")),
        ("2026-01-02_retry-2", ("2026-01-02", "retry-2")),
        ("retry", None),
        ("2026-01-02_", None),
        ("2026-01-02_My Feature", None),
        (".2026-01-02_x", None),
    ],
)
def test_archived(folder: str, expected: tuple[str, str] | None) -> None:
    """Only folders with date and name are features that were put away."""
    assert expected == parse_archive_folder_name(folder)


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
    """There is a box for every stage, in the language if there is a sentence in it; groups are marked."""
    assert dedent(
        """\
        ---
        feature: retry
        status: backlog
        workflow: mine
        created: 2026-01-02
        ---

        # retry

        - [ ] TEST — Test it.
        - [ ] DEV — 寫。
        - [ ] TEST:2 — Test it. (parallel)
        - [ ] LOOK (parallel)
        """
    ) == render_new_tasks("retry", WORKFLOW, REGISTRY, FeatureStatus.BACKLOG, "2026-01-02", "zh")


def test_each_stage_ticks_its_own_box() -> None:
    """Ticking a step's key in a new file ticks exactly the box of that step."""
    tasks = TasksFile.parse(render_new_tasks("retry", WORKFLOW, REGISTRY, FeatureStatus.BACKLOG, "2026-01-02", "en"))

    assert [[index] for index in range(4)] == [
        [index for index, box in enumerate(tasks.tick([key]).checkboxes) if box.is_done] for key in WORKFLOW.step_keys
    ]


@pytest.mark.parametrize(("language", "first"), [("en", "Scenario: "), ("zh", "场景："), ("de", "Scenario: ")])
def test_a_new_bdd_file(language: str, first: str) -> None:
    """Behaviour is written as GIVEN, WHEN, THEN, explained in the language of its user."""
    lines = render_new_bdd("retry", language).splitlines()

    assert ("# retry", True) == (lines[0], lines[4].startswith(f"## {first}"))
    assert ["GIVEN", "WHEN", "THEN"] == [line.split()[0] for line in lines[6:]]
