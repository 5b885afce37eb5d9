"""How a prompt shows that it is about code."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.core.prompt.analysis import SignalType
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.prompt.signals import WeightedSignal, is_about_code

CASES = read_groups(Path(__file__).with_name("signals_cases.tsv"))


def test_signals() -> None:
    """The signals are the prompt's own words, in order and each once."""
    assert {prompt: expected for prompt, *expected in CASES["signals"]} == {
        prompt: [part for signal in analyze_prompt(prompt).signals for part in (signal.type.value, signal.match)]
        for prompt, *_ in CASES["signals"]
    }


def test_enough() -> None:
    """One certain signal is enough; two weak ones are with a request, three are without."""
    assert [] == [prompt for (prompt,) in CASES["enough"] if not analyze_prompt(prompt).signals]


def test_not_enough() -> None:
    """One weak signal is not enough, nor are weak signals among words about something else."""
    assert [] == [prompt for (prompt,) in CASES["not enough"] if analyze_prompt(prompt).signals]


def weighted(*weights: int | tuple[int, str]) -> list[WeightedSignal]:
    pairs = [weight if isinstance(weight, tuple) else (weight, f"word:{i}") for i, weight in enumerate(weights)]
    return [WeightedSignal(SignalType.IMPLICIT, 0, 1, weight, what) for weight, what in pairs]


WEIGHED = [
    ((), True, False),
    ((1,), True, False),
    ((1, 1), False, False),
    ((1, 1), True, True),
    ((1, 1, 1), False, True),
    ((2,), False, True),
    ((2, -1), True, False),
    ((1, 1, 1, -1), True, False),
    ((2, 1, -1), True, True),
    ((3, -1), False, True),
    ((3, -3), True, False),
    ((1, -3, 3), True, False),
    (((3, "file:a"), -3), False, True),
    (((3, "file:a"), -3, 1), False, True),
    (((2, "symbol:a"), -3), True, False),
    (((1, "word:a"), (1, "word:a")), True, False),
]


@pytest.mark.parametrize(("weights", "is_request", "enough"), WEIGHED)
def test_is_about_code(weights: tuple[int | tuple[int, str], ...], is_request: bool, enough: bool) -> None:
    """Non-technical words weigh against words and likely names, never against certain ones."""
    assert is_about_code(weighted(*weights), is_request) is enough


def test_at_most_twenty() -> None:
    """There are at most twenty signals, each of at most 80 characters."""
    signals = analyze_prompt(" ".join(f"file_{i}.py" for i in range(30))).signals
    assert [signal.match for signal in signals] == [f"file_{i}.py" for i in range(20)]
    assert [len(signal.match) for signal in analyze_prompt("`" + "x_" * 60 + "`").signals] == [80, 80]
