"""Phases: what is not said to run side by side runs one after the other, and what can never start is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.tasks import (
    Checkbox,
    Overlap,
    Phase,
    TasksFile,
    find_ready_phases,
)


def read(*headings: str) -> tuple[Phase, ...]:
    return TasksFile.parse("## Dev Phases\n" + "".join(f"### {heading}\n" for heading in headings)).phases


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Phase 2: parser", Phase(2, "parser", 3, depends_on=(1,))),
        ("Phase 2: parser (sequential)", Phase(2, "parser", 3, depends_on=(1,))),
        ("Phase 2: parser (Parallel)", Phase(2, "parser", 3, is_parallel=True, depends_on=(1,))),
        ("Phase 2 parser (parallel, depends: 1)", Phase(2, "parser", 3, is_parallel=True, depends_on=(1,))),
        ("Phase 7: x (sequential, depends: 1, 3, 1)", Phase(7, "x", 3, depends_on=(1, 3))),
        ("Phase 7: x (sequential, depends on Phase 3)", Phase(7, "x", 3, depends_on=(3,))),
        ("Phase 2: x (parallel, depends: none)", Phase(2, "x", 3, is_parallel=True)),
        ("Phase 2: x (depends: -)", Phase(2, "x", 3)),
        ("Phase 2: x (fast) (parallel)", Phase(2, "x (fast)", 3, is_parallel=True, depends_on=(1,))),
        ("Phase 2: x (fast)", Phase(2, "x (fast)", 3, depends_on=(1,))),
        ("Phase 2: x (parallel", Phase(2, "x (parallel", 3, depends_on=(1,))),
        ("Phase 2: x (parallel, depends: parser)", Phase(2, "x", 3, True, (1,), unparsed="depends: parser")),
        ("Phase 2: x (sequential, soon)", Phase(2, "x", 3, False, (1,), unparsed="soon")),
        ("Phase 2", Phase(2, "", 3, depends_on=(1,))),
        ("**Phase 2: x (parallel)**", Phase(2, "x", 3, is_parallel=True, depends_on=(1,))),
        ("階段 2：解析（平行，依賴：1、3）", Phase(2, "解析", 3, is_parallel=True, depends_on=(1, 3))),
    ],
)
def test_headings(heading: str, expected: Phase) -> None:
    """What is in the brackets is read; what is not said is sequential, after the phase before."""
    assert expected == read("Phase 1: a", heading)[1]


@pytest.mark.parametrize(
    "text",
    [
        "### Phase 1: x",
        "## Other\n### Phase 1: x",
        "## Dev Phases\n## Phase 1: x",
        "## Dev Phases\n#### Phase 1: x",
        "## Dev Phases\n### Phases\n",
        "## Dev Phases\n### Phase one: x",
        "## Dev Phases\n# End\n### Phase 1: x",
        "```\n## Dev Phases\n### Phase 1: x\n```",
    ],
)
def test_no_phases(text: str) -> None:
    """Phases stand one level below their heading, and have numbers."""
    assert () == TasksFile.parse(text).phases


def phase(number: int, done: bool = False, depends: tuple[int, ...] = (), boxes: int = 1) -> Phase:
    return Phase(
        number, "", number, depends_on=depends, checkboxes=tuple(Checkbox("x", done, 1, 0) for _ in range(boxes))
    )


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        ([], []),
        ([phase(1)], [1]),
        ([phase(1, done=True)], []),
        ([phase(1), phase(2, depends=(1,))], [1]),
        ([phase(1, done=True), phase(2, depends=(1,)), phase(3, depends=(1,)), phase(4, depends=(2,))], [2, 3]),
        ([phase(1, boxes=0), phase(2, depends=(1,))], [2]),
        ([phase(1, depends=(2,)), phase(2, depends=(1,)), phase(3)], [3]),
        ([phase(1, depends=(1,))], []),
        ([phase(1, depends=(9,))], []),
        ([phase(1, done=True), phase(1), phase(2, depends=(1,))], [1]),
    ],
)
def test_ready(phases: list[Phase], expected: list[int]) -> None:
    """A phase may start when all that it depends on is there and done."""
    assert expected == [one.number for one in find_ready_phases(phases)]


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        (["Phase 1: a", "Phase 2: b", "Phase 3: c (parallel, depends: 1)"], []),
        (["Phase 1: a", "Phase 2: b", "Phase 3: c", "Phase 4: d (parallel, depends: 1, 3)"], []),
        (["Phase 2: b (sequential, depends: none)", "Phase 1: a (sequential, depends: 2)"], []),
        (["Phase 1: a (sequential, depends: 7)"], ["line 2: phase 1 depends on 7, which does not exist"]),
        (
            ["Phase 1: a", "Phase 1: b (sequential, depends: none)"],
            ["line 3: phase 1 already exists; renumber this one"],
        ),
        (
            ["Phase 1: a (sequential, depends: 1)"],
            ["line 2: these phases depend on each other and can never start: 1"],
        ),
        (
            [
                "Phase 1: a",
                "Phase 2: b (sequential, depends: 1, 3)",
                "Phase 3: c (sequential, depends: 2)",
                "Phase 4: d (sequential, depends: 3)",
            ],
            ["line 3: these phases depend on each other and can never start: 2, 3"],
        ),
        (
            ["Phase 1: a", "Phase 2: b (parallel, depends: a)"],
            ["line 3: phase 2 has 'depends: a'; write depends: N, M or depends: none"],
        ),
    ],
)
def test_problems(headings: list[str], expected: list[str]) -> None:
    """What can never start, or is not clear, is told with its line."""
    assert tuple(expected) == TasksFile.parse("## Dev Phases\n" + "".join(f"### {h}\n" for h in headings)).problems


def overlaps(*lines: str, kind: str = "parallel") -> tuple[Overlap, ...]:
    return TasksFile.parse(f"## Dev Phases\n### Phase 1: x ({kind})\n" + "\n".join(lines)).overlaps


@pytest.mark.parametrize(
    "lines",
    [
        ["- [ ] a | files: src/a.py", "- [ ] b | files: src/b.py"],
        ["- [ ] a | files: src/a.py, src/a.py"],
        ["- [ ] a | files: src/a", "- [ ] b | files: src/ab"],
        ["- [ ] a | files: src/a.py", "  - [ ] part of a | files: src/a.py"],
        ["- [ ] a", "- [ ] b"],
        ["  - [ ] a | files: x", "    - [ ] b | files: x"],
    ],
)
def test_no_overlap(lines: list[str]) -> None:
    """Tasks that touch different files, and parts of one task, may stand side by side."""
    assert () == overlaps(*lines)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["- [ ] a | files: src/a.py", "- [ ] b | files: ./src/a.py"], [(("src/a.py", "src/a.py"), (3, 4))]),
        (["- [ ] a | files: src/a.py", "- [ ] b | files: src/"], [(("src", "src/a.py"), (4, 3))]),
        (["- [ ] a | files: src/*.py", "- [ ] b | files: src/a.py"], [(("src/*.py", "src/a.py"), (3, 4))]),
        (["- [ ] a | files: **/x", "- [ ] b | files: y"], [(("**/x", "y"), (3, 4))]),
        (
            ["- [ ] a", "  - [ ] aa | files: x", "- [ ] b", "  - [ ] bb | files: y, x"],
            [(("x", "x"), (3, 5))],
        ),
    ],
)
def test_overlap(lines: list[str], expected: list[tuple[tuple[str, str], tuple[int, int]]]) -> None:
    """The same file, a folder and a file in it, and patterns in doubt overlap."""
    assert tuple(Overlap(1, files, places) for files, places in expected) == overlaps(*lines)


def test_one_after_the_other_cannot_overlap() -> None:
    """In a sequential phase the same file may be named twice."""
    assert () == overlaps("- [ ] a | files: x", "- [ ] b | files: x", kind="sequential")


def test_an_overlap_says_where() -> None:
    """The sentence names the lines, the phase and the files, each once."""
    assert "lines 3 and 4: phase 1 is parallel, but both tasks change x" == str(Overlap(1, ("x", "x"), (3, 4)))
    assert "lines 3 and 4: phase 1 is parallel, but both tasks change x and x/y" == str(
        Overlap(1, ("x", "x/y"), (3, 4))
    )


_numbers = st.integers(1, 6)
_graphs = st.lists(st.builds(phase, _numbers, st.booleans(), st.lists(_numbers, max_size=3).map(tuple)), max_size=6)


@given(_graphs)
def test_phases_come_to_an_end_or_a_problem_says_why(phases: list[Phase]) -> None:
    """Doing all that is ready, again and again, does everything, unless a problem was told."""
    text = "## Dev Phases\n" + "".join(
        f"### Phase {one.number}: x (sequential, depends: {', '.join(map(str, one.depends_on)) or 'none'})\n"
        f"- [{'x' if one.is_done else ' '}] n{index}\n"
        for index, one in enumerate(phases)
    )
    tasks = TasksFile.parse(text)
    while now := find_ready_phases(tasks.phases):
        tasks = tasks.tick([box.text for one in now for box in one.checkboxes])

    assert not tasks.open_checkboxes or tasks.problems
