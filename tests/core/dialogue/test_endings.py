"""Endings of turns. ``benchmarks/dialogue`` has a thousand more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.dialogue.endings import MAX_ENDING_CHARS, waits_for_user

LAZY = (
    *("", "Done.", "Anything else?", "Would you like me to continue with the review?", "Should I proceed?"),
    *(
        "Let me know if you want me to go on.",
        "The tests come next.",
        "I'll wait for your go-ahead to start the tests.",
    ),
    *("需要我继续吗？", "下一步我来写测试。", "要繼續嗎？"),
    "I removed the dead code in `utils.py`. Would you like me to continue with the docs?",
    "Why was it slow? Every call opened a connection. I've added a pool.",
    "```\nmake\n```",
)
WAITS = (
    *("Which database shall I use? I will wait for your decision.", "Which one?", "Postgres or MySQL?"),
    "I need an API key for the sandbox. Please provide it.",
    "The spec says 10 in one place and 100 in another. Tell me which is right.",
    "Only you can decide that: may guests comment? Everything else is done.",
    "I'm blocked: the test server refuses connections.",
    *("用哪个数据库？我等您的决定。", "缺少 API key，请配置好后告诉我。", "請問以哪份文件為準？"),
)
DANGER = (
    "Before I delete the S3 bucket: are you sure? This can't be undone.",
    "Phase 3 is done. Phase 4 deletes the old data. Would you like me to continue with phase 4?",
    "Should I run `git push --force`?",
    "Next:\n\n```bash\nrm -rf /srv/data\n```\n\nShall I continue?",
    "The release notes are ready. Shall I publish the package?",
    "The benchmark costs about $80. Shall I start?",
    *("要清空生产数据库吗？", "下一步会删除旧表，是否继续？", "可以強制推送到 main 嗎？"),
)


@pytest.mark.parametrize("message", LAZY)
def test_lazy_endings_do_not_wait(message: str) -> None:
    """An offer to do what is planned anyway needs no answer."""
    assert not waits_for_user(message)


@pytest.mark.parametrize("message", WAITS)
def test_questions_wait(message: str) -> None:
    """A question or blocker waits, wherever it stands and however it is punctuated."""
    assert waits_for_user(message)


@pytest.mark.parametrize("message", DANGER)
def test_what_cannot_be_undone_waits(message: str) -> None:
    """Consent to something destructive, public or costly is never taken for granted."""
    assert waits_for_user(message)


def test_markers_do_not_count() -> None:
    """An HTML comment is no part of the message."""
    assert not waits_for_user('All is done. <!-- VERDICT: {"result": "PASS", "note": "Which database?"} -->')


def test_only_the_end_is_read() -> None:
    """What precedes the end of a long message has been answered or done."""
    assert not waits_for_user("Which database shall I use?\n" + "I went on with the next file.\n" * MAX_ENDING_CHARS)


@given(
    st.lists(
        st.sampled_from(
            ["`", "```", "\n", "- ", "--", "rm -rf x", "删除", "?", "？", "a", " ", "<!--", "git push -- f"]
        )
    )
)
def test_any_message_has_an_answer(parts: list[str]) -> None:
    """No mixture of code marks, dashes and words raises."""
    assert waits_for_user("".join(parts)) in (True, False)
    assert waits_for_user("Shall I run `git checkout -- a.py`?") in (True, False)
