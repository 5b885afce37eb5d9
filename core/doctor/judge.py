"""From what was seen to what is said: every guard of every client, armed or not, and why. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .evidence import evidence
from .findings import (
    REMEMBERING,
    Because,
    Check,
    ClientReport,
    ClientSeen,
    Fault,
    Grade,
    Guard,
    GuardReport,
    InstallationSeen,
    Presence,
    Proof,
    Reason,
    Report,
)
from .texts import Texts, told_of


def judge(at: str, clients: Sequence[ClientSeen], installation: InstallationSeen, texts: Texts) -> Report:
    """The report of ``at`` (UTC, ISO 8601), in the language of ``texts``."""
    of_all = tuple(faults_of(installation))
    reports = tuple(_client(client, of_all, texts) for client in clients)
    checks = tuple(checks_of(installation, texts))
    return Report(at, all(report.armed for report in reports), reports, checks)


def faults_of(installation: InstallationSeen) -> Iterator[Fault]:
    """What disarms the guards of every client."""
    seen = installation
    if seen.off_by:
        yield Fault(Reason.SWITCHED_OFF, seen.off_by)
    if seen.plan_by:
        yield Fault(Reason.PLAN_MODE, seen.plan_by, frozenset({Guard.TURNS}))
    if seen.uncompiled:
        yield Fault(Reason.NO_BYTE_CODE, f"{seen.uncompiled}/{seen.modules}")
    if not seen.is_sqlite_sound:
        yield Fault(Reason.AFFECTED_SQLITE, seen.sqlite, REMEMBERING)
    if seen.is_network:
        yield Fault(Reason.NETWORK_FILE_SYSTEM, seen.journal.path, REMEMBERING)
    if seen.journal.problem and seen.is_sqlite_sound:
        yield Fault(Reason.JOURNAL_UNUSABLE, seen.journal.problem, REMEMBERING)


def _client(client: ClientSeen, of_all: tuple[Fault, ...], texts: Texts) -> ClientReport:
    is_installed = client.presence is Presence.INSTALLED
    guards = tuple(_guard(guard, client, of_all, texts) for guard in Guard) if is_installed else ()
    return ClientReport(
        client.client,
        client.name,
        client.about,
        client.word,
        client.presence,
        client.version,
        client.program,
        all(guard.armed for guard in guards),
        guards,
        client.canary,
        client.notes,
    )


def _guard(guard: Guard, client: ClientSeen, of_all: tuple[Fault, ...], texts: Texts) -> GuardReport:
    known = evidence(guard, client)
    has_flown = client.canary is not None and bool(client.canary.seen)
    is_disproof = has_flown and isinstance(known, Proof)
    faults = [fault for fault in (*of_all, *client.faults) if guard in fault.guards]
    faults = [fault for fault in faults if not (fault.can_be_disproved and is_disproof)]
    if isinstance(known, Fault) and not faults:  # what was seen explains what has not come
        faults.append(known)
    if faults:
        reasons = dict.fromkeys(_because(fault, client, texts) for fault in faults)
        return GuardReport(guard, False, None, tuple(reasons))
    return GuardReport(guard, True, known if isinstance(known, Proof) else None)


def _because(fault: Fault, client: ClientSeen, texts: Texts) -> Because:
    told = told_of(fault.reason, fault.detail, client.about, client.word, texts)
    return Because(fault.reason, fault.detail, *told)


def checks_of(installation: InstallationSeen, texts: Texts) -> Iterator[Check]:
    """Each look at this installation, whether or not something is wrong."""
    seen, journal = installation, installation.journal
    bad = {fault.reason: fault for fault in faults_of(installation)}

    def check(name: str, reason: Reason, fine: str) -> Check:
        if reason not in bad:
            return Check(name, Grade.OK, fine)
        return Check(name, Grade.BAD, *told_of(reason, bad[reason].detail, "", "", texts))

    yield Check("upbeat", Grade.OK, texts.installed.format(version=seen.version, python=seen.python))
    if Reason.SWITCHED_OFF in bad:
        yield check("switch", Reason.SWITCHED_OFF, "")
    if Reason.PLAN_MODE in bad:
        yield check("mode", Reason.PLAN_MODE, "")
    yield check("byte code", Reason.NO_BYTE_CODE, texts.compiled.format(modules=seen.modules))
    yield check("SQLite", Reason.AFFECTED_SQLITE, texts.sound.format(version=seen.sqlite))
    yield check("file system", Reason.NETWORK_FILE_SYSTEM, texts.local.format(path=journal.path))
    yield check("journal", Reason.JOURNAL_UNUSABLE, texts.journal.format(records=f"{journal.records:,}"))
    if journal.failures:
        yield Check("not stored", Grade.NOTE, texts.failures.format(count=journal.failures, last=journal.last_failure))
    if seen.unanswered:
        sentence = texts.unanswered.format(count=seen.unanswered, days=seen.days, last=seen.last_unanswered)
        yield Check("not answered", Grade.NOTE, sentence, texts.unanswered_way)
    if seen.policies_off:
        yield Check("policies", Grade.NOTE, texts.policies_off.format(names=", ".join(seen.policies_off)))
