"""Measure whether what a prompt names comes first: the file in the search, the definition in the block.

    python -m benchmarks.localization.named [TREES] [--per-kind N] [--state FOLDER | --scan] [--seed N] [--misses N]
        [--kinds path,symbol] [--quick]

The cases are generated: for each repository in ``TREES`` (one tree of each; without trees, the sample), files and
definitions that are drawn at random, in prompts of varied wording, in English and Chinese. A name that occurs once in
the tree's files (a base name) or definitions (a symbol) is unique; a symbol that is an ordinary word is marked as a
name by the prompt. "First" is the first file of the block; "shown": the first lines of the definition are in it.
``--state`` keeps the indexes for another run, ``--scan`` searches without an index.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from turns import application

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.adapters.code.syntax.parse import parse_source
from upbeat.adapters.code.syntax.parsed_file import Definition
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.git.commands import list_files
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.engine.pipeline import Runtime, TurnRequest, prepare_turn
from upbeat.core.journal.stats import wilson_interval
from upbeat.core.prompt.phrases import words
from upbeat.core.sanitize.truncate import TextLimit

from .block import PATIENCE, PatientRunner, read_block
from .trees import open_cases

CHARS = 9800
MAX_LINES = 200
"""Longest definition that is asked for."""
SHOWN_LINES = 5
MIN_SYMBOL_CHARS = 4
KINDS = ("path", "base", "symbol", "word", "owner", "line", "url", "trace", "two")

TEMPLATES = {
    "file": (
        "explain {x}",
        "what does {x} do?",
        "please clean up `{x}`, it has grown too long",
        "why is {x} so slow when the input is large?",
        "add type hints to {x}",
        "there is a bug somewhere in {x}: the second call returns a stale value",
        "I don't understand the error handling in `{x}`. Walk me through it and tell me who relies on it.",
        "refactor {x} and keep its tests green",
        "{x} fails on Windows",
        "解释一下 {x} 是做什么的",
        "{x} 里的逻辑有点乱，帮我重构一下",
        "为什么 `{x}` 在数据量大的时候很慢？",
        "给 {x} 补上类型注解和注释",
        "看看{x}有没有内存泄漏",
    ),
    "symbol": (
        "where is {x} defined?",
        "explain {x}",
        "what does `{x}` return when the input is empty?",
        "who calls {x} and why?",
        "{x} raises for an empty list, fix it",
        "add a timeout parameter to `{x}`",
        "rename {x} to something clearer and update every caller",
        "I think {x} is called twice for one request, can you check?",
        "how does {x} decide which value wins when two options conflict?",
        "{x} 在哪里定义的？",
        "解释一下 {x} 的实现",
        "`{x}` 为什么会返回空值？",
        "给 {x} 加一个超时参数",
        "{x} 被谁调用？修改它会影响什么？",
    ),
    "word": (
        "what does `{x}` do?",
        "explain the {x} {kind}",
        "where is {x}() defined?",
        "the {x} {kind} returns the wrong value, fix it",
        "refactor `{x}` so that it is easier to test",
        "{x}() is slow for large inputs, why?",
        "解释一下 {x} {zh_kind}",
        "`{x}` 是在哪里实现的？",
        "{x}() 为什么这么慢？",
    ),
    "line": (
        "what happens at {x}?",
        "why does {x} not handle None?",
        "I get an exception at `{x}`, what is wrong?",
        "look at {x} and simplify that function",
        "{x} 这一行是什么意思？",
        "{x} 报错了，帮我看看",
    ),
    "two": (
        "how do {x} and {y} work together?",
        "compare `{x}` with `{y}`",
        "should {x} use {y} instead of its own code?",
        "{x} 和 {y} 有什么区别？",
    ),
    "trace": (
        "fix this:\n\n{x}",
        "{x}\n\nwhy does this happen?",
        "I get this when I run it twice:\n\n```\n{x}\n```\n\nwhat is wrong?",
        "运行的时候报错了：\n\n{x}",
    ),
}
URL = "https://github.com/{repo}/blob/{ref}/{path}#L{start}-L{end}"


@dataclass(frozen=True, slots=True)
class Named:
    """A thing of a repository: a file, a definition in it, or a ``line`` of the definition."""

    path: str
    definition: Definition | None = None
    line: int = 0

    def wanted_lines(self) -> set[int]:
        """Return the lines that a block should show: the line, or the first ones of the definition."""
        if self.line or self.definition is None:
            return {self.line} - {0}
        start = self.definition.start_line
        return {*range(start, min(self.definition.end_line + 1, start + SHOWN_LINES))}


@dataclass(frozen=True, slots=True)
class NamedCase:
    """A prompt and what it names, in order."""

    kind: str
    prompt: str
    things: tuple[Named, ...]


class Inventory:
    """The files and definitions of one tree that a prompt can name."""

    def __init__(self, tree: Path) -> None:
        self.repo = tree.name.rpartition("-")[0].replace("+", "/")
        files = list_files(str(tree), threading.Event(), PATIENCE).files
        self.sources = [path for path in files if classify_file(path).role is FileRole.SOURCE and path.isascii()]
        bases = Counter(path.rpartition("/")[2].lower() for path in files)
        self.unique_bases = [
            path
            for path in self.sources
            if bases[path.rpartition("/")[2].lower()] == 1 and "." in path.rpartition("/")[2]
        ]
        parsed = {
            path: parse_source(path, (tree / path).read_bytes(), threading.Event()).definitions
            for path in files
            if classify_file(path).language and (tree / path).is_file()
        }
        names = Counter(item.name.lower() for definitions in parsed.values() for item in definitions)
        symbols = Counter(item.symbol.lower() for definitions in parsed.values() for item in definitions)
        all_items = [
            Named(path, item)
            for path in self.sources
            for item in parsed.get(path, ())
            if len(item.name) >= MIN_SYMBOL_CHARS
            and re.fullmatch(r"[A-Za-z_]\w*", item.name, re.ASCII)
            and item.end_line - item.start_line < MAX_LINES
        ]
        self.definitions = [item for item in all_items if item.definition and not item.definition.parent]
        unique = [item for item in all_items if item.definition and names[item.definition.name.lower()] == 1]
        self.symbols = [item for item in unique if item.definition and _is_identifier(item.definition.name)]
        self.words = [
            item
            for item in unique
            if item.definition
            and not _is_identifier(item.definition.name)
            and item.definition.name.lower() not in words("non_name")
        ]
        self.owned = [
            item
            for item in all_items
            if item.definition
            and re.fullmatch(r"[A-Z]\w*", item.definition.parent)
            and names[item.definition.name.lower()] > 1
            and symbols[item.definition.symbol.lower()] == 1
        ]


def _is_identifier(name: str) -> bool:
    """Whether no ordinary word looks like ``name``."""
    bare = name.strip("_")
    return "_" in bare or bool(re.search(r"[a-z0-9][A-Z]", bare))


def generate_cases(inventory: Inventory, per_kind: int, seed: int) -> Iterator[NamedCase]:
    """Yield up to ``per_kind`` cases of each kind; the same seed gives the same cases."""
    pools = {
        "path": inventory.sources,
        "base": inventory.unique_bases,
        "symbol": inventory.symbols,
        "word": inventory.words,
        "owner": inventory.owned,
        "line": inventory.definitions,
        "url": inventory.definitions,
        "trace": inventory.definitions,
        "two": inventory.symbols,
    }
    for kind in KINDS:
        random_source = random.Random(f"{seed} {inventory.repo} {kind}")
        pool = [item if isinstance(item, Named) else Named(item) for item in pools[kind]]
        for thing in random_source.sample(pool, min(per_kind, len(pool))):
            others = [item for item in random_source.sample(pool, min(4, len(pool))) if item.path != thing.path]
            if others or kind not in ("two", "trace"):
                yield make_case(kind, thing, others, inventory.repo, random_source)


def make_case(kind: str, thing: Named, others: list[Named], repo: str, random_source: random.Random) -> NamedCase:
    """Return a prompt of ``kind`` that names ``thing``."""
    definition, path = thing.definition, thing.path
    if definition and kind in ("line", "url", "trace"):
        thing = replace(thing, line=random_source.randint(definition.start_line, definition.end_line))
    things = (thing, others[0]) if kind == "two" else (thing,)
    names = {"y": others[0].definition.name if kind == "two" and others[0].definition else ""}
    family = {"path": "file", "base": "file", "owner": "symbol", "url": "line"}.get(kind, kind)
    if definition is None:
        names["x"] = path if kind == "path" else path.rpartition("/")[2]
    elif kind in ("line", "url"):
        line = thing.line
        url = URL.format(
            repo=repo, ref=random_source.choice(("main", "v2.1", "5f1c0de")), path=path, start=line, end=line + 2
        )
        names["x"] = url if kind == "url" else f"{path}:{line}"
    elif kind == "trace":
        names["x"] = make_trace(thing, others[:2])
    else:
        names["x"] = definition.symbol if kind == "owner" else definition.name
        is_class = definition.kind in ("class", "struct", "interface")
        names |= {"kind": "class" if is_class else "function", "zh_kind": "类" if is_class else "函数"}
    return NamedCase(kind, random_source.choice(TEMPLATES[family]).format(**names), things)


def make_trace(thing: Named, outer: list[Named]) -> str:
    """Return a stack trace, as the language prints it, that ends in ``thing``."""
    frames = [
        (item.path, item.definition.name, item.line or item.definition.start_line)
        for item in (thing, *outer)
        if item.definition
    ]
    match classify_file(thing.path).language:
        case "python":
            lines = [f'  File "/srv/app/{path}", line {line}, in {name}\n    run()' for path, name, line in frames]
            return "\n".join(["Traceback (most recent call last):", *reversed(lines), "ValueError: invalid value"])
        case "javascript":
            lines = [f"    at {name} (/srv/app/{path}:{line}:5)" for path, name, line in frames]
            return "\n".join(["TypeError: x is not a function", *lines])
        case "go":
            lines = [f"main.{name}(0x1)\n\t/srv/app/{path}:{line} +0x1d" for path, name, line in frames]
            return "\n".join(["panic: runtime error: index out of range", "", "goroutine 1 [running]:", *lines])
        case "rust":
            path, _name, line = frames[0]
            return f"thread 'main' panicked at {path}:{line}:9:\nindex out of bounds"
        case _:
            lines = [f"#{n}  {name} (a=1) at {path}:{line}" for n, (path, name, line) in enumerate(frames)]
            return "\n".join(["Program received signal SIGSEGV, Segmentation fault.", *lines])


def ask(case: NamedCase, tree: Path, runtime: Runtime) -> tuple[bool, bool, str]:
    """Return whether the things named come first in the block, whether they are shown, and the block."""
    source = EventSource(ClientName.CLAUDE_CODE, str(tree.resolve()))
    report = prepare_turn(TurnRequest(source, case.prompt, cap=TextLimit(CHARS)), runtime)
    text = report.fused_context.for_model.additional_context
    block = read_block(text)
    is_first = tuple(block.files[: len(case.things)]) == tuple(thing.path for thing in case.things)
    is_shown = all(thing.wanted_lines() <= block.lines[thing.path] for thing in case.things)
    return is_first, is_shown, text


def make_runtime(home: Path, index_manager: IndexManager | None) -> Runtime:
    """Return upbeat with ``home`` as home; it looks up every prompt, because the gate is measured elsewhere."""
    runtime = application(home, CI_AUTO_TOOLS="on").runtime
    return replace(runtime, runner=PatientRunner(EmbeddedProvider(PATIENCE, index_manager), SystemClock()))


def select_trees(trees: Path) -> list[Path]:
    """Return one tree of each repository."""
    by_repo: dict[str, Path] = {}
    for tree in sorted(path for path in trees.iterdir() if path.is_dir()):
        by_repo.setdefault(tree.name.rpartition("-")[0], tree)
    return list(by_repo.values())


def print_miss(case: NamedCase, repo: str, result: str, text: str) -> None:
    """Print a case whose block does not begin with what the prompt names."""
    things = ", ".join(f"{item.path}::{item.definition.symbol if item.definition else ''}" for item in case.things)
    print(f"--- {case.kind} {repo} {things}: {result}\n{case.prompt[:400]}\n{text[:900]}\n")


def print_table(results: dict[tuple[str, str], list[tuple[bool, bool]]]) -> None:
    """Print how many are first and shown, by kind and by repository."""
    print("| what | cases | first | shown |\n|---|---:|---:|---:|")
    groups: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for (kind, repo), rows in results.items():
        for group in (kind, repo, "~all"):
            groups[group] += rows
    for group, rows in sorted(groups.items(), key=lambda item: (item[0] not in KINDS, item[0])):
        cells = []
        for hits in (sum(first for first, _ in rows), sum(shown for _, shown in rows)):
            rate = wilson_interval(hits, len(rows))
            cells.append(f"{100 * hits / len(rows):.1f} [{100 * rate.low:.0f}-{100 * rate.high:.0f}]")
        print(f"| {group.lstrip('~')} | {len(rows)} | {' | '.join(cells)} |")


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trees", type=Path, nargs="?")
    parser.add_argument("--per-kind", type=int, default=12, help="cases of each kind and repository")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS), help="only these kinds")
    parser.add_argument("--only", default="", help="only repositories with this text in their name")
    parser.add_argument("--state", type=Path, help="where indexes are kept; default: a temporary folder")
    parser.add_argument("--scan", action="store_true", help="search without an index")
    parser.add_argument(
        "--misses", type=int, default=0, help="print this many blocks where the thing named is not first or shown"
    )
    parser.add_argument("--quick", action="store_true", help="one case of each kind")
    options = parser.parse_args()
    options.per_kind = 1 if options.quick else options.per_kind
    return options


def main() -> None:
    """Generate the cases, prepare their turns, print the table."""
    options = read_options()
    results: dict[tuple[str, str], list[tuple[bool, bool]]] = defaultdict(list)
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _cases, trees = stack.enter_context(open_cases(options.trees, options.trees))
        manager = IndexManager(None if options.scan else options.state or home)
        runtime = make_runtime(home, manager)
        for tree in select_trees(trees):
            if options.only not in tree.name:
                continue
            if not options.scan:
                manager.build(str(tree.resolve()))
            inventory = Inventory(tree)
            for case in generate_cases(inventory, options.per_kind, options.seed):
                if case.kind not in options.kinds.split(","):
                    continue
                is_first, is_shown, text = ask(case, tree, runtime)
                results[case.kind, inventory.repo].append((is_first, is_shown))
                if not (is_first and is_shown) and options.misses > 0:
                    options.misses -= 1
                    print_miss(case, inventory.repo, f"first {is_first}, shown {is_shown}", text)
        manager.close()
    print_table(results)


if __name__ == "__main__":
    main()
