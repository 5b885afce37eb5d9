"""The observations and the report of the doctor as values."""

from __future__ import annotations

import json

from doctor_values import NOW, client, installation

from upbeat.core.contract import event as events
from upbeat.core.doctor import findings
from upbeat.core.doctor.diagnose import diagnose
from upbeat.core.messages.catalogue import load_messages

MESSAGES = load_messages("doctor", "en")


def test_every_hook_point_has_events() -> None:
    """Each hook point is shown by events of the contract, and no event shows two."""
    named = [name for names in findings.EVENTS_BY_HOOK_POINT.values() for name in names]

    assert set(findings.HookPoint) == set(findings.EVENTS_BY_HOOK_POINT)
    assert len(named) == len(set(named))
    assert all(hasattr(events, name) for name in named)


def test_stateful_hook_points() -> None:
    """Starts and prompts work without the journal."""
    assert {findings.HookPoint.START, findings.HookPoint.TURNS} == set(
        findings.HookPoint
    ) - findings.STATEFUL_HOOK_POINTS


def test_the_display_name() -> None:
    """Messages name the program whose hooks these are."""
    assert ("Claude Code", "Codex") == (client().display_name, client(hook_owner="Codex").display_name)


def test_reasons_of_a_report() -> None:
    """The report collects the reasons of all hook points."""
    fault = findings.Fault(findings.Reason.UNTRUSTED, "End", frozenset({findings.HookPoint.END}))
    report = diagnose(NOW, [client(faults=(fault,)), client()], installation(), MESSAGES)

    assert {findings.Reason.UNTRUSTED} == report.reasons
    assert report.reasons <= findings.TRUST_REASONS
    assert frozenset() == diagnose(NOW, [client()], installation(), MESSAGES).reasons


def test_the_document_is_json() -> None:
    """Sets are sorted lists, so that equal reports are equal texts."""
    canary = findings.CanaryResult(
        NOW, "s", frozenset({findings.HookPoint.TURNS, findings.HookPoint.CALLS, findings.HookPoint.END})
    )
    document = findings.doctor_document(diagnose(NOW, [client(canary=canary)], installation(), MESSAGES))

    assert ["calls", "end", "turns"] == document["clients"][0]["canary"]["seen"]
    assert "schema_version" == next(iter(document))
    assert document == json.loads(json.dumps(document))
