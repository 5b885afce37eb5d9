"""How test runners are called."""

from __future__ import annotations

import pytest

from upbeat.core.shell.paths import Invocation
from upbeat.core.workflow.evidence.runner_calls import (
    RunnerCall,
    canonical_words,
    find_problem,
    is_below,
    match_runner,
    runner_names,
    word_set,
)


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("pytest -q", "pytest"),
        (".venv/bin/pytest", "pytest"),
        ("python3.11 -W error -m pytest", "pytest"),
        ("coverage run --branch -m pytest", "pytest"),
        ("python -m coverage run -m unittest", "unittest"),
        ("./manage.py test shop", "django"),
        ("python manage.py test", "django"),
        ("node --experimental-vm-modules node_modules/jest/bin/jest.js", "jest"),
        ("node --test", "node"),
        ("go test ./...", "go"),
        ("cargo +nightly test", "cargo"),
        ("mvn -B clean verify", "maven"),
        ("./gradlew :app:testDebugUnitTest", "gradle"),
        ("cmake --build out --target test", "cmake"),
        ("php vendor/bin/phpunit", "phpunit"),
        ("pytest-watch", ""),
        ("stub/pytest", ""),
        ("go build", ""),
        ("mvn package2", ""),
        ("cmake --build out", ""),
        ("python a.py", ""),
        ("node a.js", ""),
    ],
)
def test_a_call(command: str, runner: str) -> None:
    """A runner is recognized by its program and words, not by its name alone."""
    words = tuple(command.split())
    found = match_runner(canonical_words(Invocation(words, words, "/repo")))

    assert runner == (found[0].name if found else "")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("pytest --co", "idle"),
        ("go test -run ^$ ./...", "idle"),
        ("go test -exec=true ./...", "untrusted_option"),
        ("pytest -p greenall", "untrusted_option"),
        ("pytest -p no:cacheprovider", ""),
        ("pytest /tmp/x", "outside"),
        ("pytest --junitxml=/tmp/x.xml", ""),
        ("pytest -c /tmp/x.ini", "outside"),
        ("cargo test --manifest-path ../x/Cargo.toml", "outside"),
        ("mvn -DskipTests verify", "idle"),
        ("gradle build -x test", "idle"),
    ],
)
def test_a_problem(command: str, problem: str) -> None:
    """Options that run nothing, that let others decide, or that name another tree are problems."""
    found = match_runner(command.split())
    assert found is not None

    assert problem == find_problem(*found, "/repo", "/repo")[0]


@pytest.mark.parametrize(
    ("command", "scope"),
    [
        ("pytest -q", ""),
        ("pytest tests", ""),
        ("pytest tests/test_a.py -k b", "tests/test_a.py -k b"),
        ("go test ./...", ""),
        ("go test ./a", "./a"),
        ("jest -t name", "-t name"),
    ],
)
def test_the_scope(command: str, scope: str) -> None:
    """The arguments that select some of the tests are the scope."""
    found = match_runner(command.split())
    assert found is not None

    assert scope == RunnerCall(Invocation((), (), "/repo"), *found).scope


def test_tables() -> None:
    """A strict runner that accepts no tests is not strict, and the tables can be read."""
    found = match_runner(["jest", "--passWithNoTests"])

    assert found is not None
    assert not RunnerCall(Invocation((), (), "/"), *found).is_strict
    assert {"pytest", "go"} <= runner_names()
    assert "xdist" in word_set("pytest_plugins")
    assert (True, True, False) == (is_below("/a/b", "/a"), is_below("/a", "/a"), is_below("/ab", "/a"))
