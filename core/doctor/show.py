"""Render a report for the terminal: a summary, a line for each hook point, and each reason once with its fix."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from wcwidth import width as display_width

from upbeat.core.doctor import findings
from upbeat.core.doctor.diagnose import format_reason
from upbeat.core.messages.catalogue import Messages

INDENT = "  "
_AGE_UNITS = ((90, 1, "seconds_ago"), (90 * 60, 60, "minutes_ago"), (48 * 3600, 3600, "hours_ago"))


def doctor_lines(report: findings.DoctorReport, messages: Messages) -> Iterator[str]:
    """Yield the lines of ``report``; the first one is the summary."""
    yield summary_line(report, messages)
    shown: set[str] = set()
    for client in report.clients:
        yield ""
        yield from _client_lines(client, report.at, messages, shown)
    yield ""
    yield messages["installation"]
    width = max((len(check.name) for check in report.checks), default=0)
    for check in report.checks:
        mark = {findings.CheckStatus.OK: " ", findings.CheckStatus.NOTE: "-", findings.CheckStatus.BAD: "!"}[
            check.status
        ]
        yield f"{mark} {check.name:<{width}}  {check.message}"
        if check.fix:
            yield f"  {'':<{width}}  {messages['fix'].format(fix=check.fix)}"


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


def _pad(text: str, columns: int) -> str:
    return text + " " * max(columns - display_width(text), 0)


def _client_lines(client: findings.ClientReport, at: str, messages: Messages, shown: set[str]) -> Iterator[str]:
    title = " ".join(part for part in (client.name, client.version) if part)
    if client.install_status is findings.InstallStatus.CLIENT_NOT_FOUND:
        yield f"{title}: {messages['client_not_found']}"
        yield from (INDENT + note for note in client.notes)
        return
    if client.install_status is findings.InstallStatus.NOT_INSTALLED:
        yield f"{title}: {messages['not_installed'].format(cli_name=client.cli_name)}"
        return
    yield title
    states = messages.group("states")
    state_width = max(map(display_width, states.values()))
    summaries = messages.group("hook_points")
    width = max(map(display_width, summaries.values()))
    for hook_point in client.hook_points:
        state = states[hook_point.state]
        proof = _format_proof(hook_point.proof, at, messages) if hook_point.proof else ""
        what = _pad(summaries[hook_point.hook_point], width)
        yield f"{INDENT}{_pad(state, state_width)}  {what}  {proof}".rstrip()
    yield from _reason_lines(client, messages, shown)
    yield from (INDENT + note for note in client.notes)


def _reason_lines(client: findings.ClientReport, messages: Messages, shown: set[str]) -> Iterator[str]:
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
        yield f"{INDENT}{'-' if reason is findings.Reason.UNPROVEN else '!'} {message}"
        yield f"{INDENT}  {messages['fix'].format(fix=fix)}"
    if len(new) < len(details):
        yield f"{INDENT}! {messages['repeated_reasons']}"


def _format_proof(proof: findings.Proof, at: str, messages: Messages) -> str:
    ago = _format_age(proof.at, at, messages) if proof.at else ""
    return messages[f"proof_{proof.kind}"].format(ago=ago, session=proof.session_id[:8])


def _format_age(then: str, now: str, messages: Messages) -> str:
    seconds = max((datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds(), 0)
    for below, unit, text in _AGE_UNITS:
        if seconds < below:
            return str(messages[text].format(count=int(seconds // unit)))
    return messages["days_ago"].format(count=int(seconds // 86400))
