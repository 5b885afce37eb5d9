"""Whatever leaves ``strip`` shows what it holds: no control sequence, and nothing that a reader cannot see.

This comes before every other step: a secret or an instruction that is split by invisible characters is whole
again when ``redact`` and ``screen`` look at it.
"""

from __future__ import annotations

import re

_STRINGS = r"\]PX^_"  # what follows ESC to open an OSC, DCS, SOS, PM or APC string
_SEQUENCE = re.compile(
    rf"""
    (?: \x1b\[ | \x9b ) [0-?]*+ [ -/]*+ [@-~]?              # CSI, whole or cut off
  | \x1b[{_STRINGS}] [^\x07\x1b\x80-\x9f]*+ (?: \x07 | \x1b\\ | \x9c )
  | [\x90\x98\x9d-\x9f] [^\n\x07\x1b\x80-\x9f]*+ (?: \x07 | \x1b\\ | \x9c )
  | \x1b [ -/]++ [0-~]?                                     # such as a choice of character set
  | \x1b [0-~]?                                             # two characters, or an introducer without its end
    """,
    re.VERBOSE,
)
"""ECMA-48 sequences. A string without its end loses its introducer only: one stray byte must not swallow a file."""

_LINE_END = re.compile("\r+\n?|[\u2028\u2029]")
UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero width, bidirectional controls, invisible operators
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # fillers, variation selectors, byte order mark
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and musical format controls
    "\U000e0000-\U000e0fff"  # tags and further variation selectors
)
"""Unicode's Default_Ignorable_Code_Point, with the controls and the interlinear annotations: inside of a ``[…]``."""

_UNSEEN = re.compile(f"[{UNSEEN}]+")

_PLAIN = bytes([0x09, 0x0A, *range(0x20, 0x7F)])
"""ASCII that stays as it is."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def strip(text: str, *, keeps_lines: bool = False) -> str:
    """``text`` without terminal sequences, controls and invisible characters; line ends are ``\\n``.

    A lone surrogate becomes U+FFFD, a lone CR or a Unicode line separator a line feed. Emoji that were
    joined fall apart into their parts. Doing it twice changes nothing more. With ``keeps_lines`` there are as many
    line feeds as before: an end of another kind becomes a space.
    """
    if text.isascii() and not text.encode("ascii").translate(None, _PLAIN):
        return text
    text = _SEQUENCE.sub(_line_feeds_of if keeps_lines else "", text)
    text = _LINE_END.sub((lambda end: _line_feeds_of(end) or " ") if keeps_lines else "\n", text)
    text = _UNSEEN.sub("", text)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _line_feeds_of(found: re.Match[str]) -> str:
    return "\n" * found.group().count("\n")
