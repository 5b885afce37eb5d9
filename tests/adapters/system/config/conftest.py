"""A repository and a user's home for the tests of configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.system.environment import Environment, read_environment


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "repo"
    path.mkdir()
    return path


@pytest.fixture
def home(tmp_path: Path) -> Environment:
    return read_environment({"HOME": str(tmp_path / "home")})
