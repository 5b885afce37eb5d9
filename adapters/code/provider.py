"""The embedded tools behind the port ``ToolProvider``: no server, no model, no network.

Invariant: arguments are checked here before any file is opened, and every failure is raised as ``ToolFailure``.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

from upbeat.adapters.code.concurrency import SingleFlight, raise_if_cancelled
from upbeat.adapters.code.files.file_types import classify_file
from upbeat.adapters.code.files.tree import MAX_FILE_BYTES, SourceCache
from upbeat.adapters.code.graph.codebase import MAX_CACHED_NAMES, CodeBase, IndexedCodeBase, ParseCache
from upbeat.adapters.code.history.git_log import count_changes
from upbeat.adapters.code.index.manager import IndexManager, IndexState
from upbeat.adapters.code.query.search import search_code
from upbeat.adapters.code.tools.bug_locate import MAX_LIMIT, locate_bug
from upbeat.adapters.code.tools.call_chain import DIRECTIONS, trace_calls
from upbeat.adapters.code.tools.call_chain import MAX_DEPTH as MAX_CHAIN
from upbeat.adapters.code.tools.complexity import report_complexity
from upbeat.adapters.code.tools.graph_rag import MAX_BUDGET, MAX_DEPTH, MAX_TOP_K, build_subgraph
from upbeat.adapters.code.tools.hotspot import MAX_DAYS, MAX_TOP, rank_hotspots
from upbeat.adapters.code.tools.impact import MAX_DEPTH as MAX_IMPACT
from upbeat.adapters.code.tools.impact import analyze_impact
from upbeat.adapters.system.git.commands import list_files
from upbeat.adapters.system.git.root import find_root, head_branch
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

MAX_QUERY_CHARS = 8_000
MAX_TRACE_CHARS = 20_000
MAX_SYMBOL_CHARS = 200
MAX_LIST_ITEMS = 50

_STATES = {
    "off": "not indexed: every question reads them",
    "none": "not indexed yet; each search scans the files",
    "building": "being indexed; until then each search scans the files",
    "partial": "partly indexed; each search scans the other files",
    "ready": "indexed",
    "too_large": "too large for index.max_mb: every question reads them",
}


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that is not blank; if ``is_optional``, the default is an empty one."""

    max_chars: int = MAX_QUERY_CHARS
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class _Texts:
    """A list of texts, by default empty; with ``are_paths`` they lie below the root."""

    max_chars: int = MAX_QUERY_CHARS
    are_paths: bool = False


@dataclass(frozen=True, slots=True)
class _Number:
    """A number, or nothing."""


_Parameter = _Text | _Texts | _Number | int | tuple[str, ...]
"""What an argument accepts: text, a number, a whole number from 1 to the given one, or one of several words.

The largest number, and the last word, are the default.
"""

_FILES_AND_SYMBOLS: Mapping[str, _Parameter] = {"files": _Texts(are_paths=True), "symbols": _Texts()}


@dataclass(frozen=True, slots=True)
class _Tool:
    """One tool: a sentence about it, what runs it, and its arguments.

    Attributes:
        run: Called with the root, the cancellation and the arguments.
        needed: Arguments of which at least one must be given; ``problem`` says so.
    """

    sentence: str
    run: Callable[..., ToolOutput]
    parameters: Mapping[str, _Parameter]
    needed: tuple[str, ...] = ()
    problem: str = ""


class EmbeddedProvider:
    """Implements ``core.engine.ports.ToolProvider``. Caches files that it has read while the process lives."""

    def __init__(self, scan_seconds: float = SCAN_SECONDS, index_manager: IndexManager | None = None) -> None:
        """Without an ``index_manager`` nothing is kept from one question to the next, and history does not count."""
        self._scan_seconds = scan_seconds
        self._index_manager = index_manager
        self._source_cache = SourceCache()
        self._parse_cache = ParseCache(MAX_CACHED_NAMES)
        self._searches = SingleFlight()
        graph_limits = {"depth": MAX_DEPTH, "budget": MAX_BUDGET, "top_k": MAX_TOP_K}
        self._tools = {
            "ci_index_status": _Tool(
                "Says what there is to search, and whether it is indexed.", self._index_status, {}
            ),
            "ci_search": _Tool(
                "Finds files, symbols and lines by meaning or by name; grep finds an exact string or a pattern.",
                self._search,
                {"query": _Text(), "limit": MAX_LIMIT, "prior": _Number(), **_FILES_AND_SYMBOLS},
            ),
            "ci_graph_rag": _Tool(
                "Finds what calls, and is called by, the answer to a question.",
                self._graph_rag,
                {"query": _Text(), "prior": _Number(), "rows": _Number(), **graph_limits, **_FILES_AND_SYMBOLS},
            ),
            "ci_call_chain": _Tool(
                "Follows the callers and callees of a symbol.",
                partial(self._answer_from_code, CHAIN_SECONDS, trace_calls),
                {"symbol": _Text(MAX_SYMBOL_CHARS), "direction": DIRECTIONS, "depth": MAX_CHAIN},
            ),
            "ci_bug_locate": _Tool(
                "Finds where an error or a stack trace comes from.",
                self._bug_locate,
                {
                    "query": _Text(MAX_TRACE_CHARS, is_optional=True),
                    "traces": _Texts(MAX_TRACE_CHARS),
                    "errors": _Texts(),
                    "limit": MAX_LIMIT,
                },
                ("query", "traces", "errors"),
                "ci_bug_locate takes a query, traces or errors; all are missing",
            ),
            "ci_impact": _Tool(
                "Lists what depends on symbols or files.",
                partial(self._answer_from_code, IMPACT_SECONDS, analyze_impact),
                {"depth": MAX_IMPACT, **_FILES_AND_SYMBOLS},
                ("files", "symbols"),
                "ci_impact takes files or symbols; both are missing",
            ),
            "ci_complexity": _Tool(
                "Measures how complex files and their functions are.",
                partial(self._answer_from_code, COMPLEXITY_SECONDS, report_complexity),
                _FILES_AND_SYMBOLS,
                ("files",),
                "files takes the paths of the files to measure; it is missing",
            ),
            "ci_hotspot": _Tool(
                "Ranks the files that change often and are complex.",
                self._hotspot,
                {"days": MAX_DAYS, "top": MAX_TOP},
            ),
        }

    def tools(self) -> Mapping[str, str]:
        """Return the names of the tools, each with one sentence."""
        return {name: tool.sentence for name, tool in self._tools.items()}

    def call(self, tool: str, args: Mapping[str, Any], root: str, cancelled: Cancellation) -> ToolOutput:
        """Run ``tool`` on ``root``.

        Raises:
            ToolFailure: The tool is unavailable, its arguments or the root are invalid, or time is up.
        """
        if tool not in self._tools:
            hint = did_you_mean(tool, self._tools) or f"; there are {', '.join(self._tools)}"
            raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, f"there is no tool {tool!r} here{hint}")
        if not os.path.isdir(root):
            raise ToolFailure(ErrorCode.REPO_ROOT, f"{root} is not a folder")
        raise_if_cancelled(cancelled)
        real_root, called = os.path.realpath(root), self._tools[tool]
        values = {name: _read_argument(args, name, item, real_root) for name, item in called.parameters.items()}
        if unknown := args.keys() - values.keys():
            raise _invalid_arguments(f"unknown arguments: {', '.join(sorted(map(str, unknown)))}")
        if called.needed and not any(values[name] for name in called.needed):
            raise _invalid_arguments(called.problem)
        return called.run(real_root, cancelled, **values)

    def _index_status(self, root: str, cancelled: Cancellation) -> ToolOutput:
        index = self._index_manager.index_state(root) if self._index_manager else IndexState("off")
        info, table = find_root(root), index.table
        if table:  # data files are not indexed, and their size is not known
            files, size, languages = len(table.entries), table.total_bytes, table.files_by_language
            is_git, is_truncated = bool(info.worktree), False
        else:
            listing = list_files(root, cancelled, STATUS_SECONDS)
            files, is_git, is_truncated = len(listing.files), listing.is_from_git, listing.is_truncated
            size = _total_size(root, listing.files, cancelled)
            languages = Counter(classify_file(path).language for path in listing.files)
        data = {
            "indexed": table is not None,
            "mode": "index" if table else "scan",
            "index": {name: getattr(index, name) for name in ("state", "files", "indexed", "bytes", "problem")},
            "files": files,
            "bytes": size,
            "languages": {name: count for name, count in languages.most_common() if name},
            "vcs": "git" if is_git else "none",
            "head": head_branch(root),
            "problem": info.problem,
            "max_file_bytes": MAX_FILE_BYTES,
        }
        return ToolOutput(f"{files} files, {_STATES[index.state]}", (), data, truncated=is_truncated)

    def _search(
        self,
        root: str,
        cancelled: Cancellation,
        query: str,
        limit: int,
        files: tuple[str, ...] = (),
        symbols: tuple[str, ...] = (),
        prior: float | None = None,
    ) -> ToolOutput:
        """Search once for all tools that ask the same at the same time."""
        request = (root, query, limit, files, symbols)
        search = partial(
            search_code, *request, self._source_cache, cancelled, self._scan_seconds, self._index_manager, prior
        )
        return self._searches.get_or_compute((*request, prior), search, cancelled)

    def _graph_rag(
        self,
        root: str,
        cancelled: Cancellation,
        query: str,
        depth: int,
        budget: int,
        top_k: int,
        files: tuple[str, ...],
        symbols: tuple[str, ...],
        prior: float | None,
        rows: int | None,
    ) -> ToolOutput:
        started = monotonic()
        output = self._search(root, cancelled, query, MAX_LIMIT, files, symbols, prior)
        if not output.data.get("gate", {}).get("speaks", True):
            return output
        seconds = GRAPH_SECONDS - (monotonic() - started)
        limits = {"depth": depth, "budget": budget, "top_k": top_k, "rows": rows}
        return self._answer_from_code(seconds, build_subgraph, root, cancelled, search_output=output, **limits)

    def _bug_locate(self, root: str, cancelled: Cancellation, **values: Any) -> ToolOutput:
        def search(words: str, limit: int) -> ToolOutput:
            return self._search(root, cancelled, words[:MAX_QUERY_CHARS], limit)

        return self._answer_from_code(BUG_SECONDS, locate_bug, root, cancelled, search=search, **values)

    def _hotspot(self, root: str, cancelled: Cancellation, days: int, top: int) -> ToolOutput:
        changes = partial(count_changes, root, days, cancelled, HOTSPOT_SECONDS)
        return self._answer_from_code(
            HOTSPOT_SECONDS, rank_hotspots, root, cancelled, days=days, top=top, count_changes=changes
        )

    def _answer_from_code(
        self, seconds: float, answer: Callable[..., ToolOutput], root: str, cancelled: Cancellation, **values: Any
    ) -> ToolOutput:
        """Return ``answer`` for the code of ``root``: from the index, or else from the files."""
        deadline = monotonic() + seconds
        caches = self._source_cache, self._parse_cache
        if self._index_manager:
            with (
                contextlib.suppress(StorageError, ValueError, OSError),
                self._index_manager.open_parsed_view(root) as view,
            ):
                if view:
                    return answer(IndexedCodeBase(root, view, *caches, cancelled, seconds), **values)
        return answer(CodeBase(root, *caches, cancelled, deadline - monotonic()), **values)


def _read_argument(args: Mapping[str, Any], name: str, parameter: _Parameter, root: str) -> object:
    """Return the argument ``name`` as the tool takes it. Raises ToolFailure, which says what it accepts."""
    match parameter:
        case _Text(max_chars, is_optional):
            value = args.get(name, "" if is_optional else None)
            if not isinstance(value, str) or not (value.strip() or is_optional):
                raise _invalid_arguments(f"{name} takes a text that is not empty")
            return value[:max_chars] if value.strip() else ""
        case _Texts(max_chars, are_paths):
            values = args.get(name, ())
            if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
                raise _invalid_arguments(f"{name} takes a list of texts; found {values!r}")
            texts = tuple(value[:max_chars] for value in values if value.strip())[:MAX_LIST_ITEMS]
            return tuple(_path_inside_root(root, text) for text in texts) if are_paths else texts
        case _Number():
            value = args.get(name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise _invalid_arguments(f"{name} takes a number; found {value!r}")
            return value
        case int():
            value = args.get(name, parameter)
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= parameter:
                raise _invalid_arguments(f"{name} takes a whole number from 1 to {parameter}; found {value!r}")
            return value
        case _:
            value = args.get(name, parameter[-1])
            if value not in parameter:
                raise _invalid_arguments(f"{name} takes {', '.join(parameter)}; found {value!r}")
            return value


def _path_inside_root(root: str, path: str) -> str:
    """Return ``path`` relative to ``root``; raise ``ToolFailure`` if it is outside."""
    if "\0" in path:
        raise _invalid_arguments("files takes paths; one has a NUL character")
    try:
        real = os.path.realpath(os.path.join(root, path))
    except UnicodeEncodeError:
        raise _invalid_arguments("files takes paths; one has a lone surrogate") from None
    base = root.rstrip("/") + "/"
    if real != root and not real.startswith(base):
        raise _invalid_arguments(f"{path} lies outside of the repository")
    return os.path.relpath(os.path.normpath(os.path.join(root, path)), root)


def _invalid_arguments(message: str) -> ToolFailure:
    return ToolFailure(ErrorCode.INVALID_ARGS, message)


def _total_size(root: str, files: Iterable[str], cancelled: Cancellation) -> int:
    """Return the length of ``files`` in bytes."""
    size = 0
    for number, path in enumerate(files):
        if number % 256 == 0:
            raise_if_cancelled(cancelled)
        with contextlib.suppress(OSError, ValueError):
            size += os.lstat(f"{root}/{path}").st_size
    return size
