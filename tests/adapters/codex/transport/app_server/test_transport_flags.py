"""Flags of codex exec are carried out by the app-server, or named as a reason against it."""

from __future__ import annotations

import pytest

from upbeat.adapters.codex.transport.app_server.transport import AppServerFlags, translate_flags

UNDERSTOOD = [
    ([], AppServerFlags()),
    (["-c", 'model="x"'], AppServerFlags(("--config", 'model="x"'))),
    (["--config=a=b"], AppServerFlags(("--config", "a=b"))),
    (["-ca=b"], AppServerFlags(("--config", "a=b"))),
    (["--enable", "hooks", "--disable=x"], AppServerFlags(("--enable", "hooks", "--disable", "x"))),
    (["--strict-config"], AppServerFlags(("--strict-config",))),
    (["-m", "gpt-5.5"], AppServerFlags((), {"model": "gpt-5.5"})),
    (["-mgpt-5.5", "-s=read-only"], AppServerFlags((), {"model": "gpt-5.5", "sandbox": "read-only"})),
    (["--sandbox", "workspace-write"], AppServerFlags((), {"sandbox": "workspace-write"})),
    (["--skip-git-repo-check"], AppServerFlags()),
    (["--yolo"], AppServerFlags((), {"approvalPolicy": "never", "sandbox": "danger-full-access"})),
]

NOT_UNDERSTOOD = [
    (["--output-schema", "f"], "--output-schema"),
    (["-m", "x", "-i", "a.png"], "-i"),
    (["-o", "f"], "-o"),
    (["-p", "work"], "-p"),
    (["--ephemeral"], "--ephemeral"),
    (["--dangerously-bypass-hook-trust"], "--dangerously-bypass-hook-trust"),
    (["-m"], "-m"),
    (["--strict-config=x"], "--strict-config=x"),
    (["--yolo=1"], "--yolo=1"),
    ([""], "''"),
]


@pytest.mark.parametrize(("flags", "translated"), UNDERSTOOD, ids=str)
def test_understood(flags: list[str], translated: AppServerFlags) -> None:
    """These mean the same to the app-server."""
    assert translated == translate_flags(flags)


@pytest.mark.parametrize(("flags", "problem"), NOT_UNDERSTOOD, ids=str)
def test_not_understood(flags: list[str], problem: str) -> None:
    """These are not dropped in silence."""
    assert AppServerFlags(problem=problem) == translate_flags(flags)
