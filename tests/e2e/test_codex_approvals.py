"""What codex-auto asks about on the real Codex is what runs: exact, complete, and judged by the policies."""

from __future__ import annotations

import re
from typing import Any

import pytest

from .runs import run
from .sandbox import Sandbox
from .terminal import ENTER, Terminal

Script = list[dict[str, Any]]

ASKING = {"sandbox_permissions": "require_escalated", "justification": "may I?"}
ESCAPE = re.compile(r"\\u\{([0-9a-f]+)\}")


def command(cmd: str, **fields: Any) -> dict[str, Any]:
    """A call that Codex asks the user about."""
    return {"tool": "exec_command", "input": {"cmd": cmd, **ASKING, **fields}}


def talk(sandbox: Sandbox, *calls: dict[str, Any], flags: tuple[str, ...] = (), **options: Any) -> Terminal:
    """codex-auto at a terminal; the model makes ``calls`` when it is told to go."""
    script: Script = [{"reply": [call]} for call in calls] + [{"reply": [{"text": "It is over."}]}]
    argv = ["codex-auto", "--transport", "app-server", *flags]
    return Terminal(sandbox, argv, script, answers=True, **options)


def decode(text: str) -> str:
    """The text that ``text`` on the screen stands for."""
    return ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


@pytest.mark.parametrize(("columns", "key"), [(100, "n"), (40, "y")])
def test_a_hidden_command_is_displayed(sandbox: Sandbox, columns: int, key: str) -> None:
    """What an OSC string hides from a terminal runs in a shell, and stands in the question."""
    script = "echo tidy \x1b]0; touch marked; #\x07 up"
    with talk(sandbox, command(script), columns=columns, CI_AUTO_TOOLS="off") as terminal:
        terminal.wait_for("店 · ")
        terminal.submit("go")
        terminal.wait_for("[y]es")
        rows = terminal.shown.split("\n")
        terminal.send(key)
        terminal.send(ENTER)
        terminal.wait_for("It is over.")
    first = next(number for number, row in enumerate(rows) if row.startswith("  $ "))
    folded = [row[4:] for row in rows[first + 1 :] if row.startswith("  \\ ")]
    shown = rows[first][4:] + "".join(folded if columns == 40 else [])

    assert decode(shown).startswith(script)
    assert [row for row in rows if row.rstrip() == "  with /bin/bash -lc"]
    assert (key == "y") == (sandbox.repository / "marked").exists()


def test_permissions_are_displayed(sandbox: Sandbox) -> None:
    """What a command gets beside its sandbox, and what a request for permissions would grant, is shown whole."""
    wanted = {"file_system": {"write": ["/"], "read": [f"/{'x' * 300}"]}}
    extra = command("ls", sandbox_permissions="with_additional_permissions", additional_permissions=wanted)
    asked = {"tool": "request_permissions", "input": {"reason": "why", "permissions": wanted}}
    flags = ("--", "--enable", "exec_permission_approvals", "--enable", "request_permissions_tool")
    with talk(sandbox, extra, asked, flags=flags, columns=160, lines=90, CI_AUTO_TOOLS="off") as terminal:
        terminal.wait_for("店 · ")
        terminal.submit("go")
        for number, question in enumerate(("  # additionalPermissions", "Codex wants these permissions:"), 1):
            terminal.wait_until(lambda count=number: terminal.shown.count("[y]es") == count, f"question {number}")
            shown = terminal.shown.partition(question)[2]
            rows = [row[4:] for row in shown.split("\n") if row.startswith(("  > ", "  \\ "))]
            assert '"write": ["/"],' in re.sub(r"\s+", " ", " ".join(rows)).replace("[ ", "[").replace(" ]", "]")
            assert "".join(rows).count("x") >= 300
            terminal.send(ENTER)
        terminal.wait_for("It is over.")


def test_every_line_of_a_change_is_displayed_before_a_yes(sandbox: Sandbox) -> None:
    """451 lines take several pages; yes counts on the last one, which also says where a file is moved to."""
    (sandbox.repository / "old.txt").write_text("one\n", encoding="utf-8")
    lines = "".join(f"+line {number}\x1b[2K\n" for number in range(451))
    move = "*** Update File: old.txt\n*** Move to: new\u202e.txt\n@@\n-one\n+two\t\n"
    patch = f"*** Begin Patch\n*** Add File: made.txt\n{lines}{move}*** End Patch\n"
    call = {"tool": "apply_patch", "input": patch}
    seen: list[str] = []
    with talk(sandbox, call, flags=("--", "-s", "read-only"), CI_AUTO_TOOLS="off") as terminal:
        terminal.wait_for("店 · ")
        terminal.submit("go")
        for page in range(1, 40):
            terminal.wait_until(
                lambda number=page: f"page {number} of" in terminal.shown or "[y]es" in terminal.shown, "?"
            )
            seen += terminal.shown.split("\n")
            if "[y]es" in terminal.shown:
                break
            terminal.send("y" + ENTER)
            assert not (sandbox.repository / "made.txt").exists()
            terminal.send(ENTER)
        terminal.send("y" + ENTER)
        terminal.wait_for("It is over.")

    assert [] == [number for number in range(451) if f"  |+line {number}\\u{{1b}}[2K" not in seen]
    assert [row for row in seen if row.startswith("  > ") and row.endswith("/new\\u{202e}.txt")]
    assert "  | +two\\u{9}" in seen
    assert 451 == len((sandbox.repository / "made.txt").read_text(encoding="utf-8").splitlines())


def test_the_rule_is_the_one_that_is_stored(sandbox: Sandbox) -> None:
    """An answer for good displays the line that Codex then has in its rules."""
    call = command("touch 'a \u202e b' yes.txt", prefix_rule=["touch", "a \u202e b"])
    with talk(sandbox, call, columns=160, CI_AUTO_TOOLS="off") as terminal:
        terminal.wait_for("店 · ")
        terminal.submit("go")
        terminal.wait_for("[r] yes")
        shown = next(row for row in terminal.shown.split("\n") if row.startswith("  > prefix_rule("))
        terminal.send("r")
        terminal.send(ENTER)
        terminal.wait_for("It is over.")
    [rules] = sandbox.codex_home.rglob("*.rules")

    assert [decode(shown[4:].rstrip())] == rules.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("cmd", "text"), [("rm -rf ~", "denies"), ("git branch -D main", "[y]es")])
def test_policies_judge_what_codex_asks_about(sandbox: Sandbox, cmd: str, text: str) -> None:
    """Without hooks, the same policies decide: a denial is no question, and a question offers nothing for good."""
    with talk(sandbox, command(cmd), columns=160) as terminal:
        terminal.wait_for("店 · ")
        terminal.submit("go")
        terminal.wait_for(text)
        shown = terminal.shown
        if text == "[y]es":
            terminal.send("n" + ENTER)
        terminal.wait_for("It is over.")
    records = run(sandbox, ["upbeat", "log", "--json"]).stdout

    assert "[r]" not in shown
    assert ("[y]es" in terminal.shown) == (text == "[y]es")
    assert ('"deny"' if text == "denies" else '"request_approval"') in records
    assert '"ApprovalDecided"' in records
