"""The stored form of a parsed file: definitions, references, imports.

Invariant: decoding returns exactly what was encoded; anything else is rejected.
"""

from __future__ import annotations

import json
from array import array
from itertools import accumulate
from typing import Any

from upbeat.adapters.code.index.columns import decode_columns, encode_columns, pack_numbers, pack_steps
from upbeat.adapters.code.syntax.imports import Import
from upbeat.adapters.code.syntax.parsed_file import Definition, ParsedFile, References

_COLUMNS = 4
"""Columns of the references: names, steps from one line to the next, definitions around them, whether each calls."""


def encode_code(parsed: ParsedFile) -> bytes:
    """Encode ``parsed`` as compressed bytes, which include a checksum."""
    references = parsed.references
    rest = json.dumps(
        [
            list(references.names),
            parsed.language,
            parsed.branches,
            parsed.is_exact,
            [
                [item.name, item.kind, item.start_line, item.end_line, item.parent, item.signature, item.branches]
                for item in parsed.definitions
            ],
            [[item.module, item.names, item.line] for item in parsed.imports],
            parsed.comment_ranges,
        ],
        separators=(",", ":"),
    )
    columns = (
        *(pack_numbers(references.name_indexes), pack_steps(references.lines), references.enclosing),
        array("B", references.calls),
    )
    return encode_columns(columns, rest)


def decode_code(body: bytes) -> ParsedFile:
    """Decode what ``encode_code`` encoded. Raises ValueError for anything else."""
    try:
        (name_indexes, steps, enclosing, calls), text = decode_columns(body, _COLUMNS)
        rest: list[Any] = json.loads(text)
        names, language, branches, is_exact, definitions, imports, comments = rest
        return ParsedFile(
            language,
            tuple([Definition(*row) for row in definitions]),
            References(
                {name: index for index, name in enumerate(names)},
                array("H", name_indexes),
                array("I", accumulate(steps)),
                array("h", enclosing),
                bytearray(calls),
            ),
            tuple([Import(module, tuple(names), line) for module, names, line in imports]),
            branches,
            tuple([(first, last) for first, last in comments]),
            is_exact,
        )
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"no code record: {error}") from None
