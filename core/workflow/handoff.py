"""What an agent hands to the next one: four sections of its final message.

Law: never an error. A message is read for what it says; what it leaves out is named, and that is all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..turn.truncate import Cap, fit

SECTIONS = ("Context", "Findings", "Files Modified", "Open Questions")
"""What a handoff has, in this order."""

_ALIASES = {
    "context": "Context",
    "background": "Context",
    "背景": "Context",
    "上下文": "Context",
    "脈絡": "Context",
    "脉络": "Context",
    "finding": "Findings",
    "findings": "Findings",
    "發現": "Findings",
    "发现": "Findings",
    "結果": "Findings",
    "结果": "Findings",
    "file modified": "Files Modified",
    "files modified": "Files Modified",
    "modified files": "Files Modified",
    "files changed": "Files Modified",
    "changed files": "Files Modified",
    "修改的文件": "Files Modified",
    "修改的檔案": "Files Modified",
    "修改文件": "Files Modified",
    "修改檔案": "Files Modified",
    "變更的檔案": "Files Modified",
    "变更的文件": "Files Modified",
    "open question": "Open Questions",
    "open questions": "Open Questions",
    "questions": "Open Questions",
    "未決問題": "Open Questions",
    "未决问题": "Open Questions",
    "未解決問題": "Open Questions",
    "未解决问题": "Open Questions",
    "待解決問題": "Open Questions",
    "待解决问题": "Open Questions",
    "待確認": "Open Questions",
    "待确认": "Open Questions",
    "開放問題": "Open Questions",
    "开放问题": "Open Questions",
}
"""Heading in lower case -> its section."""

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_BOLD = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)([^*_]{1,60})(?:\*\*|__)(.*)")
_NUMBER = re.compile(r"(?:[0-9]{1,2}[.)、]|[一二三四][、.])[ \t]*")
_BOLD_LEVEL = 7
"""A bold line ends no section but by the name of another one."""
_LEFT_OUT = "… (lines left out: {count})"


@dataclass(frozen=True, slots=True)
class Handoff:
    """The sections as they were written, without their headings; empty for one that is missing.

    ``rest`` is what stands in none of them: the whole message when there is no section.
    """

    context: str = ""
    findings: str = ""
    files_modified: str = ""
    open_questions: str = ""
    rest: str = ""

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """(name, text) of all four, in order."""
        texts = (self.context, self.findings, self.files_modified, self.open_questions)
        return tuple(zip(SECTIONS, texts, strict=True))

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the sections that are not there, or say nothing."""
        return tuple(name for name, text in self.sections if not text)

    def cut(self, limit: int) -> str:
        """The handoff in at most ``limit`` characters, in whole lines, with no section lost to a longer one.

        A message without sections is cut at its end. What is left out is counted.
        """
        parts = [(f"## {name}", text) for name, text in self.sections if text] or [("", self.rest)]
        rooms = _shares([_length(*part) for part in parts], limit - 2 * (len(parts) - 1))
        cuts = (_cut(head, text, room) for (head, text), room in zip(parts, rooms, strict=True))
        return "\n\n".join(filter(None, cuts))


def check(text: str) -> Handoff:
    """The handoff in an agent's final message, whatever that is."""
    found: dict[str, list[str]] = {name: [] for name in (*SECTIONS, "")}
    section, level = "", 0
    for line, is_code in _lines(text):
        heading = None if is_code else _heading(line)
        if heading and heading.section:
            section, level = heading.section, heading.level
            found[section].append(heading.says)
        elif heading and section and heading.level <= level:
            section = ""
            found[section].append(line)
        else:
            found[section].append(line)
    return Handoff(*("\n".join(lines).strip("\n").rstrip() for lines in found.values()))


@dataclass(frozen=True, slots=True)
class _Heading:
    """A line that heads what follows; ``section`` is empty for one of no section, ``says`` is the rest of the line."""

    section: str
    level: int
    says: str = ""


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it stands in a fence; lines that are comments are for machines, and left out."""
    fence = ""
    for line in re.split(r"\r\n|\r|\n", text):
        bare = line.strip()
        if fence:
            yield line, True
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
        elif opened := _FENCE.match(line):
            fence = opened[1]
            yield line, True
        elif not (bare.startswith("<!--") and bare.endswith("-->")):
            yield line, False


def _heading(line: str) -> _Heading | None:
    """``## Findings``, ``**Findings:** none``, ``### 2. 發現``; None for a line of text."""
    if found := _HEADING.match(line):
        return _Heading(_section(found[2]), len(found[1]))
    if found := _BOLD.match(line):
        section = _section(found[1])
        return _Heading(section, _BOLD_LEVEL, found[2].strip().lstrip(":：").strip()) if section else None
    return None


def _section(title: str) -> str:
    """The section that a heading names; empty for another one."""
    bare = _NUMBER.sub("", title.strip().rstrip("#").strip("*_ \t"), count=1)
    return _ALIASES.get(" ".join(bare.rstrip(":：*_ \t").lower().split()), "")


def _length(head: str, text: str) -> int:
    return len(head) + bool(head) + len(text)


def _shares(lengths: Sequence[int], room: int) -> list[int]:
    """``room`` shared out: nobody gets more than it needs, and what one leaves over goes to the others."""
    shares = [0] * len(lengths)
    left, needy = max(room, 0), len(lengths)
    for length, index in sorted((length, index) for index, length in enumerate(lengths)):
        shares[index] = min(length, left // needy)
        left, needy = left - shares[index], needy - 1
    return shares


def _cut(head: str, text: str, room: int) -> str:
    """``head`` and as many whole lines of ``text`` as go into ``room``; of a first line that is too long, a part."""
    if _length(head, text) <= room:
        return f"{head}\n{text}" if head else text
    lines = text.split("\n")
    left = room - len(_LEFT_OUT.format(count=len(lines))) - len(head) - bool(head)
    kept: list[str] = []
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    if not kept:
        return fit("\n".join(filter(None, (head, text))), Cap(room))[0]
    return "\n".join([*filter(None, [head]), *kept, _LEFT_OUT.format(count=len(lines) - len(kept))])
