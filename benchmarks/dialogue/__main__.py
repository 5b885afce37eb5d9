"""Measure which prompts stop a turn and which endings wait for the user, and fit the weights that decide it.

    python -m benchmarks.dialogue [stops|endings [FILE.tsv …]] [--losses] [--quick]
    python -m benchmarks.dialogue fit [--check]

A file has a label, a language and a text between tabs: ``stop``, ``pause`` and ``go``, or ``lazy``, ``waits`` and
``danger``. The default are the rows of this folder, to which the weights are fitted; measure unseen rows to know how
well they do. ``fit`` writes the weights of ``core/dialogue``; ``--check`` only prints what a fit without the rows of a
reader finds on the rows of that reader, for each of them.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from upbeat.core.dialogue.endings import prepare_ending, waits_for_user
from upbeat.core.dialogue.stops import find_stop

from .. import ROOT
from .fit import Texts, fit_weights, score, write_weights

HERE = Path(__file__).parent
MAX_EVERYDAY_ODDS = -1.0
"""An everyday prompt above this may be a stop itself, and does not serve the fit."""

MAX_PROMPT_CHARS = 160
READER_IMPORTANCE = 3.0
"""How much a row of an outside reader counts in a fit, and a short statement, of which readers wrote none; a row of our
own counts 1."""
SHORT_STATEMENTS = "short"
"""The writer that stands for those."""


@dataclass(frozen=True, slots=True)
class Row:
    """A labeled text."""

    label: str
    language: str
    text: str
    writer: str = ""

    @property
    def is_of_reader(self) -> bool:
        """Whether an outside reader wrote it, who had not seen the implementation."""
        return self.writer.startswith("reader")


@dataclass(frozen=True, slots=True)
class Model:
    """A table of weights: the kind of its rows, and which labels it tells from which others."""

    table: str
    kind: str
    positive: frozenset[str]
    negative: frozenset[str]

    def select(self, rows: Iterable[Row]) -> Texts:
        """Return the texts of ``rows`` with these labels."""
        wanted = self.positive | self.negative
        prepare = prepare_ending if self.kind == "endings" else str
        return [
            (
                prepare(row.text),
                row.label in self.positive,
                READER_IMPORTANCE if row.is_of_reader or row.writer == SHORT_STATEMENTS else 1.0,
            )
            for row in rows
            if row.label in wanted
        ]


MODELS = (
    Model("stop_weights.bin", "stops", frozenset({"stop", "pause"}), frozenset({"go"})),
    Model("final_stop_weights.bin", "stops", frozenset({"stop"}), frozenset({"pause"})),
    Model("question_weights.bin", "endings", frozenset({"waits", "danger"}), frozenset({"lazy"})),
    Model("danger_weights.bin", "endings", frozenset({"danger"}), frozenset({"lazy"})),
)
MEASURES: dict[str, Callable[[str], bool]] = {"stops": lambda text: bool(find_stop(text)), "endings": waits_for_user}
EXPECTED = {"stop": True, "pause": True, "go": False, "lazy": False, "waits": True, "danger": True}


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    fields = (line.split("\t") for line in lines if line.strip() and not line.startswith("#"))
    return [Row(row[0], row[1], row[2].replace("\\n", "\n"), *row[3:4]) for row in fields]


def interval(hits: int, count: int) -> str:
    """Return a share in percent, with its 95 % interval after Wilson."""
    if not count:
        return "-"
    share, z = hits / count, 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return f"{100 * share:.1f} % ({100 * max(0.0, middle - half):.1f} to {100 * min(1.0, middle + half):.1f})"


def measure(rows: Sequence[Row], ends: Callable[[str], bool]) -> Iterator[str]:
    """Yield a table: the texts of each label, by language, with which the turn ends."""
    outcomes = [(row, ends(row.text)) for row in rows]
    groups: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row, ended in outcomes:
        for language in ("all", row.language):
            groups[row.label, language].append(ended)
    yield "| label | language | texts | the turn ends | wanted |"
    yield "|---|---|---:|---:|---|"
    for (label, language), ended in sorted(groups.items()):
        wanted = "yes" if EXPECTED[label] else "no"
        yield f"| {label} | {language} | {len(ended)} | {interval(sum(ended), len(ended))} | {wanted} |"


def losses(rows: Sequence[Row], ends: Callable[[str], bool]) -> Iterator[str]:
    """Yield the texts with the wrong outcome."""
    for row in rows:
        if ends(row.text) != EXPECTED[row.label]:
            yield f"{row.label}\t{row.language}\t{row.text!r}"


def read_ordinary_prompts() -> list[tuple[str, str]]:
    """Return the labels and texts of short prompts that were collected for the gate."""
    lines = (ROOT / "benchmarks/gate_prompts.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    return [(row["label"], row["prompt"]) for row in rows if len(row["prompt"]) < MAX_PROMPT_CHARS]


def collect_texts(model: Model, rows: Sequence[Row]) -> Texts:
    """Return what ``model`` is fitted to: ``rows``, and for stops ordinary prompts that are none."""
    texts = list(model.select(rows))
    if "go" not in model.negative:
        return texts
    first = fit_weights(texts, fits=1)
    ordinary = (
        text for label, text in read_ordinary_prompts() if label == "code" or score(text, first) < MAX_EVERYDAY_ODDS
    )
    return [*texts, *((text, False, 1.0) for text in ordinary)]


def cross_validate(model: Model, rows: Sequence[Row], odds: Sequence[float]) -> str:
    """Return the shares of the readers' rows above each of ``odds``, each scored by a fit without its writer."""
    scored: list[tuple[float, bool]] = []
    for reader in sorted({row.writer for row in rows if row.is_of_reader}):
        weights = fit_weights(collect_texts(model, [row for row in rows if row.writer != reader]))
        held = model.select([row for row in rows if row.writer == reader])
        scored += [(score(text, weights), label) for text, label, _ in held]
    lines = [f"{model.table}: {len(scored)} rows of readers"]
    for limit in odds:
        right, wrong = ([value >= limit for value, label in scored if label is wanted] for wanted in (True, False))
        lines.append(
            f"  from {limit:4.1f}: {interval(sum(right), len(right))}, wrongly {interval(sum(wrong), len(wrong))}"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or fit the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", nargs="?", choices=(*MEASURES, "fit"), help="default: measure both")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--losses", action="store_true", help="print the texts with the wrong outcome")
    parser.add_argument("--check", action="store_true", help="only print what a cross-validation finds")
    parser.add_argument("--quick", action="store_true", help="only every twentieth row")
    options = parser.parse_args()
    for model in MODELS if options.kind == "fit" else ():
        rows = read_rows(HERE / f"{model.kind}.tsv")
        if options.check:
            print(cross_validate(model, rows, (-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0)))
        else:
            print(write_weights(model.table, fit_weights(collect_texts(model, rows))))
    for kind, ends in MEASURES.items():
        if options.kind in (kind, None):
            files = options.files or [HERE / f"{kind}.tsv"]
            rows = [row for file in files for row in read_rows(file)][:: 20 if options.quick else 1]
            print("\n".join(losses(rows, ends) if options.losses else measure(rows, ends)))


if __name__ == "__main__":
    main()
