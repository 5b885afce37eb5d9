"""Which command lines are evidence, and what the evidence proves."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.state import Evidence
from upbeat.core.workflow.verdict.evidence import (
    BUILD,
    NO_CHECKS,
    TESTS,
    TYPES,
    CommandChecks,
    EvidenceStatus,
    check_evidence,
    describe_run,
    first_kind,
    inspect_command,
    may_be_check,
    mentions_runner,
)

CASES = read_cases(Path(__file__).parent / "command_cases.tsv")


@pytest.mark.parametrize(("expected", "command"), CASES)
def test_case(expected: str, command: str) -> None:
    """A command line proves a build, lint or type check that must have succeeded for the line to succeed."""
    proven = inspect_command(command).proven_kind

    assert proven == expected if expected in (BUILD, "lint", TYPES) else expected == TESTS or not proven


def test_a_masked_check_is_not_proven() -> None:
    """A check whose exit code the line hides is masked."""
    assert CommandChecks(masked_kind="build") == inspect_command("npm run build | tail -3")
    assert NO_CHECKS == inspect_command("ls | tail -3")


GOOD = Evidence("tests", "pytest -q", "t1", 0)
BAD = Evidence("tests", "pytest -q", "t1", 2)
LINT = Evidence("lint", "ruff check", "t1", 0)
HIDDEN = Evidence("tests", "pytest -q | tail", "t1", is_hidden=True)
REFUSED = Evidence("tests", "pytest --co", "t1", is_hidden=True, refusal="idle", refusal_detail="--co")


@pytest.mark.parametrize(
    ("evidence", "tree", "is_proven", "status"),
    [
        ((GOOD,), "t1", True, EvidenceStatus.VERIFIED),
        ((BAD, GOOD), "t1", True, EvidenceStatus.VERIFIED),
        ((GOOD, LINT), "t1", True, EvidenceStatus.VERIFIED),
        ((GOOD, BAD), "t1", False, EvidenceStatus.CONTRADICTED),
        ((BAD,), "t2", False, EvidenceStatus.CONTRADICTED),
        ((GOOD,), "t2", False, EvidenceStatus.EXPIRED),
        ((GOOD,), "", True, EvidenceStatus.UNCHECKED),
        ((Evidence("tests", "pytest", "", 0),), "t1", True, EvidenceStatus.UNCHECKED),
        ((GOOD, Evidence("tests", "pytest", "t1", None)), "t1", False, EvidenceStatus.EXIT_CODE_UNKNOWN),
        ((HIDDEN,), "t1", False, EvidenceStatus.EXIT_CODE_HIDDEN),
        ((REFUSED,), "t1", False, EvidenceStatus.REFUSED),
        ((GOOD, REFUSED), "t1", True, EvidenceStatus.VERIFIED),
        ((BAD, HIDDEN), "t1", False, EvidenceStatus.EXIT_CODE_HIDDEN),
        ((HIDDEN, BAD), "t1", False, EvidenceStatus.CONTRADICTED),
        ((GOOD, HIDDEN), "t1", True, EvidenceStatus.VERIFIED),
        ((), "t1", False, EvidenceStatus.MISSING),
        ((LINT,), "t1", False, EvidenceStatus.MISSING),
    ],
)
def test_check_evidence(evidence: tuple[Evidence, ...], tree: str, is_proven: bool, status: EvidenceStatus) -> None:
    """The latest run of the kind decides, for the files that it ran on."""
    result = check_evidence("tests", evidence, tree)

    assert (is_proven, status) == (result.is_proven, result.status)


@pytest.mark.parametrize("language", ["en", "zh", "fr"])
@pytest.mark.parametrize(
    "evidence", [(), (GOOD,), (BAD,), (HIDDEN,), (REFUSED,), (Evidence("tests", "x" * 500, "t1"),)]
)
def test_reason(evidence: tuple[Evidence, ...], language: str) -> None:
    """The reason is one short sentence in the language of its reader, with the command on one line."""
    reason = check_evidence("tests", evidence, "t1", language).reason

    assert 0 < len(reason) < 300
    assert "\n" not in reason
    assert "{" not in reason


def test_reason_names_the_run() -> None:
    """The reason names the command with its exit code, or says that the command line hides it."""
    assert "the last test run, `pytest -q`, exited with code 2" == check_evidence("tests", (BAD,), "t1").reason
    hidden = check_evidence("tests", (HIDDEN,), "").reason
    assert hidden.startswith("upbeat has seen `pytest -q | tail` (test), but that command line hides the exit code")


def test_a_refused_run_says_why() -> None:
    """The reason of a refused run says what would count."""
    reason = check_evidence("tests", (REFUSED,), "t1").reason
    assert "`pytest --co` ran, but does not count: with `--co` no test runs; run the tests without it" == reason


def test_a_subset_is_described() -> None:
    """A run of some of the tests, or in a container, is shown as that; a run of all needs no note."""
    run = Evidence("tests", "pytest -k a", "t1", 0, scope="-k a", place="container")
    assert "a subset (-k a), in a container" == describe_run(run) == check_evidence("tests", (run,), "t1").note
    assert "" == describe_run(GOOD)


def test_what_may_be_a_check() -> None:
    """Scripts and targets with names of tests may be checks; other commands are not looked at."""
    assert all(map(may_be_check, ("./run_tests.sh", "make check", "pytest")))
    assert not any(map(may_be_check, ("ls -la", "git status", "")))


def test_precedence() -> None:
    """Tests come before builds, types and lint; without any, there is no kind."""
    assert (TESTS, TYPES, "") == (
        first_kind(["lint", BUILD, TESTS]),
        first_kind(["lint", "", TYPES]),
        first_kind(["", ""]),
    )


@pytest.mark.parametrize("command", ["", "ls -la", "cat my-pytest-notes.txt"])
def test_the_fast_check_reads_whole_words(command: str) -> None:
    """Only a line with the name of a runner as a whole word needs to be parsed."""
    assert not mentions_runner(command)


PIECES = ["make", "npm run build", "cd x", "echo a", "true", "exit 1", "set -e", "set -o pipefail", "bash -c 'make'"]
JOINTS = [" && ", " || ", "; ", " | ", " & ", "\n", " ( ", " ) ", " { ", "; }", " ' ", ' "', " <<E\n", "\nE\n", "! "]


@given(st.lists(st.sampled_from(PIECES + JOINTS), max_size=10).map("".join))
def test_any_line(command: str) -> None:
    """Any line, well-formed or not, proves a build or nothing."""
    assert inspect_command(command).proven_kind in {"", "build"}


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4), st.sampled_from(["|| true", "| cat", "; :", "&"]))
def test_a_swallowed_exit_code_proves_nothing(commands: list[str], swallow: str) -> None:
    """A line proves nothing if its end swallows the exit code."""
    line = " && ".join(command for command in commands if not command.startswith("set")) or "make"

    assert "" == inspect_command(f"( {line} ) {swallow}").proven_kind
