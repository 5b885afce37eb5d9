"""All hostile repositories, by name. ``fixtures.toml`` says what each of them holds; this module makes them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from string import Template
from typing import Any

import tomli
from repositories import write

from .place import CANARY, SECRET, Place, make_place

GROUPS = tomli.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MIXED: Mapping[str, list[str]] = GROUPS.pop("mixed")
"""Several at once, for those who have little time."""
FIXTURES: Mapping[str, Mapping[str, Any]] = {
    f"{group}: {name}": fixture for group, fixtures in GROUPS.items() for name, fixture in fixtures.items()
}

EACH_TURN = (
    *(".upbeat/auto-tools.toml", ".upbeat/workflows.toml", ".upbeat/rules/a.md", ".upbeat/codex-session.json"),
    *(".claude/hookify.a.local.md", ".claude/commands/fix.md", ".mcp.json", ".devbooks/config.yaml"),
    *("AGENTS.md", "CLAUDE.md", ".gitmodules", "shop/evil.py"),
)
PROGRAMS = ("git", "rg", "python3", "python", "sh", "node", "codex", "claude", "tmux", "notify-send", "osascript", "ps")
MODULES = (
    *("sitecustomize", "usercustomize", "site", "posix", "json", "re", "typing", "logging", "conftest", "setup"),
    *("apsw", "dulwich", "mcp", "pathspec", "pydantic", "tomli"),
)
PACKAGES = ("core", "adapters", "upbeat", "config", "re2", "tree_sitter", "core/contract", "adapters/cli")

SHELL_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "init.defaultBranch",
    "GIT_CONFIG_VALUE_0": "main",
    "GIT_CONFIG_KEY_1": "protocol.file.allow",
    "GIT_CONFIG_VALUE_1": "always",
    **{f"GIT_{role}_NAME": "a" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "a@example.org" for role in ("AUTHOR", "COMMITTER")},
}


def make(name: str, base: Path) -> Place:
    """Make the repository called ``name``, or several (``A + B``, or a name in ``MIXED``), in a new folder ``base``."""
    place = make_place(base)
    for part in MIXED.get(name, name.split(" + ")):
        _apply(FIXTURES[part], place)
    for mark in place.sprung():  # git ran them while it was told of them
        (place.marks / mark).unlink()
    return place


def _apply(fixture: Mapping[str, Any], place: Place) -> None:
    """Make ``place`` hostile in one way, in the order that ``fixtures.toml`` describes."""
    root = place.root
    for name in fixture.get("remove", ()):
        shutil.rmtree(root / name) if (root / name).is_dir() else (root / name).unlink(missing_ok=True)
    programs = [
        name.replace("*", program)
        for name in fixture.get("traps", ())
        for program in (PROGRAMS if "*" in name else ("",))
    ]
    paths = {"root": root, "outside": place.outside, "base": place.base, "python": sys.executable}
    values = paths | {"canary": CANARY, "secret": SECRET, "trap": [*map(place.trap, programs), ""][0]}

    def filled(table: str) -> dict[str, str]:
        return {key: Template(text).safe_substitute(values) for key, text in fixture.get(table, {}).items()}

    if fixture.get("bait"):
        _plant_bait(place)
    for names, text in filled("files").items():
        write(root, dict.fromkeys(names.split("|"), text))
    write(place.outside, filled("outside"))
    for names, target in filled("links").items():
        for path in _places(root, names):
            path.symlink_to(target)
    for names in fixture.get("pipes", ()):
        for path in _places(root, names):
            os.mkfifo(path)
    for name, size in fixture.get("sizes", {}).items():
        write(root, {name: ""})
        os.truncate(root / name, size)
    place.variables |= filled("variables")
    place.cwd = fixture.get("cwd", place.cwd)
    place.looked_at_by_git += tuple(
        Template(path).safe_substitute(values) for path in fixture.get("looked_at_by_git", ())
    )
    script = [f"git config '{key}' '{value}'" for key, value in filled("config").items()]
    script.append(Template(fixture.get("run", "")).safe_substitute(values))
    variables = SHELL_ENVIRONMENT | {"HOME": str(root)}
    subprocess.run(["sh", "-ec", "\n".join(script)], cwd=root, env=variables, check=True, capture_output=True)


def _places(root: Path, name: str) -> list[Path]:
    paths = [root / each for each in (EACH_TURN if name == "*" else (name,))]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    return paths


def _plant_bait(place: Place) -> None:
    mark = f"import os; open(os.path.join({str(place.marks)!r}, __name__.replace('.', '_')), 'a').close()\n"
    names = [f"{module}.py" for module in MODULES]
    names += [f"{package}/{name}.py" for package in PACKAGES for name in ("__init__", "__main__")]
    write(place.root, dict.fromkeys(names, mark))


@contextmanager
def staged(name: str) -> Iterator[Place]:
    """Make the repository called ``name`` in a folder of its own that is gone afterwards."""
    folder = tempfile.mkdtemp(prefix="hostile-")
    try:
        yield make(name, Path(folder).resolve() / "stage")
    finally:
        subprocess.run(["rm", "-rf", "--", folder], check=True)  # Python's own gives up on deep folders
