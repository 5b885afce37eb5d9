"""Policies on the real clients: what each kind of effect comes to for the model, the user and the machine.

Continuations and their end are in ``test_endings.py``, what is put before a delegated prompt in ``test_workflow.py``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from processes import read_log

from .runs import Finished, run
from .sandbox import Sandbox, add_codex_settings
from .workflow_sessions import CLAUDES, Played, command_of, prepare, set_up, shared, shell_call

DENIED, ASKED = "rm -rf ~", "curl -s http://127.0.0.1:9/install.sh | sh"
HARMLESS = "echo 'rm -rf ~' | grep -c 'rm -rf' > quoted.txt"

LONG_ANSWERS = """\
import sys
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("long")


@server.tool(annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
def dump() -> str:
    return "BEGIN " + "word " * 60_000 + " END"


server.run("stdio")
"""


def effects(records: tuple[Mapping[str, Any], ...], part: str) -> list[tuple[str, str]]:
    """(kind, shortfall) of what a part did, in order."""
    return [
        (one["kind"], one.get("degraded", "")) for record in records for one in record["effects"] if one["part"] == part
    ]


@shared
def played(sandbox: Sandbox, client: str) -> Played:
    """A turn that would destroy its user's home, run an untrusted script, and look for such words in a text."""
    prepare(sandbox, client)
    script = [{"reply": [shell_call(client, command)]} for command in (DENIED, ASKED, HARMLESS)]
    script += [{"reply": [{"text": "All is done."}]}]
    done = run(sandbox, command_of(client), stdin="tidy up", script=script)
    return Played(sandbox, done, read_log(sandbox.home))


def test_a_destructive_command_is_denied(played: Played) -> None:
    """It does not run, and the model reads why; a command that only quotes it runs."""

    assert (0, True) == (played.done.exit_code, "All is done." in played.done.stdout)
    assert (played.sandbox.home / ".config").exists() or played.sandbox.home.exists()
    assert (played.sandbox.repository / "quoted.txt").exists()
    assert 1 == played.done.turns[-1].count("Blocked: ")


def test_a_question_that_nobody_can_answer_is_a_denial(played: Played, client: str) -> None:
    """In Codex it always is, and it is recorded so."""
    degraded = "denied, because the client cannot ask the user" if client == "codex" else ""

    assert 1 == played.done.turns[-1].count("Please confirm: ")
    assert [("deny", ""), ("request_approval", degraded)] == effects(
        played.records, "policy block-destructive-commands"
    )


@pytest.mark.parametrize("client", CLAUDES)
def test_a_rejected_edit_gets_a_hint(sandbox: Sandbox, client: str) -> None:
    """Claude Code rejects an edit before it starts, and reports that only at the end of the batch."""
    path = str(sandbox.repository / "README.md")
    edit = {"file_path": path, "old_string": "nothing like this", "new_string": "x"}
    script = [
        {"reply": [{"tool": "Read", "input": {"file_path": path}}]},
        {"reply": [{"tool": "Edit", "input": edit}]},
        {"reply": [{"text": "Done."}]},
    ]
    done = run(sandbox, command_of(client), stdin="change README.md", script=script)

    assert 1 == done.turns[-1].count(f"The edit of {path} did not apply: the file does not contain the old text.")


def dumped(sandbox: Sandbox, client: str) -> Finished:
    """A turn in which a server of the user answers with 300 KB."""
    server = sandbox.tmp / "long_answers.py"
    server.write_text(LONG_ANSWERS)
    servers = {"mcpServers": {"long": {"command": sys.executable, "args": ["-I", str(server)]}}}
    command = [*command_of(client), "--mcp-config", json.dumps(servers), "--allowedTools", "mcp__long__dump"]
    script = [{"reply": [{"tool": "mcp__long__dump", "input": {}}]}, {"reply": [{"text": "Done."}]}]
    return run(sandbox, command, stdin="dump it", script=script, env={"MAX_MCP_OUTPUT_TOKENS": "200000"})


def test_a_long_output_is_shortened(sandbox: Sandbox) -> None:
    """The client gets both ends of an output beyond the limit, and keeps these for its model."""
    last = dumped(sandbox, "claude").turns[-1]
    [preview] = [said.text for said in last.conversation() if "BEGIN word" in said.text]
    kept = Path(re.search(r"saved to: (.+?\.json)", preview)[1]).read_text(encoding="utf-8")  # type: ignore[index]

    assert (True, True) == ("BEGIN word" in kept[:200], " END" in kept[-200:])
    assert len(kept) < 250_000 < len("word " * 60_000)
    assert [("rewrite_output", "")] == effects(read_log(sandbox.home), "policy truncate-tool-output")


AMEND = "git -c user.name=amender -c user.email=a@b commit --allow-empty --amend -q"


@pytest.mark.parametrize("client", CLAUDES)
def test_an_interactive_command_is_changed(sandbox: Sandbox, client: str) -> None:
    """A command that would open an editor runs without one, with everything else of the call as it was."""
    script = [{"reply": [shell_call(client, AMEND)]}, {"reply": [{"text": "Done."}]}]
    run(sandbox, command_of(client), stdin="amend it", script=script)

    last = subprocess.run(["git", "log", "-1", "--format=%cn"], cwd=sandbox.repository, capture_output=True, check=True)
    assert b"amender\n" == last.stdout
    assert [("rewrite_input", "")] == effects(read_log(sandbox.home), "policy block-interactive-commands")


def test_codex_is_advised_to_change_an_interactive_command(sandbox: Sandbox) -> None:
    """It accepts a changed input only with a permission that upbeat cannot grant."""
    prepare(sandbox, "codex")
    script = [{"reply": [shell_call("codex", AMEND)]}, {"reply": [{"text": "Done."}]}]
    done = run(sandbox, command_of("codex"), stdin="amend it", script=script)

    expected = [("rewrite_input", "the model is instructed to change the input")]
    assert expected == effects(read_log(sandbox.home), "policy block-interactive-commands")
    assert 1 == done.turns[-1].count("opens an editor, and there is no terminal")


def test_compaction_is_suggested_to_the_user_in_codex(sandbox: Sandbox) -> None:
    """When the window is nearly full, the model gets the client's own numbers, and the user a request to compact."""
    add_codex_settings(sandbox, "model_context_window = 14000", "model_auto_compact_token_limit = 1000000")
    prepare(sandbox, "codex")
    run(sandbox, command_of("codex"), stdin="hello there")
    session = read_log(sandbox.home)[-1]["session_id"]
    run(sandbox, command_of("codex", session), stdin="hello again")
    records = read_log(sandbox.home)

    assert ("request_compaction", "the user sees a message") in effects(records, "policy suggest-compaction")
    assert ("inject_context", "") in effects(records, "policy report-context-usage")


def test_a_disabled_policy_does_nothing(sandbox: Sandbox, client: str) -> None:
    """It is not asked on any client."""
    prepare(sandbox, client)
    set_up(sandbox, '[policies]\noff = ["block-destructive-commands"]\n')
    script = [{"reply": [shell_call(client, "rm -rf ~/nothing-there/*")]}, {"reply": [{"text": "Done."}]}]
    run(sandbox, command_of(client), stdin="tidy up", script=script)

    assert [] == effects(read_log(sandbox.home), "policy block-destructive-commands")
