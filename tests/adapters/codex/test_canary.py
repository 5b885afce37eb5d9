"""One session of Codex with a stub model: it reaches no provider, and its answers run the canary's commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from upbeat.adapters.codex.canary import run_canary, stub_response
from upbeat.adapters.doctor.canary import PROMPT, canary_commands, empty_repository

CLIENT = f"""\
#!{sys.executable}
import json, os, re, sys, urllib.request
prompt, url = sys.stdin.read(), re.search(r'base_url="([^"]+)"', " ".join(sys.argv))[1]
open(os.environ["CODEX_HOME"] + "/seen.json", "w").write(json.dumps([prompt, url, dict(os.environ)]))
body = json.dumps({{"input": [], "tools": []}}).encode()
urllib.request.urlopen(urllib.request.Request(url + "/responses", body), timeout=10)
print("no JSON")
print(json.dumps({{"type": "thread.started", "thread_id": "t-1"}}))
"""


def test_a_session_reaches_only_the_stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider is the stub, the prompt comes on stdin, and the session is not taken for one of codex-auto."""
    monkeypatch.setenv("UPBEAT_WRAPPED", "1")
    program = tmp_path / "codex"
    program.write_text(CLIENT)
    program.chmod(0o755)
    with empty_repository() as repository:
        canary = run_canary(str(program), repository, tmp_path)
    prompt, url, environment = json.loads((tmp_path / "seen.json").read_text())

    assert ("t-1", "", True) == (canary.session_id, canary.problem, '"input": []' in canary.last_request)
    assert (PROMPT, True) == (prompt, url.startswith("http://127.0.0.1:"))
    assert url.startswith(environment["HTTPS_PROXY"])
    assert "UPBEAT_WRAPPED" not in environment


def test_a_program_that_cannot_be_started_is_the_problem(tmp_path: Path) -> None:
    """The problem is the system's message."""
    canary = run_canary(str(tmp_path / "gone"), tmp_path, tmp_path)

    assert f"{tmp_path / 'gone'}: No such file or directory" == canary.problem


@pytest.mark.parametrize(
    ("tool", "field"), [("exec_command", "cmd"), ("shell_command", "command"), ("shell", "command"), ("other", "")]
)
def test_each_response_is_the_next_command(tool: str, field: str, tmp_path: Path) -> None:
    """After as many outputs as there are commands, or without a shell, the turn ends."""
    wanted = canary_commands(tmp_path) if field else ()
    for done in range(len(canary_commands(tmp_path)) + 1):
        body = {"input": [{"type": "function_call_output"}] * done, "tools": [{"name": tool}]}
        item = dict(stub_response(body, tmp_path))["response.output_item.done"]["item"]

        if done < len(wanted):
            argument = ["bash", "-lc", wanted[done]] if tool == "shell" else wanted[done]
            assert (tool, {field: argument}) == (item["name"], json.loads(item["arguments"]))
        else:
            assert "message" == item["type"]
