"""What runners' own summaries say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.evidence.summaries import Summary, clean_output, read_all_formats, read_summary

CASES = [
    ("pytest", "12 passed, 3 skipped, 1 xfailed in 2.1s", (12, 0)),
    ("pytest", "==== 3 xfailed in 0.06s ====", (0, 0)),
    ("pytest", "==== 1 failed, 2 passed in 0.1s ====", (3, 1)),
    ("pytest", "no tests ran in 0.01s", (0, 0)),
    ("pytest", "3 deselected in 0.01s", (0, 0)),
    ("pytest", "....1 failed, 0 passed\n14 passed in 0.30s", (14, 0)),
    ("pytest", "......                   [100%]", (6, 0)),
    ("unittest", "Ran 3 tests in 0.1s\n\nOK (skipped=3)", (0, 0)),
    ("unittest", "Ran 3 tests in 0.1s\n\nFAILED (failures=1)", (3, 1)),
    ("jest", "Tests:       6 skipped, 1 passed, 7 total", (1, 0)),
    ("jest", "Tests:       9 skipped, 9 total", (0, 0)),
    ("vitest", "      Tests  1 failed | 2 passed (3)", (3, 1)),
    ("vitest", "      Tests  3 skipped (3)", (0, 0)),
    ("cargo", "test result: ok. 0 passed; 0 failed; 0 ignored\ntest result: ok. 2 passed; 0 failed; 1 ignored", (2, 0)),
    ("go", "ok  \tx/a\t0.004s\n?   \tx/b\t[no test files]", (1, 0)),
    ("go", "ok  \tx/a\t0.004s [no tests to run]", (0, 0)),
    ("go", "=== RUN   TestA\n--- SKIP: TestA (0.00s)\nPASS\nok  \tx/a\t0.004s", (0, 0)),
    ("go", "--- FAIL: TestA (0.00s)\nFAIL", (0, 2)),
    ("tap", "TAP version 14\n1..2\nok 1 - a\nnot ok 2 - b", (1, 1)),
    ("tap", "ok 1 - a", None),
    ("maven", "[WARNING] Tests run: 5, Failures: 0, Errors: 0, Skipped: 5", (0, 0)),
    ("gradle", "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s\n1 actionable task: 1 executed", (0, 0)),
    ("rspec", "7 examples, 0 failures, 1 pending", (6, 0)),
    ("exunit", "8 tests, 0 failures, 8 excluded", (0, 0)),
    ("bats", "3 tests, 0 failures, 1 skipped", (2, 0)),
    ("phpunit", "Tests: 5, Assertions: 9, Failures: 1, Skipped: 1.", (4, 1)),
    ("xctest", "\t Executed 0 tests, with 0 failures (0 unexpected)", (0, 0)),
]


@pytest.mark.parametrize(("form", "output", "expected"), CASES)
def test_a_summary(form: str, output: str, expected: tuple[int, int] | None) -> None:
    """The executed and the failed tests are read, and skipped ones do not count."""
    found = read_summary(clean_output(output), (form,))

    assert expected == ((found.executed, found.failed) if found else None)


def test_a_failure_comes_first() -> None:
    """Of several formats the one that reports a failure counts."""
    assert Summary(3, 1) == read_all_formats("14 passed in 0.30s\nRan 3 tests in 0.1s\n\nFAILED (failures=1)")


def test_colors_and_prefixes_are_removed() -> None:
    """Colors, prefixes of compose and of task runners do not hide a summary."""
    assert "14 passed in 0.3s\nok 1 - a" == clean_output("\x1b[32m14 passed\x1b[0m in 0.3s\r\napp-1  | ok 1 - a")


@given(st.text("0123 passedfil,\nOKRan=-.:()", max_size=80))
def test_any_output(output: str) -> None:
    """Any output can be read, and counts are not negative."""
    found = read_all_formats(clean_output(output))

    assert found is None or (found.executed >= 0 and found.failed >= 0)
