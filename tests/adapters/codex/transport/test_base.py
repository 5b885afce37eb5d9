"""Every recorded failure has a reason and a sentence in both languages."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups
from fakes.codex.conversation import CHINESE, ENGLISH
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.exec.events import decode, failure_from_exit
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view.show import TurnPrinter

RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "recorded/codex/exec_errors.json").read_text(encoding="utf-8")
)

CASES = read_groups(Path(__file__).with_name("base_cases.tsv"))
REASONS = {name: base.FailureReason(reason) for name, reason in CASES["recorded"]}
ENDLESS = ("conn_refused", "no_auth_default_provider")
"""Recorded until another process lost patience: Codex itself would not have ended."""


def events(name: str) -> list[base.TurnEvent]:
    """What Codex said on standard output."""
    return [decode(json.dumps(line).encode()) for line in RECORDED[name]["stdout"]]


def ending(name: str) -> base.Failed:
    """How the recorded run ended, as the exec transport tells it."""
    output = events(name)
    if output and isinstance(output[-1], base.Failed):
        return base.classify_failure(output[-1])
    began = any(isinstance(event, base.TurnStarted) for event in output)
    return failure_from_exit(RECORDED[name]["exit_code"], "\n".join(RECORDED[name]["stderr"]), has_begun=began)


def test_every_recording_has_a_reason() -> None:
    """No recorded failure is missing from the table."""
    assert set(RECORDED) == {*REASONS, *ENDLESS}


@pytest.mark.parametrize(("name", "why"), REASONS.items())
def test_recorded_failures_have_a_reason(name: str, why: base.FailureReason) -> None:
    """The messages of recorded failures are classified."""
    assert why is ending(name).reason


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("name", REASONS)
def test_recorded_failures_have_one_sentence(name: str, texts: Texts) -> None:
    """The sentence with the remedy comes first, then what Codex said."""
    output = StringIO()
    TurnPrinter(output, output, texts).show_failure(ending(name), "01a1")
    first, *rest = output.getvalue().rstrip("\n").split("\n")

    assert first == texts["failed"].format(reason=texts.group("failure_reasons")[REASONS[name]])
    assert [] == [line for line in rest if not line.startswith("  ")]


def test_endless_retries_are_recognized() -> None:
    """Only the recordings that would never end wait for the network; retries that end by themselves are left alone."""
    waiting = {
        name
        for name in RECORDED
        for event in events(name)
        if isinstance(event, base.Reconnecting) and base.is_waiting_for_network(event.text)
    }

    assert set(ENDLESS) == waiting


@pytest.mark.parametrize(
    ("group", "reason"),
    [("unknown", base.FailureReason.TURN_FAILED), ("body of a 400", base.FailureReason.BAD_REQUEST)],
)
def test_other_messages(group: str, reason: base.FailureReason) -> None:
    """Only the start of a known message counts, and the body of a 400 is a bad request; the text is kept."""
    for (text,) in CASES[group]:
        assert base.Failed(reason, text) == base.classify_failure(base.Failed(base.FailureReason.TURN_FAILED, text))


@pytest.mark.parametrize("why", [why for why in base.FailureReason if why is not base.FailureReason.TURN_FAILED])
def test_a_known_reason_is_kept(why: base.FailureReason) -> None:
    """The text does not override the reason that the transport knows."""
    assert base.Failed(why, "Connection failed: x") == base.classify_failure(base.Failed(why, "Connection failed: x"))


@given(st.text())
def test_classification_is_total(text: str) -> None:
    """Any text has a reason."""
    assert base.classify_failure(base.Failed(base.FailureReason.TURN_FAILED, text)).reason in base.FailureReason


@pytest.mark.parametrize("is_rejected", [True, False])
def test_a_rejected_history(is_rejected: bool) -> None:
    """A conversation that no provider accepts is recognized; a request that is wrong by itself is another failure."""
    texts = CASES["rejected history" if is_rejected else "other refusal"]

    assert [is_rejected] * len(texts) == [base.is_rejected_history(text) for (text,) in texts]
