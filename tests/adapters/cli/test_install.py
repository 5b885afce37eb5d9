"""``upbeat install`` in homes of both clients: what it shows, asks and writes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pexpect
import pytest
from client_homes import EACH_CLIENT, OWN_SETTINGS, SETTINGS, listing, upbeat_settings
from commands import Here
from processes import UPBEAT, environment
from repositories import write

from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME
from upbeat.adapters.system.environment import read_environment


@EACH_CLIENT
def test_without_a_confirmation_all_is_shown_and_nothing_is_done(here: Here, dotfiles: Path, client: str) -> None:
    """With --dry-run, and without a terminal, every line is shown and nothing is changed."""
    before = listing(dotfiles)
    dry = here("install", client, "--dry-run", cwd=dotfiles)
    unasked = here("install", client, cwd=dotfiles)

    assert before == listing(dotfiles)
    assert (0, 2) == (dry.code, unasked.code)
    assert (
        "upbeat: nothing was changed, because there is no terminal for the confirmation; pass --yes to skip it\n"
        == unasked.stderr
    )
    lines = dry.stdout.decode().splitlines()
    assert lines[:-1] == unasked.stdout.decode().splitlines()
    assert f"+++ {dotfiles / 'dotfiles' / client}" in lines
    assert [] == [line for line in lines if line.startswith("-") and not line.startswith("---") and "opus" not in line]


def test_a_closed_standard_input_is_no_terminal(here: Here, dotfiles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a standard input, install asks nothing and changes nothing."""
    monkeypatch.setattr(sys, "stdin", None)
    unasked = here("install", "claude", cwd=dotfiles)

    assert 2 == unasked.code
    assert unasked.stderr.startswith("upbeat: nothing was changed, because there is no terminal")


@EACH_CLIENT
def test_a_home_whose_path_is_not_utf8_is_refused(here: Here, tmp_path: Path, client: str) -> None:
    """Settings cannot name such a folder: the message says so, and nothing is created."""
    home = tmp_path / os.fsdecode(b"\xff")
    home.mkdir()
    refused = here("install", client, "--yes", cwd=home)

    assert (1, {}) == (refused.code, listing(home))
    assert "the new value is not UTF-8; if it is the path of a folder, use another one\n" in refused.stderr


@EACH_CLIENT
def test_a_second_install_changes_nothing(here: Here, dotfiles: Path, client: str) -> None:
    """The first install adds upbeat's entries to the settings, and says where it is recorded."""
    first = here("install", client, "--yes", cwd=dotfiles)
    installed = listing(dotfiles)
    second = here("install", client, cwd=dotfiles)

    assert (0, 0, installed) == (first.code, second.code, listing(dotfiles))
    assert f"upbeat: {client}: already installed and up to date\n".encode() == second.stdout
    folder = f"{dotfiles}/.local/share/upbeat/{client}"
    assert {
        "claude": {
            "extraKnownMarketplaces": {"upbeat": {"source": {"source": "directory", "path": folder}}},
            "enabledPlugins": {"upbeat@upbeat": True},
        },
        "codex": {
            "marketplaces": {"upbeat": {"source_type": "local", "source": folder}},
            "plugins": {"upbeat@upbeat": {"enabled": True}},
        },
    }[client] == upbeat_settings(dotfiles, client)
    assert (dotfiles / SETTINGS[client]).read_bytes().startswith(OWN_SETTINGS[client].encode()[:40])
    output = first.stdout.decode()
    assert f"all changes are recorded in {dotfiles}/.local/share/upbeat/receipts/{client}.json" in output
    assert "\n- byte code: " in output


def test_drafts_of_a_killed_run_are_removed(here: Here, dotfiles: Path) -> None:
    """What a killed uninstall left beside the settings is removed by an install that has nothing else to do."""
    here("install", "claude", "--yes", cwd=dotfiles)
    installed = listing(dotfiles)
    (dotfiles / "dotfiles/.claude.upbeat-1-0123abcd").write_text("half")
    done = here("install", "claude", cwd=dotfiles)

    assert (0, installed) == (done.code, listing(dotfiles))


def test_each_client_has_every_file_of_its_plugin(here: Here, dotfiles: Path) -> None:
    """The plugin is in upbeat's folder, and for Codex also where it keeps plugins and looks for agents."""
    for client in SETTINGS:
        here("install", client, "--yes", cwd=dotfiles)
    data, codex = dotfiles / ".local/share/upbeat", dotfiles / ".codex"

    variables = read_environment({"HOME": str(dotfiles)})
    for name, client_ in CLIENT_BY_CLI_NAME.items():
        wanted = client_.desired_installation(variables, "mcp").own_folders[data / name]
        assert wanted == {
            str(path.relative_to(data / name)): path.read_bytes() for path in (data / name).rglob("*") if path.is_file()
        }
    plugin, cached = data / "codex/plugins/upbeat", codex / "plugins/cache/upbeat/upbeat/0.1.0"
    assert {path.relative_to(plugin) for path in plugin.rglob("*")} == {
        path.relative_to(cached) for path in cached.rglob("*")
    }
    roles = {path.name: path.read_bytes() for path in (cached / "roles").iterdir()}
    assert roles == {path.name: path.read_bytes() for path in (codex / "agents").iterdir()}


@pytest.mark.parametrize(("client", "route"), [("claude", "mcp"), ("codex", "command")])
def test_another_route_replaces_the_files(here: Here, dotfiles: Path, client: str, route: str) -> None:
    """After a change of route and a user's edit, an install makes the folder exactly what it should be."""
    here("install", client, "--yes", "--route", route, cwd=dotfiles)
    wanted = listing(dotfiles, with_times=False)
    here("install", client, "--yes", "--route", "command" if route == "mcp" else "mcp", cwd=dotfiles)
    folder = dotfiles / f".local/share/upbeat/{client}/plugins/upbeat"
    (folder / "foreign.txt").write_text("x")
    (folder / "hooks/hooks.json").write_text("{}")
    done = here("install", client, "--yes", "--route", route, cwd=dotfiles)

    assert (0, wanted) == (done.code, listing(dotfiles, with_times=False))


@EACH_CLIENT
def test_an_upgrade_keeps_state_and_trust(here: Here, dotfiles: Path, client: str) -> None:
    """Over an installation without a receipt, made with the client's own commands, only upbeat's files change."""
    environment_ = read_environment({"HOME": str(dotfiles)})
    folder = environment_.data_home / "upbeat" / client
    state = {"journal.sqlite": "journal", "trusted.json": "{}"}
    write(dotfiles / ".local/state/upbeat", state)
    plugin = CLIENT_BY_CLI_NAME[client].desired_installation(environment_, "mcp").own_folders[folder]
    write(folder, {name: data.decode() for name, data in plugin.items()})
    write(folder, {"plugins/upbeat/commands/gone.md": "of the older release"})
    written_by_client = {
        "claude": '{\n  "extraKnownMarketplaces": {\n    "upbeat": {\n      "source": {\n        "source": "directory",'
        f'\n        "path": "{folder}"\n      }}\n    }}\n  }},\n  "enabledPlugins": {{\n    "upbeat@upbeat": true\n'
        "  }\n}",
        "codex": f'\n[marketplaces.upbeat]\nsource_type = "local"\nsource = "{folder}"\n\n[plugins."upbeat@upbeat"]\n'
        'enabled = true\n\n[hooks.state."upbeat@upbeat:hooks/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n',
    }
    file = dotfiles / "dotfiles" / client
    file.write_text(written_by_client[client], encoding="utf-8")
    before = file.stat()
    done = here("install", client, "--yes", cwd=dotfiles)

    assert 0 == done.code
    assert (before.st_ino, before.st_mtime_ns) == (file.stat().st_ino, file.stat().st_mtime_ns)
    assert not (folder / "plugins/upbeat/commands/gone.md").exists()
    assert state == {name: (dotfiles / ".local/state/upbeat" / name).read_text() for name in state}
    assert 0 == here("uninstall", client, "--yes", cwd=dotfiles).code
    assert (client == "codex") == ("hooks.state" in file.read_text())
    assert {} == upbeat_settings(dotfiles, client)


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("", 1), ("y", 0)])
def test_only_yes_at_a_terminal_is_yes(tmp_path: Path, answer: str, code: int) -> None:
    """The user is asked after every change is shown and before any is made."""
    child = pexpect.spawn(UPBEAT, ["install", "claude"], env=environment(tmp_path), cwd=str(tmp_path), timeout=50)
    child.expect_exact("(status line)? [y/N] ")
    child.sendline("")
    child.expect_exact("+++ ")
    child.expect_exact("Change these ")
    child.expect_exact(" files? [y/N] ")
    before_the_answer = listing(tmp_path)
    child.sendline(answer)
    child.expect_exact("nothing was changed" if code else "installed")
    if not code:
        child.expect_exact("Verify the hooks now?")
        child.sendline("n")
    child.expect(pexpect.EOF)
    child.close()

    is_installed = (tmp_path / ".claude/settings.json").exists()
    assert ({}, code, code == 0) == (before_the_answer, child.exitstatus, is_installed)


OURS = {"type": "command", "command": f"{Path(sys.executable).parent}/upbeat statusline"}


def status_line(home: Path) -> object:
    return json.loads((home / ".claude/settings.json").read_text()).get("statusLine")


@pytest.mark.parametrize(("answer", "expected"), [("y", OURS), ("n", None)])
def test_the_status_line_is_offered(tmp_path: Path, answer: str, expected: object) -> None:
    """At a terminal the first install asks; what is agreed to is part of the shown changes."""
    child = pexpect.spawn(
        UPBEAT,
        ["install", "claude"],
        env=environment(tmp_path),
        cwd=str(tmp_path),
        timeout=50,
        dimensions=(80, 200),
    )
    child.expect_exact("(status line)? [y/N] ")
    child.sendline(answer)
    child.expect_exact(" files? [y/N] ")
    shown = child.before.decode()
    child.sendline("y")
    child.expect_exact("Verify the hooks now?")
    child.sendline("n")
    child.expect(pexpect.EOF)
    child.close()

    assert expected == status_line(tmp_path)
    assert (expected is not None) == ('+  "statusLine"' in shown)


def test_the_status_line_is_installed_and_removed(here: Here, tmp_path: Path) -> None:
    """With --status-line it is added, also later; a further install keeps it, and uninstall takes it out."""
    settings = tmp_path / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "opus"}\n')
    here("install", "claude", "--yes", cwd=tmp_path)
    without = status_line(tmp_path)
    added = here("install", "claude", "--yes", "--status-line", cwd=tmp_path)
    with_line = status_line(tmp_path)
    again = here("install", "claude", "--yes", "--route", "command", cwd=tmp_path)
    kept = status_line(tmp_path)
    here("uninstall", "claude", "--yes", cwd=tmp_path)

    assert (None, OURS, OURS) == (without, with_line, kept)
    assert (0, 0) == (added.code, again.code)
    assert '{"model": "opus"}\n' == settings.read_text()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_status_line_of_the_user_stays(here: Here, tmp_path: Path, when: str) -> None:
    """It is never replaced or removed, whether it was there before or was set since."""
    settings, own = tmp_path / ".claude/settings.json", {"type": "command", "command": "mine"}
    settings.parent.mkdir()
    settings.write_text(json.dumps({"statusLine": own} if when == "before" else {}))
    first = here("install", "claude", "--yes", "--status-line", cwd=tmp_path)
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "statusLine": own}))
    second = here("install", "claude", "--yes", "--status-line", "--route", "command", cwd=tmp_path)
    installed = status_line(tmp_path)
    removed = here("uninstall", "claude", "--yes", cwd=tmp_path)

    assert (0, 0, 0) == (first.code, second.code, removed.code), (first, second, removed)
    assert (own, {"statusLine": own}) == (installed, json.loads(settings.read_text()))
    assert b"- your own status line stays" in second.stdout


def test_a_removed_status_line_is_not_added_again(here: Here, tmp_path: Path) -> None:
    """Who has removed it gets it back only by asking for it."""
    settings = tmp_path / ".claude/settings.json"
    here("install", "claude", "--yes", "--status-line", cwd=tmp_path)
    values = json.loads(settings.read_text())
    del values["statusLine"]
    settings.write_text(json.dumps(values))
    here("install", "claude", "--yes", "--route", "command", cwd=tmp_path)

    assert status_line(tmp_path) is None
    assert 0 == here("uninstall", "claude", "--yes", cwd=tmp_path).code


def test_codex_has_no_status_line_of_a_command(here: Here, tmp_path: Path) -> None:
    """For Codex the option is refused, and nothing is changed."""
    refused = here("install", "codex", "--yes", "--status-line", cwd=tmp_path)

    assert 2 == refused.code
    assert "Codex has no status line that runs a command" in refused.stderr
