"""Parse a feature's ``tasks.md``: its checkboxes, its front matter and its development phases.

Invariant: the text belongs to users. ``TasksFile.parse(text).text`` equals ``text``, and checking a box changes exactly
one character. Fences, comments and the front matter contain no boxes.

When in doubt, phases run in order. A phase without declared dependencies waits for the previous one, and one that
depends on an unknown phase never starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from upbeat.core.settings_layers import format_value

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})([^\r\n]*)")
_BOX = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[([ xX])\](?=[ \t])[ \t]*([^\r\n]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+([^\r\n]*)")
_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*:[ \t]*([^\r\n]*)")
_FILES = re.compile(r"[|｜][ \t]*(?:files?|文件|檔案|档案)[ \t]*[:：]", re.IGNORECASE)
_PARALLEL = re.compile(r"[(（][ \t]*(?:parallel|平行|并行)[ \t]*[)）]", re.IGNORECASE)
_PHASES = re.compile(r"(?:dev(?:elopment)?[ \t]+phases|開發階段|开发阶段)[ \t]*", re.IGNORECASE)
_PHASE = re.compile(r"(?:phase|階段|阶段)[ \t]*([0-9]{1,9})[ \t]*[:：.]?[ \t]*(.*)", re.IGNORECASE)
_EMPHASIS_CHARS = "*_`~"
_BOM = "\ufeff"
_SEPARATOR = re.compile(r"[,，、]")
_FILE_SEPARATOR = re.compile(r"[,，、;；]")
_FILE_SUFFIX = re.compile(r"(?:\s*[(（][^()（）]*[)）]|:\d+(?:-\d+)?)\s*$")
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

    @property
    def subtasks(self) -> tuple[tuple[Checkbox, ...], ...]:
        """Return each top-level box with the boxes nested below it."""
        groups: list[list[Checkbox]] = []
        for box in self.checkboxes:
            if box.depth and groups:
                groups[-1].append(box)
            else:
                groups.append([box])
        return tuple(map(tuple, groups))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two tasks of a parallel phase that name the same file, or a folder and a file in it."""

    phase_number: int
    files: tuple[str, str]
    line_numbers: tuple[int, int]

    def __str__(self) -> str:
        files, (first, second) = " and ".join(dict.fromkeys(self.files)), self.line_numbers
        return f"lines {first} and {second}: phase {self.phase_number} is parallel, but both tasks change {files}"


@dataclass(frozen=True, slots=True)
class TasksFile:
    """The text of a ``tasks.md`` and its parsed content."""

    text: str
    front_matter: Mapping[str, str]
    """The front matter: feature, status, workflow, created, and any other field."""
    checkboxes: tuple[Checkbox, ...]
    phases: tuple[Phase, ...]
    unreadable: tuple[str, ...] = ()
    """Headings among the phases that are none, as problems."""

    @classmethod
    def parse(cls, text: str) -> TasksFile:
        """Parse any text; one without boxes is valid."""
        lines = _lines(text)
        parser = _TasksParser()
        for line in _iter_content_lines(lines):
            parser.feed(line)
        front_matter: dict[str, str] = {}  # of duplicate fields, the first counts
        for line in lines[1 : max(_count_front_matter_lines(lines) - 1, 1)]:
            if field := _FIELD.match(line.text):
                front_matter.setdefault(field[1], field[2].rstrip().strip("\"'"))
        return cls(text, front_matter, tuple(parser.checkboxes), parser.phases, tuple(parser.unreadable))

    @property
    def open_checkboxes(self) -> tuple[Checkbox, ...]:
        return tuple(box for box in self.checkboxes if not box.is_done)

    @property
    def done_checkboxes(self) -> tuple[Checkbox, ...]:
        return tuple(box for box in self.checkboxes if box.is_done)

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the problems of the phases, each with its line."""
        return (*self.unreadable, *_find_phase_problems(self.phases))

    @property
    def overlaps(self) -> tuple[Overlap, ...]:
        """Return the tasks of parallel phases that cannot run in parallel."""
        return tuple(overlap for phase in self.phases if phase.is_parallel for overlap in _find_overlaps(phase))

    def tick(self, keys: Iterable[str]) -> TasksFile:
        """Return the file with every open box checked that matches one of the step ``keys``."""
        wanted = tuple(keys)
        return self._check([box for box in self.checkboxes if any(box.matches_key(key) for key in wanted)])

    def tick_subtask(self, title: str, occurrence: int = 1) -> TasksFile:
        """Return the file with one sub-task checked, and all below it: the Nth of all phases with this text."""
        titled = [group for phase in self.phases for group in phase.subtasks if group[0].text == title]
        return self._check(titled[occurrence - 1] if len(titled) >= occurrence else ())

    def _check(self, boxes: Iterable[Checkbox]) -> TasksFile:
        offsets = [box.offset for box in boxes if not box.is_done]
        chars = list(self.text)
        for offset in offsets:
            chars[offset] = "x"
        return TasksFile.parse("".join(chars)) if offsets else self

    def with_field(self, name: str, value: str) -> TasksFile:
        """Return the file with ``name: value`` in its front matter, which is created if there is none."""
        lines = _lines(self.text)
        end = _count_front_matter_lines(lines)
        first = lines[0].text if lines else ""
        newline = first[len(first.rstrip("\r\n")) :] or "\n"
        if not end:
            bom = _BOM if self.text.startswith(_BOM) else ""
            head = newline.join(["---", f"{name}: {value}", "---", "", ""])
            return TasksFile.parse(bom + head + self.text[len(bom) :])
        texts = [line.text for line in lines]
        for index in range(1, end - 1):
            match = _FIELD.match(texts[index])
            if match and match[1] == name:
                texts[index] = texts[index][: match.start(2)] + value + texts[index][match.end(2) :]
                break
        else:
            texts.insert(end - 1, f"{name}: {value}{newline}")
        return TasksFile.parse("".join(texts))


# Lines


class _Line(NamedTuple):
    """A line with its line end; ``offset`` is its start in the text."""

    text: str
    number: int
    offset: int


def _lines(text: str) -> list[_Line]:
    return [_Line(match[0], number, match.start()) for number, match in enumerate(_LINE.finditer(text), start=1)]


def _count_front_matter_lines(lines: Sequence[_Line]) -> int:
    """Return the number of lines of the front matter, including both ``---``; 0 without one."""
    if not lines or lines[0].text.removeprefix(_BOM).rstrip() != "---":
        return 0
    return next((line.number for line in lines[1:] if line.text.rstrip() == "---"), 0)


def _iter_content_lines(lines: Sequence[_Line]) -> Iterator[_Line]:
    """Yield the lines that are neither front matter nor in a fence or a comment."""
    fence, in_comment = "", False
    for line in lines[_count_front_matter_lines(lines) :]:
        if not line.offset and line.text.startswith(_BOM):
            line = _Line(line.text[1:], line.number, 1)
        bare = line.text.strip(" \t\r\n>")
        if in_comment:
            in_comment = "-->" not in line.text
        elif fence:
            closes = bare.startswith(fence) and not bare.strip(fence[0])
            fence = "" if closes else fence
        elif (opened := _FENCE.match(line.text)) and not (opened[1][0] == "`" and "`" in opened[2]):
            fence = opened[1]
        elif bare.startswith("<!--"):
            in_comment = "-->" not in line.text
        else:
            yield line


# Checkboxes and phases


class _TasksParser:
    """Collects checkboxes and phases line by line."""

    def __init__(self) -> None:
        self.checkboxes: list[Checkbox] = []
        self._headings: list[Phase] = []
        self._members: list[list[Checkbox]] = []
        self._in_phases = self._in_phase = False
        self.unreadable: list[str] = []
        self._indents: list[int] = []

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Return the phases with their checkboxes."""
        both = zip(self._headings, self._members, strict=True)
        return tuple(replace(phase, checkboxes=tuple(members)) for phase, members in both)

    def feed(self, line: _Line) -> None:
        """Parse the next line."""
        if heading := _HEADING.match(line.text):
            self._indents = []
            title = heading[2].strip().rstrip("#").strip().strip(_EMPHASIS_CHARS).strip().rstrip(":：")
            self._feed_heading(len(heading[1]), title, line.number)
        elif match := _BOX.match(line.text):
            box = self._new_checkbox(match, line)
            self.checkboxes.append(box)
            if self._in_phase:
                self._members[-1].append(box)
            elif self._in_phases and not self.unreadable:
                self.unreadable.append(
                    f"line {line.number}: this task is in no phase; write ### Phase N: title above it"
                )

    def _feed_heading(self, level: int, title: str, line: int) -> None:
        if level <= 2:
            self._in_phases = _PHASES.fullmatch(title) is not None
        if level <= 3:
            match = _PHASE.fullmatch(title) if self._in_phases and level == 3 else None
            if self._in_phases and level == 3 and not match:
                self.unreadable.append(f"line {line}: this is no phase; write ### Phase N: title")
            self._in_phase = match is not None
            if match:
                previous = (self._headings[-1].number,) if self._headings else ()
                self._headings.append(_parse_phase(int(match[1]), match[2], line, previous))
                self._members.append([])

    def _new_checkbox(self, match: re.Match[str], line: _Line) -> Checkbox:
        indent = len(match[1].expandtabs(4))
        while self._indents and self._indents[-1] >= indent:
            self._indents.pop()
        depth = len(self._indents)
        self._indents.append(indent)
        label, *files = _FILES.split(match[3], maxsplit=1)
        text = _PARALLEL.sub("", label)
        return Checkbox(
            text.replace("**", "").replace("`", "").strip(),
            is_done=match[2] != " ",
            line_number=line.number,
            offset=line.offset + match.start(2),
            depth=depth,
            is_parallel=text != label,
            files=tuple(_parse_files(files[0])) if files else (),
            phase=self._headings[-1].number if self._in_phase else 0,
        )


def _parse_files(text: str) -> Iterator[str]:
    """Yield the paths, normalized: without quotes, ``./``, ``..``, a trailing ``/``, line numbers and remarks."""
    for part in _FILE_SEPARATOR.split(text):
        path = _FILE_SUFFIX.sub("", part.strip().strip("`\"'")).strip("`\"' ")
        names: list[str] = []
        for name in path.split("/"):
            if name == ".." and names:
                names.pop()
            elif name not in ("", ".", ".."):
                names.append(name)
        if names:
            yield "/".join(names)


# Phases


def _parse_phase(number: int, heading: str, line_number: int, previous: tuple[int, ...]) -> Phase:
    """Parse ``title (sequential|parallel, depends: 1, 2)``; the default is sequential, after the ``previous`` phase."""
    match = _BRACKETS.match(heading, max(heading.rfind("("), heading.rfind("（"), 0))
    parts = [part.strip() for part in _SEPARATOR.split(match[1])] if match and match.end() == len(heading) else [""]
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


def _dependencies(phase: Phase, phases: Sequence[Phase]) -> tuple[int, ...]:
    """Return the phases that ``phase`` waits for; of phases with the same number, none waits for another."""
    is_repeated = sum(other.number == phase.number for other in phases) > 1
    return tuple(number for number in phase.depends_on if number != phase.number or not is_repeated)


def open_dependencies(phase: Phase, phases: Sequence[Phase]) -> tuple[int, ...]:
    """Return the phases that are unknown or not done, of those that ``phase`` waits for."""
    is_open = {other.number for other in phases if not other.is_done}
    known = {other.number for other in phases}
    return tuple(number for number in _dependencies(phase, phases) if number in is_open or number not in known)


def find_ready_phases(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    """Return the phases with open boxes whose dependencies all exist and are done."""
    return tuple(phase for phase in phases if not phase.is_done and not open_dependencies(phase, phases))


def _find_phase_problems(phases: Sequence[Phase]) -> Iterator[str]:
    """Yield the problems of the phases, each with its line."""
    known = {phase.number for phase in phases}
    seen: set[int] = set()
    for phase in phases:
        if phase.number in seen:
            yield f"line {phase.line_number}: phase {phase.number} already exists; renumber this one"
        seen.add(phase.number)
        if not phase.checkboxes:
            yield f"line {phase.line_number}: phase {phase.number} has no tasks; write each as - [ ] task"
        if phase.unparsed:
            declared = f"phase {phase.number} has {format_value(phase.unparsed)}"
            yield f"line {phase.line_number}: {declared}; write depends: N, M or depends: none"
        for other in phase.depends_on:
            if other not in known:
                yield f"line {phase.line_number}: phase {phase.number} depends on {other}, which does not exist"
    edges: dict[int, set[int]] = {phase.number: set() for phase in phases}
    for phase in phases:
        edges[phase.number] |= {other for other in _dependencies(phase, phases) if other in known}
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


def _find_overlaps(phase: Phase) -> Iterator[Overlap]:
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
            yield _fixed_parts(file), task, file


def _fixed_parts(path: str) -> tuple[str, ...]:
    """Return the parts of ``path`` up to its first wildcard."""
    parts = path.split("/")[:_MAX_PATH_DEPTH]
    wild = next((index for index, part in enumerate(parts) if _WILDCARD.search(part)), len(parts))
    return tuple(parts[:wild])


def files_overlap(first: Iterable[str], second: Iterable[str]) -> bool:
    """Return whether a path of one is a path of the other, or a folder above it."""
    others = [_fixed_parts(path) for path in second]
    return any(mine[: len(other)] == other[: len(mine)] for mine in map(_fixed_parts, first) for other in others)
