"""The text for the model: framed, numbered, within the limit, the most relevant finding first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.finding import ANSWER_KIND, Excerpt, Finding
from upbeat.core.sanitize.frame import contains_frame, frame_untrusted
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit, measure_text
from upbeat.core.turn.fuse import ALREADY_SHOWN, FusedItem, drop_source_lines, evidence_ref, fuse_findings
from upbeat.core.turn.render import FRAME_SOURCE, RenderedContext, render_context

NONCE = "0123456789ab"
WIDE = TextLimit(100_000)
ONE = FusedItem(
    "ci_search",
    Finding(
        "a.py", "def a():", "a", start_line=9, end_line=10, score=0.875, why="name a", text="def a():\n    return 1\n"
    ),
    "def a(): — name a",
)
TWO = FusedItem("ci_search", Finding("b/ä.py", "B", start_line=3, end_line=3, score=0.5, text="B = 2"), "B")
FILE = FusedItem("ci_index", Finding("c.py", score=0.25), "")


def framed(*lines: str) -> str:
    return frame_untrusted("\n".join(lines), NONCE, source=FRAME_SOURCE)


def shortened(item: FusedItem) -> FusedItem:
    """Return the item without its lines, marked as truncated."""
    return replace(drop_source_lines(item), is_truncated=True)


def size(*lines: str, unit: LengthUnit = LengthUnit.CHARS) -> int:
    return measure_text(framed(*lines), unit)


ONE_SHOWN = ["1. a.py:9-10 a — name a (ci_search 0.88)", " 9| def a():", "10|     return 1"]
ONE_NAMED = ONE_SHOWN[:1]
TWO_SHOWN = ["2. b/ä.py:3 — B (ci_search 0.50)", "3| B = 2"]
FILE_SHOWN = ["3. c.py — file (ci_index 0.25)"]


def test_without_findings_there_is_no_text() -> None:
    """Without findings there is no text, and no empty frame."""
    assert RenderedContext("") == render_context([], NONCE, WIDE)


def test_findings() -> None:
    """Each finding has a heading with location, name, reason, tool and score, and its numbered lines below."""
    assert RenderedContext(framed(*ONE_SHOWN, *TWO_SHOWN, *FILE_SHOWN), (ONE, TWO, FILE)) == render_context(
        [ONE, TWO, FILE], NONCE, WIDE
    )


def test_the_text_is_framed() -> None:
    """The text is recognized as a frame of upbeat."""
    assert contains_frame(render_context([FILE], NONCE, WIDE).text)


@pytest.mark.parametrize(
    ("start", "end", "location"),
    [(0, 0, "a.py"), (3, 0, "a.py:3"), (3, 3, "a.py:3"), (3, 2, "a.py:3"), (3, 4, "a.py:3-4"), (0, 4, "a.py")],
)
def test_locations(start: int, end: int, location: str) -> None:
    """A location is a file, a line or a range of lines."""
    item = FusedItem("t", Finding("a.py", start_line=start, end_line=end), "s")

    assert framed(f"1. {location} — s (t 0.00)") == render_context([item], NONCE, WIDE).text


@pytest.mark.parametrize(
    ("text", "start", "lines"),
    [
        pytest.param("x\n\n  y  ", 8, [" 8| x", " 9|", "10|   y"], id="width and blanks"),
        pytest.param("x\ny\n\n", 1, ["1| x", "2| y"], id="empty lines at the end"),
        pytest.param("x\ny", 0, ["1| x", "2| y"], id="a whole file starts at line 1"),
        pytest.param("x\n  \n", 1, ["1| x", "2|"], id="a blank line at the end"),
        pytest.param("MAX\n", 1, ["1| MAX"], id="only line ends are stripped"),
        pytest.param("\nx", 5, ["5|", "6| x"], id="an empty line at the start"),
        pytest.param("x\n" * 9, 1, [f"{n}| x" for n in range(1, 10)], id="nine lines are one digit"),
    ],
)
def test_source_lines(text: str, start: int, lines: list[str]) -> None:
    """Source lines have their numbers, aligned right."""
    item = FusedItem("t", Finding("a.py", start_line=start, text=text), "s")
    location = f"a.py:{start}" if start else "a.py"

    assert framed(f"1. {location} — s (t 0.00)", *lines) == render_context([item], NONCE, WIDE).text


def test_a_conflict_names_its_evidence() -> None:
    """A contradicted finding names the contradicting ones."""
    item = replace(FILE, has_conflict=True, evidence_refs=("t:a.py:3", "u:b.py"))
    both = [
        item,
        FusedItem("t", Finding("a.py", start_line=3), "s", has_conflict=True, evidence_refs=("ci_index:c.py",)),
    ]

    assert (
        framed(
            "1. c.py — file (ci_index 0.25) [conflict: see t:a.py:3, u:b.py]",
            "2. a.py:3 — s (t 0.00) [conflict: see ci_index:c.py]",
        )
        == render_context(both, NONCE, WIDE).text
    )


@pytest.mark.parametrize(
    ("lines", "items", "truncated"),
    [
        pytest.param([*ONE_SHOWN, *TWO_SHOWN, *FILE_SHOWN], (ONE, TWO, FILE), False, id="all"),
        pytest.param(
            [*ONE_SHOWN, TWO_SHOWN[0], *FILE_SHOWN],
            (ONE, shortened(TWO), FILE),
            True,
            id="the last lines are dropped first",
        ),
    ],
)
@pytest.mark.parametrize("unit", LengthUnit)
def test_the_limit_is_used_to_the_last_character(
    lines: list[str], items: tuple[FusedItem, ...], truncated: bool, unit: LengthUnit
) -> None:
    """Text that fits exactly is shown; with one character less, something is dropped."""
    cap = TextLimit(size(*lines, unit=unit) + 1, unit)

    rendered = render_context([ONE, TWO, FILE], NONCE, cap)
    left_out = "1 place's lines" if truncated else ""
    assert RenderedContext(framed(*lines), items, truncated, left_out) == rendered
    assert render_context([ONE, TWO, FILE], NONCE, replace(cap, max_length=cap.max_length - 1)).is_truncated


def test_later_headings_are_dropped_first() -> None:
    """If not all headings fit, the first ones stay."""
    named = [*ONE_NAMED, TWO_SHOWN[0]]
    kept = render_context([ONE, TWO, FILE], NONCE, TextLimit(size(*named) + 1))

    assert (True, ["a.py", "b/ä.py"]) == (kept.is_truncated, [item.finding.path for item in kept.items])


def test_dropped_lines_take_no_room() -> None:
    """Later, shorter lines are shown if earlier ones are too long."""
    long = replace(ONE, finding=replace(ONE.finding, text="x" * 500))
    lines = [*ONE_NAMED, *TWO_SHOWN]

    assert RenderedContext(framed(*lines), (shortened(ONE), TWO), True, "1 place's lines") == render_context(
        [long, TWO], NONCE, TextLimit(size(*lines) + 1)
    )


@pytest.mark.parametrize("text", ["", "y"])
def test_the_limit_counts_every_digit(text: str) -> None:
    """Ten findings fit to the last character, where their numbers have two digits."""
    items = [FusedItem("t", Finding(f"{letter}.py", start_line=1, text=text), "s") for letter in "abcdefghij"]
    entries = [
        [f"{n}. {item.finding.path}:1 — s (t 0.00)", *(["1| y"] if text else [])] for n, item in enumerate(items, 1)
    ]
    cap = TextLimit(size(*(line for entry in entries for line in entry)) + 1)

    assert RenderedContext(framed(*(line for entry in entries for line in entry)), tuple(items)) == render_context(
        items, NONCE, cap
    )
    assert render_context(items, NONCE, TextLimit(cap.max_length - 1)).is_truncated


def test_nothing_fits() -> None:
    """If not even one heading fits, nothing is injected, and the result is marked as truncated."""
    assert RenderedContext("", (), True) == render_context([ONE], NONCE, TextLimit(10))
    assert RenderedContext("", (), True) == render_context([ONE], NONCE, TextLimit(size(*ONE_NAMED)))
    assert render_context([ONE], NONCE, TextLimit(size(*ONE_NAMED) + 1)).items


def test_half_a_conflict_is_not_shown() -> None:
    """A contradicted finding without room for the contradicting one is dropped, too."""
    pair = fuse_findings(
        [
            ("t", Finding("a.py", "long " * 40, start_line=1, score=0.9, claim="c")),
            ("u", Finding("a.py", "x", start_line=2, score=0.8, claim="c", supports_claim=False)),
        ]
    )
    first = f"1. a.py:1 — {'long ' * 40} (t 0.90) [conflict: see u:a.py:2]"

    assert RenderedContext("", (), True) == render_context(pair, NONCE, TextLimit(size(first) + 20))
    assert 2 == len(render_context(pair, NONCE, TextLimit(size(first) + 200)).items)


ITEMS = st.lists(
    st.builds(
        lambda path, title, text, start, claim, supports: (
            "t",
            Finding(path, title, text=text, start_line=start, score=0.5, claim=claim, supports_claim=supports),
        ),
        st.text("ab/é😀\n", min_size=1, max_size=9),
        st.text(max_size=20),
        st.text(max_size=80),
        st.integers(0, 120),
        st.sampled_from(["", "c"]),
        st.booleans(),
    ),
    max_size=15,
)


@given(ITEMS, st.integers(0, 1200), st.sampled_from(LengthUnit))
def test_the_limit_holds(findings: list[tuple[str, Finding]], limit: int, unit: LengthUnit) -> None:
    """The limit holds; the items are a prefix of the list; no side of a conflict is alone."""
    items = fuse_findings(findings)
    rendered = render_context(items, NONCE, TextLimit(limit, unit))
    shown = {evidence_ref(item.tool, item.finding) for item in rendered.items}

    assert measure_text(rendered.text, unit) <= limit
    assert [drop_source_lines(i) for i in items[: len(rendered.items)]] == [
        drop_source_lines(i) for i in rendered.items
    ]
    assert bool(rendered.text) == bool(rendered.items)
    assert rendered.is_truncated == (rendered.items != items)
    assert all(shown & set(item.evidence_refs) for item in rendered.items if item.has_conflict)


MANY = FusedItem(
    "ci_search",
    Finding(
        "a.py",
        symbol="a",
        start_line=9,
        end_line=9,
        why="name a",
        text="A = 1",
        optional_score=0.5,
        more_excerpts=(Excerpt("b", 20, 21, "B = 1\nB = 2", 0.9), Excerpt("", 30, 30, "C", 0.2), Excerpt("d", 40, 44)),
    ),
    "",
)
MANY_HEADING = "1. a.py:9 a — name a (ci_search 0.00)"


def test_further_locations_are_below_their_item() -> None:
    """Each further location has its name and lines; those without lines are named at the end."""
    lines = [MANY_HEADING, "9| A = 1", "+ b:20-21", "20| B = 1", "21| B = 2", "+ lines:30", "30| C", "+ d:40"]

    assert RenderedContext(framed(*lines), (MANY,)) == render_context([MANY], NONCE, WIDE)


def test_the_most_valuable_lines_are_shown() -> None:
    """If space is short, the least valuable lines are dropped and their locations named; that is no truncation."""
    lines = [MANY_HEADING, "9| A = 1", "+ b:20-21", "20| B = 1", "21| B = 2", "+ lines:30, d:40"]
    least = [MANY_HEADING, "+ b:20-21", "20| B = 1", "21| B = 2", "+ lines:30, d:40"]

    for shown in (lines, least):
        rendered = render_context([MANY], NONCE, TextLimit(size(*shown) + 1))
        assert framed(*shown) == rendered.text
        assert not rendered.is_truncated


def test_lines_of_an_answer_precede_all_others() -> None:
    """Lines of an answer are shown first; dropping them is a truncation."""
    both = render_context([MANY, TWO], NONCE, TextLimit(size(MANY_HEADING, "+ b:20, lines:30, d:40", *TWO_SHOWN) + 1))

    assert "3| B = 2" in both.text
    assert "20| B = 1" not in both.text
    assert render_context(
        [MANY, TWO], NONCE, TextLimit(size(MANY_HEADING, "+ b:20, lines:30, d:40", TWO_SHOWN[0]))
    ).is_truncated


def test_the_same_lines_are_shown_once() -> None:
    """An item whose lines another item shows has none of its own, unless they belong to its answer."""
    inside = Finding("a.py", symbol="c", start_line=20, end_line=20, why="calls b", text="B = 1", optional_score=0.1)
    other = FusedItem("ci_graph_rag", inside, "calls b")

    assert 1 == render_context([MANY, other], NONCE, WIDE).text.count("20| B = 1")
    assert not render_context([MANY, other], NONCE, WIDE).is_truncated
    assert 2 == render_context(
        [MANY, replace(other, finding=replace(inside, optional_score=0.0))], NONCE, WIDE
    ).text.count("20| B = 1")


def test_headings_alone_are_a_truncation() -> None:
    """A limit that leaves only names counts as truncation."""
    assert render_context([MANY], NONCE, TextLimit(size(MANY_HEADING, "+ b:20, lines:30, d:40"))).is_truncated


def test_an_answer_of_a_users_own_tool() -> None:
    """An answer is named in the frame and in its heading, and its lines have no numbers."""
    answer = FusedItem(
        "docs.search", Finding("mcp:docs/search", kind=ANSWER_KIND, score=0.5, why="w", text="one\n\ntwo"), "s"
    )
    body = "\n".join([*ONE_SHOWN, "2. mcp:docs/search — w (docs.search 0.50)", "| one", "|", "| two"])

    assert (
        frame_untrusted(body, NONCE, source=f"{FRAME_SOURCE}, docs.search")
        == render_context([ONE, answer], NONCE, WIDE).text
    )


LONG = FusedItem(
    "ci_search",
    Finding(
        "long.py",
        symbol="run",
        start_line=1,
        end_line=100,
        score=1.0,
        why="name run",
        text="\n".join(f"line_{n} = {n}  # {'x' * 20}" for n in range(1, 101)),
        optional_score=1.0,
        more_excerpts=(Excerpt("stop", 300, 309, "y = 1\n" * 9 + "y = 2", 0.5, (280, 400)),),
    ),
    "",
)


def test_the_best_lines_are_shown_as_far_as_they_fit() -> None:
    """Of a definition that does not fit, the first lines are shown, and the place says what they are a part of."""
    rendered = render_context([LONG], NONCE, TextLimit(2000))
    heading, *rest = rendered.text.split("\n")[1:]
    (item,) = rendered.items
    assert 2000 >= len(rendered.text) > 1700
    assert f"1. long.py:1-{item.finding.end_line} run — name run (ci_search 1.00) [part of 1-100]" == heading
    assert 30 < item.finding.end_line == len([line for line in rest if "| line_" in line]) < 100
    assert "[left out to fit: 1 place's lines]" == rest[-2]
    assert item.is_truncated


def test_a_long_docstring_is_skipped() -> None:
    """Where a docstring would take most of the lines that fit, the lines behind it are shown."""
    body = [f"    step_{n}()  # {'y' * 20}" for n in range(70)]
    lines = ["def run():", '    """Run.', *(f"    Word {n} of {'x' * 20}." for n in range(28)), '    """', *body]
    item = replace(LONG, finding=replace(LONG.finding, text="\n".join(lines), end_line=101, more_excerpts=()))
    rendered = render_context([item], NONCE, TextLimit(2000))

    assert "\n32|     step_0()" in rendered.text
    assert "[part of 1-101]" in rendered.text
    assert rendered.items[0].finding.start_line == 32
    assert "1| def run()" in render_context([item], NONCE, TextLimit(6000)).text


def test_rows_without_lines_are_counted() -> None:
    """A row whose lines the search had no room for is a place without its lines; one that was shown before is not."""
    bare = replace(LONG, finding=replace(LONG.finding, text="", more_excerpts=(), whole=(1, 100)))

    assert "1 place's lines" == render_context([ONE, bare], NONCE, WIDE).left_out
    assert "" == render_context([ONE, replace(bare, summary=ALREADY_SHOWN)], NONCE, WIDE).left_out


def test_a_part_of_a_definition_is_marked() -> None:
    """Lines that are a window of a definition say so."""
    assert "+ stop:300-309 [part of 280-400]" in render_context([LONG], NONCE, WIDE).text


def test_dropped_rows_are_named() -> None:
    """Rows that were dropped, here or before, are counted in the last line and in the result."""
    rendered = render_context([ONE, FILE], NONCE, WIDE, 3)
    assert "3 rows" == rendered.left_out
    assert "[left out to fit: 3 rows]" == rendered.text.split("\n")[-2]


def test_an_overview_precedes_several_items() -> None:
    """A tool's text begins with ``path:line symbol`` of each item, if there are several and enough space."""
    overview = ["a.py:9 a", "b/ä.py:3", "c.py"]
    lines = [*ONE_SHOWN, *TWO_SHOWN, *FILE_SHOWN]
    assert framed(*overview, *lines) == render_context([ONE, TWO, FILE], NONCE, WIDE, has_overview=True).text
    assert framed(*ONE_SHOWN) == render_context([ONE], NONCE, WIDE, has_overview=True).text
    assert (
        framed(*lines) == render_context([ONE, TWO, FILE], NONCE, TextLimit(size(*lines) + 1), has_overview=True).text
    )
