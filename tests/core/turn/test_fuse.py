"""The fused list: each finding once, the best first, contradictions adjacent, shown lines not shown again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.finding import Excerpt, Finding
from upbeat.core.contract.report import Item, ItemExcerpt
from upbeat.core.turn import fuse

A = Finding("a.py", title="def a", symbol="a", start_line=3, score=0.9, why="name a", text="def a(): ...")
USED = Finding("a.py", title="a is used", symbol="a", start_line=3, score=0.8, claim="unused", supports_claim=False)
UNUSED = replace(USED, title="a is unused", score=0.7, supports_claim=True)


def scored(path: str, score: float) -> Finding:
    return Finding(path, title=path, score=score)


def test_no_findings() -> None:
    """Without findings the list is empty."""
    assert () == fuse.fuse_findings([])


def test_one_finding() -> None:
    """A finding stays unchanged; its summary is its title and why it matters."""
    assert (fuse.FusedItem(tool="t", finding=A, summary="def a — name a"),) == fuse.fuse_findings([("t", A)])


@pytest.mark.parametrize(
    ("title", "why", "summary"), [("t", "w", "t — w"), ("t", "", "t"), ("", "w", "w"), ("", "", "")]
)
def test_summary(title: str, why: str, summary: str) -> None:
    """The summary joins title and reason, if there are any."""
    assert [summary] == [item.summary for item in fuse.fuse_findings([("t", Finding("a", title=title, why=why))])]


@pytest.mark.parametrize(("length", "summary", "is_truncated"), [(240, "x" * 240, False), (241, "x" * 239 + "…", True)])
def test_summary_is_truncated(length: int, summary: str, is_truncated: bool) -> None:
    """A summary of more than 240 characters is truncated and marked."""
    assert [(summary, is_truncated)] == [
        (item.summary, item.is_truncated) for item in fuse.fuse_findings([("t", Finding("a", title="x" * length))])
    ]


def test_the_best_come_first() -> None:
    """Findings are ordered by score, then tool, path and other fields, never by their order of arrival."""
    findings = [("u", scored("b", 0.5)), ("t", scored("b", 0.5)), ("t", scored("a", 0.5)), ("t", scored("c", 0.9))]

    assert [("t", "c"), ("t", "a"), ("t", "b"), ("u", "b")] == [
        (item.tool, item.finding.path) for item in fuse.fuse_findings(findings)
    ]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (A, replace(A, symbol="b")),
        (A, replace(A, title="e", start_line=4)),
        (replace(A, title="a"), replace(A, title="b")),
    ],
)
def test_order_of_equal_scores(first: Finding, then: Finding) -> None:
    """Equal scores have a fixed order."""
    assert [first, then] == [item.finding for item in fuse.fuse_findings([("t", then), ("t", first)])]


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(replace(A, score=0.1), id="score"),
        pytest.param(replace(A, path="./a.py"), id="spelling of the path"),
        pytest.param(replace(A, path=".\\a.py"), id="backslash"),
        pytest.param(replace(A, why="other", text="other", start_line=9), id="its reason"),
        pytest.param(replace(A, supports_claim=False), id="its side without a claim"),
    ],
)
def test_a_location_occurs_once(same: Finding) -> None:
    """Tool, path, symbol and title identify a finding; of two, the better stays."""
    better, worse = sorted(
        [A, same], key=lambda finding: (-finding.score, finding.path, finding.start_line, finding.why)
    )

    assert [better] == [item.finding for item in fuse.fuse_findings([("t", worse), ("t", better)])]


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
def test_another_finding_stays(tool: str, other: Finding) -> None:
    """A finding with another tool, path, symbol, title or claim is another one, and no conflict."""
    assert [False, False] == [item.has_conflict for item in fuse.fuse_findings([("t", A), (tool, other)])]


def test_twelve_at_most() -> None:
    """The list has the twelve best findings."""
    findings = [("t", scored(f"{number:02}", 1 - number / 100)) for number in range(20)]

    assert [f"{number:02}" for number in range(12)] == [item.finding.path for item in fuse.fuse_findings(findings)]


def test_contradicting_findings_are_adjacent() -> None:
    """Two sides of a claim are adjacent, each with the other as evidence."""
    between = scored("b.py", 0.75)

    assert (
        fuse.FusedItem("t", USED, "a is used", has_conflict=True, evidence_refs=("u:a.py:3",)),
        fuse.FusedItem("u", UNUSED, "a is unused", has_conflict=True, evidence_refs=("t:a.py:3",)),
        fuse.FusedItem("t", between, "b.py"),
    ) == fuse.fuse_findings([("t", between), ("u", UNUSED), ("t", USED)])


def test_one_tool_may_contradict_itself() -> None:
    """The two sides of a claim are never the same finding, even with one title from one tool."""
    both = fuse.fuse_findings([("t", USED), ("t", replace(USED, supports_claim=True))])

    assert [(True, True), (True, False)] == [(item.has_conflict, item.finding.supports_claim) for item in both]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(UNUSED, supports_claim=False), id="same side"),
        pytest.param(replace(UNUSED, claim="slow"), id="another claim"),
        pytest.param(replace(UNUSED, symbol="b"), id="another symbol"),
        pytest.param(replace(UNUSED, path="b.py"), id="another file"),
        pytest.param(replace(UNUSED, claim=""), id="no claim"),
    ],
)
def test_no_contradiction(other: Finding) -> None:
    """Only opposite statements about the same thing contradict each other."""
    assert [False, False] == [item.has_conflict for item in fuse.fuse_findings([("t", USED), ("u", other)])]


def test_a_contradiction_sees_through_spelling() -> None:
    """Two spellings of a path are the same location."""
    assert [True, True] == [
        item.has_conflict for item in fuse.fuse_findings([("t", USED), ("u", replace(UNUSED, path="./a.py"))])
    ]


def test_three_of_one_claim() -> None:
    """Each side names all contradicting findings; all three are adjacent."""
    third = replace(UNUSED, title="a is dead", score=0.1)
    fused = fuse.fuse_findings([("t", USED), ("u", UNUSED), ("v", third), ("t", scored("b.py", 0.75))])

    assert [
        ("t", ("u:a.py:3", "v:a.py:3")),
        ("u", ("t:a.py:3",)),
        ("v", ("t:a.py:3",)),
        ("t", ()),
    ] == [(item.tool, item.evidence_refs) for item in fused]


def test_half_a_contradiction_is_not_listed() -> None:
    """If only one of two sides fits, neither is listed, but the next finding is."""
    eleven = [("t", scored(f"{number:02}", 0.95)) for number in range(11)]
    fused = fuse.fuse_findings([*eleven, ("t", USED), ("u", UNUSED), ("t", scored("last", 0.01))])

    assert [*(f"{number:02}" for number in range(11)), "last"] == [item.finding.path for item in fused]


def test_a_whole_contradiction_at_the_end_is_listed() -> None:
    """Two sides of a claim fill the last two places."""
    ten = [("t", scored(f"{number:02}", 0.95)) for number in range(10)]
    fused = fuse.fuse_findings([*ten, ("t", USED), ("u", UNUSED), ("t", scored("last", 0.01))])

    assert (12, [True, True]) == (len(fused), [item.has_conflict for item in fused[10:]])


def test_a_truncated_contradiction_has_both_sides() -> None:
    """If many findings contradict one, as many are listed as fit."""
    against = [(f"t{number:02}", UNUSED) for number in range(20)]
    fused = fuse.fuse_findings([("t", USED), *against])

    assert (12, {True, False}) == (len(fused), {item.finding.supports_claim for item in fused})


FINDINGS = st.builds(
    Finding,
    path=st.sampled_from(["a", "./a", "b"]),
    title=st.sampled_from(["", "t", "u"]),
    symbol=st.sampled_from(["", "s"]),
    score=st.sampled_from([0.1, 0.5]),
    start_line=st.integers(0, 2),
    claim=st.sampled_from(["", "c", "d"]),
    supports_claim=st.booleans(),
)
TOOL_FINDINGS = st.lists(st.tuples(st.sampled_from(["t", "u", "v"]), FINDINGS), max_size=30)


@given(TOOL_FINDINGS, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(findings: list[tuple[str, Finding]], random: object) -> None:
    """The same findings in any order give the same list."""
    shuffled = list(findings)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert fuse.fuse_findings(findings) == fuse.fuse_findings(shuffled)


@given(TOOL_FINDINGS)
def test_no_side_of_a_conflict_is_alone(findings: list[tuple[str, Finding]]) -> None:
    """At most twelve items, no location twice, and each contradicted one with a contradicting one."""
    fused = fuse.fuse_findings(findings)
    listed = {fuse.evidence_ref(item.tool, item.finding) for item in fused}

    assert len(fused) <= 12
    assert len({(item.tool, item.finding) for item in fused}) == len(fused)
    assert all(listed & set(item.evidence_refs) for item in fused if item.has_conflict)
    assert all(item.has_conflict == bool(item.evidence_refs) for item in fused)


@pytest.mark.parametrize(
    ("path", "normal"), [("a/b", "a/b"), ("./a//b/.", "a/b"), ("a\\b", "a/b"), ("", ""), ("../a", "../a")]
)
def test_normalize_repo_path(path: str, normal: str) -> None:
    """A path has one spelling."""
    assert normal == fuse.normalize_repo_path(path)


def test_evidence_ref() -> None:
    """Evidence is named by tool, path and line; a whole file has no line."""
    assert ("t:a.py:3", "t:b") == (fuse.evidence_ref("t", A), fuse.evidence_ref("t", Finding("b")))


def test_drop_source_lines() -> None:
    """Only the source lines are dropped."""
    fused = fuse.fuse_findings([("t", A)])[0]

    assert replace(fused, finding=replace(A, text="")) == fuse.drop_source_lines(fused)


MORE = Excerpt("Store.load", 20, 21, "c = 3", 0.5)
FINDING = Finding(
    "src/store.py",
    symbol="Store.save",
    start_line=3,
    end_line=4,
    why="words save",
    text="a = 1\nb = 2",
    more_excerpts=(MORE,),
)
ITEM = fuse.FusedItem("ci_search", FINDING, "words save")


def test_shown_lines_are_omitted() -> None:
    """The heading stays and says so; lines of other locations stay, too."""
    [item] = fuse.omit_shown_excerpts([ITEM], {fuse.excerpt_id("src/store.py", "a = 1\nb = 2")})

    assert ("", "src/store.py", 3) == (item.finding.text, item.finding.path, item.finding.start_line)
    assert fuse.ALREADY_SHOWN == item.summary
    assert f"{fuse.ALREADY_SHOWN}; words save" == item.finding.why
    assert (MORE,) == item.finding.more_excerpts


def test_further_locations_stay_named() -> None:
    """A further location without its lines is still named."""
    [item] = fuse.omit_shown_excerpts([ITEM], {fuse.excerpt_id("src/store.py", "c = 3")})

    assert replace(FINDING, more_excerpts=(replace(MORE, text=""),)) == item.finding


def test_other_lines_stay() -> None:
    """Other lines, other files and changed lines stay unchanged."""
    others = [
        replace(ITEM, finding=replace(FINDING, text="a = 1")),
        replace(ITEM, finding=replace(FINDING, path="src/other.py")),
        replace(ITEM, finding=replace(FINDING, text="a = 1\nb = 3")),
        replace(ITEM, finding=replace(FINDING, text="")),
    ]

    assert (ITEM,) == fuse.omit_shown_excerpts([ITEM], frozenset())
    assert tuple(others) == fuse.omit_shown_excerpts(others, {fuse.excerpt_id("src/store.py", "a = 1\nb = 2")})


def test_an_id_needs_lines() -> None:
    """Without source lines there is no id; any text has one."""
    assert "" == fuse.excerpt_id("a.py", "")
    assert 12 == len(fuse.excerpt_id("a.py", "\ud800"))


def test_the_excerpts_of_a_report() -> None:
    """A report's excerpts are those of its items and of their further locations."""
    more = [ItemExcerpt(symbol="a", start_line=1, end_line=2, excerpt="2")]
    items = [Item(kind="f", path="a", score=1, why="", tool="t", excerpt=excerpt, more=more) for excerpt in ("1", "")]

    assert ("1", "2", "2") == fuse.collect_excerpt_ids(items)
