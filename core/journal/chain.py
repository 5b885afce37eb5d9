"""How records hang together: each one's hash covers the hash before it and the record's own text.

Invariant: what was written cannot be changed, taken out or put in between without breaking a link. Taking records
off the end is not seen here; the sessions, which remember their last record, show it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

GENESIS = "0" * 64
"""What the first record of all has for the hash before it."""


@dataclass(frozen=True, slots=True)
class Link:
    """One record as it is stored: ``text`` is canonical JSON, the others are hexadecimal SHA-256."""

    seq: int
    text: str
    previous: str
    digest: str


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """The first link that does not hold, and why."""

    seq: int
    problem: str


def canonical_json(body: Mapping[str, Any]) -> str:
    """``body`` as the one JSON text that stands for it: keys sorted, no spaces, no escapes that are not needed.

    Raises:
        ValueError: it holds a number that JSON does not have.
    """
    return json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def compute_digest(previous: str, text: str) -> str:
    """The hash of a record whose canonical JSON is ``text`` and that follows the one with the hash ``previous``."""
    return hashlib.sha256(f"{previous}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def find_first_break(links: Iterable[Link], previous: str = GENESIS) -> ChainBreak | None:
    """The first of ``links``, in order, that does not follow on ``previous`` and those before it."""
    for link in links:
        if link.previous != previous:
            return ChainBreak(link.seq, "does not follow the record before it: one was taken out, put in or changed")
        if compute_digest(link.previous, link.text) != link.digest:
            return ChainBreak(link.seq, "was changed after it was written")
        previous = link.digest
    return None
