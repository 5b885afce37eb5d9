"""Measure whether the prepared block names and shows what a bug fix touches, or what answers a question.

    python -m benchmarks.localization.block [CASES.jsonl TREES] [--limit N | --every N] [--chars 9800] [--worst N]
        [--english] [--quick]

Scores the text alone, cut to the client's limit. Cases and trees are those of the module ``run``. The prompt is the
query of the case; the turn is a complete one: whether to look up at all, plan, all planned tools, redaction, rendering.
A turn without a block counts as a miss; the column "silent" says how many there were. A gold function is shown when at
least four fifths of its lines are. In brackets: 95 % confidence intervals (Wilson).
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, fields, replace
from pathlib import Path

from turns import application

from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.adapters.code.syntax.parse import parse_source
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.tool_runner import ThreadRunner
from upbeat.adapters.wiring import build_index_manager
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.contract.report import PlannedTool, ToolRun
from upbeat.core.engine.pipeline import Runtime, TurnRequest, prepare_turn
from upbeat.core.engine.ports import Repository
from upbeat.core.journal.stats import wilson_interval
from upbeat.core.sanitize.truncate import TextLimit

from .cases import Case, case_parser, cases_with_trees, read_case_options
from .run import groups_of
from .trees import open_cases

SHARE_OF_BODY = 0.8
FIRST_FILES = 10
_HEADING = re.compile(r"^(\d+)\. (\S.*?)(?::(\d+)(?:-(\d+))?)?(?: (\S+))? — (.*)$")
_LINE = re.compile(r"^ *(\d+)\| ?(.*)$")
_FURTHER = re.compile(r"^\+ (.*)$")


@dataclass(frozen=True, slots=True)
class Score:
    """One block. All but ``characters`` and ``milliseconds`` lie in 0..1."""

    silent: float
    """Whether there is no block."""
    file_named: float
    """Whether any gold file is named."""
    files_named: float
    first_ten: float
    functions_named: float
    function_shown: float
    """Whether any gold function is shown."""
    functions_shown: float
    lines_shown: float
    waste: float
    characters: float
    milliseconds: float


@dataclass(slots=True)
class Block:
    """What a text names and shows: files in order, names by file, lines by file, and their characters."""

    files: list[str]
    names: dict[str, set[str]]
    lines: dict[str, set[int]]
    line_chars: dict[str, int]
    size: int


def read_block(text: str) -> Block:
    """What the text says, from its lines alone."""
    block = Block([], defaultdict(set), defaultdict(set), defaultdict(int), len(text))
    path = ""
    for line in text.split("\n"):
        if heading := _HEADING.match(line):
            path = heading[2]
            if path not in block.files:
                block.files.append(path)
            block.names[path] |= set(re.findall(r"[A-Za-z_$][\w$]*", f"{heading[5] or ''} {heading[6]}"))
            block.line_chars[path] += len(path)
        elif (further := _FURTHER.match(line)) and path:
            block.names[path] |= set(re.findall(r"[A-Za-z_$][\w$]*", further[1]))
            block.line_chars[path] += len(line) + 1
        elif (shown := _LINE.match(line)) and path:
            block.lines[path].add(int(shown[1]))
            block.names[path] |= set(re.findall(r"[A-Za-z_$][\w$]*", shown[2]))
            block.line_chars[path] += len(line) + 1
    return block


def functions_of(case: Case, tree: Path) -> list[tuple[str, str, range]]:
    """The gold functions of a case with their lines; those that the tree does not have are left out."""
    found = []
    for path, names in case.gold_functions.items():
        data = (tree / path).read_bytes() if (tree / path).is_file() else b""
        definitions = parse_source(path, data, threading.Event()).definitions
        for name in names:
            spans = [one for one in definitions if one.name == name.rpartition(".")[2] and one.symbol.endswith(name)]
            lines = case.gold_lines.get(path, ())
            near = [one for one in spans if any(one.start_line <= line <= one.end_line for line in lines)]
            for one in (near or spans)[:1]:
                found.append((path, one.name, range(one.start_line, one.end_line + 1)))
    return found


def score(case: Case, tree: Path, text: str, milliseconds: float) -> Score:
    """How good ``text`` is for ``case``."""
    block = read_block(text)
    gold = case.gold_files
    named = [path for path in gold if path in block.files]
    functions = functions_of(case, tree)
    shown = [
        len(block.lines[path].intersection(lines)) >= SHARE_OF_BODY * len(lines) for path, _name, lines in functions
    ]
    changed = [(path, line) for path in gold for line in case.gold_lines.get(path, ())]
    useful = sum(block.line_chars[path] for path in named)
    return Score(
        float(not text.strip()),
        float(bool(named)),
        len(named) / len(gold),
        float(any(path in block.files[:FIRST_FILES] for path in gold)),
        _mean([name in block.names[path] for path, name, _lines in functions]),
        float(any(shown)) if functions else float("nan"),
        _mean(shown),
        _mean([line in block.lines[path] for path, line in changed]),
        1 - useful / block.size if block.size else float("nan"),
        block.size,
        milliseconds,
    )


def _mean(values: list[bool]) -> float:
    return statistics.fmean(values) if values else float("nan")


PATIENCE = 30.0
"""Seconds for each tool: this measures what is shown, ``milliseconds`` the time."""


class PatientRunner(ThreadRunner):
    """Lets every tool finish."""

    def run(
        self, tools: tuple[PlannedTool, ...], repository: Repository, deadline: float, at_once: int
    ) -> tuple[ToolRun, ...]:
        """The runs in planned order."""
        patient = tuple(tool.model_copy(update={"timeout_ms": int(PATIENCE * 1000)}) for tool in tools)
        return super().run(patient, repository, deadline + PATIENCE, at_once)


def patient(home: Path) -> Runtime:
    """upbeat with ``home`` as home, and with all the time that its tools want."""
    built = application(home)
    provider = EmbeddedProvider(PATIENCE, build_index_manager(built.environment, can_build=False))
    return replace(built.runtime, runner=PatientRunner(provider, SystemClock()))


def ask(case: Case, prompt: str, tree: Path, runtime: Runtime, chars: int) -> tuple[Score, str]:
    """Prepare the turn of ``prompt`` and score its block."""
    source = EventSource(ClientName.CLAUDE_CODE, str(tree.resolve()))
    start = time.perf_counter()
    report = prepare_turn(TurnRequest(source, prompt, cap=TextLimit(chars)), runtime)
    milliseconds = (time.perf_counter() - start) * 1000
    text = report.fused_context.for_model.additional_context
    return score(case, tree, text, milliseconds), text


def row(name: str, scores: list[Score]) -> str:
    """One line of the table: per cent, then the medians of characters and milliseconds."""
    cells = []
    for column in fields(Score):
        values = [value for one in scores if (value := getattr(one, column.name)) == getattr(one, column.name)]
        if column.name in ("characters", "milliseconds"):
            cells.append(f"{statistics.median(values):.0f}")
        else:
            cells.append(f"{100 * statistics.fmean(values):.1f}" if values else "-")
        if column.name in ("file_named", "function_shown") and values:
            rate = wilson_interval(round(sum(values)), len(values))
            cells[-1] += f" [{100 * rate.low:.0f}-{100 * rate.high:.0f}]"
    return f"| {name} | {len(scores)} | {' | '.join(cells)} |"


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = case_parser((__doc__ or "").splitlines()[0])
    parser.add_argument("--chars", type=int, default=9800, help="the limit of the client")
    parser.add_argument("--english", action="store_true", help="ask Chinese questions in English")
    parser.add_argument("--worst", type=int, default=0, help="print this many blocks that name no gold file")
    return read_case_options(parser)


def main() -> None:
    """Print one row for each repository and one for all; ``--worst`` prints blocks that miss everything."""
    options = read_options()
    results: dict[str, list[Score]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as home, open_cases(options.cases, options.trees) as (cases, trees):
        for case, tree in cases_with_trees(cases, trees, options.limit, options.every):
            prompt = case.english if options.english else case.query
            result, text = ask(case, prompt, tree, patient(Path(home)), options.chars)
            for group in groups_of(case):
                results[group].append(result)
            if not result.file_named and options.worst > 0:
                options.worst -= 1
                print(f"--- {case.id}: {list(case.gold_files)}\n{prompt[:600]}\n{text[:1500]}\n")
    names = " | ".join(column.name.replace("_", " ") for column in fields(Score))
    print(f"| what | cases | {names} |\n|---|---|{'---|' * len(fields(Score))}")
    for name, scores in sorted(results.items(), key=lambda item: (item[0].startswith("all"), item[0])):
        print(row(name, scores))


if __name__ == "__main__":
    main()
