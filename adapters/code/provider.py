"""The embedded tools behind the port ``ToolProvider``: no server, no model, no network.

Law: arguments are checked here before anything is opened, and every failure leaves as ``ToolFailure``.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any

from ...core.contract.codes import ErrorCode
from ...core.contract.finding import ToolOutput
from ...core.errors import ToolFailure
from ...core.ports import Cancellation
from ..local.git import head, list_files
from ..local.git_root import find_root
from ..local.journal_trouble import StorageError
from . import arguments as take
from .arguments import Arguments
from .churn import churn
from .codebase import CodeBase, ParseCache, ScannedCode
from .index_codebase import IndexedCode
from .index_search import Table
from .library import IndexState, Library
from .scan import check, kind_of_cached
from .search import search
from .share import Shared
from .tool_bug_locate import MAX_LIMIT, bug_locate
from .tool_call_chain import DIRECTIONS, call_chain
from .tool_call_chain import MAX_DEPTH as MAX_CHAIN
from .tool_complexity import complexity
from .tool_graph_rag import MAX_BUDGET, MAX_DEPTH, MAX_TOP_K, graph_rag
from .tool_hotspot import MAX_DAYS, MAX_TOP, hotspot
from .tool_impact import MAX_DEPTH as MAX_IMPACT
from .tool_impact import impact
from .tree import MAX_FILE_BYTES, SourceCache

SCAN_SECONDS = 1.1
"""When the first pass has to be over, so that an answer of what was seen leaves inside the tool's two seconds."""

STATUS_SECONDS = 0.4
GRAPH_SECONDS = 1.8
CHAIN_SECONDS = 1.4
BUG_SECONDS = 2.4
IMPACT_SECONDS = 1.4
COMPLEXITY_SECONDS = 0.7
HOTSPOT_SECONDS = 1.4

_STATES = {
    "off": "not indexed: every question reads them",
    "none": "not indexed yet: a question reads them",
    "building": "being indexed: until then a question reads them",
    "partial": "indexed in part: a question reads them",
    "ready": "indexed",
    "too_large": "too large for index.max_mb: every question reads them",
}

_Tool = Callable[[Arguments, str, Cancellation], ToolOutput]


class EmbeddedProvider:
    """Implements ``core.ports.ToolProvider``. Keeps files that it has read while the process lives."""

    def __init__(self, scan_seconds: float = SCAN_SECONDS, library: Library | None = None) -> None:
        """``library`` is what is kept of repositories from one question to the next; without it, nothing is."""
        self._scan_seconds = scan_seconds
        self._library = library
        self._cache = SourceCache()
        self._parses = ParseCache()
        self._shared = Shared()
        self._tools: dict[str, tuple[str, _Tool]] = {
            "ci_index_status": (
                "Says what there is to search, and whether it is indexed.",
                self._index_status,
            ),
            "ci_search": ("Finds the files, symbols and lines that fit a question.", self._search),
            "ci_graph_rag": ("Finds what calls, and is called by, the answer to a question.", self._graph_rag),
            "ci_call_chain": ("Follows the callers and callees of a symbol.", self._call_chain),
            "ci_bug_locate": ("Finds where an error or a stack trace comes from.", self._bug_locate),
            "ci_impact": ("Lists what depends on symbols or files.", self._impact),
            "ci_complexity": ("Measures how complex files and their functions are.", self._complexity),
            "ci_hotspot": ("Ranks the files that change often and are complex.", self._hotspot),
        }

    def tools(self) -> Mapping[str, str]:
        """The names of the tools offered here, each with one sentence."""
        return {name: sentence for name, (sentence, _) in self._tools.items()}

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Run ``tool`` on ``root``. Raises ``ToolFailure``: unavailable, invalid arguments, root, timeout."""
        known = self._tools.get(tool)
        if known is None:
            offered = ", ".join(self._tools)
            raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"there is no tool {tool!r} here; there are {offered}")
        if not os.path.isdir(root):
            raise ToolFailure(ErrorCode.REPO_ROOT, f"{root} is not a folder")
        check(cancelled)
        return known[1](dict(args), os.path.realpath(root), cancelled)

    def _index_status(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        take.nothing_else(args)
        info = find_root(root)
        index = self._library.state(root) if self._library else IndexState("off")
        table = self._library.table(root) if self._library and index.state == "ready" else None
        known: _Listed = _from_table(table, bool(info.worktree)) if table else _from_files(root, cancelled)
        data = {
            "indexed": table is not None,
            "mode": "index" if table else "scan",
            "index": asdict(index),
            "files": known.files,
            "bytes": known.bytes,
            "languages": {name: count for name, count in known.languages.most_common() if name},
            "vcs": "git" if known.by_git else "none",
            "head": head(root),
            "problem": info.problem,
            "max_file_bytes": MAX_FILE_BYTES,
        }
        summary = f"{known.files} files, {_STATES[index.state]}"
        return ToolOutput(summary, (), data, truncated=known.truncated)

    def _search(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        query = take.text(args)
        limit = take.number(args, "limit", MAX_LIMIT)
        files, symbols = take.paths(args, "files", root), take.texts(args, "symbols")
        take.nothing_else(args)
        return self._find(root, query, limit, files, symbols, cancelled)

    def _graph_rag(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        query = take.text(args)
        depth = take.number(args, "depth", MAX_DEPTH)
        budget = take.number(args, "budget", MAX_BUDGET)
        top_k = take.number(args, "top_k", MAX_TOP_K)
        files, symbols = take.paths(args, "files", root), take.texts(args, "symbols")
        take.nothing_else(args)
        started = monotonic()
        found = self._find(root, query, MAX_LIMIT, files, symbols, cancelled)
        seconds = GRAPH_SECONDS - (monotonic() - started)
        return self._with_code(root, cancelled, seconds, lambda code: graph_rag(code, found, depth, budget, top_k))

    def _call_chain(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        symbol = take.text(args, "symbol", most=200)
        direction = take.choice(args, "direction", DIRECTIONS)
        depth = take.number(args, "depth", MAX_CHAIN)
        take.nothing_else(args)
        return self._with_code(root, cancelled, CHAIN_SECONDS, lambda code: call_chain(code, symbol, direction, depth))

    def _bug_locate(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        query = take.text(args, may_lack=True, most=take.MAX_TRACE)
        traces = take.texts(args, "traces", take.MAX_TRACE)
        errors = take.texts(args, "errors")
        limit = take.number(args, "limit", MAX_LIMIT)
        take.nothing_else(args)
        if not (query.strip() or traces or errors):
            raise take.invalid("ci_bug_locate takes a query, traces or errors; all are missing")

        def search_too(words: str, most: int) -> ToolOutput:
            return self._find(root, words[: take.MAX_QUERY], most, (), (), cancelled)

        return self._with_code(
            root, cancelled, BUG_SECONDS, lambda code: bug_locate(code, query, traces, errors, limit, search_too)
        )

    def _impact(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        files, symbols = take.paths(args, "files", root), take.texts(args, "symbols")
        depth = take.number(args, "depth", MAX_IMPACT)
        take.nothing_else(args)
        if not (files or symbols):
            raise take.invalid("ci_impact takes files or symbols; both are missing")
        return self._with_code(root, cancelled, IMPACT_SECONDS, lambda code: impact(code, files, symbols, depth))

    def _complexity(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        files, symbols = take.paths(args, "files", root), take.texts(args, "symbols")
        take.nothing_else(args)
        if not files:
            raise take.invalid("files takes the paths of the files to measure; it is missing")
        return self._with_code(root, cancelled, COMPLEXITY_SECONDS, lambda code: complexity(code, files, symbols))

    def _hotspot(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        days = take.number(args, "days", MAX_DAYS)
        top = take.number(args, "top", MAX_TOP)
        take.nothing_else(args)

        def changes() -> dict[str, int] | None:
            found = churn(root, days, cancelled, HOTSPOT_SECONDS)
            check(cancelled)
            return found

        return self._with_code(root, cancelled, HOTSPOT_SECONDS, lambda code: hotspot(code, days, top, changes))

    def _find(
        self,
        root: str,
        query: str,
        limit: int,
        files: tuple[str, ...],
        symbols: tuple[str, ...],
        cancelled: Cancellation,
    ) -> ToolOutput:
        """A search, made once for all the tools that ask for it at the same time."""

        def make() -> ToolOutput:
            return search(root, query, limit, files, symbols, self._cache, cancelled, self._scan_seconds, self._library)

        return self._shared.get((root, query, limit, files, symbols), make, cancelled)

    def _with_code(
        self, root: str, cancelled: Cancellation, seconds: float, ask: Callable[[CodeBase], ToolOutput]
    ) -> ToolOutput:
        """What ``ask`` makes of the code of ``root``: from the index, or else from the files."""
        until = monotonic() + seconds
        if self._library:
            with contextlib.suppress(StorageError, ValueError, OSError), self._library.parsed_view(root) as view:
                if view:
                    return ask(IndexedCode(root, view, self._cache, self._parses, cancelled, seconds))
        return ask(ScannedCode(root, self._cache, self._parses, cancelled, until - monotonic()))


@dataclass(frozen=True, slots=True)
class _Listed:
    """The files of a tree: how many, how long in bytes, in which languages."""

    files: int
    bytes: int
    languages: Counter[str]
    by_git: bool
    truncated: bool = False


def _from_files(root: str, cancelled: Cancellation) -> _Listed:
    listing = list_files(root, cancelled, STATUS_SECONDS)
    languages: Counter[str] = Counter()
    size = 0
    for number, path in enumerate(listing.files):
        if number % 256 == 0:
            check(cancelled)
        languages[kind_of_cached(path).language] += 1
        size += _size(f"{root}/{path}")
    return _Listed(len(listing.files), size, languages, listing.by_git, listing.truncated)


def _from_table(table: Table, by_git: bool) -> _Listed:
    """As they are indexed: data, which is not read, has no size there."""
    return _Listed(len(table.entries), table.bytes, table.languages, by_git)


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except (OSError, ValueError):
        return 0
