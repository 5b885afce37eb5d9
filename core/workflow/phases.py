"""The phases of a development: which of them may start, and which tasks may run side by side.

Law: in doubt one after the other. A phase that says nothing of what it depends on waits for the one before it, and
one that waits for a phase that is not there does not start.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..layers import shown

if TYPE_CHECKING:
    from .tasks import Box

SEPARATOR = re.compile(r"[,，、]")

_BRACKETS = re.compile(r"[(（]([^()（）]*)[)）]")
_DEPENDS = re.compile(r"(?:depends(?:[ \t]+on)?|依賴|依赖)[ \t]*[:：]?[ \t]*(.*)", re.IGNORECASE)
_NUMBER = re.compile(r"(?:phase|階段|阶段)?[ \t]*([0-9]{1,9})", re.IGNORECASE)
_IS_PARALLEL = dict.fromkeys(("sequential", "依序", "順序", "顺序"), False) | dict.fromkeys(
    ("parallel", "平行", "并行"), True
)
_NOTHING = ("", "-", "none", "無", "无")
_WILD = re.compile(r"[*?\[{]")
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the development. ``depends`` are numbers of phases, ``odd`` is what nobody understands of that."""

    number: int
    title: str
    line: int
    is_parallel: bool = False
    depends: tuple[int, ...] = ()
    boxes: tuple[Box, ...] = ()
    odd: str = ""

    @property
    def is_done(self) -> bool:
        return all(box.is_done for box in self.boxes)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two tasks of a parallel phase that name the same file, or a folder and a file in it."""

    phase: int
    files: tuple[str, str]
    lines: tuple[int, int]

    def __str__(self) -> str:
        what = " and ".join(dict.fromkeys(self.files))
        return f"lines {self.lines[0]} and {self.lines[1]}: phase {self.phase} is parallel, and both touch {what}"


def read_phase(number: int, heading: str, line: int, previous: tuple[int, ...]) -> Phase:
    """``title (sequential|parallel, depends: 1, 2)``. What is not said: sequential, after the ``previous`` phase."""
    found = _BRACKETS.match(heading, max(heading.rfind("("), heading.rfind("（"), 0))
    parts = [part.strip() for part in SEPARATOR.split(found[1])] if found and found.end() == len(heading) else [""]
    kind = _IS_PARALLEL.get(parts[0].casefold())
    rest = parts if kind is None else parts[1:]
    depends = _DEPENDS.fullmatch(rest[0]) if rest else None
    if found is None or (kind is None and depends is None):
        return Phase(number, heading, line, depends=previous)
    title = heading[: found.start()].strip()
    names = [depends[1], *rest[1:]] if depends else rest
    numbers = [_NUMBER.fullmatch(name) for name in names if name.casefold() not in _NOTHING]
    if any(one is None for one in numbers) or (rest and not depends):
        return Phase(number, title, line, bool(kind), previous, odd=", ".join(rest))
    told = tuple(dict.fromkeys(int(one[1]) for one in numbers if one))
    return Phase(number, title, line, bool(kind), told if depends else previous)


def ready(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    """The phases with open boxes that may start now: all that they depend on is there, and done."""
    done = {phase.number for phase in phases} - {phase.number for phase in phases if not phase.is_done}
    return tuple(phase for phase in phases if not phase.is_done and done.issuperset(phase.depends))


def problems_of(phases: Sequence[Phase]) -> Iterator[str]:
    """What is wrong with the phases, each with its line."""
    times = Counter(phase.number for phase in phases)
    seen: set[int] = set()
    for phase in phases:
        if phase.number in seen:
            yield f"line {phase.line}: there is a phase {phase.number} already; give this one another number"
        seen.add(phase.number)
        if phase.odd:
            way_out = "write depends: N, M or depends: none"
            yield f"line {phase.line}: phase {phase.number} says {shown(phase.odd)}; {way_out}"
        for other in phase.depends:
            if other not in times:
                yield f"line {phase.line}: phase {phase.number} depends on {other}, which is not there"
    edges = {phase.number: set(phase.depends) & times.keys() for phase in phases}
    if waiting := _stuck(edges) & _stuck(_reversed(edges)):
        first = next(phase for phase in phases if phase.number in waiting)
        names = ", ".join(map(str, sorted(waiting)))
        yield f"line {first.line}: these phases wait for each other and can never start: {names}"


def _stuck(edges: Mapping[int, set[int]]) -> set[int]:
    """What is left when those that wait for nothing are taken out, again and again."""
    waits = {number: len(others) for number, others in edges.items()}
    waited_for = _reversed(edges)
    free = [number for number, count in waits.items() if not count]
    while free:
        for other in waited_for[free.pop()]:
            waits[other] -= 1
            if not waits[other]:
                free.append(other)
    return {number for number, count in waits.items() if count}


def _reversed(edges: Mapping[int, set[int]]) -> dict[int, set[int]]:
    turned: dict[int, set[int]] = {number: set() for number in edges}
    for number, others in edges.items():
        for other in others:
            turned[other].add(number)
    return turned


def overlaps_of(phase: Phase) -> Iterator[Overlap]:
    """Pairs of tasks that touch the same place. A box is part of the task that it stands in."""
    named = sorted(_named_files(phase.boxes))
    owners: dict[tuple[str, ...], tuple[str, int]] = {}
    for parts, line, file in named:
        around = (parts[:length] for length in range(len(parts) + 1))
        owner = next((owners[one] for one in around if one in owners and owners[one][1] != line), None)
        if owner:
            yield Overlap(phase.number, (owner[0], file), (owner[1], line))
        owners.setdefault(parts, (file, line))


def _named_files(boxes: Iterable[Box]) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """(the parts of a path as far as they are certain, the line of its task, the path)."""
    task = 0
    for box in boxes:
        task = box.line if not box.depth or not task else task
        for file in box.files:
            parts = file.split("/")[:_DEEPEST]
            wild = next((index for index, part in enumerate(parts) if _WILD.search(part)), len(parts))
            yield tuple(parts[:wild]), task, file
