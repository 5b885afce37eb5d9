"""Parse a feature's ``tasks.md``: its checkboxes, its front matter and its development phases.

Invariant: the text belongs to users. ``TasksFile.parse(text).text`` equals ``text``, and checking a box changes exactly
one character. Fences, comments and the front matter contain no boxes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from upbeat.core.workflow.phases import (
    SEPARATOR,
    Checkbox,
    Overlap,
    Phase,
    find_overlaps,
    find_phase_problems,
    parse_phase,
)

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})([^\r\n]*)")
_BOX = re.compile(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[([ xX])\](?=[ \t])[ \t]*([^\r\n]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+([^\r\n]*)")
_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*:[ \t]*([^\r\n]*)")
_FILES = re.compile(r"\|[ \t]*files?[ \t]*[:：]", re.IGNORECASE)
_PARALLEL = re.compile(r"[(（][ \t]*(?:parallel|平行|并行)[ \t]*[)）]", re.IGNORECASE)
_PHASES = re.compile(r"(?:dev(?:elopment)?[ \t]+phases|開發階段|开发阶段)[ \t]*", re.IGNORECASE)
_PHASE = re.compile(r"(?:phase|階段|阶段)[ \t]*([0-9]{1,9})[ \t]*[:：.]?[ \t]*(.*)", re.IGNORECASE)
_EMPHASIS_CHARS = "*_`~"
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class TasksFile:
    """The text of a ``tasks.md`` and its parsed content."""

    text: str
    front_matter: Mapping[str, str]
    """The front matter: feature, status, workflow, created, and any other field."""
    checkboxes: tuple[Checkbox, ...]
    phases: tuple[Phase, ...]

    @classmethod
    def parse(cls, text: str) -> TasksFile:
        """Parse any text; one without boxes is valid."""
        lines = _lines(text)
        parser = _TasksParser()
        for line in _iter_content_lines(lines):
            parser.feed(line)
        front_matter = _parse_front_matter(lines[: _count_front_matter_lines(lines)])
        return cls(text, front_matter, tuple(parser.checkboxes), parser.phases)

    @property
    def open_checkboxes(self) -> tuple[Checkbox, ...]:
        return tuple(box for box in self.checkboxes if not box.is_done)

    @property
    def done_checkboxes(self) -> tuple[Checkbox, ...]:
        return tuple(box for box in self.checkboxes if box.is_done)

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the problems of the phases, each with its line."""
        return tuple(find_phase_problems(self.phases))

    @property
    def overlaps(self) -> tuple[Overlap, ...]:
        """Return the tasks of parallel phases that cannot run in parallel."""
        return tuple(overlap for phase in self.phases if phase.is_parallel for overlap in find_overlaps(phase))

    def tick(self, keys: Iterable[str]) -> TasksFile:
        """Return the file with every open box checked that matches one of the step ``keys``."""
        wanted = tuple(keys)
        offsets = [box.offset for box in self.open_checkboxes if any(box.matches_key(key) for key in wanted)]
        chars = list(self.text)
        for offset in offsets:
            chars[offset] = "x"
        return TasksFile.parse("".join(chars)) if offsets else self

    def with_field(self, name: str, value: str) -> TasksFile:
        """Return the file with ``name: value`` in its front matter, which is created if there is none."""
        lines = _lines(self.text)
        end = _count_front_matter_lines(lines)
        newline = _detect_newline(lines)
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


def _detect_newline(lines: Sequence[_Line]) -> str:
    """Return the line end of the text."""
    first = lines[0].text if lines else ""
    return first[len(first.rstrip("\r\n")) :] or "\n"


def _count_front_matter_lines(lines: Sequence[_Line]) -> int:
    """Return the number of lines of the front matter, including both ``---``; 0 without one."""
    if not lines or lines[0].text.removeprefix(_BOM).rstrip() != "---":
        return 0
    return next((line.number for line in lines[1:] if line.text.rstrip() == "---"), 0)


def _parse_front_matter(lines: Sequence[_Line]) -> dict[str, str]:
    """Return the fields of the front matter; of duplicates, the first counts."""
    fields: dict[str, str] = {}
    for line in lines[1:-1]:
        if match := _FIELD.match(line.text):
            fields.setdefault(match[1], match[2].rstrip().strip("\"'"))
    return fields


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
        elif opened := _opening_fence(line.text):
            fence = opened
        elif bare.startswith("<!--"):
            in_comment = "-->" not in line.text
        else:
            yield line


def _opening_fence(text: str) -> str:
    match = _FENCE.match(text)
    return match[1] if match and not (match[1][0] == "`" and "`" in match[2]) else ""


# Checkboxes and phases


class _TasksParser:
    """Collects checkboxes and phases line by line."""

    def __init__(self) -> None:
        self.checkboxes: list[Checkbox] = []
        self._headings: list[Phase] = []
        self._members: list[list[Checkbox]] = []
        self._in_phases = self._in_phase = False
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
            self._feed_heading(len(heading[1]), _heading_title(heading[2]), line.number)
        elif match := _BOX.match(line.text):
            box = self._new_checkbox(match, line)
            self.checkboxes.append(box)
            if self._in_phase:
                self._members[-1].append(box)

    def _feed_heading(self, level: int, title: str, line: int) -> None:
        if level <= 2:
            self._in_phases = _PHASES.fullmatch(title) is not None
        if level <= 3:
            match = _PHASE.fullmatch(title) if self._in_phases and level == 3 else None
            self._in_phase = match is not None
            if match:
                previous = (self._headings[-1].number,) if self._headings else ()
                self._headings.append(parse_phase(int(match[1]), match[2], line, previous))
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


def _heading_title(text: str) -> str:
    """Return the title of a heading without closing ``#`` and emphasis."""
    return text.strip().rstrip("#").strip().strip(_EMPHASIS_CHARS).strip().rstrip(":：")


def _parse_files(text: str) -> Iterator[str]:
    """Yield the paths, normalized: without quotes, ``./`` and a trailing ``/``."""
    for part in SEPARATOR.split(text):
        path = "/".join(name for name in part.strip().strip("`\"'").split("/") if name not in ("", "."))
        if path:
            yield path
