"""``upbeat hook CLIENT`` passes the event to the shim, and its exit code is always 0."""

from __future__ import annotations

import pytest

from upbeat.adapters.cli import hook


def test_the_event_goes_to_the_client_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shim gets the client's id, not its name on the command line."""
    clients: list[str] = []
    monkeypatch.setattr(hook.shim, "main", lambda client: clients.append(client) or 0)

    assert [0, 0] == [hook.run(["claude"]), hook.run(["codex"])]
    assert ["claude-code", "codex-cli"] == clients


@pytest.mark.parametrize("arguments", [[], ["gemini"], ["claude", "codex"]])
def test_wrong_arguments_print_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without one known client, the usage goes to stderr and the exit code stays 0."""
    assert 0 == hook.run(arguments)
    assert ("", "usage: upbeat hook claude|codex < payload.json\n") == capsys.readouterr()
