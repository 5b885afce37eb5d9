"""What the syntax of one file says, as the index keeps it: definitions, references, imports.

Law: what is read back says the same as what was parsed; anything else is refused.
"""

from __future__ import annotations

import json
import zlib
from array import array
from typing import Any

from .imports import Import
from .parse import Definition, Parsed
from .references import KeptReferences

_SIZES = 3
"""Whole numbers before everything else: references, bytes of their names, bytes of the rest."""


def encode_code(parsed: Parsed) -> bytes:
    """``parsed`` as bytes, compressed and so with a checksum."""
    numbers: dict[str, int] = {}
    which = array("H", [numbers.setdefault(one.name, len(numbers)) for one in parsed.references])
    lines = array("I", [one.line for one in parsed.references])
    enclosing = array("h", [one.enclosing for one in parsed.references])
    calls = bytes([one.is_call for one in parsed.references])
    names = "\n".join(numbers).encode("utf-8", "surrogatepass")
    rest = json.dumps(
        [
            parsed.language,
            parsed.branches,
            parsed.is_exact,
            [
                [one.name, one.kind, one.start_line, one.end_line, one.parent, one.signature, one.branches]
                for one in parsed.definitions
            ],
            [[one.module, one.names, one.line] for one in parsed.imports],
            parsed.comments,
        ],
        separators=(",", ":"),
    ).encode()
    head = array("I", [len(which), len(names), len(rest)])
    return zlib.compress(
        b"".join((head.tobytes(), which.tobytes(), lines.tobytes(), enclosing.tobytes(), calls, names, rest)),
        1,
    )


def decode_code(body: bytes) -> Parsed:
    """What ``encode_code`` made. Raises ValueError for anything else."""
    try:
        raw = zlib.decompress(body)
        number, names_size, rest_size = array("I", raw[: 4 * _SIZES])
        at = 4 * _SIZES
        columns: list[array[int]] = []
        for kind, width in (("H", 2), ("I", 4), ("h", 2)):
            columns.append(array(kind, raw[at : at + width * number]))
            at += width * number
        which, lines, enclosing = columns
        calls = raw[at : at + number]
        at += number
        names = raw[at : at + names_size].decode("utf-8", "surrogatepass").split("\n")
        if len(raw) != at + names_size + rest_size:
            raise ValueError("its parts do not fit each other")
        rest: list[Any] = json.loads(raw[at + names_size :])
        language, branches, is_exact, definitions, imports, comments = rest
        return Parsed(
            language,
            tuple([Definition(*row) for row in definitions]),
            KeptReferences(names, which, lines, enclosing, calls),
            tuple([Import(module, tuple(its), line) for module, its, line in imports]),
            branches,
            tuple([(first, last) for first, last in comments]),
            is_exact,
        )
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"no code: {error}") from None
