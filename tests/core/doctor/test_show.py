"""The report of the doctor as text, in both languages, and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from string import Formatter

import jsonschema_rs
import pytest
from doctor_values import NOW, client, installation, session
from wcwidth import width as display_width

from upbeat.adapters.cli.schema import schema_text
from upbeat.core.doctor import findings
from upbeat.core.doctor.diagnose import diagnose
from upbeat.core.doctor.show import doctor_screen
from upbeat.core.messages.catalogue import LANGUAGES, Messages, load_messages
from upbeat.core.messages.layout import Screen

MESSAGES = load_messages("doctor", "en")
CHINESE = load_messages("doctor", "zh")


def doctor_lines(report: findings.DoctorReport, messages: Messages, columns: int = 200) -> list[str]:
    language = "zh" if messages is CHINESE else "en"
    return [line.text for line in doctor_screen(report, messages, Screen(language, columns))]


UNTRUSTED = tuple(
    findings.Fault(findings.Reason.UNTRUSTED, hook_point.name.title(), frozenset({hook_point}))
    for hook_point in (findings.HookPoint.CALLS, findings.HookPoint.END)
)
CODEX = client(client="codex-cli", name="Codex", cli_name="codex", version="0.169.0", faults=UNTRUSTED)
WRAPPER = replace(
    CODEX,
    client="codex-auto",
    name="codex-auto",
    version="",
    hook_owner="Codex",
    hookless_points=frozenset(findings.ALL_HOOK_POINTS),
)
ABSENT = client(install_status=findings.InstallStatus.CLIENT_NOT_FOUND, version="")


def test_the_text() -> None:
    """The report has the summary, a line for each hook point, each reason once with its fix, and this installation."""
    report = diagnose(
        NOW, [ABSENT, CODEX, replace(WRAPPER, faults=UNTRUSTED[1:])], installation(failed_events=2), MESSAGES
    )

    expected = (Path(__file__).parent / "report_en.txt").read_text(encoding="utf-8")

    assert expected.splitlines() == doctor_lines(report, MESSAGES, 80)


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        (client(), "ACTIVE: every hook of Claude Code."),
        (
            client(sessions=()),
            (
                "INSTALLED: 6 of 6 hooks (Claude Code) are not verified yet; "
                "a session or upbeat doctor --probe does that."
            ),
        ),
        (
            ABSENT,
            "upbeat is not installed in any client on your PATH. Run: upbeat install claude, or upbeat install codex.",
        ),
        (
            replace(ABSENT, notes=("upbeat's plugin is installed for it",)),
            "No hook was checked: upbeat is installed for Claude Code, but this client was not found on PATH.",
        ),
    ],
)
def test_the_first_line_is_the_summary(seen: object, verdict: str) -> None:
    """The first line summarizes the report."""
    assert verdict == doctor_lines(diagnose(NOW, [seen], installation(), MESSAGES), MESSAGES)[0]  # type: ignore[list-item]


def test_chinese_is_aligned() -> None:
    """Wide characters count as two columns, so the proofs are aligned."""
    shown = [
        line for line in doctor_lines(diagnose(NOW, [client()], installation(), CHINESE), CHINESE) if "3 分钟前" in line
    ]

    assert 6 == len(shown)
    assert 1 == len({display_width(line.partition("3 分钟前")[0]) for line in shown})


@pytest.mark.parametrize(
    ("at", "ago"),
    [
        ("2026-11-22T09:29:18.000Z", "42 s ago"),
        ("2026-11-22T09:28:00.000Z", "2 min ago"),
        ("2026-11-22T06:30:00.000Z", "3 h ago"),
        ("2026-11-18T09:30:00.000Z", "4 days ago"),
        ("2026-11-22T09:31:00.000Z", "0 s ago"),
    ],
)
def test_ages(at: str, ago: str) -> None:
    """An age has a suitable unit, and is never negative."""
    seen = client(hooks_written_at="", sessions=(session(at=at),))

    assert any(
        f"seen {ago}" in line for line in doctor_lines(diagnose(NOW, [seen], installation(), MESSAGES), MESSAGES)
    )


def test_as_json() -> None:
    """The document matches its schema and has each reason with its fix."""
    canary = findings.CanaryResult(NOW, "ca4a4100", frozenset({findings.HookPoint.TURNS}), problem="it did not end")
    found = findings.doctor_document(diagnose(NOW, [CODEX, client(canary=canary), ABSENT], installation(), MESSAGES))
    jsonschema_rs.validator_for(json.loads(schema_text("doctor"))).validate(json.loads(json.dumps(found)))

    stop = found["clients"][0]["hook_points"][5]
    assert ("1.0", False, False) == (found["schema_version"], found["active"], stop["active"])
    assert {
        "reason": "untrusted",
        "detail": "End",
        "message": "Codex does not trust the hook yet: End",
        "fix": "run codex, enter /hooks, review the hooks and trust them; upbeat never does that for you",
    } == stop["reasons"][0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_has_words(language: str) -> None:
    """Each reason and each hook point has messages in both languages, with known fields."""
    messages = load_messages("doctor", language)
    reasons = messages.group("reasons")
    texts = [text for reason in findings.Reason for text in reasons.group(reason).values()]
    fields = {name for text in texts for _, name, _, _ in Formatter().parse(text) if name}

    assert all({"message", "fix"} <= set(reasons.group(reason)) for reason in findings.Reason)
    assert set(findings.HookPoint) == set(messages.group("hook_points"))
    assert fields <= {"detail", "name", "cli_name"}
