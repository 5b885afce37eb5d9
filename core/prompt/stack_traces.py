"""Parse stack traces line by line into frames: file, line and function.

Invariant: linear. Each format has one pattern for one line. The innermost frame comes first, in whatever order the
language prints frames.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from upbeat.core.package_data import load_rows

MAX_FRAMES = 40
MAX_LINES = 2000
MAX_LINE_LENGTH = 1000


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A frame of a stack trace; ``path`` is as printed."""

    path: str
    line: int
    symbol: str = ""

    def __str__(self) -> str:
        """Return the frame as a line that ``parse_stack_frames`` can parse."""
        return f"at {self.symbol or '?'} ({self.path}:{self.line})"


_TRACE_FORMATS = tuple(
    (language, re.compile(pattern), order == "reversed")
    for language, order, pattern in load_rows(__package__, "stack_trace_formats.tsv")
)
"""Language, pattern, and whether the innermost frame comes last."""
_GO_FUNCTION = re.compile(
    r"^(?:created by )?(?P<symbol>[\w./*()$-]{1,240}?)(?:\([^()\n]{0,300}\)|\s+in goroutine \d{1,9})?\s*$"
)
_RUST_FUNCTION = re.compile(
    r"^\s{0,10}\d{1,4}: (?:0x[0-9a-f]{1,16} - )?(?P<symbol>[\w:<>&{}# ,$\[\]*()'-]{1,240}?)\s*$"
)
_RUST_LOCATION = re.compile(r"^\s{4,40}at (?P<path>[^\s:()]{1,300}\.rs):(?P<line>\d{1,7})")
_SYMBOL_NOISE = re.compile(r"::h[0-9a-f]{16}$|[ ]\[as [^\]]{0,80}\]$")
_TRAIT_IMPLEMENTATION = re.compile(r"<([\w:]{1,120}) as [^<>]{1,120}>")
_ARGUMENTS = re.compile(r"\((?!\*)[^()]{0,200}\)?(?: const)?$")


def parse_stack_frames(text: str) -> tuple[StackFrame, ...]:
    """Return the frames of all traces in ``text``, innermost first in each trace, each once, at most ``MAX_FRAMES``."""
    frames: list[StackFrame] = []
    block: list[StackFrame] = []
    block_language = previous_line = ""
    for line in text.splitlines()[:MAX_LINES]:
        line = line[:MAX_LINE_LENGTH]
        language, frame, is_reversed = _parse_line(line, previous_line)
        if frame:
            if language != block_language:
                frames += block
                block = []
            block.insert(0, frame) if is_reversed else block.append(frame)
            block_language = language
        elif line.startswith("Traceback "):  # a second exception, raised while handling the first one
            frames = block + frames
            block, block_language = [], ""
        previous_line = line
    frames = block + frames if block_language == "python" else frames + block
    return tuple(dict.fromkeys(frames))[:MAX_FRAMES]


def _parse_line(line: str, previous_line: str) -> tuple[str, StackFrame | None, bool]:
    """Return the language and the frame of a line, and whether the innermost frame comes last in that language."""
    if match := _RUST_LOCATION.match(line):
        function = _RUST_FUNCTION.match(previous_line)
        return "rust", _make_frame(match, function["symbol"] if function else ""), False
    for language, pattern, is_reversed in _TRACE_FORMATS:
        if match := pattern.match(line):
            symbol = match.groupdict().get("symbol") or ""
            if language == "go":
                function = _GO_FUNCTION.match(previous_line)
                symbol = function["symbol"] if function else ""
            return language, _make_frame(match, symbol), is_reversed
    return "", None, False


def _make_frame(match: re.Match[str], symbol: str) -> StackFrame:
    path = match["path"].strip().removeprefix("file://")
    return StackFrame(path, int(match["line"]), shorten_symbol(symbol))


def shorten_symbol(symbol: str) -> str:
    """Return the last two parts of a printed function: Cart.Total for ``main.(*Cart).Total``, "" for a nameless one."""
    symbol = _TRAIT_IMPLEMENTATION.sub(r"\1", _SYMBOL_NOISE.sub("", symbol.strip()))
    symbol = re.sub(r"<[^<>]{0,100}>|\{[^{}]{0,60}\}|\[[^\]]{0,60}\]", "", _ARGUMENTS.sub("", symbol))
    symbol = re.sub(r"[()*&]", "", symbol)
    parts = [part for part in re.split(r"::|->|[.#/\\]", symbol) if re.fullmatch(r"[\w$~][\w$~?!]{0,119}", part)]
    return ".".join(parts[-2:])
