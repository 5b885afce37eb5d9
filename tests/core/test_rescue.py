"""What is decided about a thread that is nearly full, too long, or refused."""

from __future__ import annotations

import pytest

from upbeat.core.rescue import is_refused_history, pause_before, wants_compaction


@pytest.mark.parametrize(
    ("tokens", "window", "wanted"), [(779, 1000, False), (780, 1000, True), (999, 1000, True), (5000, 0, False)]
)
def test_when_a_thread_is_summarised_before_its_next_turn(tokens: int, window: int, wanted: bool) -> None:
    """From 78 per cent on, and never where the window is not known."""
    assert wanted == wants_compaction(tokens, window)


def test_pauses() -> None:
    """Two seconds, then four, and no third try."""
    assert [None, 2.0, 4.0, None] == [pause_before(attempt) for attempt in (-1, 0, 1, 2)]


REFUSED = [
    '{"error": {"message": "No tool output found for function call call_9."}}',
    "No tool call found for function call output with call_id call_9.",
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    "The encrypted content gAAA could not be verified.",
    "Duplicate item found with id msg_1.",
    "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after",
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`",
    "This model does not support assistant message prefill.",
]
OTHER = [
    "",
    "mock error 400",
    "The model 'gpt-9' does not exist",
    "Invalid schema for function 'x'",
    "Unsupported value: 'reasoning.effort'",
    "Your input exceeds the context window of this model.",
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_history_that_is_out_of_order(text: str) -> None:
    """What providers say of a conversation that they will never take."""
    assert is_refused_history(text)


@pytest.mark.parametrize("text", OTHER)
def test_other_refusals(text: str) -> None:
    """A request that is wrong by itself would be so in a new thread, too."""
    assert not is_refused_history(text)
