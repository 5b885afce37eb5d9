"""Workflow files are merged into one registry; a file with problems does not apply, and all of them are reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.system.config.workflows import BUILT_IN_FILE
from upbeat.adapters.system.files.toml_file import read_toml
from upbeat.core.settings_layers import MAX_PROBLEMS, Layer
from upbeat.core.workflow.registry import Agent, Registry, Stage, Workflow, mode_of_step
from upbeat.core.workflow.registry_file import TABLE_SCHEMAS, LoadedRegistry, load_registry
from upbeat.core.workflow.state import StepVerdict

FOLDER = Path(__file__).parent
_file = read_toml(BUILT_IN_FILE)
BUILT_IN_LAYER = Layer("built-in", _file.values, _file.lines)
BASE = load_registry([BUILT_IN_LAYER]).registry


@pytest.fixture
def layer(tmp_path: Path) -> Any:
    def make(text: str, trusted: bool = True) -> Layer:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        file = read_toml(path, display_name="mine.toml")
        assert not file.problem
        return Layer(file.name, file.values, file.lines, is_trusted=trusted)

    return make


def test_no_layers() -> None:
    """Without layers, the registry is empty."""
    assert LoadedRegistry(Registry({}, {}, {})) == load_registry([])


def test_the_built_in_file() -> None:
    """The built-in file has no problems."""
    loaded = load_registry([BUILT_IN_LAYER])

    assert ((), ()) == (loaded.problems, loaded.untrusted_files)
    assert (18, 17, 17) == tuple(
        len(entries) for entries in (loaded.registry.workflows, loaded.registry.stages, loaded.registry.agents)
    )


@pytest.mark.parametrize(("name", "groups", "files"), read_cases(FOLDER / "built_in_workflows.tsv"))
def test_each_workflow(name: str, groups: str, files: str) -> None:
    """The eighteen workflows have these steps, groups and files."""
    workflow = BASE.workflows[name]

    assert groups == " → ".join(" + ".join(group) for group in workflow.groups)
    assert files == " ".join(workflow.files)


def test_texts_are_in_both_languages() -> None:
    """Every workflow and every stage has a sentence in each language."""
    entries = [*BASE.workflows.values(), *BASE.stages.values()]

    assert [{"en", "zh"}] * len(entries) == [set(entry.text) for entry in entries]


def test_every_agent_has_a_stage() -> None:
    """Each agent has at least one stage."""
    assert [] == [name for name in BASE.agents if not BASE.stages_of(name)]


def test_reviewers_cannot_write() -> None:
    """Agents that only review or investigate have read access."""
    readers = {name for name, agent in BASE.agents.items() if agent.access == "read"}

    assert {
        *("debugger", "code-reviewer", "security-reviewer", "database-reviewer", "retrospective", "grader")
    } == readers


@pytest.mark.parametrize(
    ("workflow", "modes"),
    [
        ("standard", ["spec", "verify"]),
        ("tdd", ["spec", "verify"]),
        ("quick", ["verify"]),
        ("debug", ["verify"]),
    ],
)
def test_modes(workflow: str, modes: list[str]) -> None:
    """A TEST before the first DEV specifies the behavior; a later one verifies it."""
    steps = BASE.workflows[workflow]

    assert modes == [mode for key in steps.step_keys if (mode := mode_of_step(steps, key, BASE.stages))]


def test_a_layer_changes_key_by_key(layer: Any) -> None:
    """A layer overrides the keys that it names; other keys and entries are unchanged."""
    loaded = load_registry(
        [
            BUILT_IN_LAYER,
            layer(
                '[workflows.quick]\nstages = ["DEV", "TEST"]\ntext.zh = "快"\n[stages.TEST]\nmax_attempts = 5\n'
                '[agents.tester]\nmodel = "strong"\n'
            ),
        ]
    )
    quick = BASE.workflows["quick"]

    assert () == loaded.problems
    assert {
        "quick": replace(
            quick, groups=(("DEV",), ("TEST",)), text={"en": quick.text["en"], "zh": "快"}, origin="mine.toml:1"
        )
    } == changed(BASE.workflows, loaded.registry.workflows)
    assert {"TEST": replace(BASE.stages["TEST"], max_attempts=5)} == changed(BASE.stages, loaded.registry.stages)
    assert {"tester": replace(BASE.agents["tester"], model="strong")} == changed(BASE.agents, loaded.registry.agents)


def test_a_layer_adds(layer: Any) -> None:
    """New workflows, stages and agents may refer to each other and to the built-in ones."""
    loaded = load_registry(
        [
            BUILT_IN_LAYER,
            layer(
                '[workflows.ship]\nstages = ["DEV", ["TEST", "LOAD-TEST"], "LOAD-TEST", "LOAD-TEST"]\n'
                'files = ["tasks"]\n'
                '[stages.LOAD-TEST]\nagent = "load-tester"\nverdicts = ["pass", "fail"]\n'
                'repair.fail = [["DEV", "DOCS"]]\ncontinues_on_failure = true\nrequired_evidence = "tests"\n'
                '[agents.load-tester]\naccess = "read"\nskills = ["load"]\n'
            ),
        ]
    )

    assert () == loaded.problems
    assert {
        "ship": Workflow(
            "ship", (("DEV",), ("TEST", "LOAD-TEST"), ("LOAD-TEST:2",), ("LOAD-TEST:3",)), ("tasks",), {}, "mine.toml:1"
        )
    } == changed(BASE.workflows, loaded.registry.workflows)
    assert {
        "LOAD-TEST": Stage(
            "LOAD-TEST",
            "load-tester",
            (StepVerdict.PASS, StepVerdict.FAIL),
            {StepVerdict.FAIL: (("DEV", "DOCS"),)},
            continues_on_failure=True,
            required_evidence="tests",
        )
    } == changed(BASE.stages, loaded.registry.stages)
    assert {"load-tester": Agent("load-tester", "read", skills=("load",))} == changed(
        BASE.agents, loaded.registry.agents
    )


def test_the_longest_name(layer: Any) -> None:
    """A name may have forty characters."""
    loaded = load_registry([BUILT_IN_LAYER, layer(f'[workflows.{"x" * 40}]\nstages = ["DEV"]\n')])

    assert ((), True) == (loaded.problems, "x" * 40 in loaded.registry.workflows)


def test_a_repair_is_dropped_with_its_verdict(layer: Any) -> None:
    """A stage that can no longer fail has no repair for a failure."""
    loaded = load_registry([BUILT_IN_LAYER, layer('[stages.TEST]\nverdicts = ["pass"]\n')])

    assert ((), {}) == (loaded.problems, loaded.registry.stages["TEST"].repairs)


def test_the_last_layer_wins(layer: Any) -> None:
    """The last layer that sets a key wins; a layer may use what an earlier one added."""
    first = layer('[workflows.mine]\nstages = ["LOOK"]\n[stages.LOOK]\nagent = "qa"\nmax_attempts = 2\n')
    second = replace(layer('[stages.LOOK]\nmax_attempts = 4\n[workflows.yours]\nstages = ["LOOK"]\n'), origin="second")
    loaded = load_registry([BUILT_IN_LAYER, first, second])

    assert ((), Stage("LOOK", "qa", max_attempts=4)) == (loaded.problems, loaded.registry.stages["LOOK"])
    assert ["mine.toml:1", "second:3"] == [loaded.registry.workflows[name].origin for name in ("mine", "yours")]


def test_an_untrusted_layer_does_not_count(layer: Any) -> None:
    """A layer that is not trusted is named and does not apply, valid or not."""
    untrusted = layer('[workflows.single]\nstages = ["NOTHING"]\n', trusted=False)

    assert LoadedRegistry(BASE, (), ("mine.toml",)) == load_registry([BUILT_IN_LAYER, untrusted])


@pytest.mark.parametrize(("text", "problem"), read_cases(FOLDER / "registry_problems.tsv"))
def test_problems(layer: Any, text: str, problem: str) -> None:
    """A mistake is reported with file, line, key, the valid values and the nearest name; the layer does not apply."""
    assert LoadedRegistry(BASE, (f"mine.toml:{problem}",)) == load_registry([BUILT_IN_LAYER, layer(text)])


def test_all_problems_at_once(layer: Any) -> None:
    """Every problem of a layer is reported, and none that only follows from another one."""
    wrong = layer(
        '[workflows.mine]\nstages = ["DEV", "LOOK", "GONE"]\nfiles = "tasks"\n'
        '[stages.LOOK]\nagent = "looker"\nmax_attempts = "3"\n[agents.looker]\naccess = "none"\n'
    )
    good = replace(layer('[workflows.good]\nstages = ["DEV"]\n'), origin="good.toml")
    loaded = load_registry([BUILT_IN_LAYER, wrong, good])

    assert (
        "mine.toml:3: workflows.mine.files takes a list of names; found 'tasks'",
        "mine.toml:6: stages.LOOK.max_attempts takes a whole number from 1 to 10; found '3'",
        "mine.toml:8: agents.looker.access takes read, write, all; found 'none'",
        "mine.toml:2: workflows.mine.stages names no stage: 'GONE'",
    ) == loaded.problems
    assert {"good": Workflow("good", (("DEV",),), origin="good.toml:1")} == changed(
        BASE.workflows, loaded.registry.workflows
    )


@pytest.mark.parametrize(
    "values",
    [
        {f"key{number}": 1 for number in range(200)},
        {"workflows": {f"w{number}": {"stages": [f"S{number}"]} for number in range(200)}},
        {"workflows": {"x": {"stages": [f"NO-{number}" for number in range(200)]}}},
        {"stages": {f"S{number}": {"agent": f"a{number}"} for number in range(200)}},
    ],
    ids=["keys", "workflows", "stages of one workflow", "agents"],
)
def test_the_number_of_problems_is_limited(values: dict[str, Any]) -> None:
    """At most ``MAX_PROBLEMS`` problems of a layer are reported, and the layer does not apply."""
    loaded = load_registry([BUILT_IN_LAYER, Layer("x", values)])

    assert (BASE, True) == (loaded.registry, 1 <= len(loaded.problems) <= MAX_PROBLEMS)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["DEV", "pass", "fail", "qa"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_keys = st.sampled_from([key for kind in TABLE_SCHEMAS.values() for key in kind.parsers]) | st.text(max_size=5)
_names = st.sampled_from(["DEV", "TEST", "quick", "qa", "x", "X"]) | st.text(max_size=5)
_entries = st.dictionaries(_names, st.dictionaries(_keys, _values, max_size=4) | _values, max_size=3)


@given(st.dictionaries(st.sampled_from(list(TABLE_SCHEMAS)) | st.text(max_size=5), _entries | _values, max_size=4))
def test_any_values(values: dict[str, Any]) -> None:
    """A layer with any values applies as a whole, or has problems and changes nothing."""
    loaded = load_registry([BUILT_IN_LAYER, Layer("any", values)])

    assert loaded.problems or all(stage.agent in loaded.registry.agents for stage in loaded.registry.stages.values())
    assert BASE == loaded.registry or not loaded.problems


def changed(before: Any, after: Any) -> dict[str, Any]:
    return {name: entry for name, entry in after.items() if before.get(name) != entry}
