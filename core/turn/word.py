"""Text from outside stands in a sentence of ours as one word: on one line, bounded, and with no tag or fence in it.

Law: who fills a ``Template`` gets that without asking. Only what is ``Ours`` (another template's text, a frame, the
words of the person) goes in as it is, and whoever says so says it where it can be seen.
"""

from __future__ import annotations

import re

from .fold import fold
from .frame import Ours, harmless
from .redact import redact
from .screen import screen
from .strip import strip
from .truncate import Cap, fit

LONGEST = 1000
"""Characters of one word, where nobody says less."""

_READ = 32 * 1024
"""Characters of a text that are looked at."""
_OPENS_TAG = re.compile(r"<(?!redacted:[a-z-]{1,40}>)(?=[a-z_?<]|\s*[/|])")
_FENCE = re.compile(r"[`~]{3,}")


def word(text: str, most: int = LONGEST) -> Ours:
    """``text`` from outside as it may stand in a sentence of ours; doing it twice changes nothing more."""
    if len(text) > _READ:
        text = text[:_READ].rpartition(" ")[0]  # no half of a secret
    flat = " ".join(strip(text).split())
    shown = fit(screen(redact(flat).text).text, Cap(most))[0]
    return Ours(plain(shown))


def plain(text: str) -> str:
    """``text`` with our delimiter, what opens a tag, and fences out of shape; as long as before."""
    text = harmless(text)
    if "<" in (folded := fold(text)):
        places = {found.start() for found in _OPENS_TAG.finditer(folded)}
        text = "".join("‹" if at in places else char for at, char in enumerate(text))
    return _FENCE.sub(lambda found: "'" * len(found[0]), text)


class Template(Ours):
    """A text of ours with fields in braces. What is filled in and not ``Ours`` becomes a ``word``."""

    __slots__ = ()

    def format(self, *args: object, **fields: object) -> Ours:
        """The text with its fields filled in."""
        filled = {name: _filled(value) for name, value in fields.items()}
        return Ours(str.format(self, *map(_filled, args), **filled))


def _filled(value: object) -> object:
    return word(value) if isinstance(value, str) and not isinstance(value, Ours) else value
