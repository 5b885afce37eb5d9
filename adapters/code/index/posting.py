"""The stored form of one key: the documents that have it, with their counts, and the words that have it.

Invariant: decoding returns exactly what was encoded; damaged postings are rejected.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Sequence

from upbeat.adapters.code.index.columns import pack_numbers

MIN_COMPRESSED_BYTES = 100
"""Bytes of words from which on compressing them saves space."""

_CHECKSUM_BYTES = 2
_KINDS = "BHI"
_END = b"\0"
_MAX_UINT16 = 0xFFFF
_IS_COMPRESSED = 4


def encode_postings(docs: Sequence[int], counts: Sequence[int]) -> bytes:
    """Encode documents, at least one and in ascending order, with how often each has the key."""
    numbers = array("H" if docs[-1] <= _MAX_UINT16 else "I", docs)
    try:
        times: bytes | array[int] = bytes(counts)
        kind = 0
    except ValueError:  # not in one byte
        times = pack_numbers(counts)
        kind = _KINDS.index(times.typecode)
    body = b"".join((bytes((numbers.itemsize >> 1, kind)), numbers, times))
    return zlib.crc32(body).to_bytes(4, "little")[:_CHECKSUM_BYTES] + body


def decode_postings(body: bytes, number: int) -> tuple[memoryview, memoryview]:
    """Return ``number`` documents and their counts. Raises ValueError for what ``encode_postings`` did not encode."""
    view = memoryview(body)[_CHECKSUM_BYTES:]
    if zlib.crc32(view).to_bytes(4, "little")[:_CHECKSUM_BYTES] != body[:_CHECKSUM_BYTES]:
        raise ValueError("a posting is damaged")
    try:
        docs_width, counts_width = 1 << view[0], 1 << view[1]
        middle = 2 + number * docs_width
        end = middle + number * counts_width
        if len(view) != end:
            raise ValueError("a posting has the wrong length")
        return view[2:middle].cast(_KINDS[view[0]]), view[middle:].cast(_KINDS[view[1]])  # type: ignore[call-overload]
    except IndexError:
        raise ValueError("a posting has the wrong length") from None


def encode_words(words: Sequence[str], ids: Sequence[int]) -> bytes:
    """Encode ``words``, at least one, with their ids."""
    numbers = array("H" if max(ids) <= _MAX_UINT16 else "I", ids)
    kind = numbers.itemsize >> 1
    body = b"".join(("\n".join(words).encode(), _END, numbers))
    if len(body) < MIN_COMPRESSED_BYTES:
        return bytes([kind]) + body
    return bytes([kind | _IS_COMPRESSED]) + zlib.compress(body, 1)


def decode_words(body: bytes) -> dict[int, str]:
    """Return the words that ``encode_words`` encoded by their ids, in order. Raises ValueError for anything else."""
    try:
        content = zlib.decompress(body[1:]) if body[0] & _IS_COMPRESSED else body[1:]
        words, _, ids = content.partition(_END)
        numbers = memoryview(ids).cast(_KINDS[body[0] & ~_IS_COMPRESSED])  # type: ignore[call-overload]
        return dict(zip(numbers, words.decode().split("\n"), strict=True))
    except (zlib.error, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"no words of a key: {error}") from None
