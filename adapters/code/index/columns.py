"""Columns of integers and one text as compressed bytes: what the index stores of a file.

Invariant: decoding returns exactly what was encoded, and rejects damaged bytes. Each column takes the narrowest type
that holds its numbers, unless the caller chose one.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Sequence
from itertools import chain
from operator import sub

_KINDS = (("B", 0xFF), ("H", 0xFFFF), ("I", 0xFFFFFFFF))
_WIDTHS = {ord(kind): array(kind).itemsize for kind in "BhHiI"}
_MAX_STEP = 0x7FFF
_RAW_DEFLATE = -15
_CHECKSUM_BYTES = 4


def pack_numbers(numbers: Sequence[int]) -> array[int]:
    """Return ``numbers``, none of them negative, as an array of the narrowest type. Raises OverflowError."""
    greatest = max(numbers, default=0)
    return array(next((kind for kind, limit in _KINDS if greatest <= limit), "I"), numbers)


def pack_steps(numbers: Sequence[int]) -> array[int]:
    """Return the steps from each of ``numbers`` to the next, from 0 on; they compress better than the numbers."""
    kind = "h" if max(numbers, default=0) <= _MAX_STEP else "i"
    return array(kind, map(sub, numbers, chain((0,), numbers)))


def encode_columns(columns: Sequence[array[int]], text: str) -> bytes:
    """Encode ``columns`` and ``text`` as compressed bytes with a checksum."""
    kinds = "".join([column.typecode for column in columns]).encode("ascii")
    sizes = array("I", map(len, columns))
    content = b"".join((kinds, sizes, *columns, text.encode("utf-8", "surrogatepass")))
    compressor = zlib.compressobj(1, wbits=_RAW_DEFLATE)
    body = compressor.compress(content) + compressor.flush()
    return zlib.crc32(body).to_bytes(_CHECKSUM_BYTES, "little") + body


def decode_columns(body: bytes, number: int) -> tuple[list[memoryview], str]:
    """Return ``number`` columns and the text. Raises ValueError for what ``encode_columns`` did not encode."""
    view = memoryview(body)
    if int.from_bytes(view[:_CHECKSUM_BYTES], "little") != zlib.crc32(view[_CHECKSUM_BYTES:]):
        raise ValueError("damaged")
    try:
        content = memoryview(zlib.decompress(view[_CHECKSUM_BYTES:], _RAW_DEFLATE))
        columns = []
        offset = 5 * number
        for kind, size in zip(bytes(content[:number]), content[number:offset].cast("I"), strict=True):
            end = offset + size * _WIDTHS[kind]
            columns.append(content[offset:end].cast(chr(kind)))  # type: ignore[call-overload]
            offset = end
        return columns, str(content[offset:], "utf-8", "surrogatepass")
    except (zlib.error, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"its parts do not match: {error}") from None
