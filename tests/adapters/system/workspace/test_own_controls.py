"""Which paths and texts are controls on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.workspace.own_controls import OwnControls
from upbeat.core.policy.queries import OwnControlsQuery


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "conf" / "upbeat").mkdir(parents=True)
    (tmp_path / "repo").mkdir()
    return tmp_path / "home"


def find(home: Path, **query: tuple[str, ...]) -> tuple[str, ...]:
    variables = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "conf"), "CODEX_HOME": str(home / "cx")}
    controls = OwnControls(read_environment(variables), [home / "cx" / "config.toml"])
    repo = home.parent / "repo"
    return controls.find(OwnControlsQuery(**query), str(repo), str(repo))


def test_paths(home: Path) -> None:
    """Moved folders, variables, relative names, patterns and links all lead to the same file."""
    (home.parent / "repo" / "link").symlink_to(home / "conf" / "upbeat")
    controls = (
        f"{home}/conf/upbeat/auto-tools.toml",
        "$XDG_CONFIG_HOME/upbeat/auto-tools.toml",
        "${CODEX_HOME}/config.toml",
        "~/conf/upbeat",
        "../home/conf/upbeat/rules/x.md",
        "link/auto-tools.toml",
        "~/con?/up*/auto-tools.toml",
    )

    assert controls == find(home, paths=(*controls, "src/a.py", "~/conf/other", "$UNKNOWN/x", "~/*"))


def test_trees(home: Path) -> None:
    """A folder that contains a control counts only if all of it is removed."""
    assert ("~/conf", "~") == find(home, paths=("~/conf",), trees=("~/conf", "~", "src"))


def test_texts_and_scripts(home: Path) -> None:
    """A text that is run counts if it names a control, and so does a script in a file that is run."""
    repo = home.parent / "repo"
    (repo / "a.sh").write_text("upbeat trust --yes\n")
    (repo / "b.py").write_text(f"open('{home}/conf/upbeat/x', 'w')\n")
    (repo / "c.sh").write_text("make test\n")
    text = f"open('{home}/cx/config.toml', 'w')"

    assert (text, "./a.sh", "b.py") == find(home, texts=(text, "print(1)"), scripts=("./a.sh", "b.py", "c.sh", "no.sh"))
