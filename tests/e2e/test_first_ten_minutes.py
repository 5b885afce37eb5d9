"""The first ten minutes of a new user, from an empty home: what the screen says at each step, with both clients."""

from __future__ import annotations

import pytest

from .codex_trust import trust_all_hooks
from .runs import run
from .sandbox import Sandbox
from .terminal import ENTER, Terminal
from .test_seen import LINE, QUESTION, ready
from .workflow_sessions import shell_call

SETTINGS = {"claude": ".claude/settings.json", "codex": ".codex/config.toml"}


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_the_first_ten_minutes(sandbox: Sandbox, client: str) -> None:
    """Install with a proof, ask, see what was added, be protected, ask why, and take it out again without a trace."""
    file = sandbox.home / SETTINGS[client]
    before = file.read_bytes() if file.exists() else None
    first = run(sandbox, ["upbeat", "doctor", client])

    assert (5, True) == (first.exit_code, f"upbeat install {client}" in first.stdout)

    with Terminal(sandbox, ["upbeat", "install", client]) as terminal:
        if client == "claude":
            terminal.wait_for("(status line)? [y/N]")
            terminal.send("y" + ENTER)
        terminal.wait_for("files? [y/N]")
        terminal.send("y" + ENTER)
        terminal.wait_for("Verify the hooks now?")
        terminal.send(ENTER)
        if client == "codex":
            terminal.wait_for("ACTION NEEDED")
            terminal.wait_for("review its hooks with /hooks?")
            terminal.send("n" + ENTER)
        else:
            terminal.wait_for("ACTIVE: every hook of Claude Code.")
    if client == "codex":
        trust_all_hooks(sandbox)

    script = [
        {"reply": [{"text": "It does so in line two."}]},
        {"reply": [shell_call(client, "rm -rf ~")]},
        {"reply": [{"text": "All is tidy."}]},
    ]
    with Terminal(
        sandbox, ["codex", "--no-daemon"] if client == "codex" else [client], script, columns=120
    ) as terminal:
        ready(terminal)
        terminal.submit(QUESTION)
        terminal.wait_for("It does so in line two.")
        terminal.wait_for(LINE)
        terminal.submit("tidy up my home folder")
        terminal.wait_for("All is tidy.")
        said = terminal.launch.turns()[-1]

    assert 1 == said.count("Blocked: it would delete ~")

    why = run(sandbox, ["upbeat", "why"])
    status = run(sandbox, ["upbeat", "status"])
    context = run(sandbox, ["upbeat", "context"])

    assert "rm -rf ~" in why.stdout
    assert "Blocked: it would delete ~" in why.stdout
    assert 0 == status.exit_code
    assert "tidy up my home folder" in context.stdout or "total_price" in context.stdout

    done = run(sandbox, ["upbeat", "doctor", client])

    assert 0 == done.exit_code

    with Terminal(sandbox, ["upbeat", "uninstall", client]) as terminal:
        terminal.wait_until(lambda: "files? [y/N]" in terminal.shown or "Enter shows" in terminal.shown, "question")
        if "Enter shows" in terminal.shown:
            terminal.send(ENTER)
        terminal.wait_for("files? [y/N]")
        terminal.send("y" + ENTER)
        terminal.wait_for("uninstalled")

    left = file.read_text() if file.exists() else ""
    assert "upbeat" not in left
    assert before is None or client != "codex" or before.decode() in left
