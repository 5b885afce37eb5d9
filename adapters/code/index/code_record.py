"""The stored form of a parsed file: definitions, references, imports.

Invariant: decoding returns exactly what was encoded; anything else is rejected.
"""

from __future__ import annotations

import json
import zlib
from array import array
from typing import Any

from upbeat.adapters.code.syntax.imports import Import
from upbeat.adapters.code.syntax.parsed_file import Definition, ParsedFile, References

_HEADER_FIELDS = 3
"""Integers in the header: number of references, bytes of their names, bytes of the rest."""


def encode_code(parsed: ParsedFile) -> bytes:
    """Encode ``parsed`` as compressed bytes, which include a checksum."""
    references = parsed.references
    columns = (references.name_indexes, references.lines, references.enclosing, references.calls)
    names = "\n".join(references.names).encode("utf-8", "surrogatepass")
    rest = json.dumps(
        [
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
    ).encode()
    head = array("I", [len(references), len(names), len(rest)])
    return zlib.compress(b"".join((head, *columns, names, rest)), 1)


def decode_code(body: bytes) -> ParsedFile:
    """Decode what ``encode_code`` encoded. Raises ValueError for anything else."""
    try:
        raw = zlib.decompress(body)
        number, names_size, rest_size = array("I", raw[: 4 * _HEADER_FIELDS])
        offset = 4 * _HEADER_FIELDS
        columns = []
        for kind, width in (("H", 2), ("I", 4), ("h", 2)):
            columns.append(array(kind, raw[offset : offset + width * number]))
            offset += width * number
        name_indexes, lines, enclosing = columns
        calls = bytearray(raw[offset : offset + number])
        offset += number
        names = raw[offset : offset + names_size].decode("utf-8", "surrogatepass").split("\n") if names_size else []
        index_by_name = {name: index for index, name in enumerate(names)}
        if len(raw) != offset + names_size + rest_size:
            raise ValueError("its parts do not match")
        rest: list[Any] = json.loads(raw[offset + names_size :])
        language, branches, is_exact, definitions, imports, comments = rest
        return ParsedFile(
            language,
            tuple([Definition(*row) for row in definitions]),
            References(index_by_name, name_indexes, lines, enclosing, calls),
            tuple([Import(module, tuple(names), line) for module, names, line in imports]),
            branches,
            tuple([(first, last) for first, last in comments]),
            is_exact,
        )
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"no code record: {error}") from None
