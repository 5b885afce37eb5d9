"""The user's own servers live with the session's server: started with it, asked by its prompts, gone at its end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from mcp_pipe import Pipe
from own_servers import odd, settings, started_pids, wait_for_start
from repositories import PROMPT


def context(pipe: Pipe, repo: Path, session: str) -> str:
    fields = {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": str(repo), "prompt": PROMPT}
    answer: dict[str, Any] = pipe.hook(**fields)
    return str(answer["hookSpecificOutput"]["additionalContext"])


def test_a_session(repo: Path, tmp_path: Path) -> None:
    """It starts before any prompt, answers a prompt once it is there, and is gone when its client closes stdin."""
    file = tmp_path / "starts"
    settings(tmp_path, odd("fine", str(file)))
    with Pipe(repo, home=tmp_path) as pipe:
        wait_for_start(file)
        contexts: list[str] = []
        while "mcp:odd/search" not in "".join(contexts) and len(contexts) < 40:
            contexts.append(context(pipe, repo, f"s{len(contexts)}"))  # a session is not told the same lines twice

        assert "mcp:odd/search — answer of your server odd (odd.search 0.50)\n| found" in contexts[-1]
        assert all("shop/retry.py" in one for one in contexts)
        assert 0 == pipe.close_stdin()

    (pid,) = started_pids(file)

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_model_cannot_call_them(repo: Path, tmp_path: Path) -> None:
    """The server offers its own tools only: a client asks its user before a tool of another server runs."""
    file = tmp_path / "starts"
    settings(tmp_path, odd("fine", str(file)))
    with Pipe(repo, home=tmp_path) as pipe:
        called = pipe.call("odd.search", q="x")
        listed = [tool["name"] for tool in pipe.answer("tools/list")["tools"]]

    assert (True, True) == (called["isError"], called["content"][0]["text"].startswith("E_TOOL_UNAVAILABLE: "))
    assert [] == [name for name in listed if "." in name]


def test_a_turn_does_not_wait_for_a_server_that_hangs(repo: Path, tmp_path: Path) -> None:
    """With a server that never says hello a prompt has its code before the tool's minute is over."""
    settings(tmp_path, odd("hangs"))
    with Pipe(repo, home=tmp_path) as pipe:
        assert "shop/retry.py" in context(pipe, repo, "first")


def test_switched_off_nothing_starts(repo: Path, tmp_path: Path) -> None:
    """With CI_AUTO_TOOLS=off no server of the user's is started."""
    file = tmp_path / "starts"
    settings(tmp_path, odd("fine", str(file)))
    with Pipe(repo, home=tmp_path, CI_AUTO_TOOLS="off") as pipe:
        pipe.hook(hook_event_name="SessionStart", cwd=str(repo), session_id="s", source="startup")
        pipe.hook(hook_event_name="UserPromptSubmit", cwd=str(repo), session_id="s", prompt=PROMPT)

    assert [] == started_pids(file)
