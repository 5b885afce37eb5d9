"""The Policy type and its texts."""

from __future__ import annotations

import pytest

from upbeat.core.contract.event import ClientName, EventSource, TurnEnding
from upbeat.core.policy.definition import NO_RESULT, LocalizedText, Policy, PolicyResult, no_queries
from upbeat.core.workflow.state import NEW_SESSION

EVENT = TurnEnding(EventSource(ClientName.CLAUDE_CODE, "/repo", "s"), "Done.", False)


@pytest.mark.parametrize(
    ("language", "text"), [("en", "2 files"), ("zh", "2 个文件"), ("fr", "2 files"), ("", "2 files")]
)
def test_localize(language: str, text: str) -> None:
    """A text is Chinese for ``zh`` and English for any other language."""
    assert text == LocalizedText("{count} files", "{count} 个文件").localize(language).format(count=2)


def test_a_policy_asks_for_nothing_by_default() -> None:
    """A policy without queries is on by default, and its planner returns none."""
    policy = Policy("p", {})

    assert (no_queries, True, ()) == (policy.queries, policy.is_enabled_by_default, policy.queries(EVENT, NEW_SESSION))


def test_empty_notes_are_a_result() -> None:
    """A result that deletes the notes differs from none, which keeps them."""
    assert NO_RESULT == PolicyResult()
    assert NO_RESULT != PolicyResult(notes=())
