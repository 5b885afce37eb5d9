"""Adversarial texts of a megabyte, which make a matcher scan the same characters again and again."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path

from case_files import read_cases, read_groups

from .formats import ALPHABETS, fill_in, issue, templates

SIZE = 1_000_000
"""Characters of each text."""

SHAPES = read_groups(Path(__file__).with_name("adversarial.tsv"))
PIECES = tuple(fill_in(piece) for (piece,) in read_cases(Path(__file__).with_name("adversarial.txt")))
"""Pieces that are repeated up to a megabyte."""


def adversarial(seed: int = 1) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield a name and a function that makes the text, for each text."""
    for piece in PIECES:
        yield f"{piece[:24]!r} repeated", lambda piece=piece: _full(piece)
    for name, alphabet in _alphabets().items():
        yield f"random {name}", lambda name=name, alphabet=alphabet: _random(f"{seed} {name}", alphabet)
    shapes = templates()
    rng = random.Random(seed)
    issued = [issue(rng, shape).text for shape in shapes]
    yield "every format", lambda: _full(" ".join(issued) + "\n")
    yield "every format, cut off", lambda: _full(" ".join(text[: len(text) * 3 // 5] for text in issued) + "\n")
    yield "every format, glued", lambda: _full("".join(issued))
    yield "every format, one character a line", lambda: _full("\n".join("\n".join(issued)))
    yield "every prefix", lambda: _full("".join(text[:6] for text in issued))
    yield "every prefix, dashed", lambda: _full("-".join(text[:6] for text in issued) + "-")
    for begin, end in SHAPES["nested"]:
        yield f"nested {begin}", lambda begin=begin, end=end: _nested(begin, end)
    for (piece,) in SHAPES["run"]:
        yield f"{piece!r} and one long run", lambda piece=piece: piece + "a" * SIZE
        yield f"one long run and {piece!r}", lambda piece=piece: "a" * SIZE + piece


def _alphabets() -> dict[str, str]:
    return {
        **{f"alphabet {name}": letters for name, letters in ALPHABETS.items()},
        **dict(SHAPES["alphabet"]),
        "printable": string.printable,
        "punctuation": string.punctuation,
        "base64 and line ends": ALPHABETS["B"] + "\n=",
    }


def _full(piece: str) -> str:
    return (piece * (SIZE // len(piece) + 1))[:SIZE]


def _random(seed: str, alphabet: str) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=SIZE))


def _nested(begin: str, end: str) -> str:
    times = SIZE // (len(begin) + len(end))
    return begin * times + end * times
