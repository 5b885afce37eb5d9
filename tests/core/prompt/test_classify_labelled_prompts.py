"""Precision and recall on the labelled prompts in three scripts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from upbeat.core.prompt.analysis import Intent

sys.path.insert(0, str(Path(__file__).parents[3]))
from benchmarks.intent import ABOUT_CODE, PROMPTS, counted, labelled, rates

LISTS = {path.stem: labelled(path) for path in sorted(PROMPTS.glob("*.tsv"))}
RECALL = {"labelled": 0.92, "held_out": 0.7}


def test_there_are_enough() -> None:
    """There are at least 400 distinct prompts of every intent, a third of them Chinese."""
    prompts = [prompt for rows in LISTS.values() for _intent, prompt in rows]

    assert len(prompts) >= 400
    assert len(prompts) == len(set(prompts))
    assert set(Intent) == {intent for rows in LISTS.values() for intent, _prompt in rows}
    assert sum(any("\u4e00" <= char <= "\u9fff" for char in prompt) for prompt in prompts) > len(prompts) / 3


@pytest.mark.parametrize("name", LISTS)
def test_precision_and_recall(name: str) -> None:
    """No everyday prompt is classified as being about code; recall of those that are is at least as stated."""
    precision, recall = rates(counted(LISTS[name]), ABOUT_CODE)

    assert 1.0 == precision
    assert recall >= RECALL[name]
