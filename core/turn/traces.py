"""Stack traces, line by line: which file, which line, which function.

Law: pure and linear; one pattern a format, each for one line, every repetition bounded. Frames come with the one
nearest to the fault first, whatever order the language prints them in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

MAX_FRAMES = 40
MAX_LINES = 2000
LONGEST_LINE = 1000


@dataclass(frozen=True, slots=True)
class Frame:
    """One call in a stack trace. ``path`` is as printed; ``line`` is 0 where the trace has none."""

    path: str
    line: int
    symbol: str = ""

    def __str__(self) -> str:
        """The frame as one line that ``read_frames`` reads again."""
        return f"at {self.symbol or '?'} ({self.path}:{self.line})"


_LINE = r"(?P<line>\d{1,7})"
_COLUMN = r"(?::\d{1,7})?"
_PLAIN = r"(?P<path>[^\s:()\"'<>|]{1,300})"
_URL = r"(?P<path>(?:\w{1,20}://)?[^()\s]{1,300}?)"
_ADDRESS = r"(?:0x[0-9a-f]{1,16} )?"


@dataclass(frozen=True, slots=True)
class _Format:
    """How one language prints a frame; ``is_reversed`` when the innermost one comes last."""

    language: str
    pattern: re.Pattern[str]
    is_reversed: bool = False


def _format(language: str, *parts: str, is_reversed: bool = False) -> _Format:
    return _Format(language, re.compile("".join(parts)), is_reversed)


_FORMATS = (
    _format(
        "python",
        r'^\s{0,40}File "(?P<path>[^"\n]{1,300})", line ',
        _LINE,
        r"(?:, in (?P<symbol>\S{1,160}))?",
        is_reversed=True,
    ),
    _format(
        "pytest",
        r"^(?P<path>[^\s:()\"'<>|]{1,300}\.pyx?):",
        _LINE,
        r": (?:in (?P<symbol>\w{1,160})|\w{0,100}(?:Error|Exception)\b)",
        is_reversed=True,
    ),
    # at Shop.Cart.Total(Int32 a) in /src/Cart.cs:line 12
    _format(
        "c-sharp",
        r"^\s{0,40}at (?P<symbol>[^(\n]{1,200})\([^)\n]{0,300}\) in (?P<path>[^\n]{1,300}?):line ",
        _LINE,
        r"\s*$",
    ),
    # at com.shop.Cart.total(Cart.java:12)
    _format(
        "java",
        r"^\s{0,40}at (?:[\w.$@-]{1,120}/{1,2}){0,3}(?P<symbol>[\w.$<>]{1,200})",
        r"\((?P<path>[\w$.-]{1,120}\.(?:java|kt|scala|groovy)):",
        _LINE,
        r"\)",
    ),
    # at Cart.total (/src/cart.ts:12:5)
    _format(
        "javascript",
        r"^\s{0,40}at (?:async )?(?:new )?(?P<symbol>[^(\n]{1,160}?) (?:\[as [^\]\n]{1,80}\] )?",
        r"\((?P<path>(?:\w{1,20}://)?[^()\n]{1,300}?):",
        _LINE,
        _COLUMN,
        r"\)\s*$",
    ),
    # at async /src/cart.ts:12:5
    _format("javascript", r"^\s{0,40}at (?:async )?", _URL, ":", _LINE, r":\d{1,7}\s*$"),
    # total@https://host/cart.js:12:5
    _format(
        "javascript",
        r"^(?P<symbol>[\w$.<>/]{0,160})@(?P<path>\w{1,20}://[^\s()]{1,300}?):",
        _LINE,
        r":\d{1,7}\s*$",
    ),
    # #0 /src/Cart.php(12): Shop\\Cart->total()
    _format(
        "php",
        r"^\s{0,20}#\d{1,4} (?P<path>[^\n(]{1,300}\.php)\(",
        _LINE,
        r"\)(?:: (?P<symbol>[^(\n]{1,200}))?",
    ),
    _format("php", r"^.{0,300}? in (?P<path>[^\n:]{1,300}\.php)(?::| on line )", _LINE, r"\s*$"),
    # #0 0x4f in cart_total /src/cart.c:12:5
    _format(
        "sanitizer",
        rf"^\s{{0,20}}#\d{{1,4}} +{_ADDRESS}in (?P<symbol>[^\n]{{1,200}}?) (?P<path>[^\s:()]{{1,300}}):",
        _LINE,
        _COLUMN,
        r"(?:\s.{0,100})?$",
    ),
    # #1 cart_total (a=1) at cart.c:12
    _format(
        "gdb",
        r"^\s{0,20}#\d{1,4} +(?:0x[0-9a-f]{1,16} in )?(?P<symbol>[\w:~<>]{1,160}) \([^\n]{0,300}\) at ",
        _PLAIN,
        ":",
        _LINE,
        r"\s*$",
    ),
    # from cart.rb:12:in 'Cart#total'
    _format(
        "ruby",
        r"^\s{0,40}(?:from )?(?P<path>[^\s:]{1,300}\.(?:rb|rake|erb)):",
        _LINE,
        r"(?::in [`'](?:block (?:\(\d{1,3} levels\) )?in )?(?P<symbol>[^'\n]{1,160})')?",
    ),
    # thread 'main' panicked at src/cart.rs:12:5:
    _format(
        "rust",
        r"^.{0,200}?\bpanicked at (?:'[^\n]{0,300}', )?(?P<path>[^\s:,']{1,300}\.rs):",
        _LINE,
    ),
    # a tab, then /src/cart.go:12 +0x1d
    _format(
        "go",
        r"^(?:\t|\s{4,8})(?P<path>[^\s:()]{1,300}\.go):",
        _LINE,
        r"(?: \+0x[0-9a-f]{1,16})?\s*$",
    ),
)
_GO_FUNCTION = re.compile(
    r"^(?:created by )?(?P<symbol>[\w./*()$-]{1,240}?)(?:\([^()\n]{0,300}\)|\s+in goroutine \d{1,9})?\s*$"
)
_RUST_FUNCTION = re.compile(
    r"^\s{0,10}\d{1,4}: (?:0x[0-9a-f]{1,16} - )?(?P<symbol>[\w:<>&{}# ,$\[\]*()'-]{1,240}?)\s*$"
)
_RUST_PLACE = re.compile(r"^\s{4,40}at (?P<path>[^\s:()]{1,300}\.rs):" + _LINE)
_NOT_NAME = re.compile(r"::h[0-9a-f]{16}$|[ ]\[as [^\]]{0,80}\]$")
_IMPLEMENTED = re.compile(r"<([\w:]{1,120}) as [^<>]{1,120}>")
_ARGUMENTS = re.compile(r"\((?!\*)[^()]{0,200}\)?(?: const)?$")


def read_frames(text: str) -> tuple[Frame, ...]:
    """The frames of all traces in ``text``, each trace's innermost first, each once, at most ``MAX_FRAMES``."""
    found: list[Frame] = []
    block: list[Frame] = []
    last_language = ""
    before = ""
    for line in text.splitlines()[:MAX_LINES]:
        line = line[:LONGEST_LINE]
        language, frame, is_reversed = _frame(line, before)
        if frame:
            if language != last_language:
                found += block
                block = []
            block.insert(0, frame) if is_reversed else block.append(frame)
            last_language = language
        elif line.startswith("Traceback "):  # a second exception that the first one led to
            found = block + found
            block, last_language = [], ""
        before = line
    frames = block + found if last_language == "python" else found + block
    return tuple(dict.fromkeys(frames))[:MAX_FRAMES]


def _frame(line: str, before: str) -> tuple[str, Frame | None, bool]:
    """The language and the frame of one line, and whether the innermost one comes last in that language."""
    rust = _RUST_PLACE.match(line)
    if rust:
        function = _RUST_FUNCTION.match(before)
        return "rust", _made(rust, function["symbol"] if function else ""), False
    for format_ in _FORMATS:
        match = format_.pattern.match(line)
        if not match:
            continue
        frame = _made(match, match.groupdict().get("symbol") or "")
        if format_.language == "go":
            function = _GO_FUNCTION.match(before)
            frame = replace(frame, symbol=plain(function["symbol"]) if function else "")
        return format_.language, frame, format_.is_reversed
    return "", None, False


def _made(match: re.Match[str], symbol: str) -> Frame:
    path = match["path"].strip().removeprefix("file://")
    return Frame(path, int(match["line"]), plain(symbol))


def plain(symbol: str) -> str:
    """The last two parts of a printed function: ``main.(*Cart).Total`` gives Cart.Total; empty for a nameless one."""
    symbol = _IMPLEMENTED.sub(r"\1", _NOT_NAME.sub("", symbol.strip()))
    symbol = re.sub(r"<[^<>]{0,100}>|\{[^{}]{0,60}\}|\[[^\]]{0,60}\]", "", _ARGUMENTS.sub("", symbol))
    symbol = re.sub(r"[()*&]", "", symbol)
    parts = [part for part in re.split(r"::|->|[.#/\\]", symbol) if re.fullmatch(r"[\w$~][\w$~?!]{0,119}", part)]
    return ".".join(parts[-2:])
