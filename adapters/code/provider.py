"""The embedded tools behind the port ``ToolProvider``: no server, no model, no network.

Invariant: arguments are checked here before any file is opened, and every failure is raised as ``ToolFailure``.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from time import monotonic
from typing import Any

from upbeat.adapters.code.caches import SingleFlight
from upbeat.adapters.code.cancellation import raise_if_cancelled
from upbeat.adapters.code.files.file_types import classify_file
from upbeat.adapters.code.files.tree import MAX_FILE_BYTES, SourceCache
from upbeat.adapters.code.graph.codebase import MAX_CACHED_NAMES, CodeBase, IndexedCodeBase, ParseCache
from upbeat.adapters.code.history.git_log import count_changes
from upbeat.adapters.code.index.manager import IndexManager, IndexState
from upbeat.adapters.code.query.search import search_code
from upbeat.adapters.code.tools import arguments
from upbeat.adapters.code.tools.arguments import Arguments
from upbeat.adapters.code.tools.bug_locate import MAX_LIMIT, locate_bug
from upbeat.adapters.code.tools.call_chain import DIRECTIONS, trace_calls
from upbeat.adapters.code.tools.call_chain import MAX_DEPTH as MAX_CHAIN
from upbeat.adapters.code.tools.complexity import report_complexity
from upbeat.adapters.code.tools.graph_rag import MAX_BUDGET, MAX_DEPTH, MAX_TOP_K, build_subgraph
from upbeat.adapters.code.tools.hotspot import MAX_DAYS, MAX_TOP, rank_hotspots
from upbeat.adapters.code.tools.impact import MAX_DEPTH as MAX_IMPACT
from upbeat.adapters.code.tools.impact import analyze_impact
from upbeat.adapters.system.git.commands import head_branch, list_files
from upbeat.adapters.system.git.root import find_root
from upbeat.adapters.system.journal.faults import StorageError
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.engine.ports import Cancellation
from upbeat.core.errors import ToolFailure
from upbeat.core.settings_layers import did_you_mean

SCAN_SECONDS = 1.1
"""Time for the first pass of a search, so that an answer from what was read arrives within the tool's two seconds."""

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

_ToolHandler = Callable[[Arguments, str, Cancellation], ToolOutput]


class EmbeddedProvider:
    """Implements ``core.engine.ports.ToolProvider``. Caches files that it has read while the process lives."""

    def __init__(self, scan_seconds: float = SCAN_SECONDS, index_manager: IndexManager | None = None) -> None:
        """Without an ``index_manager`` nothing is kept from one question to the next, and history does not count."""
        self._scan_seconds = scan_seconds
        self._index_manager = index_manager
        self._source_cache = SourceCache()
        self._parse_cache = ParseCache(MAX_CACHED_NAMES)
        self._searches = SingleFlight()
        self._tools: dict[str, tuple[str, _ToolHandler]] = {
            "ci_index_status": ("Says what there is to search, and whether it is indexed.", self._index_status),
            "ci_search": ("Finds the files, symbols and lines that fit a question.", self._search),
            "ci_graph_rag": ("Finds what calls, and is called by, the answer to a question.", self._graph_rag),
            "ci_call_chain": ("Follows the callers and callees of a symbol.", self._call_chain),
            "ci_bug_locate": ("Finds where an error or a stack trace comes from.", self._bug_locate),
            "ci_impact": ("Lists what depends on symbols or files.", self._impact),
            "ci_complexity": ("Measures how complex files and their functions are.", self._complexity),
            "ci_hotspot": ("Ranks the files that change often and are complex.", self._hotspot),
        }

    def tools(self) -> Mapping[str, str]:
        """Return the names of the tools, each with one sentence."""
        return {name: sentence for name, (sentence, _) in self._tools.items()}

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Run ``tool`` on ``root``.

        Raises:
            ToolFailure: The tool is unavailable, its arguments or the root are invalid, or time is up.
        """
        if tool not in self._tools:
            way_out = did_you_mean(tool, self._tools) or f"; there are {', '.join(self._tools)}"
            raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"there is no tool {tool!r} here{way_out}")
        if not os.path.isdir(root):
            raise ToolFailure(ErrorCode.REPO_ROOT, f"{root} is not a folder")
        raise_if_cancelled(cancelled)
        return self._tools[tool][1](dict(args), os.path.realpath(root), cancelled)

    def _index_status(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        arguments.reject_unknown(args)
        info = find_root(root)
        index = self._index_manager.index_state(root) if self._index_manager else IndexState("off")
        table = self._index_manager.current_table(root) if self._index_manager and index.state == "ready" else None
        if table:  # data files are not indexed, and their size is not known
            tree = _TreeSummary(len(table.entries), table.total_bytes, table.files_by_language, bool(info.worktree))
        else:
            tree = _summarize_files(root, cancelled)
        data = {
            "indexed": table is not None,
            "mode": "index" if table else "scan",
            "index": asdict(index),
            "files": tree.files,
            "bytes": tree.bytes,
            "languages": {name: count for name, count in tree.languages.most_common() if name},
            "vcs": "git" if tree.is_git else "none",
            "head": head_branch(root),
            "problem": info.problem,
            "max_file_bytes": MAX_FILE_BYTES,
        }
        return ToolOutput(f"{tree.files} files, {_STATES[index.state]}", (), data, truncated=tree.is_truncated)

    def _search(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        query = arguments.pop_text(args)
        limit = arguments.pop_integer(args, "limit", MAX_LIMIT)
        files, symbols = _pop_files_and_symbols(args, root)
        return self._shared_search(root, query, limit, files, symbols, cancelled)

    def _graph_rag(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        query = arguments.pop_text(args)
        depth = arguments.pop_integer(args, "depth", MAX_DEPTH)
        budget = arguments.pop_integer(args, "budget", MAX_BUDGET)
        top_k = arguments.pop_integer(args, "top_k", MAX_TOP_K)
        files, symbols = _pop_files_and_symbols(args, root)
        started = monotonic()
        output = self._shared_search(root, query, MAX_LIMIT, files, symbols, cancelled)
        seconds = GRAPH_SECONDS - (monotonic() - started)
        return self._answer_from_code(
            root, cancelled, seconds, lambda code: build_subgraph(code, output, depth, budget, top_k)
        )

    def _call_chain(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        symbol = arguments.pop_text(args, "symbol", max_chars=200)
        direction = arguments.pop_choice(args, "direction", DIRECTIONS)
        depth = arguments.pop_integer(args, "depth", MAX_CHAIN)
        arguments.reject_unknown(args)
        return self._answer_from_code(
            root, cancelled, CHAIN_SECONDS, lambda code: trace_calls(code, symbol, direction, depth)
        )

    def _bug_locate(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        query = arguments.pop_text(args, is_optional=True, max_chars=arguments.MAX_TRACE_CHARS)
        traces = arguments.pop_texts(args, "traces", arguments.MAX_TRACE_CHARS)
        errors = arguments.pop_texts(args, "errors")
        limit = arguments.pop_integer(args, "limit", MAX_LIMIT)
        arguments.reject_unknown(args)
        if not (query.strip() or traces or errors):
            raise arguments.invalid_argument("ci_bug_locate takes a query, traces or errors; all are missing")

        def search(words: str, most: int) -> ToolOutput:
            return self._shared_search(root, words[: arguments.MAX_QUERY_CHARS], most, (), (), cancelled)

        return self._answer_from_code(
            root, cancelled, BUG_SECONDS, lambda code: locate_bug(code, query, traces, errors, limit, search)
        )

    def _impact(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        depth = arguments.pop_integer(args, "depth", MAX_IMPACT)
        files, symbols = _pop_files_and_symbols(args, root)
        if not (files or symbols):
            raise arguments.invalid_argument("ci_impact takes files or symbols; both are missing")
        return self._answer_from_code(
            root, cancelled, IMPACT_SECONDS, lambda code: analyze_impact(code, files, symbols, depth)
        )

    def _complexity(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        files, symbols = _pop_files_and_symbols(args, root)
        if not files:
            raise arguments.invalid_argument("files takes the paths of the files to measure; it is missing")
        return self._answer_from_code(
            root, cancelled, COMPLEXITY_SECONDS, lambda code: report_complexity(code, files, symbols)
        )

    def _hotspot(self, args: Arguments, root: str, cancelled: Cancellation) -> ToolOutput:
        days = arguments.pop_integer(args, "days", MAX_DAYS)
        top = arguments.pop_integer(args, "top", MAX_TOP)
        arguments.reject_unknown(args)
        changes = partial(count_changes, root, days, cancelled, HOTSPOT_SECONDS)
        return self._answer_from_code(
            root, cancelled, HOTSPOT_SECONDS, lambda code: rank_hotspots(code, days, top, changes)
        )

    def _shared_search(
        self,
        root: str,
        query: str,
        limit: int,
        files: tuple[str, ...],
        symbols: tuple[str, ...],
        cancelled: Cancellation,
    ) -> ToolOutput:
        """Search once for all tools that ask the same at the same time."""
        request = (root, query, limit, files, symbols)
        search = partial(search_code, *request, self._source_cache, cancelled, self._scan_seconds, self._index_manager)
        return self._searches.get_or_compute(request, search, cancelled)

    def _answer_from_code(
        self, root: str, cancelled: Cancellation, seconds: float, answer: Callable[[CodeBase], ToolOutput]
    ) -> ToolOutput:
        """Return what ``answer`` makes of the code of ``root``: from the index, or else from the files."""
        deadline = monotonic() + seconds
        caches = self._source_cache, self._parse_cache
        if self._index_manager:
            with (
                contextlib.suppress(StorageError, ValueError, OSError),
                self._index_manager.open_parsed_view(root) as view,
            ):
                if view:
                    return answer(IndexedCodeBase(root, view, *caches, cancelled, seconds))
        return answer(CodeBase(root, *caches, cancelled, deadline - monotonic()))


def _pop_files_and_symbols(args: Arguments, root: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the last arguments of a tool; reject all that are left."""
    files, symbols = arguments.pop_paths(args, "files", root), arguments.pop_texts(args, "symbols")
    arguments.reject_unknown(args)
    return files, symbols


@dataclass(frozen=True, slots=True)
class _TreeSummary:
    """The files of a tree: number, length in bytes, languages."""

    files: int
    bytes: int
    languages: Counter[str]
    is_git: bool
    is_truncated: bool = False


def _summarize_files(root: str, cancelled: Cancellation) -> _TreeSummary:
    listing = list_files(root, cancelled, STATUS_SECONDS)
    size = 0
    for number, path in enumerate(listing.files):
        if number % 256 == 0:
            raise_if_cancelled(cancelled)
        with contextlib.suppress(OSError, ValueError):
            size += os.lstat(f"{root}/{path}").st_size
    languages = Counter(classify_file(path).language for path in listing.files)
    return _TreeSummary(len(listing.files), size, languages, listing.is_from_git, listing.is_truncated)
