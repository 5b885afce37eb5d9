"""``upbeat install`` and ``upbeat uninstall``: shown, asked, done, and taken back, in homes of both clients."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
import tomli
from commands import Here
from processes import UPBEAT, environment
from repositories import write

from upbeat.adapters.claude import install as claude
from upbeat.adapters.codex import install as codex
from upbeat.adapters.system.environment import read_environment

SETTINGS = {"claude": ".claude/settings.json", "codex": ".codex/config.toml"}
FOREIGN = {
    "claude": '{\r\n\t"hooks": {}, // mine\r\n\t"model": "opus"\r\n}\r\n',
    "codex": 'model = "gpt-5.5" # mine\r\n\r\n[hooks]\r\n',
}
TRUST = '\n[hooks.state]\n\n[hooks.state."upbeat@upbeat:hooks/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
BOTH = pytest.mark.parametrize("client", sorted(SETTINGS))

LAYOUTS = {"claude": claude.plugin_layout, "codex": codex.plugin_layout}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose dotfiles are links, with line ends and comments of their own."""
    for client, name in SETTINGS.items():
        target = tmp_path / "dotfiles" / client
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(FOREIGN[client].encode())
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).symlink_to(os.path.relpath(target, (tmp_path / name).parent))
    return tmp_path


def everything(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Path -> what is there: where a link leads to, or mode, content and time."""
    found: dict[str, tuple[Any, ...]] = {}
    for path in sorted(folder.rglob("*")):
        state, name = path.lstat(), str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = (os.readlink(path),)
        elif path.is_dir():
            found[name] = (oct(state.st_mode),)
        else:
            found[name] = (oct(state.st_mode), path.read_bytes(), state.st_mtime_ns)
    return found


def timeless(found: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    return {name: what[:2] for name, what in found.items()}


def says(home: Path, client: str) -> dict[str, Any]:
    """What the client's settings say that is ours."""
    text = (home / SETTINGS[client]).read_text(encoding="utf-8")
    values = json.loads(text.replace("// mine", "")) if client == "claude" else tomli.loads(text)
    names = ("enabledPlugins", "extraKnownMarketplaces", "plugins", "marketplaces")
    return {name: values[name] for name in names if name in values}


@BOTH
def test_shown_and_not_done(here: Here, home: Path, client: str) -> None:
    """With --dry-run, and without anybody to ask, every line is shown and nothing is touched."""
    before = everything(home)
    dry = here("install", client, "--dry-run", cwd=home)
    unasked = here("install", client, cwd=home)

    assert before == everything(home)
    assert (0, 2) == (dry.code, unasked.code)
    assert (
        "upbeat: nothing was changed, because there is no terminal for the confirmation; pass --yes to skip it\n"
        == unasked.stderr
    )
    shown = dry.stdout.decode().splitlines()
    assert shown[:-1] == unasked.stdout.decode().splitlines()
    assert f"+++ {home / 'dotfiles' / client}" in shown
    assert [] == [line for line in shown if line.startswith("-") and not line.startswith("---") and "opus" not in line]


def test_without_standard_input(here: Here, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A standard input that is closed is nobody to ask."""
    monkeypatch.setattr(sys, "stdin", None)
    unasked = here("install", "claude", cwd=home)

    assert 2 == unasked.code
    assert unasked.stderr.startswith("upbeat: nothing was changed, because there is no terminal")


@BOTH
def test_a_home_that_is_not_utf8(here: Here, tmp_path: Path, client: str) -> None:
    """Settings cannot name a folder whose path is not UTF-8: that is said in a sentence, and nothing is made."""
    home = tmp_path / os.fsdecode(b"\xff")
    home.mkdir()
    refused = here("install", client, "--yes", cwd=home)

    assert (1, {}) == (refused.code, everything(home))
    assert "the new value is not UTF-8; if it is the path of a folder, use another one\n" in refused.stderr


@BOTH
def test_there_and_back(here: Here, home: Path, client: str) -> None:
    """Installed, it says what is ours and has every file; twice is a no-op; taken back, all is as it was."""
    before = everything(home)
    first = here("install", client, "--yes", cwd=home)
    installed = everything(home)
    second = here("install", client, cwd=home)

    assert (0, 0, installed) == (first.code, second.code, everything(home))
    assert f"upbeat: {client}: already installed and up to date\n".encode() == second.stdout
    folder = f"{home}/.local/share/upbeat/{client}"
    assert {
        "claude": {
            "extraKnownMarketplaces": {"upbeat": {"source": {"source": "directory", "path": folder}}},
            "enabledPlugins": {"upbeat@upbeat": True},
        },
        "codex": {
            "marketplaces": {"upbeat": {"source_type": "local", "source": folder}},
            "plugins": {"upbeat@upbeat": {"enabled": True}},
        },
    }[client] == says(home, client)
    assert (home / SETTINGS[client]).read_bytes().startswith(FOREIGN[client].encode()[:40])
    assert f"all changes are recorded in {home}/.local/share/upbeat/receipts/{client}.json" in first.stdout.decode()

    rehearsed = here("uninstall", client, "--dry-run", cwd=home)
    unchanged = everything(home)
    gone = here("uninstall", client, "--yes", cwd=home)
    again = here("uninstall", client, "--yes", cwd=home)

    assert (0, installed, 0, 0) == (rehearsed.code, unchanged, gone.code, again.code)
    assert timeless(before) == timeless(everything(home))
    assert f"upbeat: {client}: upbeat is not installed\n".encode() == again.stdout


def test_drafts_are_swept(here: Here, home: Path) -> None:
    """What a killed uninstall left beside the settings goes with the next install, though there is nothing to do."""
    here("install", "claude", "--yes", cwd=home)
    installed = everything(home)
    (home / "dotfiles/.claude.upbeat-1-0123abcd").write_text("half")
    done = here("install", "claude", cwd=home)

    assert (0, installed) == (done.code, everything(home))


def test_the_client_has_every_file(here: Here, home: Path) -> None:
    """The plugin stands in our folder, and for Codex where it keeps plugins and looks for agents."""
    for client in SETTINGS:
        here("install", client, "--yes", cwd=home)
    data, codex = home / ".local/share/upbeat", home / ".codex"
    plugins = {name: layout("mcp").marketplace_files() for name, layout in LAYOUTS.items()}

    for client, wanted in plugins.items():
        assert wanted == {
            str(path.relative_to(data / client)): path.read_bytes()
            for path in (data / client).rglob("*")
            if path.is_file()
        }
    cached = codex / "plugins/cache/upbeat/upbeat/0.1.0"
    assert {
        name.removeprefix("plugins/upbeat/") for name in plugins["codex"] if name.startswith("plugins/upbeat/")
    } == {str(path.relative_to(cached)) for path in cached.rglob("*") if path.is_file()}
    roles = {path.name: path.read_bytes() for path in (cached / "roles").iterdir()}
    assert roles == {path.name: path.read_bytes() for path in (codex / "agents").iterdir()}


def test_both_clients_leave_nothing(here: Here, tmp_path: Path) -> None:
    """In an empty home, in whatever order, nothing is left: not a folder."""
    for order in (("claude", "codex"), ("codex", "claude")):
        codes = [
            here(command, client, "--yes", cwd=tmp_path).code
            for command in ("install", "uninstall")
            for client in order
        ]

        assert ([0, 0, 0, 0], {}) == (codes, everything(tmp_path))


@BOTH
def test_a_clean_home_stays_clean(here: Here, tmp_path: Path, client: str) -> None:
    """Uninstalling where nothing was installed creates nothing."""
    done = here("uninstall", client, cwd=tmp_path)

    assert (0, {}) == (done.code, everything(tmp_path))


@BOTH
def test_what_was_changed_since(here: Here, home: Path, client: str) -> None:
    """A changed settings file is shown and left; with --merge it keeps the change and loses what is ours."""
    here("install", client, "--yes", cwd=home)
    file = home / "dotfiles" / client
    file.write_bytes(file.read_bytes().replace(b"opus", b"of mine").replace(b"gpt-5.5", b"of mine"))
    changed = everything(home)
    refused = here("uninstall", client, "--yes", cwd=home)
    untouched = everything(home)
    merged = here("uninstall", client, "--merge", "--yes", cwd=home)

    assert (1, changed) == (refused.code, untouched)
    assert b"of mine" in refused.stdout
    assert (
        "upbeat: nothing was removed, because files have changed since the install (see above)\n"
        f"upbeat uninstall {client} --merge keeps these changes and removes only upbeat's entries\n"
    ) == refused.stderr
    assert (0, FOREIGN[client].replace("opus", "of mine").replace("gpt-5.5", "of mine")) == (
        merged.code,
        file.read_bytes().decode(),
    )


def test_foreign_files_in_our_folder_stay(here: Here, home: Path) -> None:
    """Uninstall leaves a file that the user put into upbeat's folder, and says why the folder stays."""
    here("install", "claude", "--yes", cwd=home)
    foreign = home / ".local/share/upbeat/claude/foreign"
    foreign.write_text("x")
    done = here("uninstall", "claude", "--yes", cwd=home)

    assert (0, True) == (done.code, foreign.exists())
    assert f"- {foreign.parent} is not empty, so it was left alone\n".encode() in done.stdout


@BOTH
def test_what_was_left_stays(here: Here, home: Path, client: str) -> None:
    """What an uninstall left with --merge is left by the next one, too."""
    here("install", client, "--yes", cwd=home)
    folder = home / f".local/share/upbeat/{client}/plugins/upbeat"
    manifest = next(folder.parent.parent.rglob("marketplace.json"))
    edited = {folder / "my-own.md": "mine", next(folder.rglob("*.md")): "edited", manifest: "{}"}
    for path, text in edited.items():
        path.write_text(text)
    here("uninstall", client, "--yes", "--merge", cwd=home)
    again = here("uninstall", client, "--yes", cwd=home)

    assert edited == {path: path.read_text() for path in (home / ".local").rglob("*") if path.is_file()}
    assert f"upbeat: {client}: upbeat is not installed\n".encode() == again.stdout


@BOTH
def test_data_folder_that_was_removed(here: Here, home: Path, client: str) -> None:
    """Without upbeat's data folder, uninstall still removes upbeat's files from the client's folder."""
    before = {name for name in everything(home) if not (home / name).is_dir()}
    here("install", client, "--yes", cwd=home)
    shutil.rmtree(home / ".local")
    gone = here("uninstall", client, "--yes", cwd=home)

    assert (0, before) == (gone.code, {name for name in everything(home) if not (home / name).is_dir()})
    assert {} == says(home, client)


def test_foreign_files_in_our_folder_are_shown(here: Here, home: Path) -> None:
    """A dry run shows the name and every line of a user's file that an install would remove from upbeat's folder."""
    here("install", "claude", "--yes", cwd=home)
    foreign = home / ".local/share/upbeat/claude/foreign"
    foreign.write_text("first\nsecond\n")
    shown = here("install", "claude", "--dry-run", cwd=home)

    lines = [f"--- {foreign}", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-first", "-second"]
    assert [*lines, "upbeat: would change 1 files; nothing was changed"] == shown.stdout.decode().splitlines()


def test_what_is_ours_was_changed(here: Here, home: Path) -> None:
    """Where the plugin was switched off since, that is for its user to take out, also with --merge."""
    here("install", "claude", "--yes", cwd=home)
    file = home / "dotfiles/claude"
    file.write_bytes(file.read_bytes().replace(b"true", b"false"))
    refused = here("uninstall", "claude", "--merge", "--yes", cwd=home)

    assert 1 == refused.code
    assert b"enabledPlugins.upbeat@upbeat is no longer what upbeat wrote; remove it yourself" in refused.stdout
    assert refused.stderr.endswith("resolve these by hand, then run the command again\n")


def test_trust_that_codex_noted_goes(here: Here, home: Path) -> None:
    """Codex's record of trust in upbeat's hooks is not a user's change: uninstall restores the bytes."""
    here("install", "codex", "--yes", cwd=home)
    file = home / ".codex/config.toml"
    file.write_bytes(file.read_bytes() + TRUST.replace("\n", "\r\n").encode())
    done = here("uninstall", "codex", "--yes", cwd=home)

    assert (0, FOREIGN["codex"]) == (done.code, file.read_bytes().decode())


def test_trust_in_a_home_that_was_moved(here: Here, tmp_path: Path) -> None:
    """Where Codex's whole folder was moved since, and a link left, what Codex noted is known all the same."""
    file = tmp_path / ".codex/config.toml"
    write(tmp_path, {".codex/config.toml": "a = 1\n"})
    here("install", "codex", "--yes", cwd=tmp_path)
    (tmp_path / ".codex").rename(tmp_path / "moved")
    (tmp_path / ".codex").symlink_to("moved")
    file.write_text(file.read_text() + TRUST)
    done = here("uninstall", "codex", "--yes", cwd=tmp_path)

    assert (0, "a = 1\n") == (done.code, file.read_text())
    assert ["config.toml"] == [path.name for path in (tmp_path / "moved").iterdir()]


@BOTH
@pytest.mark.parametrize("route", ["mcp", "command"])
def test_another_route_replaces_the_files(here: Here, home: Path, client: str, route: str) -> None:
    """After a change of route or a user's edit, an install makes the folder exactly what it should be."""
    here("install", client, "--yes", "--route", route, cwd=home)
    wanted = timeless(everything(home))
    here("install", client, "--yes", "--route", "command" if route == "mcp" else "mcp", cwd=home)
    folder = home / f".local/share/upbeat/{client}/plugins/upbeat"
    (folder / "foreign.txt").write_text("x")
    (folder / "hooks/hooks.json").write_text("{}")
    done = here("install", client, "--yes", "--route", route, cwd=home)

    assert (0, wanted) == (done.code, timeless(everything(home)))


@BOTH
def test_an_upgrade_keeps_state_and_trust(here: Here, home: Path, client: str) -> None:
    """Over what a release without receipts left, and its user with the client's commands, only our files change."""
    environment_ = read_environment({"HOME": str(home)})
    folder = environment_.data_home / "upbeat" / client
    state = {"journal.sqlite": "journal", "trusted.json": "{}"}
    write(home / ".local/state/upbeat", state)
    write(folder, {name: data.decode() for name, data in LAYOUTS[client]("mcp").marketplace_files().items()})
    write(folder, {"plugins/upbeat/commands/gone.md": "of the older release"})
    commands = {
        "claude": '{\n  "extraKnownMarketplaces": {\n    "upbeat": {\n      "source": {\n        "source": "directory",'
        f'\n        "path": "{folder}"\n      }}\n    }}\n  }},\n  "enabledPlugins": {{\n    "upbeat@upbeat": true\n'
        "  }\n}",
        "codex": f'\n[marketplaces.upbeat]\nsource_type = "local"\nsource = "{folder}"\n\n[plugins."upbeat@upbeat"]\n'
        'enabled = true\n\n[hooks.state."upbeat@upbeat:hooks/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n',
    }
    file = home / "dotfiles" / client
    file.write_text(commands[client], encoding="utf-8")
    kept = file.stat()
    done = here("install", client, "--yes", cwd=home)

    assert 0 == done.code
    assert (kept.st_ino, kept.st_mtime_ns) == (file.stat().st_ino, file.stat().st_mtime_ns)
    assert not (folder / "plugins/upbeat/commands/gone.md").exists()
    assert state == {name: (home / ".local/state/upbeat" / name).read_text() for name in state}
    assert 0 == here("uninstall", client, "--yes", cwd=home).code
    assert (client == "codex") == ("hooks.state" in file.read_text())
    assert {} == says(home, client)


def test_installed_hooks_are_short_and_absolute(here: Here, home: Path) -> None:
    """What a client starts is named by absolute paths."""
    here("install", "codex", "--yes", "--route", "command", cwd=home)
    text = (home / ".local/share/upbeat/codex/plugins/upbeat/hooks/hooks.json").read_text()
    commands = [
        hook["command"] for groups in json.loads(text)["hooks"].values() for group in groups for hook in group["hooks"]
    ]

    assert commands
    assert all(
        command.startswith("/") and " -I -S /" in command and command.endswith("shim.py codex-cli")
        for command in commands
    )


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("", 1), ("y", 0)])
def test_asked_at_a_terminal(tmp_path: Path, answer: str, code: int) -> None:
    """The user is asked after every change is shown; only yes is yes."""
    child = pexpect.spawn(UPBEAT, ["install", "claude"], env=environment(tmp_path), cwd=str(tmp_path), timeout=50)
    child.expect_exact("+++ ")
    child.expect_exact("Change these ")
    child.expect_exact(" files? [y/N] ")
    nothing_yet = everything(tmp_path)
    child.sendline(answer)
    child.expect_exact("nothing was changed" if code else "installed")
    child.expect(pexpect.EOF)
    child.close()

    assert ({}, code, code == 0) == (nothing_yet, child.exitstatus, (tmp_path / ".claude/settings.json").exists())
