"""Measure which prompts are looked up and which stay silent, and fit the weights that decide it.

    python -m benchmarks.gate [PROMPTS.jsonl TREES] [--state FOLDER] [--losses] [--fit] [--quick]

Every prompt goes through the real pipeline (``prepare_turn`` with an index) in its repository; it is looked up
unless the gate says that there is nothing to say; the repository may still have nothing to show. A row is
``{"id", "prompt", "lang", "label", "repo"}`` with the label ``code`` or ``everyday``; the tree of ``sample/shop`` is
made here, that of another repository is the newest ``TREES/OWNER+NAME-*``; a row without a repository (a follow-up)
only serves the fit. The default is the sample's part of ``gate_prompts.jsonl``. ``--state`` keeps the indexes for the
next run.

``--fit`` writes ``core/prompt/word_weights.tsv`` and ``evidence_weights.tsv``: two logistic models with a quadratic
penalty. The first weighs the words of all prompts, of the questions in ``localization/questions/dev.jsonl`` and of the
prompts in the tests. The second weighs the first one's
log odds, always from a model that has not seen the prompt, and the evidence of the index; every everyday prompt is
asked in several repositories. It prints what a five-fold cross-validation finds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import subprocess
import tempfile
import textwrap
import threading
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from case_files import read_cases
from repositories import make_repository

from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.code.query.first_look import collect_evidence
from upbeat.adapters.code.query.parse_query import parse_search_query
from upbeat.adapters.code.query.posting_source import IndexSource
from upbeat.adapters.code.query.retrieval import retrieve
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import Application, build_application
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.engine.pipeline import TurnRequest, prepare_turn
from upbeat.core.prompt import gate
from upbeat.core.prompt.analysis import Intent, PromptAnalysis
from upbeat.core.prompt.classify import analyze_prompt, find_word_features

from . import ROOT, TESTS
from .intent import PROMPTS, labelled

ROWS = Path(__file__).with_name("gate_prompts.jsonl")
QUESTIONS = ROOT / "benchmarks/localization/questions/dev.jsonl"
CASES = TESTS / "core/prompt/classify_cases.tsv"
SAMPLE = "sample/shop"
CODE = "code"
FOLDS = 5
LOSSES = {LimitCode.NOT_ABOUT_CODE: "words", LimitCode.NOTHING_TO_SAY: "first look"}
"""Limits that say why the gate stayed silent."""

MIN_PROMPTS = 2
"""Prompts that a word must occur in for a weight."""

WORD_PENALTY, EVIDENCE_PENALTY = 0.05, 1.0
MIN_WEIGHT = 0.15
"""Weights of words below this are not written."""

SPREAD = 5
"""An everyday prompt is asked in every fifth repository."""

MAX_FALSE_ALARMS, MAX_WORD_FALSE_ALARMS = 0.06, 0.08
"""Shares of everyday prompts that may be looked up, and with the words alone: the constants are set so."""

Row = dict[str, Any]
Features = list[list[float]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a prompt: where the gate lost it ("": it was looked up), and whether the turn injects anything."""

    row: Row
    loss: str
    has_block: bool

    @property
    def is_right(self) -> bool:
        """Whether a prompt about code was looked up, or an everyday prompt stayed silent."""
        return not self.loss if self.row["label"] == CODE else not self.has_block


# --- trees and prompts ---


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """Return the rows of all ``paths``. The questions of ``localization`` are prompts about code."""
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [row if "prompt" in row else row | {"prompt": row["question"], "label": CODE} for row in rows]


def newest_tree(trees: Path, repo: str) -> Path | None:
    """Return the tree of ``repo`` with the latest commit."""

    def committed(tree: Path) -> int:
        command = ["git", "-C", str(tree), "log", "-1", "--format=%ct"]
        return int(subprocess.run(command, capture_output=True, text=True).stdout or 0)

    return max(sorted(trees.glob(f"{repo.replace('/', '+')}-*")), key=committed, default=None)


@contextlib.contextmanager
def open_application(state: Path | None) -> Iterator[tuple[Application, Path]]:
    """Yield an application with an index below ``state``, and a folder for the sample repository."""
    with tempfile.TemporaryDirectory() as folder:
        home = str(state or folder)
        variables = {"HOME": home, "XDG_STATE_HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin"}
        application = build_application(read_environment(variables), is_long_lived=True)
        try:
            yield application, make_repository(Path(folder) / "shop")
        finally:
            application.close()


def index_trees(rows: Iterable[Row], trees: Path | None, sample: Path, application: Application) -> dict[str, str]:
    """Return the indexed tree of each repository of ``rows`` that is there."""
    found: dict[str, str] = {}
    for repo in sorted({row["repo"] for row in rows if row["repo"]}):
        tree = sample if repo == SAMPLE else newest_tree(trees, repo) if trees else None
        if tree:
            found[repo] = str(tree.resolve())
            assert application.index_manager
            application.index_manager.build(found[repo])
    return found


# --- the measurement ---


def ask(row: Row, tree: str, application: Application) -> Outcome:
    """Prepare the turn of ``row``."""
    request = TurnRequest(EventSource(ClientName.CLAUDE_CODE, tree), row["prompt"])
    report = prepare_turn(request, application.runtime)
    loss = next((LOSSES[LimitCode(limit.code)] for limit in report.limits if limit.code in LOSSES), "")
    return Outcome(row, loss, bool(report.fused_context.for_model.additional_context))


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the share of prompts with the right outcome, by label and script, and by label and repository."""
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        for name in ("all", outcome.row["lang"], outcome.row["repo"]):
            groups[outcome.row["label"], name].append(outcome)
    lines = ["| label | of | prompts | looked up | with a block | right % |", "|---|---|---:|---:|---:|---:|"]
    for (label, name), members in sorted(groups.items()):
        found, blocks = sum(not outcome.loss for outcome in members), sum(outcome.has_block for outcome in members)
        right = 100 * sum(outcome.is_right for outcome in members) / len(members)
        lines.append(f"| {label} | {name} | {len(members)} | {found} | {blocks} | {right:.1f} |")
    return "\n".join(lines)


def losses(outcomes: Iterable[Outcome]) -> str:
    """Return where prompts about code were lost, and how often."""
    counts = Counter(
        outcome.loss or "an empty block"
        for outcome in outcomes
        if outcome.row["label"] == CODE and not outcome.has_block
    )
    return "prompts about code that get nothing: " + (", ".join(f"{n} by {loss}" for loss, n in counts.most_common()))


# --- the fit ---


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt in one repository: its words, and the evidence there; ``weight`` is shared among the repositories."""

    prompt: str
    words: frozenset[str]
    evidence: gate.Evidence
    is_code: bool
    weight: float

    @property
    def fold(self) -> int:
        """The part of the cross-validation that leaves this prompt out."""
        return zlib.crc32(self.prompt.encode()) % FOLDS


def evidence_of(analysis: PromptAnalysis, tree: str, application: Application) -> gate.Evidence:
    """Return what the first look finds in ``tree``."""
    never = threading.Event()
    query = parse_search_query(analysis.query, analysis.targets.files, analysis.targets.symbols)
    assert application.index_manager
    with application.index_manager.open_view(tree) as view:
        assert view
        source = IndexSource(WorkingTree(tree, SourceCache(0)), view, query, never)
        return collect_evidence(source, analysis.query, query, retrieve(source, query, never))


def collect_examples(rows: Iterable[Row], trees: Mapping[str, str], application: Application) -> list[Example]:
    """Return the examples of those prompts that show no code."""
    examples: dict[tuple[str, str], Example] = {}
    for number, row in enumerate(rows):
        analysis, prompt, is_code = analyze_prompt(row["prompt"]), row["prompt"], row["label"] == CODE
        if analysis.prior is None:
            continue
        repos = [row["repo"]] if is_code else sorted(trees)[number % SPREAD :: SPREAD]
        for repo in repos if analysis.query else ():
            if repo in trees:
                evidence = evidence_of(analysis, trees[repo], application)
                examples[prompt, repo] = Example(prompt, find_word_features(prompt), evidence, is_code, 1 / len(repos))
    return list(examples.values())


def fit_words(prompts: Iterable[tuple[frozenset[str], bool]]) -> dict[str, float]:
    """Return the weight of each word that occurs in enough prompts; the constant has no name."""
    prompts = list(prompts)
    counts = Counter(word for words, _ in prompts for word in words)
    known = {word for word, count in counts.items() if count >= MIN_PROMPTS}
    weights = dict.fromkeys(sorted(known), 0.0)
    squares = dict.fromkeys(weights, 1.0)
    constant = 0.0
    for _round in range(60):
        for words, is_code in prompts:
            present = sorted(words & known)
            error = is_code - 1 / (1 + math.exp(-max(-30.0, min(30.0, constant + sum(weights[w] for w in present)))))
            constant += 0.02 * error
            for word in present:
                gradient = error - WORD_PENALTY * weights[word]
                squares[word] += gradient * gradient
                weights[word] += 0.1 * gradient / math.sqrt(squares[word])
    return {gate.CONSTANT: constant} | weights


def solve(matrix: Features, values: Sequence[float]) -> list[float]:
    """Return the solution of a system of linear equations, by elimination."""
    size = len(values)
    rows = [[*row, value] for row, value in zip(matrix, values, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda number: abs(rows[number][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for other in range(size):
            if other != column and rows[other][column]:
                factor = rows[other][column] / rows[column][column]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[column], strict=True)]
    return [rows[number][size] / rows[number][number] for number in range(size)]


def fit_logistic(features: Features, labels: Sequence[bool], importance: Sequence[float]) -> list[float]:
    """Return the weights of a logistic model, by Newton's method; the first feature is the constant."""
    size = len(features[0])
    weights = [0.0] * size
    for _round in range(15):
        gradient = [-EVIDENCE_PENALTY * weight for weight in weights]
        curvature = [[EVIDENCE_PENALTY * (i == j) for j in range(size)] for i in range(size)]
        gradient[0], curvature[0][0] = 0.0, 1e-6
        for row, label, share in zip(features, labels, importance, strict=True):
            odds = sum(a * b for a, b in zip(row, weights, strict=True))
            chance = 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
            slope = share * max(chance * (1 - chance), 1e-6)
            for i in range(size):
                gradient[i] += share * (label - chance) * row[i]
                scaled = slope * row[i]
                curvature[i] = [c + scaled * value for c, value in zip(curvature[i], row, strict=True)]
        weights = [a + max(-3.0, min(3.0, b)) for a, b in zip(weights, solve(curvature, gradient), strict=True)]
    return weights


def threshold(odds: Sequence[float], examples: Sequence[Example], max_share: float) -> float:
    """Return the odds that ``max_share`` of the everyday examples exceed."""
    everyday = sorted(((o, e.weight) for o, e in zip(odds, examples, strict=True) if not e.is_code), reverse=True)
    rest = max_share * sum(weight for _, weight in everyday)
    for value, weight in everyday:
        rest -= weight
        if rest < 0:
            return value + 1e-6
    return 0.0


def fit(examples: list[Example], further: list[tuple[frozenset[str], bool]]) -> tuple[dict[str, float], list[float]]:
    """Return the weights of words, and those of the evidence; print the cross-validated result."""
    by_prompt = {example.prompt: example for example in examples}

    def words_without(fold: int | None) -> dict[str, float]:
        return fit_words([*((e.words, e.is_code) for e in by_prompt.values() if e.fold != fold), *further])

    by_fold = [words_without(fold) for fold in range(FOLDS)]
    unseen = list(by_prompt.values())
    center = threshold([gate.weigh_words(e.words, by_fold[e.fold]) for e in unseen], unseen, MAX_WORD_FALSE_ALARMS)
    for weights_of_words in by_fold:
        weights_of_words[gate.CONSTANT] -= center
    features = [[1.0, gate.weigh_words(e.words, by_fold[e.fold]), *astuple(e.evidence)] for e in examples]
    odds = [0.0] * len(examples)
    for fold in range(FOLDS):
        kept = [number for number, example in enumerate(examples) if example.fold != fold]
        weights = fit_logistic(
            [features[n] for n in kept], [examples[n].is_code for n in kept], [examples[n].weight for n in kept]
        )
        for number, example in enumerate(examples):
            if example.fold == fold:
                odds[number] = sum(a * b for a, b in zip(features[number], weights, strict=True))
    limit = threshold(odds, examples, MAX_FALSE_ALARMS)
    found = [odd >= limit for odd, example in zip(odds, examples, strict=True) if example.is_code]
    print(f"{len(by_prompt)} prompts, {len(examples)} examples; at {100 * MAX_FALSE_ALARMS:.1f} % false alarms")
    print(f"cross-validated: {100 * sum(found) / len(found):.1f} % of {len(found)} prompts about code are looked up")
    weights = fit_logistic(features, [e.is_code for e in examples], [e.weight for e in examples])
    weights[0] -= limit
    words = words_without(None)
    words[gate.CONSTANT] -= center
    return words, weights


def write_weights(name: str, comment: str, weights: Mapping[str, float], precision: int) -> None:
    """Write a table of weights beside the module that reads it: a row has a weight, and names between commas."""
    names: dict[str, list[str]] = defaultdict(list)
    for key, weight in weights.items():
        names[f"{weight:.{precision}f}"].append(key)
    rows = [
        f"{weight}\t{row}"
        for weight, group in sorted(names.items(), key=lambda item: float(item[0]))
        for row in textwrap.wrap(", ".join(group), 110, break_on_hyphens=False)
    ]
    (ROOT / "core/prompt" / name).write_text("\n".join([f"# {comment}", *rows, ""]), encoding="utf-8")


def read_further_prompts(rows: Iterable[Row]) -> list[tuple[frozenset[str], bool]]:
    """Return the words of prompts without a repository, here and in the tests, and whether they are about code."""
    prompts = [(row["prompt"], row["label"] == CODE) for row in rows if not row["repo"]]
    prompts += [(prompt, intent is not Intent.NONE) for intent, prompt in labelled(PROMPTS / "labelled.tsv")]
    prompts += [
        (prompt, expected.lstrip("!") != "none")
        for _, expected, prompt in read_cases(CASES)
        if expected not in ("deep", "shallow")
    ]
    return [(find_word_features(prompt), is_code) for prompt, is_code in prompts]


def fit_and_write(rows: list[Row], trees: Mapping[str, str], application: Application) -> None:
    """Fit both tables to ``rows`` and write them."""
    words, evidence = fit(collect_examples(rows, trees, application), read_further_prompts(rows))
    kept = {word: weight for word, weight in words.items() if word == gate.CONSTANT or abs(weight) >= MIN_WEIGHT}
    write_weights("word_weights.tsv", "Log odds of words for code: python -m benchmarks.gate --fit.", kept, 1)
    names = (gate.CONSTANT, "prior", *gate.EVIDENCE_NAMES)
    weights = dict(zip(names, evidence, strict=True))
    write_weights("evidence_weights.tsv", "Weights of gate.Evidence: python -m benchmarks.gate --fit.", weights, 2)


def main() -> None:
    """Print the tables, or fit the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("prompts", nargs="?", type=Path, default=ROWS)
    parser.add_argument("trees", nargs="?", type=Path)
    parser.add_argument("--state", type=Path, help="a folder that keeps the indexes")
    parser.add_argument("--losses", action="store_true", help="print the prompts with the wrong outcome")
    parser.add_argument("--fit", action="store_true", help="write the weights instead of measuring")
    parser.add_argument("--quick", action="store_true", help="only every fourth prompt")
    options = parser.parse_args()
    paths = dict.fromkeys((ROWS, QUESTIONS, options.prompts)) if options.fit else [options.prompts]
    rows = read_rows(paths)[:: 4 if options.quick else 1]
    with open_application(options.state) as (application, sample):
        trees = index_trees(rows, options.trees, sample, application)
        if options.fit:
            fit_and_write(rows, trees, application)
            return
        outcomes = [ask(row, trees[row["repo"]], application) for row in rows if row["repo"] in trees]
    print(table(outcomes))
    print("\n" + losses(outcomes))
    for outcome in outcomes if options.losses else ():
        if not outcome.is_right:
            print(f"{outcome.loss or 'looked up'}: {outcome.row['repo']}: {outcome.row['prompt']}")


if __name__ == "__main__":
    main()
