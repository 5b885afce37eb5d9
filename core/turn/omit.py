"""Source lines that a session was shown already are not shown again; where they are is still said.

Law: the same lines at the same place count as shown, whatever has moved around them; a file that was changed there
is shown anew. What was forgotten by a compaction is for the caller to leave out of ``shown``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ..contract.finding import Excerpt
from ..contract.report import Item
from .fuse import Fused

SHOWN_BEFORE = "shown earlier in this session"


def excerpt_id(path: str, text: str) -> str:
    """What source lines of a file are known by: twelve hexadecimal digits; empty when there are none."""
    if not text:
        return ""
    return hashlib.sha256(f"{path}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def omit_shown(items: Sequence[Fused], shown: Collection[str]) -> tuple[Fused, ...]:
    """``items`` in their order, without the lines that are in ``shown``."""
    return tuple(_without(item, shown) for item in items) if shown else tuple(items)


def excerpts_of(items: Iterable[Item]) -> tuple[str, ...]:
    """The ids of all source lines that a report's items show."""
    return tuple(one for item in items for one in (item.excerpt, *(more.excerpt for more in item.more)) if one)


def _without(item: Fused, shown: Collection[str]) -> Fused:
    finding = item.finding
    more = tuple(_bare(one) if excerpt_id(finding.path, one.text) in shown else one for one in finding.more)
    if excerpt_id(finding.path, finding.text) not in shown:
        return replace(item, finding=replace(finding, more=more))
    why = "; ".join(part for part in (SHOWN_BEFORE, finding.why) if part)
    return replace(item, finding=replace(finding, text="", why=why, more=more), summary=SHOWN_BEFORE)


def _bare(excerpt: Excerpt) -> Excerpt:
    return replace(excerpt, text="")
