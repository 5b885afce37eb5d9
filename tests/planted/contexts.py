"""Contexts of secrets: settings, code, URLs, logs, prose; wrapped, encoded, split, and across a truncation."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from case_files import read_cases

PLAIN = dict(read_cases(Path(__file__).with_name("contexts.tsv")))
"""Texts with a place for one secret."""

UNSEEN = ("\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u202e", "\u2066", "\U000e0041", "\ufe0f", "\x00", "\x08")
SEQUENCES = ("\x1b[1m", "\x1b[0;31m", "\x1b[0m", "\x1b]0;t\x07", "\x9b1m", "\x1b(B")
LIMIT = 4000
"""Characters that truncation leaves."""

Placing = Callable[[random.Random, str], str]


def _wrapped(join: str, first: str = "", last: str = "") -> Placing:
    """Break a secret into two or three lines, as an editor, a shell or a terminal does."""

    def place(rng: random.Random, text: str) -> str:
        cuts = sorted(rng.sample(range(1, len(text)), min(rng.choice((1, 1, 2)), len(text) - 1)))
        pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        return f"a = 1\n{first}{join.join(pieces)}{last}\nb = 2"

    return place


def _split(marks: tuple[str, ...]) -> Placing:
    """Split a secret by invisible characters."""

    def place(rng: random.Random, text: str) -> str:
        for cut in sorted((rng.randrange(1, len(text)) for _ in range(rng.randint(1, 4))), reverse=True):
            text = text[:cut] + rng.choice(marks) + text[cut:]
        return f"v = '{text}'"

    return place


def _basic(rng: random.Random, text: str) -> str:
    return f"Authorization: Basic {base64.b64encode(f'app:{text}'.encode()).decode()}"


def _kubernetes(rng: random.Random, text: str) -> str:
    body = base64.b64encode(f"value={text}\n".encode()).decode()
    return f"apiVersion: v1\nkind: Secret\ndata:\n  settings.env: {body}\n"


def _unicode_escapes(rng: random.Random, text: str) -> str:
    return '{"v": "' + "".join(f"\\u{ord(char):04x}" if rng.random() < 0.3 else char for char in text) + '"}'


def _across_the_cut(rng: random.Random, text: str) -> str:
    """Place a secret so that the truncation at ``LIMIT`` falls into it."""
    room = LIMIT - rng.randrange(1, len(text)) - 5
    filler = "some words about nothing at all\n" * (room // 32)
    return filler + "." * (room - len(filler)) + f" v: {text} and so on\n" + "more words\n" * 40


PLACINGS: dict[str, Placing] = {
    **{name: (lambda rng, text, shape=shape: shape.format(text)) for name, shape in PLAIN.items()},
    "wrapped": _wrapped("\n"),
    "wrapped, indented": _wrapped("\n    ", "v: "),
    "wrapped in a shell": _wrapped("\\\n", "run "),
    "wrapped in a diff": _wrapped("\n+", "+"),
    "wrapped in a mail": _wrapped("\n> ", "> "),
    "joined strings": _wrapped('"\n    "', 'v = ("', '")'),
    "added strings": _wrapped('" +\n    "', 'v = "', '"'),
    "split by unseen": _split(UNSEEN),
    "split by sequences": _split(SEQUENCES),
    "basic header": _basic,
    "kubernetes secret": _kubernetes,
    "percent": lambda rng, text: f"https://h.example/?v={quote(text, safe='')}&b=1",
    "percent, all": lambda rng, text: "v=" + "".join(f"%{ord(char):02X}" for char in text),
    "escapes": _unicode_escapes,
    "slashes": lambda rng, text: json.dumps({"v": text}).replace("/", "\\/"),
    "entities": lambda rng, text: f"<v>{text.replace('&', '&amp;').replace('=', '&#61;').replace('-', '&#x2d;')}</v>",
    "across the cut": _across_the_cut,
}
