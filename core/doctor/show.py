"""A report for people: a verdict, a line a guard, then each reason once with its way out. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ..columns import columns, padded
from .findings import Check, ClientReport, Grade, Presence, Proof, Reason, Report
from .texts import Texts, told_of

INDENT = "  "
_STEPS = ((90, 1, "seconds_ago"), (90 * 60, 60, "minutes_ago"), (48 * 3600, 3600, "hours_ago"))


def lines(report: Report, texts: Texts) -> Iterator[str]:
    """``report`` for people, a line each; the first is the verdict."""
    yield verdict(report, texts)
    told: set[str] = set()
    for client in report.clients:
        yield ""
        yield from _client(client, report.at, texts, told)
    yield ""
    yield texts.installation
    width = max((len(check.name) for check in report.checks), default=0)
    for check in report.checks:
        yield from _check(check, width, texts)


def verdict(report: Report, texts: Texts) -> str:
    """All in one line."""
    with_upbeat = [client for client in report.clients if client.guards]
    guards = [(client, guard) for client in with_upbeat for guard in client.guards]
    if not guards:
        return texts.nothing
    unarmed = [client.name for client, guard in guards if not guard.armed]
    if unarmed:
        names = ", ".join(dict.fromkeys(unarmed))
        return texts.some_not.format(count=len(unarmed), total=len(guards), clients=names)
    return texts.all_armed.format(clients=", ".join(client.name for client in with_upbeat))


def _client(client: ClientReport, at: str, texts: Texts, told: set[str]) -> Iterator[str]:
    title = " ".join(part for part in (client.name, client.version) if part)
    if client.presence is Presence.NOT_HERE:
        yield f"{title}: {texts.not_here}"
        return
    if client.presence is Presence.NOT_INSTALLED:
        yield f"{title}: {texts.not_installed.format(word=client.word)}"
        return
    yield title
    state_width = max(columns(texts.armed), columns(texts.not_armed))
    width = max(map(columns, texts.guards.values()))
    for guard in client.guards:
        state = texts.armed if guard.armed else texts.not_armed
        proof = _proof(guard.proof, at, texts) if guard.proof else ""
        what = padded(texts.guards[guard.guard], width)
        yield f"{INDENT}{padded(state, state_width)}  {what}  {proof}".rstrip()
    yield from _reasons(client, texts, told)
    yield from (INDENT + note for note in client.notes)


def _reasons(client: ClientReport, texts: Texts, told: set[str]) -> Iterator[str]:
    """Each reason once, whichever guards it is about, with all that it names; none that was ``told`` already."""
    details: dict[Reason, dict[str, None]] = {}
    for because in (because for guard in client.guards for because in guard.reasons):
        details.setdefault(because.reason, {})[because.detail] = None
    new = {reason: named for reason, named in details.items() if not {f"{reason} {one}" for one in named} <= told}
    for reason, named in new.items():
        told |= {f"{reason} {one}" for one in named}
        sentence, way_out = told_of(reason, ", ".join(named), client.about, client.word, texts)
        yield f"{INDENT}! {sentence}"
        yield f"{INDENT}  {texts.way.format(way=way_out)}"
    if len(new) < len(details):
        yield f"{INDENT}! {texts.as_above}"


def _proof(proof: Proof, at: str, texts: Texts) -> str:
    match proof.kind:
        case "canary":
            return texts.proof_canary
        case "session":
            return texts.proof_session.format(ago=_ago(proof.at, at, texts), session=proof.session_id[:8])
        case "own":
            return texts.proof_own
        case _:
            return texts.proof_alike


def _ago(then: str, now: str, texts: Texts) -> str:
    seconds = max((datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds(), 0)
    for below, unit, text in _STEPS:
        if seconds < below:
            return str(getattr(texts, text).format(count=int(seconds // unit)))
    return texts.days_ago.format(count=int(seconds // 86400))


def _check(check: Check, width: int, texts: Texts) -> Iterator[str]:
    mark = {Grade.OK: " ", Grade.NOTE: "-", Grade.BAD: "!"}[check.grade]
    yield f"{mark} {check.name:<{width}}  {check.sentence}"
    if check.way_out:
        yield f"  {'':<{width}}  {texts.way.format(way=check.way_out)}"
