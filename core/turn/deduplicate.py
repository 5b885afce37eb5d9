"""Omit source lines that the session was already shown; their location is still named.

Invariant: the same lines in the same file count as shown, wherever they moved; changed lines are shown again. The
caller removes ids from ``shown_ids`` after a compaction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from upbeat.core.contract.report import Item
from upbeat.core.turn.fuse import FusedItem

ALREADY_SHOWN = "shown earlier in this session"


def excerpt_id(path: str, text: str) -> str:
    """Return the id of source lines of a file: twelve hexadecimal digits; empty without lines."""
    if not text:
        return ""
    return hashlib.sha256(f"{path}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def omit_shown_excerpts(items: Sequence[FusedItem], shown_ids: Collection[str]) -> tuple[FusedItem, ...]:
    """Return ``items`` in their order, without the lines whose ids are in ``shown_ids``."""
    return tuple(_omit_from_item(item, shown_ids) for item in items) if shown_ids else tuple(items)


def collect_excerpt_ids(items: Iterable[Item]) -> tuple[str, ...]:
    """Return the ids of all source lines that the items of a report show."""
    ids = (excerpt for item in items for excerpt in (item.excerpt, *(more.excerpt for more in item.more)))
    return tuple(filter(None, ids))


def _omit_from_item(item: FusedItem, shown_ids: Collection[str]) -> FusedItem:
    finding = item.finding
    more = tuple(
        replace(excerpt, text="") if excerpt_id(finding.path, excerpt.text) in shown_ids else excerpt
        for excerpt in finding.more_excerpts
    )
    if excerpt_id(finding.path, finding.text) not in shown_ids:
        return replace(item, finding=replace(finding, more_excerpts=more))
    why = "; ".join(filter(None, (ALREADY_SHOWN, finding.why)))
    return replace(item, finding=replace(finding, text="", why=why, more_excerpts=more), summary=ALREADY_SHOWN)
