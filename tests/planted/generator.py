"""Ten thousand secrets from one seed: with a published format, assigned to a telling name, or free-standing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from case_files import read_groups

from .contexts import LIMIT, PLACINGS
from .formats import ALPHABETS, drawn, issue, templates

STRUCTURED, ASSIGNED, FREE = "structured", "assigned", "free-standing"
SHARES = {STRUCTURED: 6000, ASSIGNED: 3000, FREE: 1000}
"""The number of each kind among ten thousand."""

_ROWS = read_groups(Path(__file__).with_name("assignments.tsv"))
NAMES = tuple(name for (name,) in _ROWS["name"])
ASSIGNMENTS = dict(_ROWS["assignment"])
VALUES = tuple((shape[0], int(shape[1:])) for shape in ["A12", "A20", "A32", "H32", "H64", "B40", "W43", "a10", "a24"])
_SYMBOLS = ALPHABETS["A"] + "!@#%^*_-+"
FREE_SHAPES = tuple(
    (shape[0], int(shape[1:])) for shape in ["A32", "A40", "H32", "H40", "H64", "B40", "B64", "W43", "W64", "a48"]
)
FREE_PLACES = ("json", "yaml", "env", "python", "javascript", "shell", "log", "prose", "table", "diff added")


@dataclass(frozen=True, slots=True)
class Case:
    """A text with one secret in it; ``shape`` and ``place`` say which and where. ``limit``: where it is cut."""

    kind: str
    shape: str
    place: str
    text: str
    secret: str
    limit: int = 0


def cases(seed: int, count: int = 10_000) -> Iterator[Case]:
    """Yield ``count`` cases, the same for the same seed, in all formats and places in turn."""
    rng = random.Random(seed)
    whole = sum(SHARES.values())
    yield from _structured(rng, count * SHARES[STRUCTURED] // whole)
    yield from _assigned(rng, count * SHARES[ASSIGNED] // whole)
    yield from _free(rng, count * SHARES[FREE] // whole)


def _structured(rng: random.Random, count: int) -> Iterator[Case]:
    shapes, places = templates(), list(PLACINGS)
    for number in range(count):
        shape = shapes[number % len(shapes)]
        place = places[(number + number // len(shapes)) % len(places)]
        planted = issue(rng, shape)
        limit = LIMIT if place == "across the cut" else 0
        yield Case(STRUCTURED, shape, place, PLACINGS[place](rng, planted.text), planted.secret, limit)


def _assigned(rng: random.Random, count: int) -> Iterator[Case]:
    forms = list(ASSIGNMENTS)
    for number in range(count):
        place = forms[number % len(forms)]
        name = rng.choice(NAMES)
        if rng.random() < 0.1:
            shape, value = "symbols", drawn(rng, _SYMBOLS, 16)
        else:
            kind, length = rng.choice(VALUES)
            shape, value = f"{kind}{length}", drawn(rng, ALPHABETS[kind], length)
        text = ASSIGNMENTS[place].format(name=name, value=value)
        yield Case(ASSIGNED, f"{name} {shape}", place, f"a = 1\n{text}\nb = 2", value)


def _free(rng: random.Random, count: int) -> Iterator[Case]:
    for number in range(count):
        kind, length = FREE_SHAPES[number % len(FREE_SHAPES)]
        place = rng.choice(FREE_PLACES)
        value = drawn(rng, ALPHABETS[kind], length)
        yield Case(FREE, f"{kind}{length}", place, PLACINGS[place](rng, value), value)
