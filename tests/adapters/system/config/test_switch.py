"""The user's switch is found fast, and a damaged file switches nothing off."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.system.config.switch import is_switched_off
from upbeat.adapters.system.environment import read_environment


@pytest.mark.parametrize(
    ("text", "is_off"),
    [
        (None, False),
        ('mode = "run"\n', False),
        ('[off]\nrepositories = ["{}"]\n', True),
        ('[off]\nrepositories = ["{}/inner"]\n', False),
        ('[off]\nrepositories = ["{}"\n', False),
        ("[off]\nrepositories = 3\n", False),
    ],
)
def test_what_the_file_says(tmp_path: Path, text: str | None, is_off: bool) -> None:
    """A folder is off if it or one around it is in the list."""
    file = tmp_path / ".config/upbeat/auto-tools.toml"
    file.parent.mkdir(parents=True)
    if text is not None:
        file.write_text(text.replace("{}", str(tmp_path.resolve())))

    assert is_off is is_switched_off(str(tmp_path / "src"), read_environment({"HOME": str(tmp_path)}))
