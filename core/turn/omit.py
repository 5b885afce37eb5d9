"""Source lines that a session was shown already are not shown again; where they are is still said.

Law: the same lines at the same place count as shown, whatever has moved around them; a file that was changed there
is shown anew. What was forgotten by a compaction is for the caller to leave out of ``shown``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ..contract.finding import Finding
from ..contract.report import Item
from .fuse import Fused, without_text

SHOWN_BEFORE = "shown earlier in this session"


def excerpt_id(finding: Finding) -> str:
    """What the finding's source lines are known by: twelve hexadecimal digits; empty when there are none."""
    if not finding.text:
        return ""
    data = f"{finding.path}\0{finding.text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:12]


def omit_shown(items: Sequence[Fused], shown: Collection[str]) -> tuple[Fused, ...]:
    """``items`` in their order, those that are in ``shown`` without their lines."""
    return tuple(_without(item) if shown and excerpt_id(item.finding) in shown else item for item in items)


def excerpts_of(items: Iterable[Item]) -> tuple[str, ...]:
    """The ids of all source lines that a report's items show."""
    return tuple(item.excerpt for item in items if item.excerpt)


def _without(item: Fused) -> Fused:
    bare = without_text(item)
    why = "; ".join(part for part in (SHOWN_BEFORE, item.finding.why) if part)
    return replace(bare, finding=replace(bare.finding, why=why), summary=SHOWN_BEFORE)
