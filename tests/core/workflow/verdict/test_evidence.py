"""Which command lines are evidence, and what the evidence proves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_files import read_cases, read_json_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.state import Evidence
from upbeat.core.workflow.verdict.evidence import (
    BUILD,
    TESTS,
    TYPES,
    CommandChecks,
    EvidenceStatus,
    check_evidence,
    extract_evidence,
    first_kind,
    inspect_command,
    mentions_runner,
    parse_exit_code,
)

GROUPS = read_json_groups(Path(__file__).with_name("cases.jsonl"))

CASES = read_cases(Path(__file__).parent / "command_cases.tsv")


@pytest.mark.parametrize(("expected", "command"), CASES)
def test_case(expected: str, command: str) -> None:
    """A command line proves a check that must have succeeded for the line to succeed, and nothing else."""
    assert ("" if expected in ("none", "hidden") else expected) == inspect_command(command).proven_kind


def test_hidden_differs_from_nothing() -> None:
    """A hidden kind is reported as masked, and one that upbeat exec records as recorded."""
    assert CommandChecks(masked_kind="tests") == inspect_command("pytest | tail -3")
    assert CommandChecks() == inspect_command("ls | tail -3")
    assert CommandChecks(recorded_kind="tests", masked_kind="tests") == inspect_command(
        "upbeat exec -- pytest | tail -3"
    )


@pytest.mark.parametrize(("command", "exit_code", "output", "expected"), GROUPS["evidence"])
def test_extract_evidence(command: str, exit_code: int | None, output: str, expected: list[Any]) -> None:
    """A finished command has a kind and the exit code that the client or upbeat exec reports, unless it hides that."""
    assert tuple(expected) == extract_evidence(command, exit_code, output)


@pytest.mark.parametrize(("output", "code"), GROUPS["exit code"])
def test_parse_exit_code(output: str, code: int | None) -> None:
    """The exit code is on a line of its own."""
    assert code == parse_exit_code(output)


GOOD = Evidence("tests", "pytest -q", "t1", 0)
BAD = Evidence("tests", "pytest -q", "t1", 2)
LINT = Evidence("lint", "ruff check", "t1", 0)
HIDDEN = Evidence("tests", "pytest -q | tail", "t1", is_hidden=True)


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
@pytest.mark.parametrize("evidence", [(), (GOOD,), (BAD,), (HIDDEN,), (Evidence("tests", "x" * 500, "t1"),)])
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


PIECES = ["pytest", "npm test", "cd x", "echo a", "true", "exit 1", "set -e", "set -o pipefail", "bash -c 'pytest'"]
JOINTS = [" && ", " || ", "; ", " | ", " & ", "\n", " ( ", " ) ", " { ", "; }", " ' ", ' "', " <<E\n", "\nE\n", "! "]


@given(st.lists(st.sampled_from(PIECES + JOINTS), max_size=10).map("".join))
def test_any_line(command: str) -> None:
    """Any line, well-formed or not, proves tests or nothing."""
    assert inspect_command(command).proven_kind in {"", "tests"}


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4), st.sampled_from(["|| true", "| cat", "; :", "&"]))
def test_a_swallowed_exit_code_proves_nothing(commands: list[str], swallow: str) -> None:
    """A line proves nothing if its end swallows the exit code."""
    line = " && ".join(command for command in commands if not command.startswith("set")) or "pytest"

    assert "" == inspect_command(f"( {line} ) {swallow}").proven_kind
