"""How a prompt shows that it is about code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups, read_json_groups

from upbeat.core.prompt.analysis import SignalType
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.prompt.signals import WeightedSignal, is_about_code

CASES = read_groups(Path(__file__).with_name("signals_cases.tsv"))
WEIGHED = read_json_groups(Path(__file__).with_name("signal_weights.jsonl"))


def test_signals() -> None:
    """The signals are the prompt's own words, in order and each once."""
    assert {prompt: expected for prompt, *expected in CASES["signals"]} == {
        prompt: [part for signal in analyze_prompt(prompt).signals for part in (signal.type.value, signal.match)]
        for prompt, *_ in CASES["signals"]
    }


@pytest.mark.parametrize("group", ["enough", "not enough"])
def test_enough(group: str) -> None:
    """One certain signal is enough, or two weak ones with a request, or three; one weak or among other words is not."""
    expected = {prompt: group == "enough" for (prompt,) in CASES[group]}

    assert expected == {prompt: bool(analyze_prompt(prompt).signals) for prompt in expected}


@pytest.mark.parametrize(("weights", "is_request", "enough"), WEIGHED["weighed"])
def test_is_about_code(weights: list[int | list[Any]], is_request: bool, enough: bool) -> None:
    """Non-technical words weigh against words and likely names, never against certain ones."""
    pairs = [weight if isinstance(weight, list) else (weight, f"word:{i}") for i, weight in enumerate(weights)]
    weighted = [WeightedSignal(SignalType.IMPLICIT, 0, 1, weight, word) for weight, word in pairs]

    assert is_about_code(weighted, is_request) is enough


def test_at_most_twenty() -> None:
    """There are at most twenty signals, each of at most 80 characters."""
    signals = analyze_prompt(" ".join(f"file_{i}.py" for i in range(30))).signals
    assert [signal.match for signal in signals] == [f"file_{i}.py" for i in range(20)]
    assert [len(signal.match) for signal in analyze_prompt("`" + "x_" * 60 + "`").signals] == [80, 80]
