"""Globs match as in a ``.gitignore``, with braces, in linear time."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.rules.globs import Globs, find_glob_problem, split_globs

PATHS = read_groups(Path(__file__).with_name("globs.tsv"))


@pytest.mark.parametrize(("glob", "path"), PATHS["match"])
def test_matches(glob: str, path: str) -> None:
    """The glob matches the path."""
    assert Globs((glob,)).match(path)


@pytest.mark.parametrize(("glob", "path"), PATHS["none"])
def test_matches_not(glob: str, path: str) -> None:
    """The glob does not match the path."""
    assert not Globs((glob,)).match(path)


def test_the_last_glob_decides() -> None:
    """``!`` excludes files, and a later glob can include them again."""
    globs = Globs(("src/**", "!src/gen/**", "src/gen/keep.ts"))

    assert [True, False, True] == [globs.match(path) for path in ("src/a.ts", "src/gen/a.ts", "src/gen/keep.ts")]


@pytest.mark.parametrize(
    ("text", "globs"),
    [
        ("a", ("a",)),
        ("a, b", ("a", "b")),
        ("a/{b,c}, d", ("a/{b,c}", "d")),
        (",, a ,", ("a",)),
        ("", ()),
        ("}a,b", ("}a", "b")),
    ],
)
def test_split(text: str, globs: tuple[str, ...]) -> None:
    """Commas separate globs, except within braces."""
    assert globs == split_globs(text)


@pytest.mark.parametrize("glob", ["a\\", "#x", "{1..100000}", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "x" * 501, " "])
def test_invalid_globs(glob: str) -> None:
    """An invalid glob, or one that expands to too many, has a problem."""
    assert find_glob_problem((glob,))


def test_matching_is_linear() -> None:
    """A glob with many stars is matched in linear time."""
    globs = Globs(("*a" * 100 + "b",))
    before = process_time()

    assert not globs.match("a" * 4000)
    assert process_time() - before < 1


@given(st.lists(st.sampled_from(list("*?[]{},!/\\ab.")), max_size=12).map("".join), st.text(max_size=12))
def test_never_raises(glob: str, path: str) -> None:
    """Any text is a valid glob or has a problem."""
    if not find_glob_problem((glob,)):
        assert Globs((glob,)).match(path) in (True, False)
