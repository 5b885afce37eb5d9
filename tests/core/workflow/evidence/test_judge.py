"""Which finished command lines are evidence of passing tests, and why the others are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.evidence import CASES, measure, read_rows
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st
from project_files import judge

from upbeat.core.workflow.evidence.judgement import EvidenceRules

LINES = read_cases(Path(__file__).parents[1] / "verdict" / "command_cases.tsv")
PROJECT = {
    "package.json": '{"scripts": {"test": "jest", "test:unit": "jest unit", "lint": "eslint .", "build": "tsc"}}',
    "app/package.json": '{"scripts": {"test": "jest"}}',
    "my app/package.json": '{"scripts": {"test": "jest"}}',
    "web/package.json": '{"scripts": {"test": "jest"}}',
    "shop/package.json": '{"name": "shop", "scripts": {"test": "jest"}}',
    "pnpm-workspace.yaml": "packages: [shop]\n",
    "Makefile": "all:\n\tcc a.c\ntest:\n\tpytest -q\nlint:\n\truff check .\nbuild:\n\tcc a.c\n",
    "app/Makefile": "check:\n\tpytest -q\n",
    "justfile": "test:\n    pytest -q\n",
    "tox.ini": "[testenv]\ncommands = pytest\n",
    "noxfile.py": "import nox\n@nox.session\ndef tests(session):\n    session.run('pytest')\n",
    "composer.json": '{"scripts": {"test": "phpunit"}}',
}
PASSES = """14 passed in 0.30s
Ran 2 tests in 0.001s

OK
Tests:       7 passed, 7 total
      Tests  8 passed (8)
  2 passing (1ms)
  2 passed (3.1s)
ℹ pass 4
 2 pass
ok | 2 passed | 0 failed (12ms)
test result: ok. 2 passed; 0 failed; 0 ignored;
ok  \texample.com/a\t0.004s
[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1
> Task :test
> Task :app:testDebugUnitTest
BUILD SUCCESSFUL in 2s
Passed!  - Failed:     0, Passed:    11, Skipped:     1, Total:    12
100% tests passed, 0 tests failed out of 2
Executed 2 out of 2 tests: 2 tests pass.
7 examples, 0 failures
4 runs, 6 assertions, 0 failures, 0 errors, 0 skips
OK (5 tests, 9 assertions)
8 tests, 0 failures
Executed 2 tests, with 0 failures (0 unexpected) in 0.003
"""
"""A pass in the words of every runner of the cases."""
UNKNOWN_VENV = ('"$VENV/bin/pytest" -q',)


@pytest.mark.parametrize(("expected", "command"), [case for case in LINES if case[1] not in UNKNOWN_VENV])
def test_case(expected: str, command: str) -> None:
    """A line is evidence if the runner that it calls must have succeeded for the line to succeed."""
    assert (expected == "tests") == judge(command, PASSES, PROJECT).is_evidence


def test_labeled_rows() -> None:
    """Of the labeled rows none is a false pass, and at most two in a hundred are false refusals."""
    counts, losses = measure(read_rows(CASES))

    assert 0 == counts["false passes"], losses
    assert 50 * counts["false refusals"] <= counts["honest"], losses


@pytest.mark.parametrize(
    ("command", "output", "refusal"),
    [
        ("pytest | tail -3", "1 passed in 0.1s", "hidden"),
        ("pytest --co -q", "3 tests collected in 0.02s", "idle"),
        ("python -m unittest", "Ran 0 tests in 0.000s\n\nOK", "nothing_ran"),
        ("python -m unittest", "", "no_summary"),
        ("pytest", "1 failed, 2 passed in 0.1s", "failed_in_output"),
        ("cd /tmp && pytest", "1 passed in 0.1s", "outside"),
        ("cd $X && pytest", "1 passed in 0.1s", "unknown_folder"),
        ("git stash; pytest; git stash pop", "1 passed in 0.1s", "other_tree"),
        ("pytest && git checkout -- src", "1 passed in 0.1s", "changed_after"),
        ("PYTEST_ADDOPTS=--co pytest", "1 passed in 0.1s", "environment"),
        ("pytest $X", "1 passed in 0.1s", "unexpanded"),
        ("pytest -p greenall", "1 passed in 0.1s", "untrusted_option"),
        ("./stub/pytest", "1 passed in 0.1s", "unreadable_script"),
        ("make test", "1 passed in 0.1s", "no_runner"),
        ("ssh host pytest", "1 passed in 0.1s", "elsewhere"),
        ("docker run image pytest", "1 passed in 0.1s", "container_tree"),
        ("docker exec web pytest", "1 passed in 0.1s", "container_unnamed"),
    ],
)
def test_a_refusal_has_a_reason(command: str, output: str, refusal: str) -> None:
    """A run that does not count is a test run with the reason why not."""
    judgement = judge(command, output)

    assert (True, refusal) == (judgement.is_test_run, judgement.refusal)


@pytest.mark.parametrize(
    ("command", "texts", "refusal"),
    [
        ("pytest", {"conftest.py": "def f(report):\n    report.outcome = 'passed'\n"}, "shadowed"),
        ("make test", {"Makefile": "export PATH := ./fake:$(PATH)\ntest:\n\tpytest\n"}, "environment"),
        ("make test", {"Makefile": "MAKEFLAGS += -i\ntest:\n\tpytest\n"}, "hidden"),
        (
            "npm test",
            {"package.json": '{"scripts": {"test": "pytest"}}', ".npmrc": "script-shell=/bin/true"},
            "no_runner",
        ),
        ("npx -p /tmp/evil jest", {}, "outside"),
        ("npx jest", {"node_modules/.bin/jest": "#!/bin/sh\necho Tests: 7 passed\n"}, "shadowed"),
        (".venv/bin/pytest", {".venv/bin/pytest": "#!/bin/bash\necho 14 passed in 0.3s\n"}, "shadowed"),
        (". /tmp/fake/bin/activate && pytest", {}, "hidden"),
        ("cd node_modules/x && npx jest", {}, "outside"),
        ("pytest --pyargs numpy", {}, "untrusted_option"),
        (
            "docker compose run app pytest",
            {"compose.yaml": "services: {app: {volumes: ['.:/app'], environment: {PYTEST_ADDOPTS: --co}}}"},
            "environment",
        ),
    ],
)
def test_files_that_change_what_runs(command: str, texts: dict[str, str], refusal: str) -> None:
    """What the project's own files set is seen, too."""
    assert refusal == judge(command, "14 passed in 0.3s", texts).refusal


def test_output_that_the_client_has_cut() -> None:
    """Where the summary was cut off, the exit code of a runner that fails without tests is enough."""
    output = "tests/test_a.py::test_b PASSED\n" * 1000

    assert judge("pytest -v", output).is_evidence
    assert "no_summary" == judge("pytest -v", output[:9000]).refusal
    assert "no_summary" == judge("python -m unittest -v", output).refusal


def test_a_report_is_a_summary() -> None:
    """A report that the run writes to its output says how many tests ran."""
    passed, failed = (f'<testsuite tests="3" failures="{count}" errors="0">' for count in (0, 1))

    assert 3 == judge("phpunit --log-junit /dev/stdout", passed).executed
    assert "failed_in_output" == judge("phpunit --log-junit /dev/stdout", failed).refusal
    assert "no_summary" == judge("phpunit", passed).refusal


def test_a_module_of_the_tree_takes_the_place_of_the_runner() -> None:
    """``python -m pytest`` beside a ``pytest.py`` is not pytest."""
    assert "shadowed" == judge("python -m pytest", "1 passed in 0.1s", {"pytest.py": ""}).refusal


@pytest.mark.parametrize("command", ["ls", "grep -rn pytest .", "cat pytest.log", "pip install pytest", "git log", ""])
def test_other_commands_are_no_test_runs(command: str) -> None:
    """A command that only names a runner is not judged as a test run."""
    assert not judge(command, "14 passed in 0.30s").is_test_run


def test_what_a_pass_says() -> None:
    """A pass has the number of tests, the arguments that select them, and the place."""
    judgement = judge("pytest tests/test_a.py -k x", "12 passed, 3 skipped, 1 xfailed in 2.1s")
    container = judge("docker run -v $PWD:/app -w /app image pytest", "1 passed in 0.1s")

    assert (12, "tests/test_a.py -k x", "") == (judgement.executed, judgement.scope, judgement.place)
    assert ("container", "") == (container.place, container.scope)


def test_a_red_run_is_evidence_of_failure() -> None:
    """A run with another exit code than 0 is evidence, without an unknown one it is none."""
    assert judge("pytest", "1 failed in 0.1s", exit_code=1).is_evidence
    assert "exit_unknown" == judge("pytest", "1 passed in 0.1s", exit_code=None).refusal


def test_a_subset_can_be_refused() -> None:
    """With ``evidence.scope = "all"`` a run of some tests does not count, and a run of all does."""
    rules = EvidenceRules(needs_all_tests=True)

    assert "subset" == judge("pytest -k x", "1 passed in 0.1s", rules=rules).refusal
    assert judge("pytest", "1 passed in 0.1s", rules=rules).is_evidence


def test_the_projects_own_command() -> None:
    """A command that the settings name counts by its exit code, unless its output reports failures."""
    rules = EvidenceRules((("./all-good", "--fast"),))

    assert judge("./all-good --fast", "fine", rules=rules).is_evidence
    assert judge("cd . && ./all-good --fast", "fine", rules=rules).is_evidence
    assert not judge("./all-good --fast || true", "fine", rules=rules).is_evidence
    assert not judge("./all-good --slow", "fine", rules=rules).is_evidence
    assert "failed_in_output" == judge("./all-good --fast", "1 failed in 0.1s", rules=rules).refusal


def test_an_untrusted_command_says_so() -> None:
    """A command that the settings name does not count while its script is not trusted."""
    rules = EvidenceRules(untrusted_commands=(("./run.sh",),))

    assert "untrusted_command" == judge("./run.sh", "fine", rules=rules).refusal


def test_a_recorded_exit_code() -> None:
    """What upbeat exec recorded counts although the line hides the exit code; the summary is still read."""
    line = "upbeat exec -- pytest | tail -3"

    assert judge(line, "1 passed in 0.1s", recorded_code=0).is_evidence
    assert "hidden" == judge(line, "1 passed in 0.1s").refusal
    assert "failed_in_output" == judge(line, "1 failed in 0.1s", recorded_code=0).refusal


PIECES = ["pytest", "cd x", "echo '3 passed in 0.1s'", "true", "exit 1", "exit 0", "set -e", "bash -c 'pytest'", "make"]
JOINTS = [" && ", " || ", "; ", " | ", " & ", "\n", " ( ", " ) ", " { ", "; }", " ' ", ' "', " <<E\n", "\nE\n", "! "]


@given(st.lists(st.sampled_from(PIECES + JOINTS), max_size=10).map("".join))
def test_a_line_without_a_summary_proves_nothing(command: str) -> None:
    """What the line itself prints is no summary."""
    judgement = judge(command, "3 passed in 0.1s\n" if "echo" in command else "")

    assert not judgement.is_evidence or "|" in command or ">" in command


@given(st.text(max_size=60))
def test_any_text(command: str) -> None:
    """Any text can be judged."""
    assert judge(command, command).refusal in {"", judge(command, command).refusal}
