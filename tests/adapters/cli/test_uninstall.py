"""``upbeat uninstall`` in homes of both clients: what it restores, keeps, and refuses to remove."""

from __future__ import annotations

import json
from pathlib import Path

from client_homes import EACH_CLIENT, OWN_SETTINGS, TRUST, listing
from commands import Here
from repositories import write


@EACH_CLIENT
def test_every_file_is_restored(here: Here, dotfiles: Path, client: str) -> None:
    """An uninstall leaves the home as it was, after a dry run that changes nothing; a second one says so."""
    before = listing(dotfiles, with_times=False)
    here("install", client, "--yes", cwd=dotfiles)
    installed = listing(dotfiles)
    rehearsed = here("uninstall", client, "--dry-run", cwd=dotfiles)
    unchanged = listing(dotfiles)
    gone = here("uninstall", client, "--yes", cwd=dotfiles)
    again = here("uninstall", client, "--yes", cwd=dotfiles)

    assert (0, installed, 0, 0) == (rehearsed.code, unchanged, gone.code, again.code)
    assert f"upbeat: {client}: uninstalled; the previous files are restored\n".encode() in gone.stdout
    assert before == listing(dotfiles, with_times=False)
    assert f"upbeat: {client}: upbeat is not installed\n".encode() == again.stdout


def test_both_clients_leave_nothing(here: Here, tmp_path: Path) -> None:
    """In an empty home nothing is left, in whichever order the clients come."""
    for order in (("claude", "codex"), ("codex", "claude")):
        codes = [
            here(command, client, "--yes", cwd=tmp_path).code
            for command in ("install", "uninstall")
            for client in order
        ]

        assert ([0, 0, 0, 0], {}) == (codes, listing(tmp_path))


@EACH_CLIENT
def test_a_clean_home_stays_clean(here: Here, tmp_path: Path, client: str) -> None:
    """Uninstalling where nothing was installed creates nothing."""
    done = here("uninstall", client, cwd=tmp_path)

    assert (0, {}) == (done.code, listing(tmp_path))


@EACH_CLIENT
def test_changed_settings_keep_their_changes(here: Here, dotfiles: Path, client: str) -> None:
    """A settings file that was changed since loses only upbeat's entries."""
    here("install", client, "--yes", cwd=dotfiles)
    file = dotfiles / "dotfiles" / client
    file.write_bytes(file.read_bytes().replace(b"opus", b"of mine").replace(b"gpt-5.5", b"of mine"))
    done = here("uninstall", client, "--yes", cwd=dotfiles)

    kept = OWN_SETTINGS[client].replace("opus", "of mine").replace("gpt-5.5", "of mine")
    assert (0, kept) == (done.code, file.read_bytes().decode())
    assert (
        f"upbeat: {client}: uninstalled; upbeat's entries are removed, and changes since the install are kept\n"
        f"- {file} keeps what was changed since the install\n"
    ).encode() in done.stdout


def test_settings_that_the_client_wrote_anew(here: Here, dotfiles: Path) -> None:
    """Claude Code writes its settings anew, in its own form and with more keys: upbeat's entries go, all else stays."""
    here("install", "claude", "--yes", cwd=dotfiles)
    file = dotfiles / "dotfiles/claude"
    values = json.loads(file.read_bytes().replace(b"// mine", b"")) | {
        "theme": "dark",
        "permissions": {"allow": ["Bash(ls:*)"]},
    }
    values["enabledPlugins"] |= {"other@market": True, "upbeat@upbeat": False}
    file.write_text(json.dumps(values, indent=4, sort_keys=True))
    done = here("uninstall", "claude", "--yes", cwd=dotfiles)
    left = json.loads(file.read_bytes())

    assert 0 == done.code
    assert "upbeat" not in file.read_text()
    assert values["permissions"] == left["permissions"]
    assert {"other@market": True} == left["enabledPlugins"]


def test_settings_that_cannot_be_parsed(here: Here, dotfiles: Path) -> None:
    """Damaged settings are shown with the reason, and nothing is removed."""
    here("install", "claude", "--yes", cwd=dotfiles)
    (dotfiles / "dotfiles/claude").write_text("{")
    before = listing(dotfiles)
    refused = here("uninstall", "claude", "--yes", cwd=dotfiles)

    assert (1, before) == (refused.code, listing(dotfiles))
    assert refused.stderr.endswith("correct these files (see above), then run the command again\n")


def test_a_users_file_keeps_its_folder(here: Here, dotfiles: Path) -> None:
    """A file that the user put into upbeat's folder is left, and the output says why the folder stays."""
    here("install", "claude", "--yes", cwd=dotfiles)
    foreign = dotfiles / ".local/share/upbeat/claude/foreign"
    foreign.write_text("x")
    done = here("uninstall", "claude", "--yes", cwd=dotfiles)

    assert (0, True) == (done.code, foreign.exists())
    assert f"- {foreign.parent} is not empty, so it was left alone\n".encode() in done.stdout


def test_the_trust_that_codex_recorded_is_removed(here: Here, dotfiles: Path) -> None:
    """Codex's record of trust in upbeat's hooks is not a user's change: the bytes are restored."""
    here("install", "codex", "--yes", cwd=dotfiles)
    file = dotfiles / ".codex/config.toml"
    file.write_bytes(file.read_bytes() + TRUST.replace("\n", "\r\n").encode())
    done = here("uninstall", "codex", "--yes", cwd=dotfiles)

    assert (0, OWN_SETTINGS["codex"]) == (done.code, file.read_bytes().decode())


def test_trust_is_removed_from_a_folder_that_was_moved(here: Here, tmp_path: Path) -> None:
    """Where Codex's whole folder was moved since, and a link left, the record of trust is found all the same."""
    file = tmp_path / ".codex/config.toml"
    write(tmp_path, {".codex/config.toml": "a = 1\n"})
    here("install", "codex", "--yes", cwd=tmp_path)
    (tmp_path / ".codex").rename(tmp_path / "moved")
    (tmp_path / ".codex").symlink_to("moved")
    file.write_text(file.read_text() + TRUST)
    done = here("uninstall", "codex", "--yes", cwd=tmp_path)

    assert (0, "a = 1\n") == (done.code, file.read_text())
    assert ["config.toml"] == [path.name for path in (tmp_path / "moved").iterdir()]
