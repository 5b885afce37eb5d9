"""Tasks files are parsed without loss: only the characters of checked boxes and one field ever change."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.tasks import Checkbox, Phase, TasksFile, find_ready_phases

CASES = read_groups(Path(__file__).parent / "tasks_cases.tsv")


def cases(claim: str) -> pytest.MarkDecorator:
    """The rows of ``tasks_cases.tsv`` about one claim."""
    return pytest.mark.parametrize(("text", "expected"), CASES[claim])


WHOLE = (Path(__file__).parent / "tasks_example.md").read_text(encoding="utf-8")


def test_a_whole_file() -> None:
    """A file has front matter, boxes with depth, marks and files, and phases."""
    tasks = TasksFile.parse(WHOLE)

    assert {
        "feature": "retry",
        "status": "in-progress",
        "workflow": "standard",
        "created": "2026-01-02",
        "owner": "me",
    } == tasks.front_matter
    assert (
        Checkbox("PLAN: cut it", True, 11, WHOLE.index("x] PLAN")),
        Checkbox("TEST: write it down", False, 12, WHOLE.index(" ] TEST:")),
        Checkbox("TEST:2: does it hold", False, 13, WHOLE.index(" ] **TEST:2"), is_parallel=True),
        Checkbox("nested, done", True, 14, WHOLE.index("X] nested"), depth=1),
        Checkbox("nested, open", False, 15, WHOLE.index(" ] nested"), depth=1),
        Checkbox("read", False, 21, WHOLE.index(" ] read"), files=("src/a.py", "src/b.py"), phase=1),
        Checkbox("write", False, 25, WHOLE.index(" ] write ("), is_parallel=True, files=("src/c",), phase=2),
        Checkbox("tell people", False, 29, WHOLE.index(" ] tell")),
    ) == tasks.checkboxes
    assert [(1, "parser", False, ()), (2, "writer", True, (1,))] == [
        (phase.number, phase.title, phase.is_parallel, phase.depends_on) for phase in tasks.phases
    ]
    assert [["read"], ["write"]] == [[box.text for box in phase.checkboxes] for phase in tasks.phases]
    assert (2, 6, (), ()) == (len(tasks.done_checkboxes), len(tasks.open_checkboxes), tasks.problems, tasks.overlaps)


@cases("boxes")
def test_boxes(text: str, expected: str) -> None:
    """Every list mark, line end and depth of Markdown has boxes; fences, comments and front matter have none."""
    boxes = TasksFile.parse(text).checkboxes

    assert expected == " | ".join(f"[{'x' if box.is_done else ' '}] {box.text}" for box in boxes)


@cases("depths")
def test_depths(text: str, expected: str) -> None:
    """A box belongs to the one that it is indented under, until the next heading."""
    assert expected == " ".join(str(box.depth) for box in TasksFile.parse(text).checkboxes)


@cases("key")
def test_a_key_matches(text: str, expected: str) -> None:
    """A box matches its whole text and the key that it begins with."""
    assert Checkbox(text, False, 1, 0).matches_key(expected)


@cases("another key")
def test_another_key_does_not_match(text: str, expected: str) -> None:
    """A box does not match a key that is only a part of its first word."""
    assert not Checkbox(text, False, 1, 0).matches_key(expected)


def test_tick() -> None:
    """Matching open boxes are checked, and nothing else changes."""
    text = "\ufeff- [X] DEV\r\n- [ ] DEV: one\r\n  -\t[ ] **DEV** two\r- [ ] DEVELOP\n```\n- [ ] DEV\n```\n- [ ] TEST"
    ticked = TasksFile.parse(text).tick(["DEV", "nothing"])

    assert (
        "\ufeff- [X] DEV\r\n- [x] DEV: one\r\n  -\t[x] **DEV** two\r- [ ] DEVELOP\n```\n- [ ] DEV\n```\n- [ ] TEST"
    ) == ticked.text
    assert ticked == ticked.tick(["DEV"])


def test_tick_nothing() -> None:
    """Without a matching box, the same object is returned."""
    tasks = TasksFile.parse(WHOLE)

    assert tasks is tasks.tick([]) is tasks.tick(["x", ""])


@cases("field")
def test_with_field(text: str, expected: str) -> None:
    """One field of the front matter is set or added; every other byte is unchanged."""
    assert expected == TasksFile.parse(text).with_field("status", "paused").text


_pieces = st.sampled_from(
    [
        *("- [ ] DEV", "- [x] DEV: done", "  * [ ] TEST:2 | files: a, b/c", "\t1. [X] nested (parallel)", "- [ ]"),
        *("---", "status: x", "```", "~~~~", "```py", "<!--", "-->", "> - [ ] quoted", "", "text", "\u2028", "\x0b"),
        *("## Dev Phases", "### Phase 1: a (parallel)", "### Phase 2: b (sequential, depends: 1, 9)", "# x", "### y"),
    ]
)
_ends = st.sampled_from(["\n", "\r\n", "\r", ""])
_documents = st.builds(
    lambda bom, lines: bom + "".join(piece + end for piece, end in lines),
    st.sampled_from(["", "\ufeff"]),
    st.lists(st.tuples(_pieces | st.text(max_size=6), _ends), max_size=25),
)


@given(_documents | st.text())
def test_any_text_is_kept(text: str) -> None:
    """Parsing loses nothing, and every box has its mark at its offset."""
    tasks = TasksFile.parse(text)

    assert text == tasks.text
    assert all(text[box.offset] == ("x" if box.is_done else " ") or text[box.offset] == "X" for box in tasks.checkboxes)
    assert len(tasks.checkboxes) == len(tasks.open_checkboxes) + len(tasks.done_checkboxes)
    assert [phase.number for phase in tasks.phases for _ in phase.checkboxes] == [
        box.phase for box in tasks.checkboxes if box.phase
    ] or any(phase.number == 0 for phase in tasks.phases)
    assert all(isinstance(problem, str) for problem in (*tasks.problems, *map(str, tasks.overlaps)))


@given(_documents, st.lists(st.sampled_from(["DEV", "TEST:2", "TEST", "nested"]), max_size=3))
def test_ticking_changes_boxes_only(text: str, keys: list[str]) -> None:
    """Only the marks of matching boxes change, and the boxes stay where they were."""
    before = TasksFile.parse(text)
    after = before.tick(keys)
    wanted = {box.offset for box in before.open_checkboxes if any(box.matches_key(key) for key in keys)}

    assert wanted == {place for place, (old, new) in enumerate(zip(text, after.text, strict=True)) if old != new}
    assert [box.offset for box in before.checkboxes] == [box.offset for box in after.checkboxes]
    assert wanted == {box.offset for box in after.done_checkboxes} - {box.offset for box in before.done_checkboxes}


@given(_documents, st.sampled_from(["status", "feature"]), st.from_regex(r"[a-z0-9-]{1,8}", fullmatch=True))
def test_a_field_is_set(text: str, name: str, value: str) -> None:
    """The front matter has the new value, and the boxes are unchanged."""
    before = TasksFile.parse(text)
    after = before.with_field(name, value)

    assert before.front_matter | {name: value} == after.front_matter
    assert [box.text for box in before.checkboxes] == [box.text for box in after.checkboxes]
    assert after == after.with_field(name, value)


@cases("phases")
def test_phases(text: str, expected: str) -> None:
    """A phase has a number and a heading below the heading of phases; by default it follows the one before."""
    shown = []
    for phase in TasksFile.parse(text).phases:
        parts = ["parallel" if phase.is_parallel else "sequential"]
        parts += [f"depends: {', '.join(map(str, phase.depends_on))}"] if phase.depends_on else []
        parts += [f"unparsed: {phase.unparsed}"] if phase.unparsed else []
        shown.append(f"{phase.number} {phase.title} ({'; '.join(parts)})")

    assert expected == " | ".join(shown)


@cases("problems")
def test_problems(text: str, expected: str) -> None:
    """A phase that can never start or is unclear is reported with its line; these have no tasks, which is another."""
    problems = [problem for problem in TasksFile.parse(text).problems if " has no tasks" not in problem]

    assert expected == " | ".join(problems)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("### Phase 1: a\n- one\n", ("line 2: phase 1 has no tasks; write each as - [ ] task",)),
        ("### Base\n- [ ] one\n", ("line 2: this is no phase; write ### Phase N: title",)),
        ("**Phase 1**\n- [ ] one\n", ("line 3: this task is in no phase; write ### Phase N: title above it",)),
        (
            "#### Phase 1\n- [ ] one\n- [ ] two\n",
            ("line 3: this task is in no phase; write ### Phase N: title above it",),
        ),
        ("### Phase 1: a\n- [ ] one\n", ()),
    ],
)
def test_unreadable_phases(text: str, expected: tuple[str, ...]) -> None:
    """What is no phase in the section of phases, and a phase without tasks, is reported with its line."""
    assert expected == TasksFile.parse(f"## Dev Phases\n{text}").problems


@cases("overlaps")
def test_overlaps(text: str, expected: str) -> None:
    """Tasks of a parallel phase overlap if they name the same file, a folder and a file in it, or a pattern."""
    assert expected == " | ".join(map(str, TasksFile.parse(text).overlaps))


def make_phase(number: int, done: bool = False, depends: tuple[int, ...] = (), boxes: int = 1) -> Phase:
    return Phase(
        number, "", number, depends_on=depends, checkboxes=tuple(Checkbox("x", done, 1, 0) for _ in range(boxes))
    )


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        ([], []),
        ([make_phase(1)], [1]),
        ([make_phase(1, done=True)], []),
        ([make_phase(1), make_phase(2, depends=(1,))], [1]),
        ([make_phase(1, done=True), *(make_phase(n, depends=(n // 2,)) for n in (2, 3, 4))], [2, 3]),
        ([make_phase(1, boxes=0), make_phase(2, depends=(1,))], [2]),
        ([make_phase(1, depends=(2,)), make_phase(2, depends=(1,)), make_phase(3)], [3]),
        ([make_phase(1, depends=(1,))], []),
        ([make_phase(1, depends=(9,))], []),
        ([make_phase(1, done=True), make_phase(1), make_phase(2, depends=(1,))], [1]),
    ],
)
def test_ready(phases: list[Phase], expected: list[int]) -> None:
    """A phase is ready if all phases that it depends on exist and are done."""
    assert expected == [phase.number for phase in find_ready_phases(phases)]


_numbers = st.integers(1, 6)
_phases = st.builds(make_phase, _numbers, st.booleans(), st.lists(_numbers, max_size=3).map(tuple))


@given(st.lists(_phases, max_size=6))
def test_all_phases_can_be_done_or_a_problem_says_why(phases: list[Phase]) -> None:
    """Doing all ready phases repeatedly completes the file, unless it has a reported problem."""
    text = "## Dev Phases\n" + "".join(
        f"### Phase {phase.number}: x (sequential, depends: {', '.join(map(str, phase.depends_on)) or 'none'})\n"
        f"- [{'x' if phase.is_done else ' '}] n{index}\n"
        for index, phase in enumerate(phases)
    )
    tasks = TasksFile.parse(text)
    while ready := find_ready_phases(tasks.phases):
        tasks = tasks.tick([box.text for phase in ready for box in phase.checkboxes])

    assert not tasks.open_checkboxes or tasks.problems
