"""Why a turn failed: every failure that was recorded has a reason and a sentence, and none waits for ever."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from fakes.codex.workbench import make_workbench
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.auto import exec_transport
from upbeat.adapters.codex.auto.command import Command
from upbeat.adapters.codex.auto.exec_events import decode, diagnose
from upbeat.adapters.codex.auto.failures import sharpened, waits_for_network, why_of
from upbeat.adapters.codex.auto.show import Show
from upbeat.adapters.codex.auto.signals import Signals
from upbeat.adapters.codex.auto.texts import CHINESE, ENGLISH, Texts
from upbeat.adapters.codex.auto.transport import Ask, Event, Failed, Trouble, TurnStarted, Why

RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "recorded/codex/exec_errors.json").read_text(encoding="utf-8")
)

REASONS = {
    "bad_config_syntax": Why.CODEX_CONFIG,
    "bad_config_type": Why.CODEX_CONFIG,
    "conn_refused_bounded": Why.UNREACHABLE,
    "failed_context_length": Why.CONTEXT_FULL,
    "failed_overloaded": Why.PROVIDER,
    "failed_quota": Why.QUOTA,
    "failed_ratelimit": Why.RATE_LIMIT,
    "http_400": Why.BAD_REQUEST,
    "http_401": Why.UNAUTHORIZED,
    "http_403": Why.UNAUTHORIZED,
    "http_404": Why.BAD_REQUEST,
    "http_429": Why.RATE_LIMIT,
    "http_429_retryafter": Why.RATE_LIMIT,
    "http_500": Why.PROVIDER,
    "http_503": Why.PROVIDER,
    "incomplete": Why.TURN,
    "no_env_key": Why.MISSING_KEY,
    "stream_cut": Why.CUT,
}
ENDLESS = ("conn_refused", "no_auth_default_provider")
"""Recorded until somebody lost patience: Codex itself would not have ended."""


def events(name: str) -> list[Event]:
    """What Codex said on standard output."""
    return [decode(json.dumps(line).encode()) for line in RECORDED[name]["stdout"]]


def ending(name: str) -> Failed:
    """How the recorded run ended, as the exec transport tells it."""
    told = events(name)
    if told and isinstance(told[-1], Failed):
        return sharpened(told[-1])
    began = any(isinstance(event, TurnStarted) for event in told)
    return diagnose(RECORDED[name]["exit_code"], "\n".join(RECORDED[name]["stderr"]), began=began)


def test_every_recording_is_judged() -> None:
    """No recorded failure is left out of the table."""
    assert set(RECORDED) == {*REASONS, *ENDLESS}


@pytest.mark.parametrize(("name", "why"), REASONS.items())
def test_recorded_failures_have_a_reason(name: str, why: Why) -> None:
    """What Codex says is read as what it means."""
    assert why is ending(name).why


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("name", REASONS)
def test_recorded_failures_are_told_in_one_sentence(name: str, texts: Texts) -> None:
    """First our sentence with the way out, then what Codex said; in both languages."""
    told = StringIO()
    Show(told, told, texts).failed(ending(name), "01a1")
    first, *rest = told.getvalue().rstrip("\n").split("\n")

    assert first == texts.failed.format(reason=texts.why[REASONS[name]])
    assert [] == [line for line in rest if not line.startswith("  ")]


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_retries_are_recognised(name: str) -> None:
    """From the first such trouble on the time is limited."""
    assert any(isinstance(event, Trouble) and waits_for_network(event.text) for event in events(name))


@pytest.mark.parametrize("name", sorted(set(REASONS) - {"conn_refused_bounded"}))
def test_other_troubles_are_left_to_codex(name: str) -> None:
    """Retries that come to an end by themselves are not cut short."""
    assert [] == [event for event in events(name) if isinstance(event, Trouble) and waits_for_network(event.text)]


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
    """Only the beginning of a known sentence counts; the person then reads what Codex says."""
    assert Failed(Why.TURN, text) == sharpened(Failed(Why.TURN, text))


@pytest.mark.parametrize("text", ['{"error": {}}', '{"type": "error", "error": {"message": "x"}}', '\n {\n"error":1}'])
def test_the_body_of_a_400_is_a_bad_request(text: str) -> None:
    """Codex hands it on as it came."""
    assert Why.BAD_REQUEST is why_of(text)


@pytest.mark.parametrize("why", [why for why in Why if why is not Why.TURN])
def test_a_reason_that_is_known_is_kept(why: Why) -> None:
    """A text does not overrule what the transport knows."""
    assert Failed(why, "Connection failed: x") == sharpened(Failed(why, "Connection failed: x"))


@given(st.text())
def test_why_of_is_total(text: str) -> None:
    """Whatever Codex says, there is a reason."""
    assert why_of(text) in Why


@pytest.mark.parametrize(("idle", "ends"), [(600, True), (0, False)], ids=["by default", "without a limit"])
def test_waiting_for_the_network_comes_to_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, idle: float, ends: bool
) -> None:
    """However long Codex would go on; ``--idle-timeout 0`` lets it."""
    bench = make_workbench(tmp_path / "b", git=False)
    bench.script(
        [{"trouble": "Reconnecting... waiting for network (Connection failed: x)"}, {"sleep": 1.5}, {"say": "x"}]
    )
    monkeypatch.setattr(exec_transport, "UNREACHABLE_SECONDS", 0.3)
    variables = bench.environment(UPBEAT_WRAPPED="1")
    with Signals() as signals:
        transport = exec_transport.ExecTransport(Command("codex"), str(bench.program), variables, signals, idle)
        last = list(transport.send(Ask("hello")))[-1]

    assert (last == Failed(Why.UNREACHABLE)) == ends
    assert [] == bench.processes()
