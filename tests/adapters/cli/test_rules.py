"""``upbeat rules``: add, list, show, check and remove a rule; ``upbeat trust`` covers a project's rules."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pexpect
import pytest
from commands import Here
from past import transcript
from processes import environment
from repositories import write

from upbeat.adapters.cli import backtest, rules

ADD = ("rules", "add", "no-rm", "--event", "before-tool", "--tool", "shell", "--action", "deny")
FILE = ".upbeat/rules/no-rm.md"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", {"a.py": "", ".git/HEAD": ""}).resolve()


def test_add_list_show_check_remove(here: Here, repo: Path, home: Path) -> None:
    """A rule applies after ``add``, and no longer exists after ``remove``."""
    added = here(*ADD, "--pattern", r"rm\s+'-rf'", "--text", "Move it to trash/.", cwd=repo, home=home)
    listed = here("rules", "list", cwd=repo, home=home, COLUMNS="200")
    shown = here("rules", "show", "no-rm", cwd=repo, home=home)
    checked = here("rules", "check", cwd=repo, home=home)
    removed = here("rules", "remove", "no-rm", cwd=repo, home=home)

    text = "---\nevent: before-tool\ntool: shell\npattern: 'rm\\s+''-rf'''\naction: deny\n---\nMove it to trash/.\n"
    waits = "not trusted: can only add restrictions, text not shown"
    says = r"deny on before-tool of shell where the command has rm\s+'-rf'"
    assert (0, f"{repo}/{FILE}\n") == (added.code, added.stdout.decode())
    head = "1 rule here, 1 not trusted yet.\n"
    assert f"{head}  ! no-rm  {says}\n           {FILE} ({waits})\n" == listed.stdout.decode()
    lines = "".join(f"  | {line}\n" for line in text.splitlines())
    assert f"no-rm: {says} ({waits})\n# {FILE}\n{lines}" == shown.stdout.decode()
    assert (0, "no problems found\n") == (checked.code, checked.stdout.decode())
    assert (0, f"removed {FILE}\n", False) == (removed.code, removed.stdout.decode(), (repo / FILE).exists())


def test_ones_own(here: Here, repo: Path, home: Path) -> None:
    """A user's own rule is for every project, and needs no trust."""
    added = here(*ADD, "--user", "--once", "--text", "x", cwd=repo, home=home)
    here(
        "rules",
        "add",
        "hint",
        "--event",
        "prompt",
        "--action",
        "inject",
        "--once",
        "--user",
        "--text",
        "x",
        cwd=repo,
        home=home,
    )
    listed = json.loads(here("rules", "list", "--json", cwd=repo, home=home).stdout)

    assert (1, "upbeat: no-rm.md:5: once is for action: tell and action: inject\n") == (added.code, added.stderr)
    assert ("1.0", [("hint", "user", True)]) == (
        listed["schema_version"],
        [(rule["name"], rule["owner"], rule["once"]) for rule in listed["rules"]],
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*ADD, "--pattern", "(?=x)", "--text", "x"), "lookaround"),
        (("rules", "add", "../x", "--event", "prompt", "--action", "tell", "--text", "x"), "is not a rule name"),
        (("rules", "remove", "nothing"), "no rule 'nothing'; run `upbeat rules list` to see them all"),
        (("rules", "show", "kep"), "did you mean 'keep'?"),
        (("rules", "remove", "keep", "--user"), "you have no rule 'keep'"),
        (("rules", "remove", "h"), "belongs to hookify; remove it there"),
        (("rules", "add", "keep", "--event", "prompt", "--action", "tell", "--text", "x"), "already exists"),
        (("rules", "check", "nowhere.md"), "cannot be read"),
    ],
)
def test_what_cannot_be(here: Here, repo: Path, home: Path, arguments: tuple[str, ...], words: str) -> None:
    """A mistake is reported with what to do instead, and no file changes."""
    write(
        repo,
        {
            ".upbeat/rules/keep.md": "---\nevent: prompt\naction: tell\n---\nx\n",
            ".claude/hookify.h.local.md": "---\nevent: bash\npattern: x\n---\nx\n",
        },
    )
    before = sorted(repo.rglob("*"))
    done = here(*arguments, cwd=repo, home=home)

    assert (1, True) == (done.code, words in done.stderr)
    assert before == sorted(repo.rglob("*"))


def test_check_tells_everything(here: Here, repo: Path, home: Path) -> None:
    """Every mistake of every file, with line and key; a file anywhere can be checked before it is used."""
    write(repo, {".upbeat/rules/bad.md": "---\nevnt: x\naction: den\n---\nx\n", "draft.md": "x"})
    every = here("rules", "check", cwd=repo, home=home)
    one = here("rules", "check", "draft.md", cwd=repo, home=home)

    assert (1, 3, 1, 1) == (every.code, every.stderr.count("bad.md:"), one.code, one.stderr.count("draft.md:1:"))


def test_trust(here: Here, repo: Path, home: Path) -> None:
    """All rule files of the project are shown and trusted, those of other programs too; what cannot be is told."""
    write(
        repo,
        {
            ".upbeat/rules/a.md": "---\nevent: prompt\naction: inject\n---\nOurs \x1b[31m.\n",
            ".cursor/rules/b.mdc": "---\nglobs: *.ts\n---\nCursor's.\n",
            ".github/copilot-instructions.md": "Copilot's.\n",
            ".upbeat/rules/large.md": "x" * 70_000,
        },
    )
    done = here("trust", "--yes", cwd=repo, home=home)
    listed = here("rules", "list", cwd=repo, home=home)

    shown = done.stdout.decode()
    assert (0, [True] * 3, False) == (
        done.code,
        [words in shown for words in ("Ours", "Cursor's.", "Copilot's.")],
        "\x1b" in shown,
    )
    assert (3, True) == (done.stderr.count("is trusted"), "large.md: larger than" in done.stderr)
    assert "not trusted" not in listed.stdout.decode()


def test_text_of_stdin(here: Here, repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule's text can come on stdin; what is shown of a file is escaped."""
    monkeypatch.setattr("sys.stdin", StringIO("Words\t⚠️.\n"))
    added = here("rules", "add", "x", "--event", "prompt", "--action", "tell", cwd=repo, home=home)
    shown = here("rules", "show", "x", cwd=repo, home=home)

    assert (0, True) == (added.code, "  | Words\\u{9}⚠\\u{fe0f}.\n" in shown.stdout.decode())


@pytest.mark.parametrize("text", ["x\x1b]0;y\x07", "a\u202eb", "a\nb\u200b", "\ufeffx", "a\rb", "\U000e0041"])
def test_hidden_text_is_refused(here: Here, repo: Path, home: Path, text: str) -> None:
    """A rule with characters that nobody can see is not written; the message names them and their line."""
    done = here("rules", "add", "x", "--event", "prompt", "--action", "tell", "--text", text, cwd=repo, home=home)

    assert 1 == done.code
    assert "the rule contains characters that nobody can see (U+" in done.stderr
    assert not (repo / ".upbeat/rules/x.md").exists()


@pytest.fixture
def past(home: Path) -> Path:
    """A home with a session in which ``rm`` succeeded once."""
    transcript(home, {"toolu_000000000001": ("rm -r build", "gone")}, at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.000Z}")
    return home


RM = (*ADD, "--pattern", r"^rm\b", "--text", "x")


def test_it_is_tried_on_the_past_before_it_is_written(here: Here, repo: Path, past: Path) -> None:
    """What it would have done is told beside the answer, which is the file's name alone; nobody is asked."""
    added = here(*RM, cwd=repo, home=past)

    assert (0, f"{repo}/{FILE}\n") == (added.code, added.stdout.decode())
    assert "  would have blocked 1: 1 had succeeded, 0 failed, 0 were denied, 0 unknown" in added.stderr.splitlines()


def test_it_can_be_written_without_a_backtest(here: Here, repo: Path, past: Path) -> None:
    """For scripts that want no report."""
    added = here(*RM, "--no-backtest", cwd=repo, home=past)

    assert (0, "upbeat: the rule can only add restrictions until you trust it (upbeat trust)\n") == (
        added.code,
        added.stderr,
    )


@pytest.mark.parametrize("action", ["inject", "tell"])
def test_a_rule_that_waits_for_trust_is_announced(here: Here, repo: Path, home: Path, action: str) -> None:
    """A project rule that only adds text says that it needs trust, or ``--user``, before it acts."""
    add = ("rules", "add", "hint", "--event", "prompt", "--action", action, "--text", "x", "--no-backtest")
    in_project, own = here(*add, cwd=repo, home=home), here(*add, "--user", cwd=repo, home=home)

    words = "the rule does nothing until you trust it (upbeat trust); a rule of your own (--user) needs no trust"
    assert (0, f"upbeat: {words}\n") == (in_project.code, in_project.stderr)
    assert (0, "") == (own.code, own.stderr)


def test_help_describes_every_key(here: Here, repo: Path, home: Path) -> None:
    """``upbeat rules add --help`` says for each option what it means, which values it takes, and the default."""
    lines = " ".join(here("rules", "add", "--help", cwd=repo, home=home).stdout.decode().split())

    assert "--event VALUE The event at which the rule is evaluated. One of before-tool, after-tool, prompt," in lines
    assert "--fail VALUE What happens if the rule cannot be evaluated: nothing (open)," in lines
    assert "Values: open, closed. Default: open." in lines


def test_the_trial_has_an_end(here: Here, repo: Path, past: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time is up the report has what there is so far, says so, and the rule is written."""
    monkeypatch.setattr(rules, "TRIAL_SECONDS", 0.0)
    added = here(*RM, cwd=repo, home=past)

    assert (0, True) == (added.code, (repo / FILE).exists())
    assert "incomplete: time limit reached; the latest history came first" in added.stderr


def test_an_interrupt_writes_nothing(here: Here, repo: Path, past: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C during the trial: the report so far, and no rule."""

    def interrupted(*_: object) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        return True

    monkeypatch.setattr(backtest, "_count_source", interrupted)
    added = here(*RM, cwd=repo, home=past)

    assert (130, b"", False) == (added.code, added.stdout, (repo / ".upbeat").exists())
    assert "interrupted" in added.stderr
    assert added.stderr.endswith("upbeat: nothing was written\n")


@pytest.mark.parametrize(("answer", "is_written"), [("y", True), ("n", False), ("", False)])
def test_at_a_terminal_false_alarms_are_asked_about(repo: Path, past: Path, answer: str, is_written: bool) -> None:
    """A user who sees that the rule would have blocked successful calls can still decline."""
    variables = environment(past, {"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "dumb"})
    child = pexpect.spawn(sys.executable, ["-m", "upbeat", *RM], cwd=str(repo), env=variables, timeout=50)  # type: ignore[arg-type]
    child.expect_exact("write it? [y/N]")
    child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()

    assert (is_written, 0 if is_written else 1) == ((repo / FILE).exists(), child.exitstatus)


def test_what_a_person_adds_is_trusted(repo: Path, home: Path) -> None:
    """A rule that its user adds at a terminal counts at once, with this content; a script's is not trusted."""
    controller, terminal = os.openpty()
    words = ["rules", "add", "note", "--event", "prompt", "--action", "inject", "--text", "Use tabs.", "--no-backtest"]
    command = [sys.executable, "-m", "upbeat"]
    variables = environment(home, {"PYTHONPATH": os.pathsep.join(sys.path)})
    streams = {"stdin": terminal, "stderr": terminal, "stdout": subprocess.DEVNULL}
    subprocess.run([*command, *words], cwd=repo, env=variables, **streams, check=True)  # type: ignore[call-overload]
    said = os.read(controller, 65536).decode()
    subprocess.run(
        [*command, "rules", "add", "other", *words[3:]], cwd=repo, env=variables, check=True, stdin=subprocess.DEVNULL
    )
    listed = subprocess.run(
        [*command, "rules", "list", "--json"], cwd=repo, env=variables, check=True, capture_output=True
    )
    os.close(controller)
    os.close(terminal)
    rows = json.loads(listed.stdout)["rules"]

    assert "you trust the rule with this content" in said
    assert {"note": "project", "other": "untrusted"} == {row["name"]: row["owner"] for row in rows}
