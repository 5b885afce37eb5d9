"""Workflow files become one registry; what is wrong is told all at once, and a wrong layer changes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.system.config.workflows import BUILT_IN_FILE
from upbeat.adapters.system.files.toml_file import read_toml
from upbeat.core.settings_layers import MAX_PROBLEMS, Layer
from upbeat.core.workflow.registry import Agent, Registry, Stage, StageGroups, Workflow, mode_of_step
from upbeat.core.workflow.registry_file import TABLE_SCHEMAS, LoadedRegistry, load_registry, number_repeated_stages
from upbeat.core.workflow.state import StepVerdict

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
    """Without a layer there is nothing."""
    assert LoadedRegistry(Registry({}, {}, {})) == load_registry([])


def test_the_built_in_file_is_right() -> None:
    """Nothing is wrong with the file that comes with upbeat."""
    loaded = load_registry([BUILT_IN_LAYER])

    assert ((), ()) == (loaded.problems, loaded.untrusted_files)
    assert (18, 16, 17) == tuple(
        len(one) for one in (loaded.registry.workflows, loaded.registry.stages, loaded.registry.agents)
    )


QUALITY = ("REVIEW", "TEST:2")
STANDARD: StageGroups = (("PLAN",), ("ARCH",), ("TEST",), ("DEV",), QUALITY, ("RETRO",), ("DOCS",))
FULL: StageGroups = (*STANDARD[:2], ("DESIGN",), ("TEST",), ("DEV",), QUALITY, ("QA", "E2E"), ("RETRO",), ("DOCS",))


@pytest.mark.parametrize(
    ("name", "groups", "files"),
    [
        ("single", (("DEV",),), ()),
        ("quick", (("DEV",), ("REVIEW", "TEST"), ("RETRO",)), ("tasks",)),
        ("standard", STANDARD, ("tasks", "bdd")),
        ("full", FULL, ("tasks", "bdd")),
        ("secure", (*STANDARD[:4], ("REVIEW", "TEST:2", "SECURITY"), ("RETRO",), ("DOCS",)), ("tasks", "bdd")),
        ("tdd", (("TEST",), ("DEV",), ("TEST:2",)), ("tasks", "bdd")),
        ("debug", (("DEBUG",), ("DEV",), ("TEST",)), ("tasks",)),
        ("refactor", (("ARCH",), ("TEST",), ("DEV",), QUALITY), ("tasks", "bdd")),
        ("review-only", (("REVIEW",),), ()),
        ("security-only", (("SECURITY",),), ()),
        ("build-fix", (("BUILD-FIX",),), ()),
        ("e2e-only", (("E2E",),), ()),
        ("diagnose", (("DEBUG",),), ()),
        ("clean", (("REFACTOR",),), ()),
        ("db-review", (("DB-REVIEW",),), ()),
        ("product", (("PM",), *STANDARD), ("tasks", "bdd")),
        ("product-full", (("PM",), *FULL), ("tasks", "bdd")),
        ("discovery", (("PM",),), ()),
    ],
)
def test_each_workflow(name: str, groups: StageGroups, files: tuple[str, ...]) -> None:
    """The eighteen workflows have these stages, groups and files."""
    assert (groups, files) == (BASE.workflows[name].groups, BASE.workflows[name].files)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("DEV", Stage("DEV", "developer")),
        (
            "REVIEW",
            Stage("REVIEW", "code-reviewer", (StepVerdict.PASS, StepVerdict.REJECT), {StepVerdict.REJECT: (("DEV",),)}),
        ),
        (
            "TEST",
            Stage(
                "TEST",
                "tester",
                (StepVerdict.PASS, StepVerdict.FAIL),
                {StepVerdict.FAIL: (("DEBUG",), ("DEV",))},
                spec_before="DEV",
                required_evidence="tests",
            ),
        ),
        (
            "RETRO",
            Stage(
                "RETRO",
                "retrospective",
                (StepVerdict.PASS, StepVerdict.ISSUES),
                {StepVerdict.ISSUES: (("DEV",), ("REVIEW", "TEST"))},
                continues_on_failure=True,
            ),
        ),
    ],
    ids=str,
)
def test_some_stages(key: str, expected: Stage) -> None:
    """Each kind of stage is read with all that it has."""
    assert replace(expected, text=BASE.stages[key].text) == BASE.stages[key]


def test_texts_are_in_both_languages() -> None:
    """Every workflow and every stage has a sentence in each language."""
    entries = [*BASE.workflows.values(), *BASE.stages.values()]

    assert [{"en", "zh"}] * len(entries) == [set(entry.text) for entry in entries]


def test_every_agent_but_the_grader_has_a_stage() -> None:
    """The grader belongs to no stage; all others do at least one."""
    assert ["grader"] == [name for name in BASE.agents if not BASE.stages_of(name)]


def test_who_only_judges_cannot_write() -> None:
    """Whoever may only reject or look has no access that writes."""
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
    """A test before the first development writes the behaviour down; a later one verifies."""
    found = BASE.workflows[workflow]

    assert modes == [mode for key in found.step_keys if (mode := mode_of_step(found, key, BASE.stages))]


def test_a_layer_changes_key_by_key(layer: Any) -> None:
    """What a layer names is changed; the rest of the entry stays, and so do all other entries."""
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
    """New workflows, stages and agents may name each other and the built-in ones."""
    loaded = load_registry(
        [
            BUILT_IN_LAYER,
            layer(
                '[workflows.ship]\nstages = ["DEV", ["TEST", "LOAD-TEST"], "LOAD-TEST"]\nfiles = ["tasks"]\n'
                '[stages.LOAD-TEST]\nagent = "load-tester"\nverdicts = ["pass", "fail"]\n'
                'repair.fail = [["DEV", "DOCS"]]\ncontinues_on_failure = true\nrequired_evidence = "tests"\n'
                '[agents.load-tester]\naccess = "read"\nskills = ["load"]\n'
            ),
        ]
    )

    assert () == loaded.problems
    assert {
        "ship": Workflow("ship", (("DEV",), ("TEST", "LOAD-TEST"), ("LOAD-TEST:2",)), ("tasks",), {}, "mine.toml:1")
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
    """A name of forty characters is one."""
    loaded = load_registry([BUILT_IN_LAYER, layer(f'[workflows.{"x" * 40}]\nstages = ["DEV"]\n')])

    assert ((), True) == (loaded.problems, "x" * 40 in loaded.registry.workflows)


def test_a_repair_goes_with_its_verdict(layer: Any) -> None:
    """A stage that can no longer fail needs no repair for that."""
    loaded = load_registry([BUILT_IN_LAYER, layer('[stages.TEST]\nverdicts = ["pass"]\n')])

    assert ((), {}) == (loaded.problems, loaded.registry.stages["TEST"].repairs)


def test_layers_after_each_other(layer: Any) -> None:
    """The last layer that says something wins; a layer may use what the one before it added."""
    first = layer('[workflows.mine]\nstages = ["LOOK"]\n[stages.LOOK]\nagent = "qa"\nmax_attempts = 2\n')
    second = replace(layer('[stages.LOOK]\nmax_attempts = 4\n[workflows.yours]\nstages = ["LOOK"]\n'), origin="second")
    loaded = load_registry([BUILT_IN_LAYER, first, second])

    assert ((), Stage("LOOK", "qa", max_attempts=4)) == (loaded.problems, loaded.registry.stages["LOOK"])
    assert ["mine.toml:1", "second:3"] == [loaded.registry.workflows[name].origin for name in ("mine", "yours")]


def test_an_untrusted_layer_does_not_count(layer: Any) -> None:
    """What nobody trusts is named and left out, right or wrong."""
    untrusted = layer('[workflows.single]\nstages = ["NOTHING"]\n', trusted=False)

    assert LoadedRegistry(BASE, (), ("mine.toml",)) == load_registry([BUILT_IN_LAYER, untrusted])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[workflow.x]\n", "1: unknown key 'workflow'; did you mean 'workflows'?"),
        ("workflows = 5\n", "1: workflows takes tables, as in [workflows.NAME]; found 5"),
        ("[workflows]\nx = 5\n", "2: workflows.x takes a table; found 5"),
        ('[workflows.x]\nstages = ["DEV"]\nfile = []\n', "3: unknown key 'workflows.x.file'; did you mean 'files'?"),
        ("[workflows.x]\n", "1: workflows.x needs stages"),
        ("[stages.X]\n", "1: stages.X needs agent"),
        ("[workflows.x]\nstages = []\n", "2: workflows.x.stages takes a list of stages, at least one; found []"),
        (
            '[workflows.x]\nstages = "DEV"\n',
            "2: workflows.x.stages takes a list of stages, at least one; found 'DEV'",
        ),
        (
            '[workflows.x]\nstages = ["DEV", []]\n',
            "2: workflows.x.stages takes stages and lists of stages, none empty; found []",
        ),
        (
            '[workflows.x]\nstages = ["DEV", ["TEST", ["DEV"]]]\n',
            "2: workflows.x.stages takes stages and lists of stages, none empty; found ['TEST', ['DEV']]",
        ),
        (
            '[workflows.x]\nstages = [["TEST", "REVIEW", "TEST"]]\n',
            "2: workflows.x.stages has a stage twice in one group: ['TEST', 'REVIEW', 'TEST']",
        ),
        (
            '[workflows.x]\nstages = ["DEV", "REVEIW"]\n',
            "2: workflows.x.stages names no stage: 'REVEIW'; did you mean 'REVIEW'?",
        ),
        (
            '[workflows.quick]\nstages = ["dev"]\n',
            "2: workflows.quick.stages names no stage: 'dev'; did you mean 'DEV'?",
        ),
        (
            '[workflows.x]\nstages = ["TEST:2"]\n',
            "2: workflows.x.stages names no stage: 'TEST:2'; did you mean 'TEST'?",
        ),
        (
            '[workflows.My-Own]\nstages = ["DEV"]\n',
            "1: a workflow is named in lower case with hyphens, at most 40 characters; found 'My-Own'",
        ),
        (
            f'[workflows.{"x" * 41}]\nstages = ["DEV"]\n',
            f"1: a workflow is named in lower case with hyphens, at most 40 characters; found '{'x' * 41}'",
        ),
        (
            '[stages.Look]\nagent = "qa"\n',
            "1: a stage is named in upper case with hyphens, at most 40 characters; found 'Look'",
        ),
        (
            "[agents.Qa_2]\n",
            "1: an agent is named in lower case with hyphens, at most 40 characters; found 'Qa_2'",
        ),
        (
            '[workflows.quick]\nfiles = ["taskes"]\n',
            "2: workflows.quick.files takes tasks, bdd; found 'taskes'; did you mean 'tasks'?",
        ),
        ('[workflows.quick]\nfiles = ["bdd", "bdd"]\n', "2: workflows.quick.files has a name twice: ['bdd', 'bdd']"),
        ("[workflows.quick]\nfiles = [1]\n", "2: workflows.quick.files takes a list of names; found [1]"),
        (
            '[workflows.quick]\ntext = "x"\n',
            "2: workflows.quick.text takes a sentence for each language, as in text.en; found 'x'",
        ),
        ('[workflows.quick]\ntext.de = "x"\n', "2: workflows.quick.text takes en, zh; found 'de'"),
        (
            '[workflows.quick]\ntext.en = "a\\nb"\n',
            "2: workflows.quick.text of en takes one line of at most 200 characters; found 'a\\nb'",
        ),
        (
            '[stages.DEV]\nagent = "devloper"\n',
            "2: stages.DEV.agent names no agent: 'devloper'; did you mean 'developer'?",
        ),
        ("[stages.DEV]\nagent = 5\n", "2: stages.DEV.agent takes a name; found 5"),
        (
            '[stages.DEV]\nverdicts = ["pass", "fial"]\n',
            "2: stages.DEV.verdicts takes pass, fail, reject, issues; found 'fial'; did you mean 'fail'?",
        ),
        (
            '[stages.DEV]\nverdicts = ["fail"]\n',
            "2: stages.DEV.verdicts needs pass among its values; found ['fail']",
        ),
        (
            '[stages.TEST]\nrepair.fial = ["DEV"]\n',
            "2: stages.TEST.repair takes fail, reject, issues; found 'fial'; did you mean 'fail'?",
        ),
        (
            '[stages.TEST]\nrepair.fail = ["DVE"]\n',
            "2: stages.TEST.repair.fail names no stage: 'DVE'; did you mean 'DEV'?",
        ),
        (
            '[stages.TEST]\nrepair.reject = ["DEV"]\n',
            "2: stages.TEST.repair.reject is for a verdict that TEST does not have; add it to its verdicts",
        ),
        (
            '[stages.TEST]\nrepair.fail = ["DEV", "TEST"]\n',
            "2: stages.TEST.repair.fail names TEST itself, which is retried anyway; remove it",
        ),
        (
            "[stages.TEST]\nrepair.fail = []\n",
            "2: stages.TEST.repair of fail takes a list of stages, at least one; found []",
        ),
        (
            '[stages.TEST]\nrepair = "DEV"\n',
            "2: stages.TEST.repair takes a list of stages for each negative verdict, as in repair.fail; found 'DEV'",
        ),
        (
            '[stages.TEST]\nspec_before = "DVE"\n',
            "2: stages.TEST.spec_before names no stage: 'DVE'; did you mean 'DEV'?",
        ),
        ("[stages.TEST]\nmax_attempts = 0\n", "2: stages.TEST.max_attempts takes a whole number from 1 to 10; found 0"),
        (
            "[stages.TEST]\nmax_attempts = true\n",
            "2: stages.TEST.max_attempts takes a whole number from 1 to 10; found True",
        ),
        (
            '[stages.TEST]\ncontinues_on_failure = "yes"\n',
            "2: stages.TEST.continues_on_failure takes true or false; found 'yes'",
        ),
        (
            '[stages.TEST]\nrequired_evidence = "test"\n',
            "2: stages.TEST.required_evidence takes tests, build; found 'test'; did you mean 'tests'?",
        ),
        ('[agents.qa]\naccess = "everything"\n', "2: agents.qa.access takes read, write, all; found 'everything'"),
        ('[agents.qa]\nmodel = "opus"\n', "2: agents.qa.model takes strong, standard, fast; found 'opus'"),
        (
            '[agents.qa]\nskills = ["../x"]\n',
            "2: agents.qa.skills takes names in lower case with hyphens; found '../x'",
        ),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_is_wrong(layer: Any, text: str, problem: str) -> None:
    """A mistake is told with file, line, key, what it takes and the nearest name; nothing of the layer counts."""
    assert LoadedRegistry(BASE, (f"mine.toml:{problem}",)) == load_registry([BUILT_IN_LAYER, layer(text)])


def test_all_mistakes_at_once(layer: Any) -> None:
    """Every mistake of a layer is told, and none that only follows from another one."""
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
        {f"key{number}": 1 for number in range(5_000)},
        {"workflows": {f"w{number}": {"stages": [f"S{number}"]} for number in range(5_000)}},
        {"stages": {f"S{number}": {"agent": "qa"} for number in range(3_000)} | {"x": {"key": 1}}},
        {"workflows": {"x": {"stages": [f"NO-{number}" for number in range(5_000)]}}},
        {"stages": {f"S{number}": {"agent": f"a{number}"} for number in range(3_000)}},
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_flood_of_mistakes_is_cut(values: dict[str, Any]) -> None:
    """Whoever has more mistakes than that has another kind of file, which is told soon."""
    start = process_time()
    loaded = load_registry([BUILT_IN_LAYER, Layer("x", values)])

    assert (BASE, True) == (loaded.registry, 1 <= len(loaded.problems) <= MAX_PROBLEMS)
    assert process_time() - start < 10


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ((), ()),
        ((("A",),), (("A",),)),
        ((("A",), ("A",), ("A",)), (("A",), ("A:2",), ("A:3",))),
        ((("A", "B"), ("B", "A")), (("A", "B"), ("B:2", "A:2"))),
    ],
)
def test_numbered(groups: StageGroups, expected: StageGroups) -> None:
    """A stage that comes again gets its number."""
    assert expected == number_repeated_stages(groups)


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
    """Whatever a file holds: it counts as a whole, or is told as wrong and changes nothing."""
    loaded = load_registry([BUILT_IN_LAYER, Layer("any", values)])

    assert loaded.problems or all(stage.agent in loaded.registry.agents for stage in loaded.registry.stages.values())
    assert BASE == loaded.registry or not loaded.problems


def test_what_is_read_can_be_written_again() -> None:
    """The built-in file names nothing twice: TOML refuses that, so a copy of it is the same registry."""
    again = load_registry(
        [BUILT_IN_LAYER, Layer("built-in", tomli.loads(BUILT_IN_FILE.read_text(encoding="utf-8")), _file.lines)]
    )

    assert (BASE, ()) == (again.registry, again.problems)


def changed(before: Any, after: Any) -> dict[str, Any]:
    return {name: entry for name, entry in after.items() if before.get(name) != entry}
