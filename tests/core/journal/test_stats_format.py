"""The statistics as text, in both languages."""

from __future__ import annotations

import pytest
from stats_records import call, held_out, prompt, report, told

from upbeat.core.journal.stats_format import stats_lines
from upbeat.core.messages.catalogue import load_messages

SAID = {
    "en": [
        "all repositories, the last 30 days: 1 sessions, 2 turns, 1 of them with context (2026-01-02 to 2026-01-02)",
        "",
        "turn: 1 times, 5 characters (2 per turn, 5 per session)",
        "  dropped: 1 held out",
        (
            "  a file that it named was opened in 1 of 1 (100 %, 21 to 100), edited in 0 of 1 (0 %, 0 to 79);"
            " after 1 calls (median)"
        ),
        "",
        "holdout (0 percent): a file that was named, or would have been, was",
        (
            "  opened in 1 of 1 (100 %, 21 to 100) with the context, in 0 of 1 (0 %, 0 to 79) without:"
            " too few to compare; 30 of each are needed"
        ),
        (
            "  edited in 0 of 1 (0 %, 0 to 79) with the context, in 0 of 1 (0 %, 0 to 79) without:"
            " too few to compare; 30 of each are needed"
        ),
    ],
    "zh": [
        "所有仓库，最近 30 天：1 个会话，2 个回合，其中 1 个带有上下文（2026-01-02 至 2026-01-02）",
        "",
        "turn：1 次，5 个字符（每回合 2，每会话 5）",
        "  已丢弃：1 次留作对照",
        (
            "  它提到的文件被打开：1 次中的 1 次（100%，21 至 100）；被修改：1 次中的 0 次（0%，0 至 79）"
            "；第 1 次调用时（中位数）"
        ),
        "",
        "对照（0%）：提到的（或本会提到的）文件",
        (
            "  被打开：有上下文时 1 次中的 1 次（100%，21 至 100），没有时 1 次中的 0 次（0%，0 至 79）："
            "数量太少，无法比较；两边各需 30 次"
        ),
        (
            "  被修改：有上下文时 1 次中的 0 次（0%，0 至 79），没有时 1 次中的 0 次（0%，0 至 79）："
            "数量太少，无法比较；两边各需 30 次"
        ),
    ],
}


@pytest.mark.parametrize("language", SAID)
def test_for_people(language: str) -> None:
    """The same numbers in sentences, in both languages."""
    found = report(told("a.py"), call("read", "/repo/a.py"), held_out("a.py"))

    assert SAID[language] == list(stats_lines(found, load_messages("stats", language)))


def test_nothing_to_tell() -> None:
    """An empty journal, and one in which nothing was injected, are one line more or less."""
    empty, silent = (list(stats_lines(report(*bodies), load_messages("stats", "en"))) for bodies in ((), (prompt(),)))

    assert ["all repositories, the last 30 days: the journal has no record of this time"] == empty
    assert ["  nothing was injected"] == silent[1:]
