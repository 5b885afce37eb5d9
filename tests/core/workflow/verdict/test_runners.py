"""Which program calls run tests, build, lint or check types."""

from __future__ import annotations

import pytest

from upbeat.core.workflow.verdict.runners import (
    BUILD,
    LINT,
    TESTS,
    TYPES,
    classify_program,
    first_kind,
    mentions_runner,
)

KINDS = {
    "pytest -q": TESTS,
    "python3 -m pytest": TESTS,
    "python -W error -m unittest": TESTS,
    "python -m build": BUILD,
    "coverage run -m pytest": TESTS,
    "python manage.py test": TESTS,
    "go test ./...": TESTS,
    "cargo build": BUILD,
    "cargo fmt --check": LINT,
    "npm test": TESTS,
    "npm run build": BUILD,
    "yarn workspace web lint": LINT,
    "make": BUILD,
    "make -j 4 test": TESTS,
    "mvn verify -DskipTests": BUILD,
    "gradle :app:testDebugUnitTest": TESTS,
    "cmake --build out": BUILD,
    "ruff check": LINT,
    "mypy src": TYPES,
}
NO_KIND = [
    "pytest --version",
    "go test -run '^$' ./...",
    "cargo fmt",
    "ruff format",
    "meson setup out",
    "npm install",
    "python a.py",
    "node a.js",
    "echo pytest",
]


@pytest.mark.parametrize(("command", "kind"), KINDS.items(), ids=KINDS)
def test_kinds(command: str, kind: str) -> None:
    """A call that checks something has its kind, and the fast check finds it, too."""
    assert (kind, True) == (classify_program(command.split()), mentions_runner(command))


@pytest.mark.parametrize("command", NO_KIND)
def test_no_kind(command: str) -> None:
    """A call that only shows, formats, prepares or does something else has no kind."""
    assert "" == classify_program(command.replace("'", "").split())


def test_precedence() -> None:
    """Tests come before builds, types and lint; without any there is no kind."""
    assert (TESTS, TYPES, "") == (first_kind([LINT, BUILD, TESTS]), first_kind([LINT, "", TYPES]), first_kind(["", ""]))


@pytest.mark.parametrize("command", ["", "ls -la", "cat my-pytest-notes.txt"])
def test_the_fast_check_reads_whole_words(command: str) -> None:
    """A line without the name of a runner does not need to be parsed."""
    assert not mentions_runner(command)
