"""Fuse the findings of all tools into one short ranked list, without lines that the session was already shown.

Invariants: the result is the same for the findings in any order. A location occurs once per tool. Contradicting
statements are both kept, adjacent and marked; none of them is preferred. The same lines in the same file count as
shown, wherever they moved; changed lines are shown again, and a location without its lines is still named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from upbeat.core.contract.finding import ANSWER_KIND, Finding
from upbeat.core.contract.report import Item

MAX_ITEMS = 12
MAX_SUMMARY_LENGTH = 240
MAX_SUBJECT_ITEMS = 2
ELLIPSIS = "…"
ALREADY_SHOWN = "shown earlier in this session"


@dataclass(frozen=True, slots=True)
class FusedItem:
    """A finding of the fused list. ``evidence_refs`` name the contradicting findings, as ``tool:path:line``."""

    tool: str
    finding: Finding
    summary: str
    is_truncated: bool = False
    has_conflict: bool = False
    evidence_refs: tuple[str, ...] = ()


def fuse_findings(findings: Iterable[tuple[str, Finding]]) -> tuple[FusedItem, ...]:
    """Return the best ``MAX_ITEMS`` of ``(tool, finding)``; a contradicted finding is next to a contradicting one."""
    best: dict[tuple[str, ...], tuple[str, Finding]] = {}
    for tool, finding in sorted(findings, key=_sort_key):
        side = f"{finding.claim}:{finding.supports_claim}" if finding.claim else ""
        identity = tool, normalize_repo_path(finding.path), finding.symbol, finding.title, side
        best.setdefault(identity, (tool, finding))
    ranked = list(best.values())
    contradictions = _find_contradictions(ranked) if any(finding.claim for _tool, finding in ranked) else {}
    items: list[FusedItem] = []
    done: set[int] = set()
    for index in range(len(ranked)):
        if index in done:
            continue
        group = [index, *(other for other in contradictions.get(index, []) if other not in done)]
        done.update(group)
        remaining = MAX_ITEMS - len(items)
        if len(group) > 1 and remaining < 2:  # one side of a contradiction would look like a fact
            done.update(*(contradictions[member] for member in group))
            continue
        for member in group[:remaining]:
            items.append(_make_item(*ranked[member], [ranked[other] for other in contradictions.get(member, ())]))
    return tuple(items)


def _make_item(tool: str, finding: Finding, contradicting: list[tuple[str, Finding]]) -> FusedItem:
    summary = " — ".join(part for part in (finding.title, finding.why) if part)
    is_truncated = len(summary) > MAX_SUMMARY_LENGTH
    return FusedItem(
        tool=tool,
        finding=finding,
        summary=summary[: MAX_SUMMARY_LENGTH - len(ELLIPSIS)] + ELLIPSIS if is_truncated else summary,
        is_truncated=is_truncated,
        has_conflict=bool(contradicting),
        evidence_refs=tuple(evidence_ref(*pair) for pair in contradicting),
    )


def _sort_key(pair: tuple[str, Finding]) -> tuple[object, ...]:
    tool, f = pair
    location = (f.path, f.symbol, f.start_line)
    return (-f.score, tool, *location, f.title, f.why, f.claim, not f.supports_claim, f.kind, f.end_line, f.text)


def normalize_repo_path(path: str) -> str:
    """Return ``path`` with ``/`` between its parts, without empty and ``.`` parts."""
    return "/".join(part for part in path.replace("\\", "/").split("/") if part not in ("", "."))


def _find_contradictions(ranked: list[tuple[str, Finding]]) -> dict[int, list[int]]:
    """Map each index of a finding with a claim to those that claim the opposite about the same location."""
    claims: dict[tuple[str, str, str], list[int]] = {}
    for index, (_tool, finding) in enumerate(ranked):
        if finding.claim:
            claims.setdefault((normalize_repo_path(finding.path), finding.symbol, finding.claim), []).append(index)
    contradictions: dict[int, list[int]] = {}
    for members in claims.values():
        for index in members:
            against = [m for m in members if ranked[m][1].supports_claim != ranked[index][1].supports_claim]
            if against:
                contradictions[index] = against
    return contradictions


def evidence_ref(tool: str, finding: Finding) -> str:
    """Return the name of a finding as evidence: ``tool:path:line``."""
    return f"{tool}:{finding.path}" + (f":{finding.start_line}" if finding.start_line else "")


def drop_source_lines(item: FusedItem) -> FusedItem:
    """Return the item without source lines, if only its heading fits; further locations are still named."""
    more = tuple(replace(excerpt, text="") if excerpt.text else excerpt for excerpt in item.finding.more_excerpts)
    return replace(item, finding=replace(item.finding, text="", more_excerpts=more))


def excerpt_id(path: str, text: str) -> str:
    """Return the id of source lines of a file: twelve hexadecimal digits; empty without lines."""
    if not text:
        return ""
    return hashlib.sha256(f"{path}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def omit_shown_excerpts(items: Sequence[FusedItem], shown_ids: Collection[str]) -> tuple[FusedItem, ...]:
    """Return ``items`` in their order, without the lines whose ids are in ``shown_ids``.

    The caller removes ids from ``shown_ids`` after a compaction.
    """
    return tuple(_omit_from_item(item, shown_ids) for item in items)


def collect_excerpt_ids(items: Iterable[Item]) -> tuple[str, ...]:
    """Return the ids of all source lines that the items of a report show."""
    ids = (excerpt for item in items for excerpt in (item.excerpt, *(more.excerpt for more in item.more)))
    return tuple(filter(None, ids))


def collect_subject(items: Sequence[Item]) -> tuple[str, ...]:
    """Return the paths and symbols that a report leads with: what a follow-up is about."""
    names = (
        name for item in items[:MAX_SUBJECT_ITEMS] for name in (item.path, item.symbol) if item.kind != ANSWER_KIND
    )
    return tuple(dict.fromkeys(filter(None, names)))


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
