"""Many tools' findings become one short list, in the order of worth.

Law: deterministic for the same findings in any order. The same place from the same tool stands once; two
statements that contradict each other both stand, side by side and marked, and nobody picks the winner.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..contract.finding import Finding

MAX_ITEMS = 12
MAX_SUMMARY = 240
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Fused:
    """One finding that made it into the list. ``evidence`` names the opposing entries, as ``tool:path:line``."""

    tool: str
    finding: Finding
    summary: str
    truncated: bool = False
    conflict: bool = False
    evidence: tuple[str, ...] = ()


def fuse(findings: Iterable[tuple[str, Finding]]) -> tuple[Fused, ...]:
    """The best ``MAX_ITEMS`` of ``(tool, finding)``, opponents next to each other and never one without the other."""
    best: dict[tuple[str, ...], tuple[str, Finding]] = {}
    for tool, finding in sorted(findings, key=_order):
        best.setdefault(_key(tool, finding), (tool, finding))
    ranked = list(best.values())
    opponents = _opponents(ranked)
    listed: list[Fused] = []
    taken: set[int] = set()
    for number in range(len(ranked)):
        if number in taken:
            continue
        against = opponents.get(number, [])
        group = [number, *(other for other in against if other not in taken)]
        taken.update(group)
        room = MAX_ITEMS - len(listed)
        if len(group) > 1 and room < 2:  # half a quarrel would read as a fact
            taken.update(*(opponents[member] for member in group))
            continue
        for member in group[:room]:
            listed.append(_fused(*ranked[member], [ranked[o] for o in opponents.get(member, ())]))
    return tuple(listed)


def _fused(tool: str, finding: Finding, against: list[tuple[str, Finding]]) -> Fused:
    summary = " — ".join(part for part in (finding.title, finding.why) if part)
    cut = len(summary) > MAX_SUMMARY
    return Fused(
        tool=tool,
        finding=finding,
        summary=summary[: MAX_SUMMARY - len(ELLIPSIS)] + ELLIPSIS if cut else summary,
        truncated=cut,
        conflict=bool(against),
        evidence=tuple(reference(*pair) for pair in against),
    )


def _order(pair: tuple[str, Finding]) -> tuple[object, ...]:
    tool, finding = pair
    return (
        -finding.score,
        tool,
        finding.path,
        finding.symbol,
        finding.start_line,
        finding.title,
        finding.why,
        finding.claim,
        not finding.supports,
        finding.kind,
        finding.end_line,
        finding.text,
    )


def _key(tool: str, finding: Finding) -> tuple[str, ...]:
    """What makes two findings the same. A claim's two sides are never the same."""
    side = f"{finding.claim}:{finding.supports}" if finding.claim else ""
    return tool, normal_path(finding.path), finding.symbol, finding.title, side


def normal_path(path: str) -> str:
    """``path`` with ``/`` between its parts and no ``.`` among them."""
    return "/".join(part for part in path.replace("\\", "/").split("/") if part not in ("", "."))


def _opponents(ranked: list[tuple[str, Finding]]) -> dict[int, list[int]]:
    """For each entry with a claim, the entries that say the opposite about the same place."""
    sides: dict[tuple[str, str, str], list[int]] = {}
    for number, (_tool, finding) in enumerate(ranked):
        if finding.claim:
            sides.setdefault((normal_path(finding.path), finding.symbol, finding.claim), []).append(number)
    found: dict[int, list[int]] = {}
    for members in sides.values():
        for number in members:
            against = [m for m in members if ranked[m][1].supports != ranked[number][1].supports]
            if against:
                found[number] = against
    return found


def reference(tool: str, finding: Finding) -> str:
    """How an entry is named as evidence: ``tool:path:line``."""
    line = f":{finding.start_line}" if finding.start_line else ""
    return f"{tool}:{finding.path}{line}"


def without_text(fused: Fused) -> Fused:
    """The same entry without its source lines, for when only the heading fits; further places are still named."""
    finding = fused.finding
    more = tuple(replace(one, text="") for one in finding.more)
    return replace(fused, finding=replace(finding, text="", more=more))
