"""Where a client keeps its own folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.clients.client import Client
from upbeat.adapters.clients.registry import CLIENT_IDS, CLIENTS
from upbeat.adapters.system.environment import read_environment


@pytest.mark.parametrize("client", CLIENTS, ids=CLIENT_IDS)
def test_a_variable_moves_the_folder(client: Client, tmp_path: Path) -> None:
    """Without the client's variable, or with an empty one, the folder is below the user's home."""
    home = {"HOME": str(tmp_path)}
    environments = [home, home | {client.home_variable: ""}, home | {client.home_variable: str(tmp_path / "moved")}]

    assert [tmp_path / client.home_folder] * 2 + [tmp_path / "moved"] == [
        client.home(read_environment(variables)) for variables in environments
    ]
