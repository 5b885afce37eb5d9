"""How a verdict is read from words alone: what is clear, and the longer table of what is not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from upbeat.core.workflow.verdict import Reading, Verdict, read

TESTS = (Verdict.PASS, Verdict.FAIL)
REVIEW = (Verdict.PASS, Verdict.REJECT)
RETRO = (Verdict.PASS, Verdict.ISSUES)
WORK = (Verdict.PASS,)
Row = tuple[tuple[Verdict, ...], str]

PASSES = [
    (TESTS, "fixed the failing test; 12 green"),
    (TESTS, "All 12 tests pass."),
    (TESTS, "All tests are passing now."),
    (TESTS, "I ran the whole suite again. The test suite is green."),
    (TESTS, "Everything is green."),
    (TESTS, "I verified that all tests pass."),
    (TESTS, "12 passed, 0 failed"),
    (TESTS, "===== 12 passed, 2 skipped in 3.21s ====="),
    (TESTS, "Tests:       12 passed, 12 total"),
    (TESTS, "  12 passing (3s)"),
    (TESTS, "Ran 12 tests in 0.101s\n\nOK"),
    (TESTS, "ok  \tgithub.com/acme/shop/cart\t0.012s"),
    (TESTS, "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"),
    (TESTS, "Tests run: 12, Failures: 0, Errors: 0, Skipped: 1"),
    (TESTS, "BUILD SUCCESSFUL in 4s"),
    (TESTS, "12 examples, 0 failures"),
    (TESTS, "OK (12 tests, 24 assertions)"),
    (TESTS, "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12"),
    (TESTS, "100% tests passed, 0 tests failed out of 12"),
    (TESTS, "12/12 tests passed."),
    (TESTS, "12 of 12 scenarios pass."),
    (TESTS, "Result: PASS"),
    (TESTS, "**Verdict:** PASS"),
    (TESTS, "I checked every scenario.\n\nPASS"),
    (TESTS, "1 test failed at first, I repaired the fixture, and now all 12 tests pass."),
    (TESTS, "2 tests failed because of the fixture. After the fix: 12 passed, 0 failed."),
    (TESTS, "The tests were failing before. All tests pass now."),
    (TESTS, "Added a test that fails without the fix. All 13 tests pass."),
    (TESTS, "The build succeeded."),
    (TESTS, "No failures: all tests pass, error handling included."),
    (TESTS, "测试通过"),
    (TESTS, "全部测试通过,没有失败。"),
    (TESTS, "12 个测试全部通过。"),
    (TESTS, "修复了失败的测试,现在 12 个测试全部通过。"),
    (TESTS, "结论:通过"),
    (TESTS, "共 12 个用例:通过 12 个,失败 0 个。"),
    (TESTS, "構建成功"),
    (TESTS, "所有測試均通過。"),
    (TESTS, "測試全部通過,共 12 項。"),
    (TESTS, "之前有 2 個測試失敗,現在 12 個測試全部通過。"),
    (REVIEW, "LGTM"),
    (REVIEW, "Approved, with two small remarks on naming."),
    (REVIEW, "The change is small and clear. Ready to merge."),
    (REVIEW, "I found no blocking issues."),
    (REVIEW, "Review passed. The parser rejects empty names, as the spec wants."),
    (REVIEW, "审查通过。"),
    (REVIEW, "没有发现严重问题,可以合并。"),
    (REVIEW, "評審通過,同意合併。"),
    (RETRO, "No issues."),
    (RETRO, "Nothing to improve this time."),
    (RETRO, "回顾完成,没有发现问题。"),
    (RETRO, "沒有遺留問題。"),
]

FAILS = [
    (TESTS, "测试未通过"),
    (TESTS, "測試失敗"),
    (TESTS, "测试未通过,原因是空指针。"),
    (TESTS, "2 tests failed."),
    (TESTS, "12 passed, 1 failed"),
    (TESTS, "===== 1 failed, 11 passed in 3.21s ====="),
    (TESTS, "11 passed, 2 errors"),
    (TESTS, "Test Suites: 1 failed, 3 passed, 4 total\nTests:       1 failed, 11 passed, 12 total"),
    (TESTS, "  11 passing (3s)\n  1 failing"),
    (TESTS, "Ran 12 tests in 0.101s\n\nFAILED (failures=1)"),
    (TESTS, "--- FAIL: TestCart (0.00s)\nFAIL\tgithub.com/acme/shop/cart\t0.012s"),
    (TESTS, "test result: FAILED. 11 passed; 1 failed; 0 ignored"),
    (TESTS, "Tests run: 12, Failures: 1, Errors: 0, Skipped: 0"),
    (TESTS, "BUILD FAILED in 4s"),
    (TESTS, "12 examples, 1 failure"),
    (TESTS, "Tests: 12, Assertions: 24, Failures: 1."),
    (TESTS, "Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12"),
    (TESTS, "92% tests passed, 1 tests failed out of 12"),
    (TESTS, "FAILED tests/test_cart.py::test_total - assert 3 == 4"),
    (TESTS, "Result: FAIL"),
    (TESTS, "The tests still fail after the fix."),
    (TESTS, "11 tests pass, but test_total fails with an IndexError."),
    (TESTS, "The unit tests pass. The e2e tests failed."),
    (TESTS, "Not all tests pass."),
    (TESTS, "The tests do not pass."),
    (TESTS, "There are 2 failing tests."),
    (TESTS, "I fixed one failing test; test_total still fails."),
    (TESTS, "The build is broken."),
    (TESTS, "仍有 2 个失败的测试。"),
    (TESTS, "11 个通过,1 个失败。"),
    (TESTS, "修改后测试仍然失败。"),
    (TESTS, "编译失败:找不到模块。"),
    (TESTS, "結論:不通過"),
    (TESTS, "還有 1 個用例沒有通過。"),
    (REVIEW, "Rejected: the lock is never released."),
    (REVIEW, "I request changes: the query is built from user input."),
    (REVIEW, "This is not ready to merge."),
    (REVIEW, "There is a critical vulnerability in the upload."),
    (REVIEW, "The naming is fine, but I cannot approve this yet."),
    (REVIEW, "审查未通过:缺少权限检查。"),
    (REVIEW, "驳回,需要修改后再提交。"),
    (REVIEW, "發現 2 個嚴重問題,暫不合併。"),
    (RETRO, "Found 3 issues in how we worked."),
    (RETRO, "Issues: the plan named no tests."),
    (RETRO, "发现 2 个问题:计划太粗。"),
    (RETRO, "存在以下問題:測試太慢。"),
]

UNCLEAR = [
    (TESTS, ""),
    (TESTS, "  \n\t "),
    (TESTS, "0 errors"),
    (TESTS, "0 failed"),
    (TESTS, "No failures."),
    (TESTS, "I looked at the tests."),
    (TESTS, "Done."),
    (TESTS, "The tests are in tests/test_cart.py."),
    (TESTS, "```\n12 passed\n```"),
    (TESTS, "The runner printed:\n```\nResult: FAIL\n```"),
    (TESTS, '```html\n<!-- VERDICT: {"result": "PASS"} -->\n```'),
    (TESTS, "~~~\nall tests pass\n~~~"),
    (TESTS, "The log says `12 passed`."),
    (TESTS, '"All tests pass" is what the developer said.'),
    (TESTS, "> All tests pass."),
    (TESTS, "Please answer with PASS or FAIL."),
    (TESTS, "Result: PASS or FAIL"),
    (TESTS, "Result: PASS/FAIL"),
    (TESTS, "If it fails, run it again."),
    (TESTS, "If the tests pass, merge."),
    (TESTS, "All tests pass if Redis is up."),
    (TESTS, "The tests should pass."),
    (TESTS, "The tests should pass now."),
    (TESTS, "All tests will pass once the fixture is there."),
    (TESTS, "I expect that all tests pass."),
    (TESTS, "It looks like all tests pass."),
    (TESTS, "I could not run the tests."),
    (TESTS, "I have not run the tests; the code looks right."),
    (TESTS, "I did not check that the tests pass."),
    (TESTS, "Make sure all tests pass."),
    (TESTS, "It was failing before."),
    (TESTS, "The test failed before the fix."),
    (TESTS, "The tests passed before my change."),
    (TESTS, "Previously 3 tests failed."),
    (TESTS, "I fixed the failing test."),
    (TESTS, "2 tests failed, and I fixed them."),
    (TESTS, "It did not fail."),
    (TESTS, "Nothing failed."),
    (TESTS, "None of the tests failed."),
    (TESTS, "I added error handling."),
    (TESTS, "Failed logins are counted."),
    (TESTS, "The handler covers failed requests."),
    (TESTS, "Wrote a test that fails when the name is empty."),
    (TESTS, "The function fails fast."),
    (TESTS, "It retries when the upload fails."),
    (TESTS, "11/12 tests passed."),
    (TESTS, "0 passed, 12 skipped"),
    (TESTS, "no tests ran"),
    (TESTS, "The cart tests fail. The login tests pass."),
    (TESTS, "test_a passes."),
    (TESTS, "12 tests written."),
    (TESTS, "We pass the token to the server."),
    (TESTS, "Passing a list is fine."),
    (TESTS, "没有失败"),
    (TESTS, "不是失败"),
    (TESTS, "零错误"),
    (TESTS, "没有错误。"),
    (TESTS, "如果测试失败,请重试。"),
    (TESTS, "如果测试通过就合并。"),
    (TESTS, "测试应该会通过。"),
    (TESTS, "请确保所有测试通过。"),
    (TESTS, "尚未运行测试。"),
    (TESTS, "之前测试失败。"),
    (TESTS, "修复了失败的测试。"),
    (TESTS, "增加了失败重试。"),
    (TESTS, "登录失败时返回 401。"),
    (TESTS, "错误处理已经写好。"),
    (TESTS, "“测试通过”是开发者说的。"),
    (TESTS, "「測試失敗」只是範例。"),
    (TESTS, "如果測試失敗就重跑。"),
    (TESTS, "測試可能會通過。"),
    (TESTS, "沒有失敗的測試。"),
    (TESTS, "原本測試失敗,已修復。"),
    (REVIEW, "I read the change."),
    (REVIEW, "The parser rejects empty names."),
    (REVIEW, "Invalid tokens are rejected."),
    (REVIEW, "I would approve this once the tests are there."),
    (REVIEW, "Approved if the lock is released."),
    (REVIEW, "Should I approve?"),
    (REVIEW, "The naming could be better."),
    (REVIEW, "All tests pass."),
    (REVIEW, "服务器拒绝了空名字。"),
    (REVIEW, "如果补上测试就可以合并。"),
    (REVIEW, "請求被拒絕時要記錄。"),
    (RETRO, "We wrote the plan first."),
    (RETRO, "The issue tracker is on the wiki."),
    (RETRO, "计划写得很细。"),
    (RETRO, "我們先寫了計畫。"),
]

DONE = [
    "Implemented the retry and wrote tests.",
    "done",
    "The parser failed on empty names before; it does not any more.",
    "Users could not log in before; now they can.",
    "If we cannot complete the upload, the client retries.",
    "```\nFAIL\n```",
    "2 tests fail, the tester will see to them.",
    "已完成。",
    "已經寫好設計。",
]

UNDONE = [
    "I could not complete the task: the schema is missing.",
    "Unable to proceed without the credentials.",
    "I was not able to implement this.",
    "We are blocked by the missing migration.",
    "无法完成任务:缺少权限。",
    "我未能实现该功能。",
    "無法繼續,缺少檔案。",
]


def test_passes() -> None:
    """A clear statement that it went well is a pass."""
    assert dict.fromkeys(PASSES, (Verdict.PASS, "words")) == _readings(PASSES)


def test_fails() -> None:
    """A clear statement that it went badly is the stage's own bad verdict."""
    assert {(accepted, message): (accepted[1], "words") for accepted, message in FAILS} == _readings(FAILS)


def _readings(table: Iterable[Row]) -> dict[Row, tuple[Verdict, str]]:
    """Of each row the verdict, and what it was read from."""
    readings = {(accepted, message): read(message, accepted) for accepted, message in table}
    return {row: (reading.verdict, reading.by) for row, reading in readings.items()}


def test_unclear() -> None:
    """What is denied, expected, past, conditional, shown or about something else is no verdict."""
    found = {(accepted, message): read(message, accepted) for accepted, message in UNCLEAR}

    assert dict.fromkeys(UNCLEAR, Reading(Verdict.UNCLEAR)) == found


@pytest.mark.parametrize("message", DONE)
def test_work_is_done(message: str) -> None:
    """A stage that can only pass has passed when its agent says anything else than that it could not."""
    assert Reading(Verdict.PASS, "words") == read(message, WORK)


@pytest.mark.parametrize("message", UNDONE)
def test_work_is_not_done(message: str) -> None:
    """A clear statement that the work could not be done is no pass, and is quoted."""
    reading = read(message, WORK)

    assert (Verdict.FAIL, "words") == (reading.verdict, reading.by)
    assert reading.quote


def test_empty_work_is_unclear() -> None:
    """An agent that says nothing has not done its work."""
    assert Reading(Verdict.UNCLEAR) == read(" \n", WORK)


def test_tables_are_large_and_mostly_noes() -> None:
    """The tables hold more than 120 sentences, and of those that could decide, most are unclear."""
    assert len(PASSES) + len(FAILS) + len(UNCLEAR) > 120
    assert max(len(PASSES), len(FAILS)) < len(UNCLEAR)
