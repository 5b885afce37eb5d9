"""Measure precision and recall of intent detection by the words alone on labelled prompts.

    python -m benchmarks.intent [--misses] [FILE ...]

A file has one prompt per line, ``intent<TAB>prompt`` with ``\\n`` for line ends. The default is the lists of
``tests/recorded/prompts``: the vocabulary was chosen with ``labelled.tsv``; ``held_out.tsv`` was written afterwards.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from upbeat.core.prompt.analysis import Intent
from upbeat.core.prompt.classify import analyze_prompt

from . import TESTS

PROMPTS = TESTS / "recorded/prompts"


def labelled(path: Path) -> list[tuple[Intent, str]]:
    """(intent, prompt) of each line."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [(Intent(intent), prompt.replace("\\n", "\n")) for intent, prompt in rows]


def counted(prompts: list[tuple[Intent, str]]) -> Counter[tuple[Intent, Intent]]:
    """(wanted, understood) and how often."""
    return Counter((wanted, analyze_prompt(prompt).likely_intent) for wanted, prompt in prompts)


def rates(counts: Counter[tuple[Intent, Intent]], of: frozenset[Intent]) -> tuple[float, float]:
    """Precision and recall of the intents ``of`` taken as one."""
    hits = sum(n for (wanted, understood), n in counts.items() if wanted in of and understood in of)
    wanted = sum(n for (one, _), n in counts.items() if one in of)
    understood = sum(n for (_, one), n in counts.items() if one in of)
    return hits / max(understood, 1), hits / max(wanted, 1)


ABOUT_CODE = frozenset(Intent) - {Intent.NONE}


def main() -> None:
    """Print one row for each list and each intent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="default: the lists of tests/recorded/prompts")
    parser.add_argument("--misses", action="store_true", help="print misclassified prompts to stderr")
    parser.add_argument("--quick", action="store_true", help="no effect: this benchmark always takes a few seconds")
    options = parser.parse_args()
    print("| list | intent | prompts | precision | recall |\n|---|---|---:|---:|---:|")
    for path in options.files or sorted(PROMPTS.glob("*.tsv"), reverse=True):
        prompts = labelled(path)
        counts = counted(prompts)
        for name, of in [("about code", ABOUT_CODE), *((one.value, frozenset({one})) for one in Intent)]:
            precision, recall = rates(counts, of)
            there = sum(n for (wanted, _), n in counts.items() if wanted in of)
            print(f"| {path.stem} | {name} | {there} | {100 * precision:.1f} | {100 * recall:.1f} |")
        if options.misses:
            for wanted, prompt in prompts:
                if (understood := analyze_prompt(prompt).likely_intent) is not wanted:
                    print(f"{wanted} taken for {understood}: {prompt!r}", file=sys.stderr)


if __name__ == "__main__":
    main()
