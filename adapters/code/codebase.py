"""What the graph tools ask about a repository, and the answer without an index.

Law: a tool asks a ``CodeBase`` and opens nothing itself. ``ScannedCode`` reads a file once, parses only what it is
asked for, keeps both while the process lives, and says when time ran out (``is_late``) instead of running on.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from time import monotonic
from typing import Protocol

from ...core.ports import Cancellation
from ..local.git import list_files
from .kinds import Role
from .occurrence import DEFINED, USED, stands
from .parse import Parsed, parse
from .scan import check, kind_of_cached
from .tree import Source, SourceCache, Tree

LIST_SECONDS = 1.0
CHECK_EVERY = 64
CACHED_NAMES = 2_000_000
"""References and definitions that the cache of parsed files keeps, about 100 bytes each."""

SEARCHED = (Role.SOURCE, Role.TEST, Role.EXAMPLE, Role.VENDORED)
"""Roles whose files can define and use things, in the order in which they are asked."""


class CodeBase(Protocol):
    """A repository's code. Paths are relative, with ``/``. Raises ``ToolFailure`` (timeout) when cancelled."""

    source: str
    """Where the answers come from: ``index`` or ``scan``."""

    def files(self) -> tuple[str, ...]:
        """The files that hold code, the project's own first, tests and examples after them."""

    def parsed(self, path: str) -> Parsed | None:
        """What the file defines and uses; None when it may not or cannot be read, or time is over."""

    def files_with(self, word: str) -> Iterable[str]:
        """The files in which the identifier ``word`` stands, those that seem to define it first."""

    def files_defining(self, word: str) -> tuple[str, ...]:
        """Those of ``files_with(word)`` that seem to define it; it may name too many."""

    def named(self, stem: str) -> tuple[str, ...]:
        """The files whose name without extension, or whose folder, is ``stem``."""

    def holding(self, text: str) -> tuple[str, ...]:
        """The files that hold ``text``, whatever the case."""

    def lines(self, path: str) -> list[str]:
        """The file's lines; empty when it may not or cannot be read."""

    def is_late(self) -> bool:
        """Whether time is over: what was not asked by now is left out."""


class ParseCache:
    """Parsed files by root and path; good as long as time and size stay the same."""

    def __init__(self, limit: int = CACHED_NAMES) -> None:
        self._limit = limit
        self._size = 0
        self._files: OrderedDict[tuple[str, str], tuple[tuple[int, int], Parsed]] = OrderedDict()
        self._lock = Lock()

    def get(self, root: str, path: str, stamp: tuple[int, int]) -> Parsed | None:
        """What was kept of the file; ``stamp`` is its time and size."""
        found = self._files.get((root, path))
        return found[1] if found and found[0] == stamp else None

    def put(self, root: str, path: str, stamp: tuple[int, int], parsed: Parsed) -> None:
        """Keep ``parsed``; the oldest go first."""
        with self._lock:
            old = self._files.pop((root, path), None)
            self._size -= _weight(old[1]) if old else 0
            self._files[(root, path)] = (stamp, parsed)
            self._size += _weight(parsed)
            while self._size > self._limit and len(self._files) > 1:
                self._size -= _weight(self._files.popitem(last=False)[1][1])

    @property
    def size(self) -> int:
        """Names held."""
        return self._size


def _weight(parsed: Parsed) -> int:
    return len(parsed.references) + len(parsed.definitions) + 1


def code_among(paths: Iterable[str]) -> tuple[str, ...]:
    """Those of ``paths`` that hold code, in the order of ``CodeBase.files``."""
    kinds = [(kind_of_cached(path), path) for path in paths]
    code = [(SEARCHED.index(kind.role), path) for kind, path in kinds if kind.language and kind.role in SEARCHED]
    return tuple(path for _, path in sorted(code))


def by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    """``paths`` by their names without extension and by their folders, as ``CodeBase.named`` gives them."""
    found: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        for part in {name.partition(".")[0], folder.rpartition("/")[2]}:
            found.setdefault(part, []).append(path)
    return found


class TreeOfCall:
    """The files of a repository for one call of a tool, and the time that it has: what every ``CodeBase`` needs."""

    def __init__(
        self, root: str, sources: SourceCache, parses: ParseCache, cancelled: Cancellation, seconds: float
    ) -> None:
        self._root = root
        self._cancelled = cancelled
        self._deadline = monotonic() + seconds
        self._tree = Tree(root, sources)
        self._parses = parses
        self.was_late = False
        """Whether something was left out because time was over."""

    def lines(self, path: str) -> list[str]:
        check(self._cancelled)
        text = self._tree.text(path)
        return text.split("\n") if text is not None else []

    def is_late(self) -> bool:
        late = monotonic() > self._deadline
        self.was_late |= late
        return late


class ScannedCode(TreeOfCall):
    """Implements ``CodeBase`` for one call of a tool, from the files themselves."""

    source = "scan"

    def __init__(
        self, root: str, sources: SourceCache, parses: ParseCache, cancelled: Cancellation, seconds: float
    ) -> None:
        super().__init__(root, sources, parses, cancelled, seconds)
        self._files: tuple[str, ...] | None = None
        self._sources: list[Source] | None = None
        self._known: dict[str, Source | None] = {}
        self._with: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._stems: dict[str, list[str]] | None = None

    def files(self) -> tuple[str, ...]:
        if self._files is None:
            listing = list_files(self._root, self._cancelled, LIST_SECONDS)
            check(self._cancelled)
            self.was_late |= listing.truncated
            self._files = code_among(listing.files)
        return self._files

    def parsed(self, path: str) -> Parsed | None:
        check(self._cancelled)
        source = self._source(path)
        if source is None:
            return None
        found = self._parses.get(self._root, path, source.stamp)
        if found is None:
            if self.is_late():
                return None
            text = self._tree.text(path)
            if text is None:
                return None
            found = parse(path, text.encode("utf-8", "replace"), self._cancelled)
            check(self._cancelled)
            self._parses.put(self._root, path, source.stamp, found)
        return found

    def files_with(self, word: str) -> tuple[str, ...]:
        return self._standing(word)[1]

    def files_defining(self, word: str) -> tuple[str, ...]:
        return self._standing(word)[0]

    def _standing(self, word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files that seem to define ``word``, and all that have it, these first."""
        known = self._with.get(word)
        if known is None:
            needle = word.lower().encode("utf-8", "replace")
            hits = self._matching(lambda data: needle in data) if needle.strip() else []
            ranks = [(stands(source.lowered, needle), source.path) for source in hits]
            defining = tuple(path for rank, path in ranks if rank == DEFINED)
            known = self._with[word] = defining, defining + tuple(path for rank, path in ranks if rank == USED)
        return known

    def named(self, stem: str) -> tuple[str, ...]:
        if self._stems is None:
            self._stems = by_name(self.files())
        return tuple(self._stems.get(stem, ()))

    def holding(self, text: str) -> tuple[str, ...]:
        needle = text.lower().encode("utf-8", "replace")
        return tuple(source.path for source in self._matching(lambda data: needle in data)) if needle.strip() else ()

    def _source(self, path: str) -> Source | None:
        if path not in self._known:
            self._known[path] = self._tree.source(path)
        return self._known[path]

    def _matching(self, fits: Callable[[bytes], bool]) -> list[Source]:
        found = []
        for number, source in enumerate(self._all()):
            if number % CHECK_EVERY == 0:
                check(self._cancelled)
                if self.is_late():
                    break
            if fits(source.lowered):
                found.append(source)
        return found

    def _all(self) -> list[Source]:
        """All code, read as far as time goes."""
        if self._sources is None:
            sources = []
            for number, path in enumerate(self.files()):
                if number % CHECK_EVERY == 0:
                    check(self._cancelled)
                    if self.is_late():
                        break
                source = self._source(path)
                if source:
                    sources.append(source)
            self._sources = sources
        return self._sources
