"""Measure on a labeled corpus which secrets redaction removes, what harmless text it changes, and what it costs.

    python -m benchmarks.secret_corpus [--classes] [--missed N] [CORPUS.jsonl]

A line of the corpus is a JSON object with ``text``, ``class``, ``group`` (``harmless`` or another) and ``secrets``, the
parts of the text that must go. A secret counts as detected if no part of it with 60 % of its characters remains.
Without a file, ``secret_samples.jsonl`` is read. There the secrets, all of them random, stand backwards between «» in
the text, so that no scanner takes the file for a leak. Prints for each group, with ``--classes`` also for each class,
the share of secrets that are detected, or of harmless texts that are changed, and the processor time for a megabyte.
``--missed`` prints up to N texts of each class that went wrong. Exits with 1 if the samples are below the floor.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from upbeat.core.sanitize.redact import redact

SAMPLES = Path(__file__).with_name("secret_samples.jsonl")
FLOORS = {"vendor": 0.97, "mainstream": 0.97, "other": 0.9}
"""The least share of detected secrets of ``secret_samples.jsonl``."""
MOST_CHANGED = 0.015
"""The greatest share of harmless texts of ``secret_samples.jsonl`` that may be changed."""
BACKWARDS = re.compile("«([^»]*)»")
REMAINING_SHARE = 0.6
"""The share of a secret's characters above which a remaining part gives the secret away."""


class Sample(NamedTuple):
    """A text, the class and the group it belongs to, and its secrets."""

    name: str
    group: str
    text: str
    secrets: tuple[str, ...]


@dataclass
class Tally:
    """The counts of a group or a class: harmless texts and those changed, or secrets and those detected."""

    total: int = 0
    hits: int = 0
    characters: int = 0
    seconds: float = 0.0
    wrong: list[tuple[str, str]] = field(default_factory=list)


def remains(secret: str, redacted: str) -> bool:
    """Return whether a part of ``secret`` that gives it away is in ``redacted``."""
    length = max(1, round(len(secret) * REMAINING_SHARE + 0.499))
    return any(secret[start : start + length] in redacted for start in range(len(secret) - length + 1))


def read_corpus(path: Path) -> Iterator[Sample]:
    """Yield the samples of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            secrets = row.get("secrets")
            if secrets is None:
                secrets = [secret[::-1] for secret in BACKWARDS.findall(row["text"])]
                row["text"] = BACKWARDS.sub(lambda match: match[1][::-1], row["text"])
            yield Sample(row["class"], row["group"], row["text"], tuple(secrets))


def measure(samples: Iterable[Sample]) -> dict[tuple[str, str], Tally]:
    """Redact each sample; return a tally for each group and class."""
    redact("password: warm0up1")
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    for sample in samples:
        tally = tallies[sample.group, sample.name]
        start = time.process_time()
        redacted = redact(sample.text).text
        tally.seconds += time.process_time() - start
        tally.characters += len(sample.text)
        if sample.group == "harmless":
            results = [redacted != sample.text]
        else:
            results = [not remains(secret, redacted) for secret in sample.secrets]
        tally.total += len(results)
        tally.hits += sum(results)
        if any(results) if sample.group == "harmless" else not all(results):
            tally.wrong.append((sample.text, redacted))
    return tallies


def format_row(name: str, tallies: Iterable[Tally]) -> str:
    """Return the table row of tallies taken together."""
    tallies = list(tallies)
    total, hits = sum(t.total for t in tallies), sum(t.hits for t in tallies)
    cost = sum(t.seconds for t in tallies) * 1e9 / max(sum(t.characters for t in tallies), 1)
    return f"| {name} | {total:,} | {hits:,} | {hits / max(total, 1):.1%} | {cost:.0f} |"


def below_floor(tallies: dict[tuple[str, str], Tally]) -> list[str]:
    """Return the groups in which too many secrets remain or too many harmless texts are changed."""
    failed = []
    for group in sorted({group for group, _ in tallies}):
        of_group = [tally for (name, _), tally in tallies.items() if name == group]
        share = sum(t.hits for t in of_group) / sum(t.total for t in of_group)
        if share > MOST_CHANGED if group == "harmless" else share < FLOORS[group]:
            failed.append(f"{group} {share:.1%}")
    return failed


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", nargs="?", type=Path, help="a JSONL file; default: secret_samples.jsonl")
    parser.add_argument("--classes", action="store_true", help="also print a row for each class")
    parser.add_argument("--missed", type=int, default=0, metavar="N", help="print up to N wrong texts of each class")
    parser.add_argument("--quick", action="store_true", help="read secret_samples.jsonl, which is small")
    options = parser.parse_args()
    tallies = measure(read_corpus(options.corpus or SAMPLES))
    print(
        "| group | secrets, or harmless texts | detected, or changed | share | ms per MB |\n|---|---:|---:|---:|---:|"
    )
    for group in sorted({group for group, _ in tallies}):
        print(format_row(group, [t for (g, _), t in tallies.items() if g == group]))
    print(format_row("all secrets", [t for (g, _), t in tallies.items() if g != "harmless"]))
    for (group, name), tally in sorted(tallies.items()):
        if options.classes:
            print(format_row(f"{group}: {name}", [tally]))
        for text, redacted in tally.wrong[: options.missed]:
            print(f"{group}: {name}: {text!r} -> {redacted!r}")
    if options.corpus is None and (failed := below_floor(tallies)):
        sys.exit(f"too many secrets missed or harmless texts changed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
