"""Whose the status line in a client's settings is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.codex.client import Codex
from upbeat.adapters.install.receipt import FileReceipt, Receipt, write_receipt
from upbeat.adapters.install.status_line import Owner, find_status_line, with_status_line
from upbeat.adapters.system.environment import Environment

CLAUDE = ClaudeCode()
OURS = CLAUDE.status_line_entry().value
OLD, OWN = {"type": "command", "command": "/old/upbeat statusline"}, {"type": "command", "command": "mine"}


def home_with(tmp_path: Path, current: Any, installed: Any) -> Environment:
    """A home with a status line, and a receipt of an install that wrote ``installed``; None for none."""
    environment = Environment({}, tmp_path, tmp_path / "state", tmp_path / "data", tmp_path)
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({} if current is None else {"statusLine": current}))
    if installed is not None:
        after = json.dumps({"statusLine": installed}).encode()
        file = FileReceipt(path, b"{}", after, format="json", key_paths=(("statusLine",),))
        (tmp_path / "data/upbeat/receipts").mkdir(parents=True)
        write_receipt(environment, Receipt("claude", "mcp", "1", (file,)))
    return environment


@pytest.mark.parametrize(
    ("current", "installed", "owner", "is_removed"),
    [
        (None, None, Owner.NOBODY, False),
        (None, OURS, Owner.NOBODY, True),
        (OURS, None, Owner.UPBEAT, False),
        (OLD, OLD, Owner.UPBEAT, False),
        (OLD, None, Owner.USER, False),
        (OWN, OURS, Owner.USER, False),
        (7, None, Owner.USER, False),
    ],
)
def test_whose_it_is(tmp_path: Path, current: Any, installed: Any, owner: Owner, is_removed: bool) -> None:
    """It is upbeat's if an install wrote it, or would; anything else is the user's."""
    environment = home_with(tmp_path, current, installed)
    desired = CLAUDE.desired_installation(environment, "mcp")
    line = find_status_line(CLAUDE.status_line_entry(), desired, "claude", environment)

    assert line
    assert (owner, is_removed, installed is None) == (line.owner, line.is_removed, line.is_first_install)
    assert line.entry == with_status_line(desired, line.entry).edits[0].entries[-1]


def test_a_client_without_one(tmp_path: Path) -> None:
    """There is nothing to offer in Codex."""
    environment = home_with(tmp_path, None, None)
    desired = Codex().desired_installation(environment, "mcp")

    assert find_status_line(Codex().status_line_entry(), desired, "codex", environment) is None


def test_settings_that_cannot_be_read(tmp_path: Path) -> None:
    """Settings with a mistake have no status line to decide about; the plan reports the mistake."""
    environment = home_with(tmp_path, None, None)
    (tmp_path / ".claude/settings.json").write_text("{")
    desired = CLAUDE.desired_installation(environment, "mcp")

    assert find_status_line(CLAUDE.status_line_entry(), desired, "claude", environment) is None
