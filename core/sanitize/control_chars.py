"""Strip terminal sequences, control characters and invisible characters.

Invariant: this precedes every other step, so that ``redact`` and ``filter_injection`` see a secret or an instruction
whole, even if invisible characters split it.
"""

from __future__ import annotations

from upbeat.core import lazy_re as re

_STRING_INTRODUCERS = r"\]PX^_"  # what follows ESC to open an OSC, DCS, SOS, PM or APC string
_SEQUENCE = re.compile(
    rf"""
    (?: \x1b\[ | \x9b ) [0-?]*+ [ -/]*+ [@-~]?              # CSI, whole or cut off
  | \x1b[{_STRING_INTRODUCERS}] [^\x07\x1b\x80-\x9f]*+ (?: \x07 | \x1b\\ | \x9c )
  | [\x90\x98\x9d-\x9f] [^\n\x07\x1b\x80-\x9f]*+ (?: \x07 | \x1b\\ | \x9c )
  | \x1b [ -/]++ [0-~]?                                     # such as a choice of character set
  | \x1b [0-~]?                                             # two characters, or an introducer without its end
    """,
    re.VERBOSE,
)
"""ECMA-48 sequences. An unterminated string loses only its introducer: one stray byte must not swallow a file."""

_LINE_END = re.compile("\r+\n?|[\u2028\u2029]")
INVISIBLE_CHARACTERS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero width, bidirectional controls, invisible operators
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # fillers, variation selectors, byte order mark
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and musical format controls
    "\U000e0000-\U000e0fff"  # tags and further variation selectors
)
"""Unicode's Default_Ignorable_Code_Point, with the controls and the interlinear annotations: inside of a ``[…]``."""

_INVISIBLE = re.compile(f"[{INVISIBLE_CHARACTERS}]+")

_CHANGED = re.compile(f"[\r\u2028\u2029{INVISIBLE_CHARACTERS}\ud800-\udfff]")
"""A character without which nothing changes; every sequence begins with a control character."""

_VISIBLE_ASCII = bytes([0x09, 0x0A, *range(0x20, 0x7F)])

_SURROGATE = re.compile("[\ud800-\udfff]")


def strip_controls(text: str, *, preserve_lines: bool = False) -> str:
    """Return ``text`` without terminal sequences, controls and invisible characters; idempotent.

    Line ends become ``\\n``, also a lone CR or a Unicode line separator; a lone surrogate becomes U+FFFD. Joined emoji
    split into their parts. With ``preserve_lines`` the number of line feeds stays: other line ends become spaces.
    """
    if text.isascii() and not text.encode("ascii").translate(None, _VISIBLE_ASCII):
        return text
    if not _CHANGED.search(text):
        return text
    text = _SEQUENCE.sub(_line_feeds_in if preserve_lines else "", text)
    text = _LINE_END.sub((lambda match: _line_feeds_in(match) or " ") if preserve_lines else "\n", text)
    text = _INVISIBLE.sub("", text)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _line_feeds_in(match: re.Match[str]) -> str:
    return "\n" * match.group().count("\n")
