"""Render a report for the terminal: a summary, a line for each hook point, and each reason once with its fix."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from upbeat.core.doctor import findings
from upbeat.core.doctor.diagnose import format_reason
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import Messages
from upbeat.core.messages.layout import Line, Mark, Screen

INDENT = "  "
_STATE_MARKS = {
    findings.State.ACTIVE: layout.GOOD,
    findings.State.UNVERIFIED: layout.QUIET,
    findings.State.ACTION_NEEDED: layout.BAD,
}
_CHECK_MARKS = {
    findings.CheckStatus.OK: layout.GOOD,
    findings.CheckStatus.NOTE: layout.QUIET,
    findings.CheckStatus.BAD: layout.ATTENTION,
}


def doctor_screen(report: findings.DoctorReport, messages: Messages, screen: Screen) -> Iterator[Line]:
    """Yield the lines of ``report``; the first one is the summary."""
    yield from layout.headline(summary_line(report, messages), screen)
    shown: set[str] = set()
    screen = screen._replace(now=datetime.fromisoformat(report.at))
    for client in report.clients:
        yield Line("")
        yield from _client_lines(client, screen, messages, shown)
    yield Line("")
    yield Line(messages["installation"])
    rows, marks = [], []
    for check in report.checks:
        fix = " " + messages["fix"].format(fix=check.fix) if check.fix else ""
        rows.append((check.name, check.message.rstrip() + fix))
        marks.append(_CHECK_MARKS[check.status])
    yield from layout.table(rows, screen, INDENT, marks)


def summary_line(report: findings.DoctorReport, messages: Messages) -> str:
    """Return the report in one line."""
    with_upbeat = [client for client in report.clients if client.hook_points]
    hook_points = [(client, hook_point) for client in with_upbeat for hook_point in client.hook_points]
    if not hook_points:
        missing = ", ".join(client.name for client in report.clients if client.is_missing)
        return messages["clients_missing"].format(clients=missing) if missing else str(messages["no_clients"])
    if report.state is findings.State.ACTIVE:
        return messages["all_active"].format(clients=", ".join(client.name for client in with_upbeat))
    concerned = [client for client, hook_point in hook_points if hook_point.state is report.state]
    names = ", ".join(dict.fromkeys(client.name for client in concerned))
    fields = {"count": len(concerned), "total": len(hook_points), "clients": names}
    return messages[f"some_{report.state}"].format(**fields)


def _client_lines(client: findings.ClientReport, screen: Screen, messages: Messages, shown: set[str]) -> Iterator[Line]:
    title = " ".join(part for part in (client.name, client.version) if part)
    if client.install_status is findings.InstallStatus.CLIENT_NOT_FOUND:
        yield from layout.paragraph(f"{title}: {messages['client_not_found']}", screen)
        for note in client.notes:
            yield from layout.paragraph(note, screen, INDENT)
        return
    if client.install_status is findings.InstallStatus.NOT_INSTALLED:
        not_installed = messages["not_installed"].format(cli_name=client.cli_name)
        yield from layout.paragraph(f"{title}: {not_installed}", screen)
        return
    yield Line(title, layout.Style.STRONG, len(title))
    states, summaries = messages.group("states"), messages.group("hook_points")
    rows, marks = [], list[Mark]()
    for point in client.hook_points:
        proof = _format_proof(point.proof, screen, messages) if point.proof else ""
        rows.append((states[point.state], summaries[point.hook_point], proof))
        marks.append(_STATE_MARKS[point.state])
    yield from layout.table(rows, screen, INDENT, marks)
    yield from _reason_lines(client, screen, messages, shown)
    for note in client.notes:
        yield from layout.paragraph(note, screen, INDENT)


def _reason_lines(client: findings.ClientReport, screen: Screen, messages: Messages, shown: set[str]) -> Iterator[Line]:
    """Yield each reason once with all of its details, except those that are in ``shown`` already."""
    details: dict[findings.Reason, dict[str, None]] = {}
    for diagnosis in (diagnosis for hook_point in client.hook_points for diagnosis in hook_point.reasons):
        details.setdefault(diagnosis.reason, {})[diagnosis.detail] = None
    new = {
        reason: named for reason, named in details.items() if not {f"{reason} {detail}" for detail in named} <= shown
    }
    for reason, named in new.items():
        shown |= {f"{reason} {detail}" for detail in named}
        message, fix = format_reason(reason, ", ".join(named), client.hook_owner, client.cli_name, messages)
        mark = layout.QUIET if reason is findings.Reason.UNPROVEN else layout.ATTENTION
        yield from layout.marked(mark, message, screen, INDENT)
        yield from layout.paragraph(messages["fix"].format(fix=fix), screen, INDENT * 2)
    if len(new) < len(details):
        yield from layout.marked(layout.ATTENTION, messages["repeated_reasons"], screen, INDENT)


def _format_proof(proof: findings.Proof, screen: Screen, messages: Messages) -> str:
    ago = layout.relative_time(proof.at, screen)
    return messages[f"proof_{proof.kind}"].format(ago=ago)
