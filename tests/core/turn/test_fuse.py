"""Findings of many tools become one list: each once, the best first, contradictions side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.finding import Finding
from upbeat.core.turn.fuse import Fused, fuse, normal_path, reference, without_text

A = Finding("a.py", title="def a", symbol="a", start_line=3, score=0.9, why="name a", text="def a(): ...")
USED = Finding("a.py", title="a is used", symbol="a", start_line=3, score=0.8, claim="unused", supports=False)
UNUSED = replace(USED, title="a is unused", score=0.7, supports=True)


def scored(path: str, score: float) -> Finding:
    return Finding(path, title=path, score=score)


def test_nothing_fuses_to_nothing() -> None:
    """No findings make an empty list."""
    assert () == fuse([])


def test_one_finding() -> None:
    """A finding keeps all it says; its summary is its title and why it matters."""
    assert (Fused(tool="t", finding=A, summary="def a — name a"),) == fuse([("t", A)])


@pytest.mark.parametrize(
    ("title", "why", "summary"), [("t", "w", "t — w"), ("t", "", "t"), ("", "w", "w"), ("", "", "")]
)
def test_summary(title: str, why: str, summary: str) -> None:
    """The summary joins what is there."""
    assert [summary] == [one.summary for one in fuse([("t", Finding("a", title=title, why=why))])]


@pytest.mark.parametrize(("length", "shown", "cut"), [(240, "x" * 240, False), (241, "x" * 239 + "…", True)])
def test_summary_is_cut(length: int, shown: str, cut: bool) -> None:
    """A summary over 240 characters is cut inside them, and marked."""
    assert [(shown, cut)] == [(one.summary, one.truncated) for one in fuse([("t", Finding("a", title="x" * length))])]


def test_the_best_come_first() -> None:
    """Score decides, then tool, path and what else there is; never the order of arrival."""
    found = [("u", scored("b", 0.5)), ("t", scored("b", 0.5)), ("t", scored("a", 0.5)), ("t", scored("c", 0.9))]

    assert [("t", "c"), ("t", "a"), ("t", "b"), ("u", "b")] == [(one.tool, one.finding.path) for one in fuse(found)]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (A, replace(A, symbol="b")),
        (A, replace(A, title="e", start_line=4)),
        (replace(A, title="a"), replace(A, title="b")),
    ],
)
def test_order_of_equal_scores(first: Finding, then: Finding) -> None:
    """Equal scores stand in a fixed order."""
    assert [first, then] == [one.finding for one in fuse([("t", then), ("t", first)])]


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(replace(A, score=0.1), id="score"),
        pytest.param(replace(A, path="./a.py"), id="spelling of the path"),
        pytest.param(replace(A, path=".\\a.py"), id="backslash"),
        pytest.param(replace(A, why="other", text="other", start_line=9), id="words about it"),
        pytest.param(replace(A, supports=False), id="for or against nothing"),
    ],
)
def test_the_same_place_stands_once(same: Finding) -> None:
    """Tool, path, symbol and title make a finding; of two, the better stays."""
    better, worse = sorted(
        [A, same], key=lambda finding: (-finding.score, finding.path, finding.start_line, finding.why)
    )

    assert [better] == [one.finding for one in fuse([("t", worse), ("t", better)])]


@pytest.mark.parametrize(
    ("tool", "other"),
    [
        ("u", A),
        ("t", replace(A, path="b.py")),
        ("t", replace(A, symbol="b")),
        ("t", replace(A, symbol="")),
        ("t", replace(A, title="x")),
        ("t", replace(A, title="")),
        ("t", replace(A, claim="c")),
    ],
)
def test_another_place_stands_too(tool: str, other: Finding) -> None:
    """Whatever differs in tool, path, symbol, title or claim is another finding, and no conflict."""
    assert [False, False] == [one.conflict for one in fuse([("t", A), (tool, other)])]


def test_twelve_at_most() -> None:
    """The list has the twelve best."""
    found = [("t", scored(f"{number:02}", 1 - number / 100)) for number in range(20)]

    assert [f"{number:02}" for number in range(12)] == [one.finding.path for one in fuse(found)]


def test_a_contradiction_stands_side_by_side() -> None:
    """Two sides of one claim stand next to each other, each with the other as evidence, and nobody is right."""
    between = scored("b.py", 0.75)

    assert (
        Fused("t", USED, "a is used", conflict=True, evidence=("u:a.py:3",)),
        Fused("u", UNUSED, "a is unused", conflict=True, evidence=("t:a.py:3",)),
        Fused("t", between, "b.py"),
    ) == fuse([("t", between), ("u", UNUSED), ("t", USED)])


def test_one_tool_may_contradict_itself() -> None:
    """The two sides of a claim are never the same finding, even with one title from one tool."""
    both = fuse([("t", USED), ("t", replace(USED, supports=True))])

    assert [(True, True), (True, False)] == [(one.conflict, one.finding.supports) for one in both]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(UNUSED, supports=False), id="same side"),
        pytest.param(replace(UNUSED, claim="slow"), id="another claim"),
        pytest.param(replace(UNUSED, symbol="b"), id="another symbol"),
        pytest.param(replace(UNUSED, path="b.py"), id="another file"),
        pytest.param(replace(UNUSED, claim=""), id="no claim"),
    ],
)
def test_no_contradiction(other: Finding) -> None:
    """Only opposite statements about the same thing contradict each other."""
    assert [False, False] == [one.conflict for one in fuse([("t", USED), ("u", other)])]


def test_a_contradiction_sees_through_spelling() -> None:
    """Two spellings of one path are the same place."""
    assert [True, True] == [one.conflict for one in fuse([("t", USED), ("u", replace(UNUSED, path="./a.py"))])]


def test_three_of_one_claim() -> None:
    """Each side names all that is said against it; all three stand together."""
    third = replace(UNUSED, title="a is dead", score=0.1)
    fused = fuse([("t", USED), ("u", UNUSED), ("v", third), ("t", scored("b.py", 0.75))])

    assert [
        ("t", ("u:a.py:3", "v:a.py:3")),
        ("u", ("t:a.py:3",)),
        ("v", ("t:a.py:3",)),
        ("t", ()),
    ] == [(one.tool, one.evidence) for one in fused]


def test_half_a_contradiction_is_not_listed() -> None:
    """Where only one of two sides has room, neither stands, and the next finding does."""
    eleven = [("t", scored(f"{number:02}", 0.95)) for number in range(11)]
    fused = fuse([*eleven, ("t", USED), ("u", UNUSED), ("t", scored("last", 0.01))])

    assert [*(f"{number:02}" for number in range(11)), "last"] == [one.finding.path for one in fused]


def test_a_whole_contradiction_at_the_end_is_listed() -> None:
    """Two sides fill the last two places."""
    ten = [("t", scored(f"{number:02}", 0.95)) for number in range(10)]
    fused = fuse([*ten, ("t", USED), ("u", UNUSED), ("t", scored("last", 0.01))])

    assert (12, [True, True]) == (len(fused), [one.conflict for one in fused[10:]])


def test_a_large_contradiction_is_cut_with_both_sides() -> None:
    """Of many against one, as many stand as there is room for."""
    against = [(f"t{number:02}", UNUSED) for number in range(20)]
    fused = fuse([("t", USED), *against])

    assert (12, {True, False}) == (len(fused), {one.finding.supports for one in fused})


FINDINGS = st.builds(
    Finding,
    path=st.sampled_from(["a", "./a", "b"]),
    title=st.sampled_from(["", "t", "u"]),
    symbol=st.sampled_from(["", "s"]),
    score=st.sampled_from([0.1, 0.5]),
    start_line=st.integers(0, 2),
    claim=st.sampled_from(["", "c", "d"]),
    supports=st.booleans(),
)
FOUND = st.lists(st.tuples(st.sampled_from(["t", "u", "v"]), FINDINGS), max_size=30)


@given(FOUND, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(found: list[tuple[str, Finding]], random: object) -> None:
    """The same findings in any order give the same list."""
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert fuse(found) == fuse(shuffled)


@given(FOUND)
def test_no_side_of_a_conflict_stands_alone(found: list[tuple[str, Finding]]) -> None:
    """At most twelve stand, no place twice, and whoever is contradicted stands with an opponent."""
    fused = fuse(found)
    listed = {reference(one.tool, one.finding) for one in fused}

    assert len(fused) <= 12
    assert len({(one.tool, one.finding) for one in fused}) == len(fused)
    assert all(listed & set(one.evidence) for one in fused if one.conflict)
    assert all(one.conflict == bool(one.evidence) for one in fused)


@pytest.mark.parametrize(
    ("path", "normal"), [("a/b", "a/b"), ("./a//b/.", "a/b"), ("a\\b", "a/b"), ("", ""), ("../a", "../a")]
)
def test_normal_path(path: str, normal: str) -> None:
    """One place has one spelling."""
    assert normal == normal_path(path)


def test_reference() -> None:
    """Evidence is named by tool, path and line; a whole file has no line."""
    assert ("t:a.py:3", "t:b") == (reference("t", A), reference("t", Finding("b")))


def test_without_text() -> None:
    """Only the source lines go."""
    fused = fuse([("t", A)])[0]

    assert replace(fused, finding=replace(A, text="")) == without_text(fused)
