"""Separate the user's own prose from what is pasted or quoted in a prompt.

Invariant: ``text`` and ``prose`` have the same length, so offsets in one are offsets in the other. Everything is
linear in the clipped prompt, which ``HEAD_LENGTH`` and ``TAIL_LENGTH`` bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from upbeat.core.package_data import load_rows

HEAD_LENGTH = 20_000
TAIL_LENGTH = 4_000
"""Characters read from the start and end of a prompt; requests precede or follow pasted text."""


class SpanKind(StrEnum):
    """The kind of a masked span."""

    FENCE = "fence"
    LOG = "log"
    """Stack traces, log lines, diffs."""
    SOURCE = "source"
    """Lines of code without a fence."""
    INLINE = "inline"
    """Between backticks."""
    QUOTE = "quote"
    URL = "url"


PASTED_KINDS = frozenset({SpanKind.FENCE, SpanKind.LOG, SpanKind.SOURCE})


@dataclass(frozen=True, slots=True)
class MaskedSpan:
    """A part of the text that is not the user's own prose; ``end`` is exclusive."""

    kind: SpanKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MaskedPrompt:
    """A clipped prompt. ``prose`` is ``text`` with a space for every character of ``spans``, except line ends.

    ``spans`` are in order and do not overlap.
    """

    text: str
    prose: str
    spans: tuple[MaskedSpan, ...]


_PASTED_LINES = load_rows(__package__, "pasted_lines.tsv")
_FENCE_MARK = re.compile(r"`{3,}|^[ \t]{0,3}~{3,}", re.MULTILINE)


_LOG_LINE, _SOURCE_LINE = (
    re.compile(f"[ \\t]*(?:{'|'.join(row for kind, row in _PASTED_LINES if kind == wanted)})")
    for wanted in ("log", "source")
)
_PYTHON_FRAME = re.compile(r"[ \t]*File \"[^\"\n]{1,300}\", line \d")
"""A frame whose line of source follows."""
_INLINE_SPAN = re.compile(
    r"""(?P<inline>`[^`\n]{1,300}`)
      | (?P<url>(?<![A-Za-z0-9])(?:https?|ftp|file|ssh|git)://[^\s<>"'`，。；！？）」』”]{1,2000}
          | (?<![A-Za-z0-9])www\.[^\s<>"'`，。；）]{1,500})
      | (?P<quote>"[^"\n]{1,1000}" | “[^”]{1,2000}” | 「[^」]{1,2000}」 | 『[^』]{1,2000}』 | «[^»]{1,2000}»
          | 《[^》\n]{1,100}》 | (?<![\w'])'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,120}'(?!\w) | ‘[^’\n]{1,300}’(?!\w) )
    """,
    re.VERBOSE,
)
_QUOTED_LINE = re.compile(r"[ ]{0,3}>(?:[ \t]|$)")


def clip_prompt(prompt: str) -> str:
    """Return the start and end of a prompt, without NUL and lone surrogates.

    A fence that the cut leaves open is closed at the cut, and one that reaches into the end is reopened.
    """
    if len(prompt) > HEAD_LENGTH + TAIL_LENGTH:
        tail_start = len(prompt) - TAIL_LENGTH
        head_fence = "\n```\n" * (prompt.count("```", 0, HEAD_LENGTH) % 2)
        tail_fence = "\n```\n" * (prompt.count("```", 0, tail_start) % 2)
        prompt = f"{prompt[:HEAD_LENGTH]}\n{head_fence}{tail_fence}{prompt[tail_start:]}"
    return prompt.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def mask_prompt(text: str) -> MaskedPrompt:
    """Mask the parts of ``text`` (see ``clip_prompt``) that are not the user's own prose."""
    spans: list[MaskedSpan] = []
    prose = text
    for find in (_find_fences, _find_pasted_lines, _find_inline_spans):
        masked = list(find(prose))
        prose = blank_spans(prose, [(span.start, span.end) for span in masked])
        spans += masked
    return MaskedPrompt(text, prose, tuple(sorted(spans, key=lambda span: span.start)))


def _find_fences(text: str) -> Iterator[MaskedSpan]:
    """Yield fenced blocks; one without an end extends to the end of the text."""
    opening = ""
    start = 0
    for match in _FENCE_MARK.finditer(text):
        mark = match[0].strip()
        if not opening:
            opening, start = mark, match.start()
        elif mark[0] == opening[0] and len(mark) >= len(opening):
            yield MaskedSpan(SpanKind.FENCE, start, match.end())
            opening = ""
    if opening:
        yield MaskedSpan(SpanKind.FENCE, start, len(text))


def _find_pasted_lines(text: str) -> Iterator[MaskedSpan]:
    """Yield log lines, lines of code, and quoted lines."""
    offset = 0
    in_diff = is_after_frame = False
    for line in text.splitlines(keepends=True):
        body = line.rstrip()
        kind = None
        if _LOG_LINE.match(line) or (is_after_frame and line[:1] == " "):
            in_diff = in_diff or body.startswith(("@@ ", "diff --git "))
            kind = SpanKind.LOG
        elif in_diff and line[:1] in ("+", "-", " "):
            kind = SpanKind.LOG
        elif _SOURCE_LINE.match(body):
            kind = SpanKind.SOURCE
        elif _QUOTED_LINE.match(line):
            kind = SpanKind.QUOTE
        else:
            in_diff = False
        if kind:
            yield MaskedSpan(kind, offset, offset + len(body))
        is_after_frame = bool(_PYTHON_FRAME.match(line))
        offset += len(line)


def _find_inline_spans(text: str) -> Iterator[MaskedSpan]:
    for match in _INLINE_SPAN.finditer(text):
        yield MaskedSpan(SpanKind(str(match.lastgroup)), match.start(), match.end())


def blank_spans(text: str, spans: Iterable[tuple[int, int]], filler: str = " ") -> str:
    """Return ``text`` with every character of ``spans`` (in order) but line ends replaced by ``filler``."""
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            parts += [text[done:start], re.sub(r"[^\n]", filler, text[start:end])]
            done = end
    return "".join([*parts, text[done:]])
