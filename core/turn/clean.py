"""Text from tools, files and models goes through ``clean`` before anything else is done with it.

The order is a security property: what is invisible goes first, so that it cannot hide a secret; secrets go
before anything is cut (see ``truncate``), so that no half of one is left; instructions go last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .redact import may_hide_secrets, redact
from .screen import may_address, screen
from .strip import strip

_FEW = 8
"""Texts from which on looking at them together is worth it."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text that may be shown, stored and framed, and what was taken out of it.

    ``redactions`` are kinds with their counts, sorted by kind; ``filtered`` counts the segments that addressed
    the model.
    """

    text: str
    redactions: tuple[tuple[str, int], ...] = ()
    filtered: int = 0


def clean(text: str, *, keeps_lines: bool = False) -> Cleaned:
    """Strip, redact and screen ``text``. Doing it twice changes nothing more.

    With ``keeps_lines``, for lines that are numbered, every line feed stays, and none is added.
    """
    redacted = redact(strip(text, keeps_lines=keeps_lines), keeps_lines=keeps_lines)
    screened = screen(redacted.text)
    return Cleaned(screened.text, redacted.redactions, screened.dropped)


def spotless(texts: Sequence[str]) -> Iterator[str]:
    """Those of ``texts`` that ``clean`` surely leaves as they are, looked at together; it may miss some."""
    together = "\n".join(texts)
    if strip(together) == together and not may_hide_secrets(together) and not may_address(together):
        yield from texts
    elif len(texts) > _FEW:
        middle = len(texts) // 2
        yield from spotless(texts[:middle])
        yield from spotless(texts[middle:])
