"""``upbeat backtest`` on a real home: transcripts, rollouts and the journal."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import jsonschema_rs
import pytest
from commands import Here
from fakes.clock import FakeClock
from journal_values import record
from past import SESSION, transcript

from upbeat.adapters.cli import backtest
from upbeat.adapters.cli.schema import schema_text
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.rules.backtest import BacktestDecision, CallCounts

RECORDED = Path(__file__).parents[2] / "recorded"
RULE = """---
event: before-tool
action: deny
tool: shell
pattern: '^rm\\b'
---
Say what goes, and let its user do it.
"""
CALLS = {
    "toolu_000000000001": ("rm -r build", "gone"),
    "toolu_000000000002": ("rm -r build", "Exit code 1\nno"),
    "toolu_000000000003": ("make", "ok"),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a rule, and a transcript of three calls."""
    (tmp_path / "rm.md").write_text(RULE, encoding="utf-8")
    transcript(tmp_path, CALLS)
    return tmp_path


def remember(home: Path, *names: str, session: str = SESSION) -> None:
    """Let the journal know calls: each was told before and after, and succeeded."""
    journal = SqliteJournal(home / ".local/state", FakeClock())
    for name in names:
        about = {"call_id": name, "tool": "Bash", "input": {"command": "rm x"}, "tool_kind": "shell", "command": "rm x"}
        with journal.transaction() as transaction:
            for event, more in (("ToolStarting", {}), ("ToolFinished", {"exit_code": 0, "has_failed": False})):
                transaction.append(
                    record(session, "/home/dev/shop", event, event_fields=about | more, at="2026-11-21T04:00:00.000Z")
                )
    journal.close()


def asked(here: Here, home: Path, *arguments: str) -> dict[str, object]:
    """``upbeat backtest … --json``, of all time, held against its schema."""
    done = here("backtest", *arguments, "--days", "36500", "--json", cwd=home)
    assert (0, "") == (done.code, done.stderr)
    found: dict[str, object] = json.loads(done.stdout)
    jsonschema_rs.validator_for(json.loads(schema_text("backtest"))).validate(found)
    return found


def test_for_people(here: Here, home: Path) -> None:
    """What was looked at, what it would have done, which of those had succeeded, and examples."""
    done = here("backtest", "rm.md", "--days", "36500", cwd=home)
    lines = done.stdout.decode().splitlines()

    assert (0, "") == (done.code, done.stderr)
    assert [
        "rm, replayed over the last 36500 days",
        "  history: 1 sessions, 3 calls, 0 prompts, 0 turn ends (2026-11-22 to 2026-11-22)",
        "  would have blocked 2: 1 had succeeded, 1 failed, 0 were denied, 0 unknown",
        "  1 of the blocked calls had succeeded: check whether the rule is meant for them",
        "  examples:",
        "    2026-11-22 04:00  shop  claude-code  blocked, succeeded",
        "      Bash: rm -r build",
        "    2026-11-22 04:00  shop  claude-code  blocked, failed",
        "      Bash: rm -r build",
    ] == lines[:-1]
    assert lines[-1].startswith("  latency per event: ")


def test_in_chinese(here: Here, home: Path) -> None:
    """The same in the language of its user."""
    done = here("backtest", "rm.md", "--days", "36500", cwd=home, LANG="zh_CN.UTF-8")

    assert "  会阻止 2 次: 其中 1 次当时成功，1 次失败，0 次被拒绝，0 次未知" in done.stdout.decode().splitlines()


def test_as_data(here: Here, home: Path) -> None:
    """One versioned object, as its schema says."""
    told = asked(here, home, "rm.md")

    assert ("1.0", "rm", 3, 1) == (told["schema_version"], told["rule"], told["calls"], told["files"])
    assert {"blocked": {"all": 2, "succeeded": 1, "failed": 1, "denied": 0, "unknown": 0}} == told["decided"]


def test_the_journal_adds_what_no_transcript_has(here: Here, home: Path) -> None:
    """A call that both know counts once; one that only the journal knows counts, too."""
    remember(home, "toolu_000000000001", "toolu_000000000009")
    remember(home, "call_1", session="another")

    assert (2, 5) == ((told := asked(here, home, "rm.md"))["sessions"], told["calls"])
    assert {"all": 4, "succeeded": 3, "failed": 1, "denied": 0, "unknown": 0} == told["decided"]["blocked"]  # type: ignore[index]


def test_recorded_sessions_of_both_clients(here: Here, tmp_path: Path) -> None:
    """Real transcripts and rollouts: what would have been blocked, and what became of it."""
    shutil.copytree(RECORDED / "claude-code" / "projects", tmp_path / ".claude" / "projects")
    shutil.copytree(RECORDED / "codex" / "sessions", tmp_path / ".codex" / "sessions")
    (tmp_path / "rm.md").write_text(RULE, encoding="utf-8")
    told = asked(here, tmp_path, "rm.md")

    assert (5, 24, 6) == (told["sessions"], told["calls"], told["files"])
    assert {"blocked": {"all": 4, "succeeded": 0, "failed": 0, "denied": 4, "unknown": 0}} == told["decided"]


def test_secrets_of_the_past_stay_there(here: Here, home: Path) -> None:
    """An example shows no secret and no control of the command that it tells of."""
    secret = "ghp_" + "a1B2" * 9
    transcript(home, {"toolu_000000000004": (f"rm \x1b[31m {secret}", "ok")})
    done = here("backtest", "rm.md", "--days", "36500", cwd=home)

    assert b"<redacted:" in done.stdout
    assert not [one for one in (secret.encode(), b"\x1b") if one in done.stdout]


def test_a_policy_by_its_name(here: Here, home: Path) -> None:
    """A policy that looks at one event alone is replayed like a rule."""
    assert "recover-from-failed-edit" == asked(here, home, "recover-from-failed-edit")["rule"]


def test_a_rule_of_ones_own_by_its_name(here: Here, home: Path) -> None:
    """A rule that is in force here is tried by the name that ``upbeat rules list`` shows."""
    folder = home / ".upbeat" / "rules"
    folder.mkdir(parents=True)
    (home / "rm.md").rename(folder / "no-rm.md")

    assert ("no-rm", 2) == ((told := asked(here, home, "no-rm"))["rule"], told["decided"]["blocked"]["all"])  # type: ignore[index]


MISTAKES = {
    "no such thing": (["nothing"], "nor the name of a rule or policy; pass a file, a name from"),
    "nearly a policy": (["recover-from-failed-edits"], "did you mean 'recover-from-failed-edit'?"),
    "a file with mistakes": (["bad.md"], "bad.md:"),
    "no number of days": (["rm.md", "--days", "0"], "expected a whole number of days"),
}


@pytest.mark.parametrize(("arguments", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_one_sentence(here: Here, home: Path, arguments: list[str], expected: str) -> None:
    """A mistake of the user is reported in one sentence that says how to fix it."""
    (home / "bad.md").write_text(RULE.replace("before-tool", "befor-tool"), encoding="utf-8")
    done = here("backtest", *arguments, cwd=home)

    assert (True, b"") == (done.code in (1, 2), done.stdout)
    assert expected in done.stderr


def test_a_policy_that_looks_things_up_has_two_answers(here: Here, home: Path) -> None:
    """What the past cannot tell is answered at worst and at best; what is certain is at both ends."""
    (home / ".claude/projects").mkdir(parents=True, exist_ok=True)
    transcript(
        home, {"p1": ("rm -rf ~", "ok"), "p2": ("bash clean.sh", "ok"), "p3": ("ls", "ok")}, session="past-policy"
    )
    words = ("backtest", "block-destructive-commands", "--days", "36500")
    report = json.loads(here(*words, "--json", cwd=home).stdout)
    text = here(*words, cwd=home).stdout.decode()

    certain, possible = (report[name]["blocked"]["all"] for name in ("at_least", "decided"))
    assert 1 == possible - certain
    assert "ScriptFilesQuery" in report["unknowns"]
    assert "  the past cannot tell what scripts contained\n  with the worst answers, at most:\n" in text


def test_a_limit_and_an_interrupt_leave_what_was_counted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time is up, or the user presses Ctrl-C, the report has the counts so far and says so."""
    environment = read_environment({"HOME": str(home)})
    rules = backtest._rules_named(str(home / "rm.md"), environment)
    late = backtest.run_backtest(rules, environment, 0.0, days=36500)
    seen: list[int] = []

    def watch(done: int, _all: int) -> None:
        seen.append(done)
        if len(seen) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    broken = backtest.run_backtest(rules, environment, days=36500, on_progress=watch)

    assert ("time", 1) == (late.stopped, late.calls)
    assert ("interrupt", CallCounts(all=2, succeeded=1, failed=1)) == (
        broken.stopped,
        broken.decided[BacktestDecision.BLOCKED],
    )
    assert any("interrupted" in line for line in backtest.format_backtest(broken, "en"))


def test_nothing_is_written(here: Here, home: Path) -> None:
    """No file comes or changes."""
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    asked(here, home, "rm.md")

    assert before == {path: path.stat().st_mtime_ns for path in home.rglob("*")}


def test_a_damaged_journal_costs_its_own_part(here: Here, home: Path) -> None:
    """The clients' records are counted, and the journal is told as not read."""
    remember(home, "toolu_000000000009")
    [path] = (home / ".local/state").rglob("journal.db")
    for beside in path.parent.glob("journal.db-*"):
        beside.unlink()
    path.write_bytes(b"no database" * 100)

    assert (3, 1) == ((told := asked(here, home, "rm.md"))["calls"], told["unread"])
