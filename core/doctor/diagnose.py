"""Derive the doctor's report from observations: every hook point of every client, active or not, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from upbeat.core.doctor.evidence import find_proof
from upbeat.core.doctor.findings import (
    STATEFUL_HOOK_POINTS,
    CheckStatus,
    ClientReport,
    ClientSnapshot,
    Diagnosis,
    DoctorReport,
    Fault,
    HookPoint,
    HookPointReport,
    InstallationCheck,
    InstallationSnapshot,
    InstallStatus,
    Proof,
    Reason,
)
from upbeat.core.messages.catalogue import Messages


def diagnose(
    at: str, clients: Sequence[ClientSnapshot], installation: InstallationSnapshot, messages: Messages
) -> DoctorReport:
    """Return the report at time ``at`` (UTC, ISO 8601)."""
    shared_faults = tuple(find_faults(installation))
    reports = tuple(_diagnose_client(client, shared_faults, messages) for client in clients)
    checks = tuple(build_checks(installation, messages))
    return DoctorReport(at, all(report.active for report in reports), reports, checks)


def find_faults(installation: InstallationSnapshot) -> Iterator[Fault]:
    """Yield the faults that disable hook points of every client."""
    seen = installation
    if seen.disabled_by:
        yield Fault(Reason.UPBEAT_DISABLED, seen.disabled_by)
    if seen.plan_mode_by:
        yield Fault(Reason.PLAN_MODE, seen.plan_mode_by, frozenset({HookPoint.TURNS}))
    if seen.settings_problems:
        yield Fault(Reason.SETTINGS_INVALID, "; ".join(seen.settings_problems), frozenset({HookPoint.TURNS}))
    if seen.uncompiled_modules:
        yield Fault(Reason.NO_BYTE_CODE, f"{seen.uncompiled_modules}/{seen.modules}")
    if not seen.is_sqlite_sound:
        yield Fault(Reason.AFFECTED_SQLITE, seen.sqlite, STATEFUL_HOOK_POINTS)
    if seen.is_network_file_system:
        yield Fault(Reason.NETWORK_FILE_SYSTEM, seen.journal.path, STATEFUL_HOOK_POINTS)
    if seen.journal.problem and seen.is_sqlite_sound:
        yield Fault(Reason.JOURNAL_UNUSABLE, seen.journal.problem, STATEFUL_HOOK_POINTS)


def _diagnose_client(client: ClientSnapshot, shared_faults: tuple[Fault, ...], messages: Messages) -> ClientReport:
    is_installed = client.install_status is InstallStatus.INSTALLED
    hook_points = (
        tuple(_diagnose_hook_point(hook_point, client, shared_faults, messages) for hook_point in HookPoint)
        if is_installed
        else ()
    )
    return ClientReport(
        client.client,
        client.name,
        client.display_name,
        client.cli_name,
        client.install_status,
        client.version,
        client.program,
        all(hook_point.active for hook_point in hook_points),
        hook_points,
        client.canary,
        client.notes,
    )


def _diagnose_hook_point(
    hook_point: HookPoint, client: ClientSnapshot, shared_faults: tuple[Fault, ...], messages: Messages
) -> HookPointReport:
    known = find_proof(hook_point, client)
    is_disproof = client.canary is not None and bool(client.canary.seen) and isinstance(known, Proof)
    faults = [fault for fault in (*shared_faults, *client.faults) if hook_point in fault.hook_points]
    faults = [fault for fault in faults if not (fault.can_be_disproved and is_disproof)]
    if isinstance(known, Fault) and not faults:  # the other faults explain why it has not fired
        faults.append(known)
    if faults:
        reasons = dict.fromkeys(_explain_fault(fault, client, messages) for fault in faults)
        return HookPointReport(hook_point, False, None, tuple(reasons))
    return HookPointReport(hook_point, True, known if isinstance(known, Proof) else None)


def _explain_fault(fault: Fault, client: ClientSnapshot, messages: Messages) -> Diagnosis:
    texts = format_reason(fault.reason, fault.detail, client.display_name, client.cli_name, messages)
    return Diagnosis(fault.reason, fault.detail, *texts)


def format_reason(reason: Reason, detail: str, name: str, cli_name: str, messages: Messages) -> tuple[str, str]:
    """Return the message of ``reason`` and how to fix it, for the client ``name``."""
    texts = messages.group("reasons").group(reason)
    fix = texts.get(f"fix_{cli_name}") or texts["fix"]
    fields = {"detail": detail, "name": name, "cli_name": cli_name}
    return texts["message"].format(**fields), fix.format(**fields)


def build_checks(installation: InstallationSnapshot, messages: Messages) -> Iterator[InstallationCheck]:
    """Yield each check of this installation, passed or not."""
    seen, journal = installation, installation.journal
    bad = {fault.reason: fault for fault in find_faults(installation)}

    def check(name: str, reason: Reason, fine: str) -> InstallationCheck:
        if reason not in bad:
            return InstallationCheck(name, CheckStatus.OK, fine)
        return InstallationCheck(name, CheckStatus.BAD, *format_reason(reason, bad[reason].detail, "", "", messages))

    yield InstallationCheck(
        "upbeat", CheckStatus.OK, messages["installed"].format(version=seen.version, python=seen.python)
    )
    for name, reason in (
        ("switch", Reason.UPBEAT_DISABLED),
        ("mode", Reason.PLAN_MODE),
        ("settings", Reason.SETTINGS_INVALID),
    ):
        if reason in bad:
            yield check(name, reason, "")
    yield check("byte code", Reason.NO_BYTE_CODE, messages["byte_code_ok"].format(modules=seen.modules))
    yield check("SQLite", Reason.AFFECTED_SQLITE, messages["sqlite_ok"].format(version=seen.sqlite))
    yield check("file system", Reason.NETWORK_FILE_SYSTEM, messages["file_system_ok"].format(path=journal.path))
    yield check("journal", Reason.JOURNAL_UNUSABLE, messages["journal_ok"].format(records=f"{journal.records:,}"))
    if journal.write_failures:
        yield InstallationCheck(
            "not stored",
            CheckStatus.NOTE,
            messages["write_failures"].format(count=journal.write_failures, last=journal.last_failure),
        )
    if seen.failed_events:
        message = messages["failed_events"].format(
            count=seen.failed_events, days=seen.period_days, last=seen.last_failed_event
        )
        yield InstallationCheck("not answered", CheckStatus.NOTE, message, messages["failed_events_fix"])
    if seen.policies_off:
        yield InstallationCheck(
            "policies", CheckStatus.NOTE, messages["policies_off"].format(names=", ".join(seen.policies_off))
        )
