"""Settings are changed one by one: checked first, with everything else in the file as it was."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from commands import Here
from repositories import write

USER_FILE = ".config/upbeat/auto-tools.toml"


def test_set_keeps_the_rest_of_the_file(here: Here, home: Path, repo: Path) -> None:
    """Comments, order and other values stay; get and list show what is in force, and where it comes from."""
    file = home / USER_FILE
    write(home, {USER_FILE: '# mine\nmode = "run"  # as ever\n\n[budget]\nwall_ms = 4000\n'})

    assert 0 == here("config", "set", "budget.max_concurrency", "2", cwd=repo, home=home).code
    assert 0 == here("config", "set", "policies.off", "truncate-tool-output, pursue-goal", cwd=repo, home=home).code
    assert (
        '# mine\nmode = "run"  # as ever\n\n[budget]\nwall_ms = 4000\nmax_concurrency = 2\n\n[policies]\n'
        'off = ["truncate-tool-output", "pursue-goal"]\n'
    ) == file.read_text()
    assert b"2\n" == here("config", "get", "budget.max_concurrency", cwd=repo, home=home).stdout
    assert (
        f"budget.max_concurrency           2  ({file}:6)" in here("config", "list", cwd=repo, home=home).stdout.decode()
    )
    assert 0 == here("config", "unset", "budget.max_concurrency", cwd=repo, home=home).code
    assert b"3\n" == here("config", "get", "budget.max_concurrency", cwd=repo, home=home).stdout


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("enabeld", "off", "no setting 'enabeld'; did you mean 'enabled'?"),
        ("enabled", "onn", "enabled takes off, auto, on; found 'onn'; did you mean 'on'?"),
        ("budget.wall_ms", "5", "budget.wall_ms clamped to 100"),
        ("budget.wall_ms", "soon", "budget.wall_ms takes a whole number from 100 to 60000; found 'soon'"),
        ("policies.off", "truncate-tool-outpt", "unknown name 'truncate-tool-outpt' in policies.off; did you mean"),
        ("tier_max", "2", "tier_max counts only in the environment; set CI_AUTO_TOOLS_TIER_MAX there"),
        ("legacy", "perhaps", "legacy takes true or false; found 'perhaps'"),
    ],
)
def test_a_wrong_value_changes_nothing(here: Here, home: Path, repo: Path, key: str, value: str, message: str) -> None:
    """What a settings file may not hold is refused with the reason, and no file is written."""
    done = here("config", "set", key, value, cwd=repo, home=home)

    assert (1, b"") == (done.code, done.stdout)
    assert done.stderr.startswith(f"upbeat: {message}")
    assert not (home / USER_FILE).exists()


def test_a_project_can_only_tighten(here: Here, home: Path, repo: Path) -> None:
    """A value in the project's file that is not in force, because the file is not trusted, is said to be so."""
    done = here("config", "set", "budget.wall_ms", "9000", "--project", cwd=repo, home=home)

    assert "[budget]\nwall_ms = 9000\n" == (repo / ".upbeat/auto-tools.toml").read_text()
    assert b"upbeat: in force here: 5000 (default)" in done.stdout


def test_a_damaged_file_is_left_alone(here: Here, home: Path, repo: Path) -> None:
    """A file that cannot be parsed is not written over."""
    write(home, {USER_FILE: "enabled = "})
    done = here("config", "set", "enabled", "off", cwd=repo, home=home)

    assert (1, "enabled = ") == (done.code, (home / USER_FILE).read_text())
    assert "fix it with `upbeat config edit`" in done.stderr


@pytest.mark.parametrize("words", [("set", "budget.wall_ms", "900"), ("unset", "budget.wall_ms")])
def test_a_value_in_place_of_a_table_is_left_alone(here: Here, home: Path, repo: Path, words: tuple[str, ...]) -> None:
    """Where the file has a value in place of the setting's table, the error says so, and the file stays."""
    write(home, {USER_FILE: "budget = 3\n"})
    done = here("config", *words, cwd=repo, home=home)

    assert (1, "budget = 3\n") == (done.code, (home / USER_FILE).read_text())
    assert "budget is not a table in the file, as budget.wall_ms needs; fix it with `upbeat config edit`" in done.stderr


@pytest.mark.parametrize("editor", ["/nowhere/editor", "vi 'x"])
def test_an_editor_that_cannot_start_is_named(here: Here, home: Path, repo: Path, editor: str) -> None:
    """An EDITOR that is not there, or is not a command line, is an error that names it."""
    done = here("config", "edit", cwd=repo, home=home, EDITOR=editor)

    assert 1 == done.code
    assert f"upbeat: cannot start {editor}: " in done.stderr


def test_edit_checks_what_was_written(here: Here, home: Path, repo: Path) -> None:
    """After the editor the mistakes are reported, with exit code 1."""
    script = (
        write(home, {"editor.py": "import sys\nopen(sys.argv[1], 'w').write('enabled = \"of\"\\n')\n"}) / "editor.py"
    )
    done = here("config", "edit", cwd=repo, home=home, EDITOR=f"{sys.executable} {script}")

    assert 1 == done.code
    assert "enabled takes off, auto, on; found 'of'; did you mean 'off'?" in done.stderr


def test_json(here: Here, home: Path, repo: Path) -> None:
    """With --json every setting has its name, value, default, origin and what it is for."""
    document = json.loads(here("config", "list", "--json", cwd=repo, home=home).stdout)

    assert {"name", "value", "default", "origin", "doc"} == set(document["settings"][0])
    assert document["settings"][0] == {
        key: value
        for key, value in json.loads(here("config", "get", "enabled", "--json", cwd=repo, home=home).stdout).items()
        if key != "schema_version"
    }
