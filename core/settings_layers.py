"""A source of raw values, and how messages name what is wrong in it.

Invariant: a message names the file, the line and the key, and fits on one line whatever the file holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from upbeat.core.lazy_dataclass import dataclass, field

MAX_PROBLEMS = 50
"""Problems reported for one layer."""

_MAX_VALUE_CHARS = 60
_MAX_DEPTH = 5
_MAX_COMPARED = 500


@dataclass(frozen=True, slots=True)
class Layer:
    """Raw values from one source. ``lines`` has the line of each key and table, by its full dotted name."""

    origin: str
    values: Mapping[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict)
    is_trusted: bool = True
    is_environment: bool = False

    def location_of(self, name: str) -> str:
        """Return ``origin`` with the line of ``name``, or of the table around it, if known."""
        parts = name.split(".", _MAX_DEPTH)[:_MAX_DEPTH]
        around = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        line = next((self.lines[key] for key in (name, *around) if key in self.lines), 0)
        return f"{self.origin}:{line}" if line else self.origin


def format_value(raw: object) -> str:
    """Return ``raw`` as a message shows it: on one line, without control characters, at most 60 characters."""
    text = repr(raw)
    return text if len(text) <= _MAX_VALUE_CHARS else text[: _MAX_VALUE_CHARS - 1] + "…"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` with the nearest of ``known``, or "" if none is near."""
    from difflib import get_close_matches  # a few milliseconds that only mistakes pay for

    close = get_close_matches(name[:_MAX_VALUE_CHARS], islice(known, _MAX_COMPARED), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""
