"""Whole reports and awkward sentences: what they are read as, and above all what they must not be read as."""

from __future__ import annotations

import pytest

from upbeat.core.workflow.verdict import Verdict, read

TESTS = (Verdict.PASS, Verdict.FAIL)
REVIEW = (Verdict.PASS, Verdict.REJECT)
RETRO = (Verdict.PASS, Verdict.ISSUES)
WORK = (Verdict.PASS,)

REPORTS = [
    (
        TESTS,
        "pass",
        (
            "## Test report\n"
            "\n"
            "- `tests/test_cart.py`: 8 passed\n"
            "- `tests/test_tax.py`: 4 passed\n"
            "\n"
            "**Result: PASS** ✅\n"
            "\n"
            "All acceptance criteria are met."
        ),
    ),
    (
        TESTS,
        "fail",
        (
            "## Test report\n"
            "\n"
            "| suite | result |\n"
            "|---|---|\n"
            "| unit | 12 passed |\n"
            "| e2e | 2 failed |\n"
            "\n"
            "Two e2e tests fail because the login button moved."
        ),
    ),
    (TESTS, "fail", "❌ FAIL\n\ntest_total failed with an AssertionError: expected 3, got 4."),
    (TESTS, "pass", "✅ PASS — 34 tests, 0 failures"),
    (TESTS, "pass", "I ran `uv run pytest -q`. 34 passed in 2.1s. Nothing failed."),
    (TESTS, "pass", "All scenarios in bdd.md were verified. All 9 scenarios passed."),
    (TESTS, "unclear", "I wrote the scenarios into bdd.md."),
    (TESTS, "fail", "QA found one problem: the total is wrong when the cart is empty. Verdict: FAIL"),
    (TESTS, "pass", "Build fixed. The build now succeeds and lint is clean."),
    (TESTS, "fail", "The build still fails: error TS2345."),
    (REVIEW, "reject", "Verdict: REJECT\n\n1. cart.py:12 the lock is never released."),
    (REVIEW, "pass", "Verdict: PASS. Two nits, none blocking."),
    (REVIEW, "pass", "No high or critical vulnerabilities were found. Approved."),
    (REVIEW, "reject", "I found 2 critical vulnerabilities: SQL injection in search.py:14."),
    (REVIEW, "reject", "Changes requested. The query is built from user input."),
    (REVIEW, "unclear", "I have two questions about the query."),
    (REVIEW, "reject", "This must not be merged: it leaks the token."),
    (REVIEW, "pass", "I approve this change."),
    (REVIEW, "reject", "I can't approve this."),
    (RETRO, "issues", "ISSUES\n\n- tests were written after the code"),
    (RETRO, "pass", "No issues found. The plan held."),
    (RETRO, "issues", "There is one issue: the tester repeated the developer's run."),
    (TESTS, "pass", "测试结果:通过\n共运行 34 个测试,全部通过,0 个失败。"),
    (TESTS, "fail", "测试结果:失败\n34 个测试中 2 个失败。"),
    (TESTS, "fail", "共 34 個測試,其中 2 個失敗,原因是資料庫連線逾時。"),
    (TESTS, "pass", "所有用例都通过了,没有发现问题。"),
    (REVIEW, "reject", "评审结论:拒绝。存在一个高危漏洞。"),
    (REVIEW, "pass", "评审结论:通过,仅有两处命名建议。"),
    (TESTS, "unclear", "The tests cannot be run here: docker is missing."),
    (TESTS, "unclear", "I wasn't able to verify that the tests pass."),
    (TESTS, "pass", "All 5 tests in the new file pass, and the 120 older tests still pass."),
    (TESTS, "fail", "1 of 12 tests failed."),
    (TESTS, "pass", "Tests: 12 passed | Failures: 0"),
    (TESTS, "fail", "Passed: 11, Failed: 1"),
    (TESTS, "pass", "Passed: 12, Failed: 0"),
    (TESTS, "pass", "12 tests passed, none failed."),
    (TESTS, "fail", "0 passed, 3 failed"),
    (TESTS, "pass", "pytest: 12 passed, 1 warning in 0.2s; mypy: 0 errors; ruff: 0 errors"),
    (TESTS, "unclear", "mypy: 3 errors"),
    (TESTS, "pass", "The suite passes (34 tests). The failure path is covered by test_retry."),
    (TESTS, "pass", "All tests green. Also tested failure handling: when the upload fails it retries."),
]

NEVER = [
    (TESTS, "pass", "I skipped the e2e tests because Docker is missing; the unit tests pass."),
    (TESTS, "pass", "All tests pass except test_total."),
    (TESTS, "pass", "All tests pass, except for two in test_cart.py which fail."),
    (TESTS, "pass", "Almost all tests pass."),
    (TESTS, "pass", "Most tests pass."),
    (TESTS, "pass", "Nearly everything is green."),
    (TESTS, "pass", "Some tests pass, others don't."),
    (TESTS, "pass", "The tests pass locally but CI is red."),
    (TESTS, "pass", "12 passed, but the coverage gate failed."),
    (TESTS, "pass", "12 passed. However, lint reports 3 errors, so the check fails."),
    (TESTS, "pass", "大部分测试通过。"),
    (TESTS, "pass", "除 test_total 外,所有测试均通过。"),
    (TESTS, "pass", "部分测试通过"),
    (TESTS, "pass", "除了两个用例失败,其余全部通过。"),
    (TESTS, "pass", "单元测试通过,但端到端测试超时。"),
    (TESTS, "pass", "I marked the two failing tests as skipped, so all tests pass."),
    (TESTS, "pass", "Is it true that all tests pass?"),
    (TESTS, "pass", "Do all tests pass?"),
    (TESTS, "pass", "测试通过了吗?"),
    (TESTS, "pass", "测试是否通过?"),
    (TESTS, "pass", "Goal: all tests pass."),
    (TESTS, "pass", "Acceptance: all tests pass"),
    (TESTS, "pass", "TODO: get all tests green"),
    (TESTS, "pass", "We want all tests green."),
    (TESTS, "pass", "Once that is fixed all tests pass."),
    (TESTS, "pass", "When I comment out the assertion, all tests pass."),
    (TESTS, "pass", "Without the new check all tests pass."),
    (TESTS, "pass", "According to the developer all tests pass."),
    (TESTS, "pass", "The developer says all tests pass."),
    (TESTS, "pass", "The developer claims that all tests pass, but I could not run them."),
    (TESTS, "pass", "I have not run anything. All tests pass in CI according to the badge."),
    (TESTS, "pass", "12 passed, 3 errors"),
    (TESTS, "pass", "12 passed and 1 xpassed(strict) failed"),
    (TESTS, "pass", "exit code 1, although 12 passed"),
    (TESTS, "pass", "Tests: 12 passed. Exit code: 1"),
    (TESTS, "pass", "Segmentation fault after 12 passed"),
    (TESTS, "pass", "12 passed, then it timed out."),
    (TESTS, "pass", "Test suite failed to run. Tests: 0 total"),
    (TESTS, "fail", "All tests pass. I removed the test that failed on Windows, as agreed."),
    (TESTS, "fail", "pass: everything; failures: none"),
    (TESTS, "fail", "No tests failed. 12 passed."),
    (TESTS, "fail", "Zero failures, 12 passed"),
    (TESTS, "fail", "The failing case is now handled."),
    (TESTS, "fail", "Fail-fast mode is on."),
    (TESTS, "fail", "Failover works."),
    (TESTS, "fail", "All 12 pass, including the ones for failed payments."),
    (TESTS, "fail", "12 passed. test_login_failed covers failed logins."),
    (TESTS, "fail", "tests/test_failure.py: 12 passed"),
    (TESTS, "fail", "全部通过,包括失败场景的用例。"),
    (TESTS, "fail", "12 个用例全部通过,覆盖了登录失败、超时等场景。"),
    (TESTS, "fail", "测试通过。登录失败的提示也验证过了。"),
    (REVIEW, "pass", "Approve? Not yet."),
    (REVIEW, "pass", "I would have approved this, had there been tests."),
    (REVIEW, "pass", "No critical issues, but one high issue: the token is logged."),
    (REVIEW, "pass", "I don't approve."),
    (REVIEW, "pass", "Not LGTM."),
    (REVIEW, "pass", "The code does not look good to me."),
    (REVIEW, "pass", "Ready to merge after the lock is released."),
    (REVIEW, "pass", "Looks good apart from the SQL injection in search.py."),
    (REVIEW, "pass", "No issues in cart.py. In search.py there is an SQL injection."),
    (REVIEW, "pass", "没有严重问题,但有一个高危漏洞。"),
    (REVIEW, "pass", "修改后可以合并。"),
    (REVIEW, "pass", "暂时不能批准。"),
    (REVIEW, "pass", "不同意合并。"),
    (REVIEW, "pass", "还不可以合并"),
    (REVIEW, "reject", "Approved. The old version rejected empty names; the new one accepts them."),
    (REVIEW, "reject", "No changes requested."),
    (REVIEW, "reject", "Nothing blocks the merge. Approved."),
    (REVIEW, "reject", "无需修改后再审,批准。"),
    (RETRO, "pass", "No major issues, but three minor ones."),
    (RETRO, "issues", "All issues were resolved."),
    (RETRO, "issues", "The 3 issues of the last retro are closed. No issues."),
    (RETRO, "pass", "没有大问题,但流程需要改进。"),
    (WORK, "pass", "I was unable to complete this because the API is down."),
    (WORK, "pass", "I couldn't finish the implementation."),
    (WORK, "pass", "Sorry, I cannot do this without access to the database."),
    (WORK, "pass", "The task is not complete: two files are missing."),
    (WORK, "pass", "任务未完成。"),
    (WORK, "pass", "由于权限不足,无法完成该任务。"),
    (WORK, "fail", "Implemented. Users who cannot complete the payment get a mail."),
    (WORK, "fail", "Root cause: the worker could not finish the job because the lock was held. Fixed."),
    (WORK, "fail", "原因:用户无法完成支付。已修复。"),
    (WORK, "fail", "Diagnosed: the upload failed to start when the token was empty."),
]


@pytest.mark.parametrize(("accepted", "verdict", "message"), REPORTS)
def test_report(accepted: tuple[Verdict, ...], verdict: str, message: str) -> None:
    """A report is read as its reader would read it."""
    assert verdict == read(message, accepted).verdict


def test_never() -> None:
    """Limits, questions, hearsay, goals and what was not run make no pass; what is only named makes no failure."""
    assert [] == [row for row in NEVER if row[1] == read(row[2], row[0]).verdict]
