"""What in a prompt is the user's own voice, and what is pasted or quoted.

Law: ``text`` and ``prose`` have the same length, so that an offset in one is an offset in the other.
Everything here is linear in what is read, and what is read is bounded by ``HEAD`` and ``TAIL``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

HEAD = 20_000
TAIL = 4_000
"""Characters read from a prompt's beginning and end; people ask before or after what they paste."""


class Voice(StrEnum):
    """Who speaks in a masked span."""

    FENCE = "fence"
    LOG = "log"
    """Stack traces, log lines, diffs: printed by a machine."""
    SOURCE = "source"
    """Lines of code without a fence around them."""
    INLINE = "inline"
    """Between backticks."""
    QUOTE = "quote"
    URL = "url"


PASTED = frozenset({Voice.FENCE, Voice.LOG, Voice.SOURCE})


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the text that is not the user's own prose; ``end`` is exclusive."""

    voice: Voice
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Masked:
    """A prompt as it was read.

    ``prose`` is ``text`` with a space for every character of ``spans`` (line ends stay). ``spans`` are in
    order and do not overlap.
    """

    text: str
    prose: str
    spans: tuple[Span, ...]


_FENCE_MARK = re.compile(r"`{3,}|^[ \t]{0,3}~{3,}", re.MULTILINE)

_LOG_LINE = re.compile(
    r"""[ \t]*(?:
      Traceback[ ]\(most[ ]recent | File[ ]"[^"\n]{1,300}",[ ]line[ ]\d
    | at[ ][\w$.<>]{1,200}\([\w$.<>, ]{0,200}\)[ ]in[ ]
    | at[ ][\w$.<>/\\:\[\] ]{1,200}\(?[^\s()]{1,200}:\d+ | Caused[ ]by: | Exception[ ]in[ ]thread
    | (?:[A-Za-z_][\w.]{0,100})?(?:Error|Exception|Warning|Panic)(?:\ \[\w{1,40}\])?:[ ]
    | (?i:error|fatal|panic)(?:\[\w{1,20}\]|[ ][A-Z]{1,8}\d{2,6})?:[ ]
    | npm[ ](?:ERR!|error)[ ] | [EFW][ ]{3,}\S | FAILED[ ]\S{1,200}::
    | \[(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE)\] | (?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)[ ]{1,4}[\[\w]
    | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | goroutine[ ]\d+ | thread[ ]'[^'\n]{1,60}'[ ]panicked
    | diff[ ]--git[ ] | @@[ ]-\d | \+\+\+[ ]\S | ---[ ]\S | index[ ][0-9a-f]{7,40}\.\.
    )""",
    re.VERBOSE,
)

_SOURCE_LINE = re.compile(
    r"""[ \t]*(?:
      (?:async[ ])?def[ ]\w{1,80}\( | class[ ]\w{1,80}(?:\([^)\n]{0,80}\))?[ ]?[:{]$
    | from[ ][\w.]{1,80}[ ]import[ ][\w*,() ]{1,200}$ | import[ ][\w.{]{1,80};?$
    | import[ ][^\n]{1,120}[ ]from[ ]['"] | (?:export[ ])?(?:const|let|var)[ ]\w{1,80}[ ]?[:=]
    | (?:export[ ])?(?:async[ ])?function[ ]?\w{0,80}\( | func[ ][\w(*) ]{1,80}\( | (?:pub[ ])?fn[ ]\w{1,80}[(<]
    | (?:public|private|protected)[ ][\w<>\[\] ]{1,80}[({;=] | \#include[ ]?[<"] | return[ ][^\n]{0,200};$
    | (?:if|for|while|switch)[ ]?\([^\n]{0,200}\)[ ]?\{?$ | [})\]]{1,3}[;,]?$ | @\w{1,80}\($
    | [\w.\[\]]{1,80}[ ][+*/-]?=[ ][^\n=]{1,200}[;)]$ | (?:SELECT|INSERT[ ]INTO|UPDATE|DELETE[ ]FROM)[ ][^\n]{1,300};$
    | \$[ ][a-z] | <\/?\w{1,40}[^>\n]{0,200}>$
    )""",
    re.VERBOSE,
)

_ASIDE = re.compile(
    r"""(?P<inline>`[^`\n]{1,300}`)
      | (?P<url>(?<![A-Za-z0-9])(?:https?|ftp|file|ssh|git)://[^\s<>"'`，。；！？）」』”]{1,2000}
          | (?<![A-Za-z0-9])www\.[^\s<>"'`，。；）]{1,500})
      | (?P<quote>"[^"\n]{1,1000}" | “[^”]{1,2000}” | 「[^」]{1,2000}」 | 『[^』]{1,2000}』 | «[^»]{1,2000}»
          | 《[^》\n]{1,100}》 | (?<![\w'])'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,120}'(?!\w) | ‘[^’\n]{1,300}’(?!\w) )
    """,
    re.VERBOSE,
)
_QUOTED_LINE = re.compile(r"[ ]{0,3}>(?:[ \t]|$)")


def clip(prompt: str) -> str:
    """What is read of a prompt: its beginning and end, without NUL and lone surrogates, in one string.

    A fence that the cut leaves open is closed there, and one that runs into the end is opened again.
    """
    if len(prompt) <= HEAD + TAIL:
        return _printable(prompt)
    tail_at = len(prompt) - TAIL
    head_open = prompt.count("```", 0, HEAD) % 2
    tail_open = prompt.count("```", 0, tail_at) % 2
    joint = "\n" + "\n```\n" * head_open + "\n```\n" * tail_open
    return _printable(prompt[:HEAD]) + joint + _printable(prompt[tail_at:])


def mask(text: str) -> Masked:
    """Find the parts of ``text`` (as ``clip`` gives it) that do not speak for the user."""
    spans: list[Span] = []
    prose = text
    for find in (_fences, _pasted_lines, _asides):
        found = list(find(prose))
        prose = _blank(prose, found)
        spans += found
    return Masked(text, prose, tuple(sorted(spans, key=lambda span: span.start)))


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def _fences(text: str) -> Iterator[Span]:
    """Fenced blocks; one without an end runs to the end of the text."""
    opened = ""
    start = 0
    for mark in _FENCE_MARK.finditer(text):
        sign = mark[0].strip()
        if not opened:
            opened, start = sign, mark.start()
        elif sign[0] == opened[0] and len(sign) >= len(opened):
            yield Span(Voice.FENCE, start, mark.end())
            opened = ""
    if opened:
        yield Span(Voice.FENCE, start, len(text))


def _pasted_lines(text: str) -> Iterator[Span]:
    """Lines that a machine printed, lines of code, and quoted lines."""
    at = 0
    in_diff = False
    for line in text.splitlines(keepends=True):
        body = line.rstrip()
        if _LOG_LINE.match(line):
            in_diff = in_diff or body.startswith(("@@ ", "diff --git "))
            yield Span(Voice.LOG, at, at + len(body))
        elif in_diff and line[:1] in ("+", "-", " "):
            yield Span(Voice.LOG, at, at + len(body))
        elif _SOURCE_LINE.match(body):
            yield Span(Voice.SOURCE, at, at + len(body))
        elif _QUOTED_LINE.match(line):
            yield Span(Voice.QUOTE, at, at + len(body))
        else:
            in_diff = False
        at += len(line)


def _asides(text: str) -> Iterator[Span]:
    for found in _ASIDE.finditer(text):
        yield Span(Voice(str(found.lastgroup)), found.start(), found.end())


def _blank(text: str, spans: list[Span]) -> str:
    """``text`` with spaces in place of ``spans``, line ends kept."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += [text[at : span.start], re.sub(r"[^\n]", " ", text[span.start : span.end])]
        at = span.end
    return "".join(parts) + text[at:] if spans else text
