"""What upbeat promises, and what a run saw of it: a row of ``docs/promises.md``.

A part is a module of this folder with ``PART``, its heading, and ``look(full)``, which gives one ``Seen`` a promise.
With ``full`` it looks as often as the promise says; without, as often as fits into some ten seconds. It uses a
temporary folder of its own, ends what it starts, and never counts what it did not see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Seen:
    """One promise and what came of it.

    ``claim`` is the promise in a sentence, ``bound`` what must hold ("0 lost"), ``figure`` what was seen, with how
    often it was looked at ("0 lost of 14,829 records, 1,000 kills").
    """

    claim: str
    bound: str
    figure: str
    holds: bool


class Part(Protocol):
    """What a module of this folder is to be."""

    PART: str

    def look(self, full: bool) -> Iterator[Seen]:
        """Try each promise of this part."""
        ...
