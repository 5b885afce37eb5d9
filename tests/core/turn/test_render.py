"""The text for the model: framed, numbered, never over the cap, what matters most first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.finding import ANSWER, Excerpt, Finding
from upbeat.core.turn.frame import frame, is_framed
from upbeat.core.turn.fuse import Fused, fuse, reference, without_text
from upbeat.core.turn.render import SOURCE, Rendered, render
from upbeat.core.turn.truncate import Cap, Unit, measure

NONCE = "0123456789ab"
WIDE = Cap(100_000)
ONE = Fused(
    "ci_search",
    Finding(
        "a.py", "def a():", "a", start_line=9, end_line=10, score=0.875, why="name a", text="def a():\n    return 1\n"
    ),
    "def a(): — name a",
)
TWO = Fused("ci_search", Finding("b/ä.py", "B", start_line=3, end_line=3, score=0.5, text="B = 2"), "B")
FILE = Fused("ci_index", Finding("c.py", score=0.25), "")


def framed(*lines: str) -> str:
    return frame("\n".join(lines), NONCE, source=SOURCE)


def size(*lines: str, unit: Unit = Unit.CHARS) -> int:
    return measure(framed(*lines), unit)


ONE_SHOWN = ["1. a.py:9-10 a — name a (ci_search 0.88)", " 9| def a():", "10|     return 1"]
ONE_NAMED = ONE_SHOWN[:1]
TWO_SHOWN = ["2. b/ä.py:3 — B (ci_search 0.50)", "3| B = 2"]
FILE_SHOWN = ["3. c.py — file (ci_index 0.25)"]


def test_nothing_says_nothing() -> None:
    """Without findings there is no text at all, no empty frame."""
    assert Rendered("") == render([], NONCE, WIDE)


def test_all_that_is_found() -> None:
    """Each finding has a heading with place, name, reason, tool and score, and its numbered lines below."""
    assert Rendered(framed(*ONE_SHOWN, *TWO_SHOWN, *FILE_SHOWN), (ONE, TWO, FILE)) == render(
        [ONE, TWO, FILE], NONCE, WIDE
    )


def test_the_text_is_framed() -> None:
    """What is rendered is recognised as ours, by any adapter."""
    assert is_framed(render([FILE], NONCE, WIDE).text)


@pytest.mark.parametrize(
    ("start", "end", "place"),
    [(0, 0, "a.py"), (3, 0, "a.py:3"), (3, 3, "a.py:3"), (3, 2, "a.py:3"), (3, 4, "a.py:3-4"), (0, 4, "a.py")],
)
def test_places(start: int, end: int, place: str) -> None:
    """A place is a file, a line or a range of lines."""
    item = Fused("t", Finding("a.py", start_line=start, end_line=end), "s")

    assert framed(f"1. {place} — s (t 0.00)") == render([item], NONCE, WIDE).text


@pytest.mark.parametrize(
    ("text", "start", "lines"),
    [
        pytest.param("x\n\n  y  ", 8, [" 8| x", " 9|", "10|   y"], id="width and blanks"),
        pytest.param("x\ny\n\n", 1, ["1| x", "2| y"], id="empty lines at the end"),
        pytest.param("x\ny", 0, ["1| x", "2| y"], id="a whole file starts at line 1"),
        pytest.param("x\n  \n", 1, ["1| x", "2|"], id="a blank line at the end"),
        pytest.param("MAX\n", 1, ["1| MAX"], id="only line ends go"),
        pytest.param("\nx", 5, ["5|", "6| x"], id="an empty line at the start"),
        pytest.param("x\n" * 9, 1, [f"{n}| x" for n in range(1, 10)], id="nine lines are one digit"),
    ],
)
def test_source_lines(text: str, start: int, lines: list[str]) -> None:
    """Source lines stand with their numbers, flush right."""
    item = Fused("t", Finding("a.py", start_line=start, text=text), "s")
    place = f"a.py:{start}" if start else "a.py"

    assert framed(f"1. {place} — s (t 0.00)", *lines) == render([item], NONCE, WIDE).text


def test_a_conflict_names_its_opponents() -> None:
    """A contradicted finding says so and names whom to look at."""
    item = replace(FILE, conflict=True, evidence=("t:a.py:3", "u:b.py"))
    both = [item, Fused("t", Finding("a.py", start_line=3), "s", conflict=True, evidence=("ci_index:c.py",))]

    assert (
        framed(
            "1. c.py — file (ci_index 0.25) [conflict: see t:a.py:3, u:b.py]",
            "2. a.py:3 — s (t 0.00) [conflict: see ci_index:c.py]",
        )
        == render(both, NONCE, WIDE).text
    )


@pytest.mark.parametrize(
    ("lines", "items", "truncated"),
    [
        pytest.param([*ONE_SHOWN, *TWO_SHOWN, *FILE_SHOWN], (ONE, TWO, FILE), False, id="all"),
        pytest.param(
            [*ONE_SHOWN, TWO_SHOWN[0], *FILE_SHOWN], (ONE, without_text(TWO), FILE), True, id="last lines go first"
        ),
    ],
)
@pytest.mark.parametrize("unit", Unit)
def test_the_cap_is_used_to_the_last_but_one(
    lines: list[str], items: tuple[Fused, ...], truncated: bool, unit: Unit
) -> None:
    """What fits with one character for the last line end is shown; with one less, something goes."""
    cap = Cap(size(*lines, unit=unit) + 1, unit)

    assert Rendered(framed(*lines), items, truncated) == render([ONE, TWO, FILE], NONCE, cap)
    assert render([ONE, TWO, FILE], NONCE, replace(cap, limit=cap.limit - 1)).truncated


def test_a_later_heading_goes_before_an_earlier_one() -> None:
    """When the headings do not all fit, the first ones stay."""
    named = [*ONE_NAMED, TWO_SHOWN[0]]
    kept = render([ONE, TWO, FILE], NONCE, Cap(size(*named) + 1))

    assert (True, ["a.py", "b/ä.py"]) == (kept.truncated, [item.finding.path for item in kept.items])


def test_a_text_that_does_not_fit_takes_no_room() -> None:
    """A later, shorter text is shown where an earlier one is too long."""
    long = replace(ONE, finding=replace(ONE.finding, text="x" * 500))
    lines = [*ONE_NAMED, *TWO_SHOWN]

    assert Rendered(framed(*lines), (without_text(ONE), TWO), True) == render([long, TWO], NONCE, Cap(size(*lines) + 1))


@pytest.mark.parametrize("text", ["", "y"])
def test_the_cap_counts_every_digit(text: str) -> None:
    """Ten findings fit to the last character, where their numbers have two digits."""
    items = [Fused("t", Finding(f"{letter}.py", start_line=1, text=text), "s") for letter in "abcdefghij"]
    entries = [
        [f"{n}. {item.finding.path}:1 — s (t 0.00)", *(["1| y"] if text else [])] for n, item in enumerate(items, 1)
    ]
    cap = Cap(size(*(line for entry in entries for line in entry)) + 1)

    assert Rendered(framed(*(line for entry in entries for line in entry)), tuple(items)) == render(items, NONCE, cap)
    assert render(items, NONCE, Cap(cap.limit - 1)).truncated


def test_nothing_fits() -> None:
    """Where not even one heading fits, nothing is injected, and that is said."""
    assert Rendered("", (), True) == render([ONE], NONCE, Cap(10))
    assert Rendered("", (), True) == render([ONE], NONCE, Cap(size(*ONE_NAMED)))
    assert render([ONE], NONCE, Cap(size(*ONE_NAMED) + 1)).items


def test_half_a_conflict_is_not_shown() -> None:
    """A finding whose opponent has no room goes with it."""
    pair = fuse(
        [
            ("t", Finding("a.py", "long " * 40, start_line=1, score=0.9, claim="c")),
            ("u", Finding("a.py", "x", start_line=2, score=0.8, claim="c", supports=False)),
        ]
    )
    first = f"1. a.py:1 — {'long ' * 40} (t 0.90) [conflict: see u:a.py:2]"

    assert Rendered("", (), True) == render(pair, NONCE, Cap(size(first) + 20))
    assert 2 == len(render(pair, NONCE, Cap(size(first) + 200)).items)


ITEMS = st.lists(
    st.builds(
        lambda path, title, text, start, claim, supports: (
            "t",
            Finding(path, title, text=text, start_line=start, score=0.5, claim=claim, supports=supports),
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


@given(ITEMS, st.integers(0, 1200), st.sampled_from(Unit))
def test_the_cap_holds(found: list[tuple[str, Finding]], limit: int, unit: Unit) -> None:
    """No findings pass the cap; what is shown is a beginning of the list; no side of a conflict stands alone."""
    items = fuse(found)
    rendered = render(items, NONCE, Cap(limit, unit))
    shown = {reference(item.tool, item.finding) for item in rendered.items}

    assert measure(rendered.text, unit) <= limit
    assert [without_text(i) for i in items[: len(rendered.items)]] == [without_text(i) for i in rendered.items]
    assert bool(rendered.text) == bool(rendered.items)
    assert rendered.truncated == (rendered.items != items)
    assert all(shown & set(item.evidence) for item in rendered.items if item.conflict)


MANY = Fused(
    "ci_search",
    Finding(
        "a.py",
        symbol="a",
        start_line=9,
        end_line=9,
        why="name a",
        text="A = 1",
        worth=0.5,
        more=(Excerpt("b", 20, 21, "B = 1\nB = 2", 0.9), Excerpt("", 30, 30, "C", 0.2), Excerpt("d", 40, 44)),
    ),
    "",
)
MANY_HEADING = "1. a.py:9 a — name a (ci_search 0.00)"


def test_further_places_stand_below_their_row() -> None:
    """Each with its name and lines; what has no lines to show is named at the end."""
    lines = [MANY_HEADING, "9| A = 1", "+ b:20-21", "20| B = 1", "21| B = 2", "+ lines:30", "30| C", "+ d:40"]

    assert Rendered(framed(*lines), (MANY,)) == render([MANY], NONCE, WIDE)


def test_the_lines_of_most_worth_are_shown_first() -> None:
    """When room is short the lines that are worth least go, and their places are still named: nothing is truncated."""
    lines = [MANY_HEADING, "9| A = 1", "+ b:20-21", "20| B = 1", "21| B = 2", "+ lines:30, d:40"]
    least = [MANY_HEADING, "+ b:20-21", "20| B = 1", "21| B = 2", "+ lines:30, d:40"]

    for shown in (lines, least):
        rendered = render([MANY], NONCE, Cap(size(*shown) + 1))
        assert framed(*shown) == rendered.text
        assert not rendered.truncated


def test_lines_that_belong_to_an_answer_come_before_all_others() -> None:
    """Without a worth they are shown whatever others are worth; when they have to go, that is a truncation."""
    both = render([MANY, TWO], NONCE, Cap(size(MANY_HEADING, "+ b:20, lines:30, d:40", *TWO_SHOWN) + 1))

    assert "3| B = 2" in both.text
    assert "20| B = 1" not in both.text
    assert render([MANY, TWO], NONCE, Cap(size(MANY_HEADING, "+ b:20, lines:30, d:40", TWO_SHOWN[0]))).truncated


def test_the_same_lines_are_shown_once() -> None:
    """A row whose lines another row shows has none of its own, unless they belong to its answer."""
    inside = Finding("a.py", symbol="c", start_line=20, end_line=20, why="calls b", text="B = 1", worth=0.1)
    other = Fused("ci_graph_rag", inside, "calls b")

    assert 1 == render([MANY, other], NONCE, WIDE).text.count("20| B = 1")
    assert not render([MANY, other], NONCE, WIDE).truncated
    assert 2 == render([MANY, replace(other, finding=replace(inside, worth=0.0))], NONCE, WIDE).text.count("20| B = 1")


def test_no_lines_at_all_is_a_truncation() -> None:
    """A cap that leaves nothing but names is said to cut."""
    assert render([MANY], NONCE, Cap(size(MANY_HEADING, "+ b:20, lines:30, d:40"))).truncated


def test_an_answer_of_a_users_own_tool() -> None:
    """It is named as what it is, in the frame and in its heading, and its lines have no numbers of a file."""
    answer = Fused("docs.search", Finding("mcp:docs/search", kind=ANSWER, score=0.5, why="w", text="one\n\ntwo"), "s")
    body = "\n".join([*ONE_SHOWN, "2. mcp:docs/search — w (docs.search 0.50)", "| one", "|", "| two"])

    assert frame(body, NONCE, source=f"{SOURCE}, docs.search") == render([ONE, answer], NONCE, WIDE).text
