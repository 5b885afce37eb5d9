"""What upbeat promises, how each promise is tried, and what a run saw of it: a row of ``docs/promises.md``.

A part is a module of this folder with a heading, ``PART``, and a table, ``SCENARIOS``. ``try_part`` is the one runner:
it gives each scenario an empty folder and as much to do as the run asks for. A scenario ends what it starts, and never
counts what it did not see.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

MOST_SHOWN = 3
"""Faults that a figure quotes."""


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


@dataclass(frozen=True, slots=True)
class Scenario:
    """Promises that are tried together: ``run(folder, amount)`` yields a ``Seen`` for each.

    ``amount`` is whatever the scenario counts: as often as the promise says in a whole run, ``quick`` for a run of some
    ten seconds a part. A scenario without amounts is the same in both.
    """

    run: Callable[[Path, Any], Iterable[Seen]]
    quick: Any = None
    whole: Any = None


class Part(Protocol):
    """What a module of this folder has to be."""

    PART: str
    SCENARIOS: Sequence[Scenario]


def try_part(part: Part, *, is_whole: bool) -> Iterator[Seen]:
    """Try each promise of ``part``."""
    for scenario in part.SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="upbeat-promise-") as folder:
            yield from scenario.run(Path(folder).resolve(), scenario.whole if is_whole else scenario.quick)


def none_of(claim: str, bound: str, faults: Collection[str], context: str, *, holds: bool = True) -> Seen:
    """Return a promise that is kept when there are no ``faults``: "0 CONTEXT", then the first faults."""
    shown = "".join(f"; {fault}" for fault in list(dict.fromkeys(faults))[:MOST_SHOWN])
    return Seen(claim, bound, f"{len(faults)} {context}{shown}", holds and not faults)


def none_counted(
    claim: str, bound: str, counts: Counter[str], kinds: Sequence[str], context: str, *, holds: bool = True
) -> Seen:
    """Return a promise that is kept when none of ``kinds`` was counted: "0 lost, 0 duplicated; CONTEXT"."""
    shown = ", ".join(f"{counts[kind]} {kind.replace('_', ' ')}" for kind in kinds)
    return Seen(claim, bound, f"{shown}; {context}", holds and not any(counts[kind] for kind in kinds))
