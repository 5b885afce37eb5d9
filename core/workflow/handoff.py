"""Parse the handoff of one agent to the next: four sections of its final message.

Invariant: parsing never fails. Missing sections are reported by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from upbeat.core.package_data import load_toml
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit

_TITLES: Mapping[str, str] = load_toml(__package__, "handoff_titles.toml")
SECTIONS = tuple(_TITLES)
"""The sections of a handoff, in order."""
_SECTION_BY_TITLE = {title: section for section, titles in _TITLES.items() for title in titles.split("|")}

MAX_HANDOFF_CHARS = 600
"""Maximum length of one step's handoff in the state and in a prompt."""
MAX_WHOLE_CHARS = 200_000
"""Maximum length of a handoff in its file."""

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_BOLD = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)([^*_]{1,60})(?:\*\*|__)(.*)")
_NUMBER = re.compile(r"(?:[0-9]{1,2}[.)、]|[一二三四][、.])[ \t]*")
_BOLD_LEVEL = 7
"""A bold line ends a section only if it names another one."""
_OMITTED_LINES = "… (lines left out: {count})"


@dataclass(frozen=True, slots=True)
class Handoff:
    """The sections without their headings; empty if missing.

    ``other_text`` is the text outside all sections: the whole message if there are none.
    """

    context: str = ""
    findings: str = ""
    files_modified: str = ""
    open_questions: str = ""
    other_text: str = ""

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """Return (name, text) of all four, in order."""
        texts = (self.context, self.findings, self.files_modified, self.open_questions)
        return tuple(zip(SECTIONS, texts, strict=True))

    @property
    def missing_sections(self) -> tuple[str, ...]:
        """Return the names of the missing or empty sections."""
        return tuple(name for name, text in self.sections if not text)

    def truncate(self, limit: int) -> str:
        """Return the handoff in at most ``limit`` characters, in whole lines.

        The limit is shared so that a long section does not displace a shorter one; omitted lines are counted.
        """
        parts = [(f"## {name}", text) for name, text in self.sections if text] or [("", self.other_text)]
        limits = _split_budget([_length(*part) for part in parts], limit - 2 * (len(parts) - 1))
        sections = (_truncate_section(head, text, share) for (head, text), share in zip(parts, limits, strict=True))
        return "\n\n".join(filter(None, sections))


def handoff_path(folder: str, run_id: str, step_key: str) -> str:
    """Return the file with the whole handoff of a step: below ``folder``, which has the handoffs of all runs."""
    return f"{folder}/{run_id}/{handoff_file_name(step_key)}"


def handoff_file_name(step_key: str) -> str:
    """Return the name of the file of a step: ``TEST-2.md`` for ``TEST:2``."""
    return re.sub(r"[^A-Za-z0-9-]", "-", step_key) + ".md"


def join_handoffs(handoffs: Sequence[str]) -> str:
    """Return the handoffs of several calls as one, each with an equal share of the limit."""
    texts = [text for text in handoffs if text]
    if len(texts) < 2:
        return "".join(texts)
    limit = TextLimit(MAX_HANDOFF_CHARS // len(texts) - 2)
    return "\n\n".join(truncate_to_limit(text, limit)[0] for text in texts)


def parse_handoff(text: str) -> Handoff:
    """Parse the handoff in an agent's final message."""
    lines_by_section: dict[str, list[str]] = {name: [] for name in (*SECTIONS, "")}
    section, level = "", 0
    for line, is_code in _lines(text):
        heading = None if is_code else _parse_heading(line)
        if heading and heading.section:
            section, level = heading.section, heading.level
            lines_by_section[section].append(heading.inline_text)
            continue
        if heading and heading.level <= level:
            section = ""
        lines_by_section[section].append(line)
    return Handoff(*("\n".join(lines).strip("\n").rstrip() for lines in lines_by_section.values()))


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading; ``section`` is empty for an unknown one, ``inline_text`` is the rest of the line."""

    section: str
    level: int
    inline_text: str = ""


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line and whether it is in a fence; comment lines are skipped."""
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


def _parse_heading(line: str) -> _Heading | None:
    """Parse ``## Findings``, ``**Findings:** none``, ``### 2. 發現``; return None for a line of text."""
    if match := _HEADING.match(line):
        return _Heading(_section_of_title(match[2]), len(match[1]))
    if match := _BOLD.match(line):
        section = _section_of_title(match[1])
        return _Heading(section, _BOLD_LEVEL, match[2].strip().lstrip(":：").strip()) if section else None
    return None


def _section_of_title(title: str) -> str:
    """Return the section that a heading names; empty for none."""
    bare = _NUMBER.sub("", title.strip().rstrip("#").strip("*_ \t"), count=1)
    return _SECTION_BY_TITLE.get(" ".join(bare.rstrip(":：*_ \t").lower().split()), "")


def _length(head: str, text: str) -> int:
    return len(head) + bool(head) + len(text)


def _split_budget(lengths: Sequence[int], budget: int) -> list[int]:
    """Share ``budget``: each part gets at most its length, and what it does not need goes to longer parts."""
    shares = [0] * len(lengths)
    left, waiting = max(budget, 0), len(lengths)
    for length, index in sorted((length, index) for index, length in enumerate(lengths)):
        shares[index] = min(length, left // waiting)
        left, waiting = left - shares[index], waiting - 1
    return shares


def _truncate_section(head: str, text: str, limit: int) -> str:
    """Return ``head`` and as many whole lines of ``text`` as fit; of a first line that is too long, a part."""
    if _length(head, text) <= limit:
        return f"{head}\n{text}" if head else text
    lines = text.split("\n")
    left = limit - len(_OMITTED_LINES.format(count=len(lines))) - len(head) - bool(head)
    kept: list[str] = []
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    if not kept:
        return truncate_to_limit("\n".join(filter(None, (head, text))), TextLimit(limit))[0]
    return "\n".join([*filter(None, [head]), *kept, _OMITTED_LINES.format(count=len(lines) - len(kept))])
