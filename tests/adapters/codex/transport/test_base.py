"""Why a turn failed: every failure that was recorded has a reason and a sentence, and none waits for ever."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from fakes.codex.texts import CHINESE, ENGLISH
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport.base import (
    Failed,
    FailureReason,
    Reconnecting,
    TurnEvent,
    TurnStarted,
    classify_failure,
    is_rejected_history,
    is_waiting_for_network,
)
from upbeat.adapters.codex.transport.exec.events import decode, failure_from_exit
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view.show import TurnPrinter

RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "recorded/codex/exec_errors.json").read_text(encoding="utf-8")
)

REASONS = {
    "bad_config_syntax": FailureReason.CODEX_CONFIG,
    "bad_config_type": FailureReason.CODEX_CONFIG,
    "conn_refused_bounded": FailureReason.PROVIDER_UNREACHABLE,
    "failed_context_length": FailureReason.CONTEXT_FULL,
    "failed_overloaded": FailureReason.PROVIDER_ERROR,
    "failed_quota": FailureReason.QUOTA_EXCEEDED,
    "failed_ratelimit": FailureReason.RATE_LIMITED,
    "http_400": FailureReason.BAD_REQUEST,
    "http_401": FailureReason.UNAUTHORIZED,
    "http_403": FailureReason.UNAUTHORIZED,
    "http_404": FailureReason.BAD_REQUEST,
    "http_429": FailureReason.RATE_LIMITED,
    "http_429_retryafter": FailureReason.RATE_LIMITED,
    "http_500": FailureReason.PROVIDER_ERROR,
    "http_503": FailureReason.PROVIDER_ERROR,
    "incomplete": FailureReason.TURN_FAILED,
    "no_env_key": FailureReason.MISSING_KEY,
    "stream_cut": FailureReason.STREAM_DISCONNECTED,
}
ENDLESS = ("conn_refused", "no_auth_default_provider")
"""Recorded until another process lost patience: Codex itself would not have ended."""


def events(name: str) -> list[TurnEvent]:
    """What Codex said on standard output."""
    return [decode(json.dumps(line).encode()) for line in RECORDED[name]["stdout"]]


def ending(name: str) -> Failed:
    """How the recorded run ended, as the exec transport tells it."""
    told = events(name)
    if told and isinstance(told[-1], Failed):
        return classify_failure(told[-1])
    began = any(isinstance(event, TurnStarted) for event in told)
    return failure_from_exit(RECORDED[name]["exit_code"], "\n".join(RECORDED[name]["stderr"]), has_begun=began)


def test_every_recording_is_judged() -> None:
    """No recorded failure is left out of the table."""
    assert set(RECORDED) == {*REASONS, *ENDLESS}


@pytest.mark.parametrize(("name", "why"), REASONS.items())
def test_recorded_failures_have_a_reason(name: str, why: FailureReason) -> None:
    """What Codex says is read as what it means."""
    assert why is ending(name).reason


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("name", REASONS)
def test_recorded_failures_are_told_in_one_sentence(name: str, texts: Texts) -> None:
    """First our sentence with what to do, then what Codex said; in both languages."""
    told = StringIO()
    TurnPrinter(told, told, texts).show_failure(ending(name), "01a1")
    first, *rest = told.getvalue().rstrip("\n").split("\n")

    assert first == texts["failed"].format(reason=texts.group("failure_reasons")[REASONS[name]])
    assert [] == [line for line in rest if not line.startswith("  ")]


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_retries_are_recognised(name: str) -> None:
    """From the first such trouble on the time is limited."""
    assert any(isinstance(event, Reconnecting) and is_waiting_for_network(event.text) for event in events(name))


@pytest.mark.parametrize("name", sorted(set(REASONS) - {"conn_refused_bounded"}))
def test_other_troubles_are_left_to_codex(name: str) -> None:
    """Retries that come to an end by themselves are not cut short."""
    assert [] == [
        event for event in events(name) if isinstance(event, Reconnecting) and is_waiting_for_network(event.text)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a tool said: unexpected status 401",
        "Quota exceeded.",
        "the model said Connection failed: x",
        "unexpected status 4012",
        "Incomplete response returned, reason: max_output_tokens",
    ],
)
def test_a_sentence_that_is_not_known_is_left_alone(text: str) -> None:
    """Only the beginning of a known sentence counts; the user then reads what Codex says."""
    assert Failed(FailureReason.TURN_FAILED, text) == classify_failure(Failed(FailureReason.TURN_FAILED, text))


@pytest.mark.parametrize("text", ['{"error": {}}', '{"type": "error", "error": {"message": "x"}}', '\n {\n"error":1}'])
def test_the_body_of_a_400_is_a_bad_request(text: str) -> None:
    """Codex hands it on as it came."""
    assert FailureReason.BAD_REQUEST is classify_failure(Failed(FailureReason.TURN_FAILED, text)).reason


@pytest.mark.parametrize("why", [why for why in FailureReason if why is not FailureReason.TURN_FAILED])
def test_a_reason_that_is_known_is_kept(why: FailureReason) -> None:
    """A text does not overrule what the transport knows."""
    assert Failed(why, "Connection failed: x") == classify_failure(Failed(why, "Connection failed: x"))


@given(st.text())
def test_why_of_is_total(text: str) -> None:
    """Whatever Codex says, there is a reason."""
    assert classify_failure(Failed(FailureReason.TURN_FAILED, text)).reason in FailureReason


REJECTED = [
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
OTHER_FAILURES = [
    "",
    "mock error 400",
    "The model 'gpt-9' does not exist",
    "Invalid schema for function 'x'",
    "Unsupported value: 'reasoning.effort'",
    "Your input exceeds the context window of this model.",
]


@pytest.mark.parametrize("text", REJECTED)
def test_a_history_that_is_out_of_order(text: str) -> None:
    """What providers say of a conversation that they will never take."""
    assert is_rejected_history(text)


@pytest.mark.parametrize("text", OTHER_FAILURES)
def test_other_refusals(text: str) -> None:
    """A request that is wrong by itself would be so in a new thread, too."""
    assert not is_rejected_history(text)
