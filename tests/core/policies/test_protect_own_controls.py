"""The model leaves to the user what supervises it."""

from __future__ import annotations

import pytest
from policy_play import ROOT, call, said_by, shell, starting
from workflow_play import started

from upbeat.core.contract.effect import Deny, RequestApproval
from upbeat.core.contract.event import ToolKind
from upbeat.core.policies.protect_own_controls import POLICY
from upbeat.core.policy.definition import PolicyContext


def types(event: object) -> list[type]:
    return [type(effect) for effect in said_by(POLICY, event)]


@pytest.mark.parametrize(
    ("line", "effects"),
    [
        ("upbeat trust --yes", [Deny]),
        ("upbeat hook claude < forged.json", [Deny]),
        ("upbeat workflow stop", [Deny]),
        ("cd x && upbeat off", [Deny]),
        ("rm ~/.local/state/upbeat/journal.db", [RequestApproval]),
        ("echo x >> ~/.claude/settings.json", [RequestApproval]),
        ("python3 -c \"open('/home/me/.codex/config.toml','w')\"", [RequestApproval]),
        ("pkill -f upbeat", [RequestApproval]),
        ("upbeat status", []),
        ("upbeat workflow start quick add retries", []),
        ("rm build/x", []),
    ],
)
def test_shell_lines(line: str, effects: list[type]) -> None:
    """Commands that loosen something are denied, changes of files are asked about, and reading passes."""
    assert effects == types(starting(shell(line)))


def test_a_workflow_is_not_replaced() -> None:
    """A model may start a workflow, but not while one is open."""
    event = starting(shell("upbeat workflow start quick add retries"))
    context = PolicyContext(state=started("review-only").state, root=ROOT, policy=POLICY.name)
    [effect] = POLICY.handlers[type(event)].handle(event, context).effects

    assert "is the user's to run" in effect.text


def test_file_tools_and_other_tools() -> None:
    """File tools count by their paths; a server's tool by its texts, unless its name says that it reads."""
    path = f"{ROOT}/.claude/settings.local.json"
    written = call("Write", ToolKind.WRITE, (path,))
    foreign = call("mcp__fs__write_file", ToolKind.OTHER, given={"path": path, "content": "{}"})
    runs = call("mcp__sh__execute", ToolKind.OTHER, given={"line": "upbeat trust --yes"})
    reads = call("mcp__fs__read_file", ToolKind.OTHER, given={"path": path})

    assert [[RequestApproval], [RequestApproval], [Deny], []] == [
        types(starting(each)) for each in (written, foreign, runs, reads)
    ]
    assert [] == types(starting(call("Read", ToolKind.READ, (path,))))
