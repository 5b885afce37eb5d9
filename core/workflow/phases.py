"""Development phases of ``tasks.md``: which ones may start, and which tasks may run in parallel.

Invariant: when in doubt, phases run in order. A phase without declared dependencies waits for the previous one, and
one that depends on an unknown phase never starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from upbeat.core.settings_layers import format_value

SEPARATOR = re.compile(r"[,，、]")

_BRACKETS = re.compile(r"[(（]([^()（）]*)[)）]")
_DEPENDS = re.compile(r"(?:depends(?:[ \t]+on)?|依賴|依赖)[ \t]*[:：]?[ \t]*(.*)", re.IGNORECASE)
_NUMBER = re.compile(r"(?:phase|階段|阶段)?[ \t]*([0-9]{1,9})", re.IGNORECASE)
_IS_PARALLEL = dict.fromkeys(("sequential", "依序", "順序", "顺序"), False) | dict.fromkeys(
    ("parallel", "平行", "并行"), True
)
_NO_DEPENDENCY = ("", "-", "none", "無", "无")
_WILDCARD = re.compile(r"[*?\[{]")
_MAX_PATH_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Checkbox:
    """One checkbox. ``line_number`` counts from 1; ``offset`` is the position of its mark in the text.

    ``text`` excludes ``**``, backticks, ``(parallel)`` and ``| files: …``; ``depth`` is 0 for a top-level box;
    ``phase`` is the number of its phase, or 0.
    """

    text: str
    is_done: bool
    line_number: int
    offset: int
    depth: int = 0
    is_parallel: bool = False
    files: tuple[str, ...] = ()
    phase: int = 0

    def matches_key(self, key: str) -> bool:
        """Return whether its text begins with the step key: ``TEST`` is neither ``TEST:2`` nor ``TESTING``."""
        rest = self.text[len(key) :]
        return bool(key) and self.text.startswith(key) and not re.match(r"[A-Za-z0-9_-]|[:#][0-9]", rest)


@dataclass(frozen=True, slots=True)
class Phase:
    """A development phase. ``depends_on`` are phase numbers; ``unparsed`` is an invalid declaration of them."""

    number: int
    title: str
    line_number: int
    is_parallel: bool = False
    depends_on: tuple[int, ...] = ()
    checkboxes: tuple[Checkbox, ...] = ()
    unparsed: str = ""

    @property
    def is_done(self) -> bool:
        return all(box.is_done for box in self.checkboxes)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two tasks of a parallel phase that name the same file, or a folder and a file in it."""

    phase_number: int
    files: tuple[str, str]
    line_numbers: tuple[int, int]

    def __str__(self) -> str:
        files, (first, second) = " and ".join(dict.fromkeys(self.files)), self.line_numbers
        return f"lines {first} and {second}: phase {self.phase_number} is parallel, but both tasks change {files}"


def parse_phase(number: int, heading: str, line_number: int, previous: tuple[int, ...]) -> Phase:
    """Parse ``title (sequential|parallel, depends: 1, 2)``; the default is sequential, after the ``previous`` phase."""
    match = _BRACKETS.match(heading, max(heading.rfind("("), heading.rfind("（"), 0))
    parts = [part.strip() for part in SEPARATOR.split(match[1])] if match and match.end() == len(heading) else [""]
    kind = _IS_PARALLEL.get(parts[0].casefold())
    rest = parts if kind is None else parts[1:]
    depends = _DEPENDS.fullmatch(rest[0]) if rest else None
    if match is None or (kind is None and depends is None):
        return Phase(number, heading, line_number, depends_on=previous)
    title = heading[: match.start()].strip()
    names = [depends[1], *rest[1:]] if depends else rest
    numbers = [_NUMBER.fullmatch(name) for name in names if name.casefold() not in _NO_DEPENDENCY]
    if not all(numbers) or (rest and not depends):
        return Phase(number, title, line_number, bool(kind), previous, unparsed=", ".join(rest))
    declared = tuple(dict.fromkeys(int(match[1]) for match in numbers if match))
    return Phase(number, title, line_number, bool(kind), declared if depends else previous)


def find_ready_phases(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    """Return the phases with open boxes whose dependencies all exist and are done."""
    done = {phase.number for phase in phases} - {phase.number for phase in phases if not phase.is_done}
    return tuple(phase for phase in phases if not phase.is_done and done.issuperset(phase.depends_on))


def find_phase_problems(phases: Sequence[Phase]) -> Iterator[str]:
    """Yield the problems of the phases, each with its line."""
    known = {phase.number for phase in phases}
    seen: set[int] = set()
    for phase in phases:
        if phase.number in seen:
            yield f"line {phase.line_number}: phase {phase.number} already exists; renumber this one"
        seen.add(phase.number)
        if phase.unparsed:
            found = f"phase {phase.number} has {format_value(phase.unparsed)}"
            yield f"line {phase.line_number}: {found}; write depends: N, M or depends: none"
        for other in phase.depends_on:
            if other not in known:
                yield f"line {phase.line_number}: phase {phase.number} depends on {other}, which does not exist"
    edges = {phase.number: set(phase.depends_on) & known for phase in phases}
    if waiting := _find_unreachable(edges) & _find_unreachable(_reverse_edges(edges)):
        first = next(phase for phase in phases if phase.number in waiting)
        names = ", ".join(map(str, sorted(waiting)))
        yield f"line {first.line_number}: these phases depend on each other and can never start: {names}"


def _find_unreachable(edges: Mapping[int, set[int]]) -> set[int]:
    """Return what remains after repeatedly removing the phases without dependencies."""
    waits = {number: len(others) for number, others in edges.items()}
    waited_for = _reverse_edges(edges)
    free = [number for number, count in waits.items() if not count]
    while free:
        for other in waited_for[free.pop()]:
            waits[other] -= 1
            if not waits[other]:
                free.append(other)
    return {number for number, count in waits.items() if count}


def _reverse_edges(edges: Mapping[int, set[int]]) -> dict[int, set[int]]:
    turned: dict[int, set[int]] = {number: set() for number in edges}
    for number, others in edges.items():
        for other in others:
            turned[other].add(number)
    return turned


def find_overlaps(phase: Phase) -> Iterator[Overlap]:
    """Yield pairs of tasks that name the same path. A nested box belongs to its top-level task."""
    named = sorted(_named_files(phase.checkboxes))
    owners: dict[tuple[str, ...], tuple[str, int]] = {}
    for parts, line, file in named:
        prefixes = (parts[:length] for length in range(len(parts) + 1))
        owner = next((owners[prefix] for prefix in prefixes if prefix in owners and owners[prefix][1] != line), None)
        if owner:
            yield Overlap(phase.number, (owner[0], file), (owner[1], line))
        owners.setdefault(parts, (file, line))


def _named_files(boxes: Iterable[Checkbox]) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Yield (parts of a path up to the first wildcard, line of its task, path)."""
    task = 0
    for box in boxes:
        task = box.line_number if not box.depth or not task else task
        for file in box.files:
            parts = file.split("/")[:_MAX_PATH_DEPTH]
            wild = next((index for index, part in enumerate(parts) if _WILDCARD.search(part)), len(parts))
            yield tuple(parts[:wild]), task, file
