"""How a prompt shows that it is about code."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.core.prompt.classify import analyze_prompt

CASES = read_groups(Path(__file__).with_name("signals_cases.tsv"))


def test_signals() -> None:
    """The signals are the prompt's own words, in order and each once."""
    assert {prompt: expected for prompt, *expected in CASES["signals"]} == {
        prompt: [part for signal in analyze_prompt(prompt).signals for part in (signal.type.value, signal.match)]
        for prompt, *_ in CASES["signals"]
    }


@pytest.mark.parametrize(
    ("prompt", "shows"),
    [
        ("why does parser.py fail", True),
        ("what is get_user for", True),
        ("```python\nx = 1\n```\nwhat is this", True),
        ("ValueError: bad header", True),
        ("where are outdated keys removed", False),
        ("how do I boil an egg", False),
    ],
)
def test_shows_code(prompt: str, shows: bool) -> None:
    """A name, an error and pasted code show that a prompt is about code; words never do, however technical."""
    assert (analyze_prompt(prompt).prior is None) is shows


def test_at_most_twenty() -> None:
    """There are at most twenty signals, each of at most 80 characters."""
    signals = analyze_prompt(" ".join(f"file_{i}.py" for i in range(30))).signals
    assert [signal.match for signal in signals] == [f"file_{i}.py" for i in range(20)]
    assert [len(signal.match) for signal in analyze_prompt("`" + "x_" * 60 + "`").signals] == [80, 80]
