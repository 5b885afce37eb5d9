"""A report for people, whole, in both languages; and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from string import Formatter
from textwrap import dedent

import jsonschema_rs
import pytest
from doctor_values import NOW, client, installation, session

from upbeat.adapters.cli.schema import schema_text
from upbeat.core.columns import columns
from upbeat.core.doctor.findings import ALL, Canary, Fault, Guard, Presence, Reason, document
from upbeat.core.doctor.judge import judge
from upbeat.core.doctor.show import lines
from upbeat.core.doctor.texts import EN, TEXTS, ZH

UNTRUSTED = tuple(Fault(Reason.UNTRUSTED, guard.name.title(), frozenset({guard})) for guard in (Guard.CALLS, Guard.END))
CODEX = client(client="codex-cli", name="Codex", word="codex", version="0.169.0", faults=UNTRUSTED)
WRAPPER = replace(CODEX, client="codex-auto", name="codex-auto", version="", hooks_of="Codex", own=frozenset(ALL))
ABSENT = client(presence=Presence.NOT_HERE, version="")


def test_for_people() -> None:
    """The verdict first; a line a guard; each reason once with what it names and its way out; then this machine."""
    report = judge(NOW, [ABSENT, CODEX, replace(WRAPPER, faults=UNTRUSTED[1:])], installation(unanswered=2), EN)

    assert dedent("""\
        NOT ARMED: 3 of 12 guards (Codex, codex-auto).

        Claude Code: not on PATH

        Codex 0.169.0
          ARMED      tells a new session what was                   seen 3 min ago, session 5e551000
          ARMED      prepares prompts                               seen 3 min ago, session 5e551000
          NOT ARMED  stops skipped stages and destructive commands
          ARMED      meets failures and counts evidence             seen 3 min ago, session 5e551000
          ARMED      gives agents their stage                       seen 3 min ago, session 5e551000
          NOT ARMED  keeps a turn going until it is done
          ! Codex has not been told to trust the hook: Calls, End
            -> run codex, enter /hooks, read them, and trust them; upbeat never does that for you

        codex-auto
          ARMED      tells a new session what was                   by itself; needs no hook
          ARMED      prepares prompts                               by itself; needs no hook
          ARMED      stops skipped stages and destructive commands  by itself; needs no hook
          ARMED      meets failures and counts evidence             by itself; needs no hook
          ARMED      gives agents their stage                       by itself; needs no hook
          NOT ARMED  keeps a turn going until it is done
          ! the rest as above

        this installation
          upbeat        0.1.0, /opt/python
          byte code     there, or written at first use (500 modules)
          SQLite        3.54.1
          file system   a disk of this machine (/home/dev/.local/state/upbeat/journal.db)
          journal       1,234 records
        - not answered  2 events of the last 7 days upbeat itself failed at; the last one:
                        -> upbeat log --json has their traceback: please report it
        """).splitlines() == [line.rstrip() for line in lines(report, EN)]


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        (client(), "ARMED: every guard of Claude Code."),
        (client(sessions=()), "NOT ARMED: 6 of 6 guards (Claude Code)."),
        (ABSENT, "Nothing to arm: no client on PATH has upbeat. upbeat install claude, or upbeat install codex."),
    ],
)
def test_the_first_line_is_the_verdict(seen: object, verdict: str) -> None:
    """All in one line."""
    assert verdict == next(lines(judge(NOW, [seen], installation(), EN), EN))  # type: ignore[list-item]


def test_chinese_is_aligned() -> None:
    """Wide characters count as two columns, so that the proofs stand below each other."""
    shown = [line for line in lines(judge(NOW, [client()], installation(), ZH), ZH) if "5e551000" in line]

    assert 6 == len(shown)
    assert 1 == len({columns(line.partition("3 分钟前")[0]) for line in shown})


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
def test_how_long_ago(at: str, ago: str) -> None:
    """In the unit that a person would take; a clock that was set back gives no negative age."""
    seen = client(written_at="", sessions=(session(at=at),))

    assert any(f"seen {ago}," in line for line in lines(judge(NOW, [seen], installation(), EN), EN))


def test_as_json() -> None:
    """The document keeps to its schema, says the same whatever the language, and has the way out."""
    canary = Canary(NOW, "ca4a4100", frozenset({Guard.TURNS}), problem="it did not end")
    found = document(judge(NOW, [CODEX, client(canary=canary), ABSENT], installation(), EN))
    jsonschema_rs.validator_for(json.loads(schema_text("doctor"))).validate(json.loads(json.dumps(found)))

    stop = found["clients"][0]["guards"][5]
    assert ("1.0", False, False) == (found["schema_version"], found["armed"], stop["armed"])
    assert {
        "reason": "untrusted",
        "detail": "End",
        "sentence": "Codex has not been told to trust the hook: End",
        "way_out": "run codex, enter /hooks, read them, and trust them; upbeat never does that for you",
    } == stop["reasons"][0]


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_every_reason_has_words(language: str) -> None:
    """Each reason and each guard is said in each language, with fields that are filled in."""
    texts = TEXTS[language]
    fields = {
        name
        for pair in [*texts.reasons.values(), *((way, way) for way in texts.own_ways.values())]
        for text in pair
        for _, name, _, _ in Formatter().parse(text)
        if name
    }

    assert (set(Reason), set(Guard)) == (set(texts.reasons), set(texts.guards))
    assert fields <= {"detail", "name", "word"}
