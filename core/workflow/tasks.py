"""``tasks.md`` of a feature: its boxes, its front matter and the phases of its development.

Law: the text belongs to people. ``Tasks.parse(text).text`` is ``text``, whatever it holds, and ticking a box changes
that one character. What stands in a fence, a comment or the front matter is no box.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from .phases import SEPARATOR, Overlap, Phase, overlaps_of, problems_of, read_phase

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})([^\r\n]*)")
_BOX = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[([ xX])\](?=[ \t])[ \t]*([^\r\n]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+([^\r\n]*)")
_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*:[ \t]*([^\r\n]*)")
_FILES = re.compile(r"\|[ \t]*files?[ \t]*[:：]", re.IGNORECASE)
_PARALLEL = re.compile(r"[(（][ \t]*(?:parallel|平行|并行)[ \t]*[)）]", re.IGNORECASE)
_PHASES = re.compile(r"(?:dev(?:elopment)?[ \t]+phases|開發階段|开发阶段)[ \t]*", re.IGNORECASE)
_PHASE = re.compile(r"(?:phase|階段|阶段)[ \t]*([0-9]{1,9})[ \t]*[:：.]?[ \t]*(.*)", re.IGNORECASE)
_MARKS = "*_`~"
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Box:
    """One checkbox. ``line`` counts from 1, ``at`` is where its character stands in the text.

    ``text`` is what it says, without ``**``, backticks, ``(parallel)`` and ``| files: …``; ``depth`` is 0 for a box
    that stands in no other one; ``phase`` is the number of the phase that it stands in, or 0.
    """

    text: str
    is_done: bool
    line: int
    at: int
    depth: int = 0
    is_parallel: bool = False
    files: tuple[str, ...] = ()
    phase: int = 0

    def answers_to(self, key: str) -> bool:
        """Whether its text is ``key`` or begins with it: ``TEST`` is neither ``TEST:2`` nor ``TESTING``."""
        rest = self.text[len(key) :]
        return bool(key) and self.text.startswith(key) and not re.match(r"[A-Za-z0-9_-]|[:#][0-9]", rest)


@dataclass(frozen=True, slots=True)
class Tasks:
    """A ``tasks.md`` as it is, and what it says."""

    text: str
    front: Mapping[str, str]
    """Its front matter: feature, status, workflow, created, and whatever else stands there."""
    boxes: tuple[Box, ...]
    phases: tuple[Phase, ...]

    @classmethod
    def parse(cls, text: str) -> Tasks:
        """Any text is one; without boxes it has none."""
        lines = _lines(text)
        reading = _Reading()
        for line in _prose(lines):
            reading.take(line)
        return cls(text, _fields(lines[: _front_end(lines)]), tuple(reading.boxes), reading.phases)

    @property
    def open(self) -> tuple[Box, ...]:
        return tuple(box for box in self.boxes if not box.is_done)

    @property
    def done(self) -> tuple[Box, ...]:
        return tuple(box for box in self.boxes if box.is_done)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the phases, each with its line."""
        return tuple(problems_of(self.phases))

    @property
    def overlaps(self) -> tuple[Overlap, ...]:
        """Tasks that cannot run side by side although their phase says so."""
        return tuple(overlap for phase in self.phases if phase.is_parallel for overlap in overlaps_of(phase))

    def tick(self, keys: Iterable[str]) -> Tasks:
        """With every open box ticked that answers to one of ``keys``."""
        wanted = tuple(keys)
        places = [box.at for box in self.open if any(box.answers_to(key) for key in wanted)]
        chars = list(self.text)
        for place in places:
            chars[place] = "x"
        return Tasks.parse("".join(chars)) if places else self

    def with_field(self, name: str, value: str) -> Tasks:
        """With ``name: value`` in the front matter, which is made where there is none; all else stays."""
        lines = _lines(self.text)
        end = _front_end(lines)
        newline = _newline(lines)
        if not end:
            bom = _BOM if self.text.startswith(_BOM) else ""
            head = newline.join(["---", f"{name}: {value}", "---", "", ""])
            return Tasks.parse(bom + head + self.text[len(bom) :])
        texts = [line.text for line in lines]
        for index in range(1, end - 1):
            found = _FIELD.match(texts[index])
            if found and found[1] == name:
                texts[index] = texts[index][: found.start(2)] + value + texts[index][found.end(2) :]
                break
        else:
            texts.insert(end - 1, f"{name}: {value}{newline}")
        return Tasks.parse("".join(texts))


# Lines


class _Line(NamedTuple):
    """A line with its end; ``at`` is where it begins."""

    text: str
    number: int
    at: int


def _lines(text: str) -> list[_Line]:
    return [_Line(found[0], number, found.start()) for number, found in enumerate(_LINE.finditer(text), start=1)]


def _newline(lines: Sequence[_Line]) -> str:
    """The line end that the text uses."""
    first = lines[0].text if lines else ""
    return first[len(first.rstrip("\r\n")) :] or "\n"


def _front_end(lines: Sequence[_Line]) -> int:
    """How many lines the front matter has, both of its ``---`` included; 0 without one."""
    if not lines or lines[0].text.removeprefix(_BOM).rstrip() != "---":
        return 0
    return next((line.number for line in lines[1:] if line.text.rstrip() == "---"), 0)


def _fields(lines: Sequence[_Line]) -> dict[str, str]:
    """The front matter's keys; of two that are the same the first counts."""
    found: dict[str, str] = {}
    for line in lines[1:-1]:
        if field := _FIELD.match(line.text):
            found.setdefault(field[1], field[2].rstrip().strip("\"'"))
    return found


def _prose(lines: Sequence[_Line]) -> Iterator[_Line]:
    """The lines that are neither front matter nor in a fence or a comment."""
    fence, in_comment = "", False
    for line in lines[_front_end(lines) :]:
        if not line.at and line.text.startswith(_BOM):
            line = _Line(line.text[1:], line.number, 1)
        bare = line.text.strip(" \t\r\n>")
        if in_comment:
            in_comment = "-->" not in line.text
        elif fence:
            closes = bare.startswith(fence) and not bare.strip(fence[0])
            fence = "" if closes else fence
        elif opened := _opens_fence(line.text):
            fence = opened
        elif bare.startswith("<!--"):
            in_comment = "-->" not in line.text
        else:
            yield line


def _opens_fence(text: str) -> str:
    found = _FENCE.match(text)
    return found[1] if found and not (found[1][0] == "`" and "`" in found[2]) else ""


# Boxes and phases


class _Reading:
    """What has been read of the boxes and phases so far."""

    def __init__(self) -> None:
        self.boxes: list[Box] = []
        self._headings: list[Phase] = []
        self._members: list[list[Box]] = []
        self._in_phases = self._in_phase = False
        self._indents: list[int] = []

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases with their boxes."""
        both = zip(self._headings, self._members, strict=True)
        return tuple(replace(phase, boxes=tuple(members)) for phase, members in both)

    def take(self, line: _Line) -> None:
        """Read one more line."""
        if heading := _HEADING.match(line.text):
            self._indents = []
            self._take_heading(len(heading[1]), _title(heading[2]), line.number)
        elif found := _BOX.match(line.text):
            box = self._box(found, line)
            self.boxes.append(box)
            if self._in_phase:
                self._members[-1].append(box)

    def _take_heading(self, level: int, title: str, line: int) -> None:
        if level <= 2:
            self._in_phases = _PHASES.fullmatch(title) is not None
        if level <= 3:
            found = _PHASE.fullmatch(title) if self._in_phases and level == 3 else None
            self._in_phase = found is not None
            if found:
                previous = (self._headings[-1].number,) if self._headings else ()
                self._headings.append(read_phase(int(found[1]), found[2], line, previous))
                self._members.append([])

    def _box(self, found: re.Match[str], line: _Line) -> Box:
        indent = len(found[1].expandtabs(4))
        while self._indents and self._indents[-1] >= indent:
            self._indents.pop()
        depth = len(self._indents)
        self._indents.append(indent)
        said, *files = _FILES.split(found[3], maxsplit=1)
        text = _PARALLEL.sub("", said)
        return Box(
            text.replace("**", "").replace("`", "").strip(),
            is_done=found[2] != " ",
            line=line.number,
            at=line.at + found.start(2),
            depth=depth,
            is_parallel=text != said,
            files=tuple(_files(files[0])) if files else (),
            phase=self._headings[-1].number if self._in_phase else 0,
        )


def _title(text: str) -> str:
    """A heading without what closes it and without marks of emphasis."""
    return text.strip().rstrip("#").strip().strip(_MARKS).strip().rstrip(":：")


def _files(text: str) -> Iterator[str]:
    """The paths, as they compare: without marks, ``./`` and a ``/`` at the end."""
    for part in SEPARATOR.split(text):
        path = "/".join(one for one in part.strip().strip("`\"'").split("/") if one not in ("", "."))
        if path:
            yield path
