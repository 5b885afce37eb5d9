"""tasks.md is read without loss: whatever it holds, only the characters of ticked boxes ever change."""

from __future__ import annotations

from textwrap import dedent
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.tasks import Checkbox, TasksFile

WHOLE = dedent(
    """\
    ---
    feature: retry
    status: in-progress
    workflow: standard
    created: 2026-01-02
    owner: "me"
    ---

    # Retry

    - [x] PLAN: cut it
    - [ ] TEST: write it down
    - [ ] **TEST:2**: does it hold (parallel)
        * [X] nested, done
        1. [ ] nested, open

    ## Dev Phases

    ### Phase 1: parser (sequential)

    - [ ] read | files: `src/a.py`, ./src/b.py

    ### Phase 2: writer (parallel, depends: 1)

    - [ ] write (parallel) | files: src/c/

    ## Notes

    - [ ] tell people
    """
)


def boxes(text: str) -> list[tuple[str, bool]]:
    return [(box.text, box.is_done) for box in TasksFile.parse(text).checkboxes]


def test_a_whole_file() -> None:
    """Front matter, boxes with depth, marks and files, and phases are all found."""
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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- [ ]",
        "- [ ]\n",
        "- []  x",
        "- [y] x",
        "-[ ] x",
        "[ ] x",
        "x - [ ] y",
        "```\n- [ ] x\n```",
        "~~~md\n- [ ] x\n```\n- [ ] y\n~~~~\n",
        "````\n```\n- [ ] x\n````",
        "```\n- [ ] never closed",
        "  - ```\n    - [ ] in a list\n    ```",
        "> ```\n> - [ ] x\n> ```",
        "<!--\n- [ ] x\n-->",
        "<!-- - [ ] x -->",
        "<!--\nnote\n- [ ] x\n- [ ] y\n-->",
        "---\nlist:\n- [ ] x\n---\n",
        "\ufeff---\r\n- [ ] x\r\n---\r\n",
    ],
)
def test_no_boxes(text: str) -> None:
    """What stands in fences, comments and front matter, or only looks like a box, is none."""
    assert [] == boxes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [ ] x", [("x", False)]),
        ("* [X] x\n+ [x] y\n1. [ ] z\n2) [ ] w", [("x", True), ("y", True), ("z", False), ("w", False)]),
        ("-\t[ ]\tx\t\n", [("x", False)]),
        ("\ufeff- [ ] x\r\n- [x] y\r- [ ] z", [("x", False), ("y", True), ("z", False)]),
        ("`` ` ``\n- [ ] x", [("x", False)]),
        ("```not` a fence\n- [ ] x", [("x", False)]),
        ("```\ncode\n```\n- [ ] x", [("x", False)]),
        ("<!-- note -->\n- [ ] x", [("x", False)]),
        ("<!--\nnote\n--> \n- [ ] x", [("x", False)]),
        ("---\n- [ ] no front matter: never closed", [("no front matter: never closed", False)]),
        ("\n---\n- [ ] x\n---\n", [("x", False)]),
        ("---\n---\n- [ ] x\n---\n", [("x", False)]),
        ("- [ ] x | files: a | files: b", [("x", False)]),
        ("- [ ] `DEV`：實作（平行） | files：a、b", [("DEV：實作", False)]),
        ("- [ ] _private stays | file: _a.py", [("_private stays", False)]),
        ("- [ ] a | b", [("a | b", False)]),
    ],
)
def test_boxes(text: str, expected: list[tuple[str, bool]]) -> None:
    """Every list mark, line end and depth of Markdown holds boxes."""
    assert expected == boxes(text)


@pytest.mark.parametrize(
    ("text", "depths"),
    [
        ("- [ ] a\n  - [ ] b\n    - [ ] c\n  - [ ] d\n- [ ] e", [0, 1, 2, 1, 0]),
        ("  - [ ] a\n- [ ] b", [0, 0]),
        ("- [ ] a\n\t- [ ] b\n\t\t- [ ] c", [0, 1, 2]),
        ("- [ ] a\n    - [ ] b\n\t- [ ] c", [0, 1, 1]),
        ("- [ ] a\n## h\n  - [ ] b", [0, 0]),
    ],
)
def test_depth(text: str, depths: list[int]) -> None:
    """A box stands in the one that it is indented under; a heading ends that."""
    assert depths == [box.depth for box in TasksFile.parse(text).checkboxes]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("TEST:2", "TEST"),
        ("TESTING", "TEST"),
        ("TEST-DATA", "TEST"),
        ("TEST_DATA", "TEST"),
        ("TEST2", "TEST"),
        ("DEV#1", "DEV"),
        ("a TEST", "TEST"),
        ("test", "TEST"),
        ("TEST", "TEST:2"),
        ("TEST", ""),
    ],
)
def test_a_box_of_another_name(text: str, key: str) -> None:
    """A box whose name only begins alike answers to its own name only."""
    assert not Checkbox(text, False, 1, 0).matches_key(key)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("TEST", "TEST"),
        ("TEST: it", "TEST"),
        ("TEST:2: it", "TEST:2"),
        ("TEST (spec)", "TEST"),
        ("TEST：it", "TEST"),
        ("TEST測試", "TEST"),
        ("write the parser", "write the parser"),
    ],
)
def test_a_box_of_that_name(text: str, key: str) -> None:
    """A box answers to its whole text and to the name that it begins with."""
    assert Checkbox(text, False, 1, 0).matches_key(key)


def test_tick() -> None:
    """Open boxes that answer are ticked, and nothing else changes; done ones stay as they are written."""
    text = "\ufeff- [X] DEV\r\n- [ ] DEV: one\r\n  -\t[ ] **DEV** two\r- [ ] DEVELOP\n```\n- [ ] DEV\n```\n- [ ] TEST"
    ticked = TasksFile.parse(text).tick(["DEV", "nothing"])

    assert (
        "\ufeff- [X] DEV\r\n- [x] DEV: one\r\n  -\t[x] **DEV** two\r- [ ] DEVELOP\n```\n- [ ] DEV\n```\n- [ ] TEST"
    ) == ticked.text
    assert ticked == ticked.tick(["DEV"])


def test_tick_nothing() -> None:
    """Without a box that answers the very same text comes back."""
    tasks = TasksFile.parse(WHOLE)

    assert tasks is tasks.tick([]) is tasks.tick(["x", ""])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "---\nstatus: paused\n---\n\n"),
        ("# x\r\n", "---\r\nstatus: paused\r\n---\r\n\r\n# x\r\n"),
        ("\ufeff# x\n", "\ufeff---\nstatus: paused\n---\n\n# x\n"),
        ("---\nstatus: backlog\n---\nx", "---\nstatus: paused\n---\nx"),
        ("---\r\na: 1\r\nstatus :  backlog \r\nb: 2\r\n---", "---\r\na: 1\r\nstatus :  paused\r\nb: 2\r\n---"),
        ("---\nstatus:\nstatus: x\n---\n", "---\nstatus:paused\nstatus: x\n---\n"),
        ("---\na: 1\n---\n", "---\na: 1\nstatus: paused\n---\n"),
        ("---\nnever closed", "---\nstatus: paused\n---\n\n---\nnever closed"),
    ],
)
def test_with_field(text: str, expected: str) -> None:
    """One key of the front matter changes, or is added; every other byte stays."""
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
    """Reading loses nothing, and every box stands where it says."""
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
    """Whatever is ticked: the rest is byte for byte what it was, and the boxes are the same ones."""
    before = TasksFile.parse(text)
    after = before.tick(keys)
    wanted = {box.offset for box in before.open_checkboxes if any(box.matches_key(key) for key in keys)}

    assert wanted == {place for place, (old, new) in enumerate(zip(text, after.text, strict=True)) if old != new}
    assert [box.offset for box in before.checkboxes] == [box.offset for box in after.checkboxes]
    assert wanted == {box.offset for box in after.done_checkboxes} - {box.offset for box in before.done_checkboxes}


@given(_documents, st.sampled_from(["status", "feature"]), st.from_regex(r"[a-z0-9-]{1,8}", fullmatch=True))
def test_a_field_that_is_set_is_there(text: str, name: str, value: str) -> None:
    """The front matter has the value afterwards, and the boxes and phases are what they were."""
    before = TasksFile.parse(text)
    after = before.with_field(name, value)

    assert before.front_matter | {name: value} == after.front_matter
    assert [box.text for box in before.checkboxes] == [box.text for box in after.checkboxes]
    assert after == after.with_field(name, value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("- [ ] " + " " * 60_000 + "x", id="spaces"),
        pytest.param("- [ ] " + "(" * 60_000, id="brackets"),
        pytest.param("- [ ] " + "|" * 60_000, id="bars"),
        pytest.param("- [ ] x | files: " + "a/" * 30_000, id="a deep path"),
        pytest.param("#" + " " * 60_000 + "x", id="heading"),
        pytest.param("- [ ] x\n" * 6_000, id="many boxes"),
        pytest.param("## Dev Phases\n" + "".join(f"### Phase {n}: x\n" for n in range(3_000)), id="many phases"),
        pytest.param("".join(f"{' ' * n}- [ ] x\n" for n in range(600)), id="deep boxes"),
        pytest.param("\r" * 60_000, id="line ends"),
    ],
)
def test_time_grows_with_length(text: str) -> None:
    """A file that is made to take long is read in well under the time of a turn."""
    start = process_time()
    tasks = TasksFile.parse(text)
    list(tasks.problems)
    list(tasks.overlaps)

    assert process_time() - start < 5
