"""What an installation plans: upgrades, other homes, what others changed, and what an older release left."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from upbeat.adapters.install.apply import apply_plan
from upbeat.adapters.install.plan import InstallationPlan, plan_install, plan_uninstall
from upbeat.adapters.install.plugin import DesiredInstallation, SettingsEdit
from upbeat.adapters.install.receipt import read_receipt
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.files.settings_edit import SettingsEntry
from upbeat.core.errors import UserError

SETTINGS = '{"theirs": 1}\n'
OURS = '{"theirs": 1, "enabled": {"upbeat@upbeat": true}}\n'


class Machine:
    """A home, what a release of upbeat installs in it, and the two commands."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment: Environment = read_environment({"HOME": str(root)})
        self.folder = root / ".local/share/upbeat/claude"
        self.settings = root / ".claude/settings.json"
        self.role = root / ".claude/agents/ours.toml"
        self.write(self.settings, SETTINGS)

    def wanted(self, **own: str) -> DesiredInstallation:
        """The installation of a release whose plugin has these files."""
        entries = (SettingsEntry(("enabled", "upbeat@upbeat"), True),)
        return DesiredInstallation(
            own_folders={
                self.folder: {name: text.encode() for name, text in (own or {"a": "a1", "b/c": "c1"}).items()}
            },
            files={self.role: b"role"},
            edits=(SettingsEdit(self.settings, "json", entries),),
        )

    def wanted_settings(self, path: Path | None = None, *more: SettingsEntry) -> DesiredInstallation:
        """The installation of a release that has its settings at ``path``, and further entries in them."""
        [edit] = self.wanted().edits
        changed = replace(edit, path=path or edit.path, entries=(*edit.entries, *more))
        return replace(self.wanted(), files={} if path else self.wanted().files, edits=(changed,))

    def install_until_killed(self, wanted: DesiredInstallation, changes: int) -> InstallationPlan:
        """Install, but make only that many changes."""
        plan = plan_install("claude", wanted, self.environment, "mcp")
        killed = replace(plan, changes=plan.changes[:changes], final_receipt=plan.pending_receipt)
        apply_plan(killed, self.environment)
        return plan

    def install(self, wanted: DesiredInstallation | None = None) -> list[str]:
        """Install; the names of what was changed."""
        plan = plan_install("claude", wanted or self.wanted(), self.environment, "mcp")
        apply_plan(plan, self.environment)
        return [str(change.path.relative_to(self.root)) for change in plan.changes]

    def uninstall(self) -> dict[str, list[str]]:
        """Uninstall, unless something is in the way; what was in the way, and what was kept."""
        plan = plan_uninstall("claude", self.wanted(), self.environment)
        assert plan is not None
        if not plan.drifts:
            apply_plan(plan, self.environment)
        names = {"in the way": [drift.path for drift in plan.drifts], "kept": list(plan.kept)}
        return {what: [str(path.relative_to(self.root)) for path in paths] for what, paths in names.items()}

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def files(self) -> dict[str, str]:
        """Every file but the receipt."""
        every = (path for path in self.root.rglob("*") if path.is_file() and "receipts" not in path.parts)
        return {str(path.relative_to(self.root)): path.read_text(encoding="utf-8") for path in every}

    def move(self, name: str) -> None:
        """Move what is at ``name`` to the dotfiles, and leave a link."""
        place, target = self.root / name, self.root / "dotfiles" / Path(name).name
        target.parent.mkdir(exist_ok=True)
        place.rename(target)
        place.symlink_to(target)

    def folders(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_dir())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


FOREIGN = {"a": "edited", "foreign": "x"}
FOREIGN_IN_PLACE = {f".local/share/upbeat/claude/{name}": text for name, text in FOREIGN.items()}
CLEAN = {"in the way": [], "kept": []}
BEFORE = {".claude/settings.json": SETTINGS}
INSTALLED = {
    ".claude/settings.json": OURS,
    ".claude/agents/ours.toml": "role",
    ".local/share/upbeat/claude/a": "a1",
    ".local/share/upbeat/claude/b/c": "c1",
}


def test_an_uninstall_undoes_an_install(machine: Machine) -> None:
    """An install writes every file and changes settings last; an uninstall restores files and folders."""
    changed = machine.install()

    assert INSTALLED == machine.files()
    assert ".claude/settings.json" == changed[-1]
    assert [] == machine.install()
    assert (CLEAN, BEFORE) == (machine.uninstall(), machine.files())
    assert [".claude"] == machine.folders()
    assert plan_uninstall("claude", machine.wanted(), machine.environment) is None


def test_an_uninstall_after_an_upgrade_restores_the_original_files(machine: Machine) -> None:
    """An upgrade replaces files and folders; an uninstall restores the files from before the first install."""
    machine.write(machine.role, "of the user")
    machine.install()
    changed = machine.install(machine.wanted(a="a2", d="d2"))
    folder = ".local/share/upbeat/claude"

    assert sorted([f"{folder}/a", f"{folder}/b/c", f"{folder}/d"]) == sorted(changed)
    assert f"{folder}/b" not in machine.folders()
    assert (CLEAN, BEFORE | {".claude/agents/ours.toml": "of the user"}) == (machine.uninstall(), machine.files())


def test_a_killed_upgrade_can_be_completed_and_undone(machine: Machine) -> None:
    """Half upgraded, each file is of one release or the other, and upbeat's."""
    machine.install()
    newer = machine.wanted(a="a2", d="d2")
    machine.install_until_killed(newer, 1)
    half = machine.files()
    machine.install(newer)
    whole = {path: text for path, text in machine.files().items() if "/share/" in path}

    assert {"a2", "c1"} == {half[f".local/share/upbeat/claude/{name}"] for name in ("a", "b/c")}
    assert {".local/share/upbeat/claude/a": "a2", ".local/share/upbeat/claude/d": "d2"} == whole
    assert (CLEAN, BEFORE) == (machine.uninstall(), machine.files())


def test_a_killed_upgrade_can_be_undone_at_once(machine: Machine) -> None:
    """An uninstall does not need the upgrade to be complete."""
    machine.install()
    machine.install_until_killed(machine.wanted(a="a2", d="d2"), 1)

    assert (CLEAN, BEFORE) == (machine.uninstall(), machine.files())


def test_an_upgrade_restores_a_users_file_that_it_no_longer_replaces(machine: Machine) -> None:
    """A role that a release no longer has gets the content from before the first install."""
    machine.write(machine.role, "of the user")
    machine.install()
    wanted = machine.wanted()
    machine.install(replace(wanted, files={machine.role.with_name("new.toml"): b"new"}))
    receipt = read_receipt(machine.environment, "claude")

    assert "of the user" == machine.role.read_text()
    assert receipt is not None
    assert receipt.for_path(machine.role) is None


def test_changed_files_keep_their_changes(machine: Machine) -> None:
    """Settings that were changed since lose only upbeat's entries; changed roles and plugin files are left alone."""
    machine.install()
    machine.write(machine.settings, OURS.replace("1", "2"))
    machine.write(machine.role, "edited")
    machine.write(machine.folder / "a", "edited")
    done = machine.uninstall()

    names = [".claude/settings.json", ".claude/agents/ours.toml", ".local/share/upbeat/claude/a"]
    assert {"in the way": [], "kept": names[1:]} == done
    assert {names[0]: '{"theirs": 2}\n', names[1]: "edited", names[2]: "edited"} == machine.files()
    assert read_receipt(machine.environment, "claude") is None


def test_damaged_settings_stop_an_uninstall(machine: Machine) -> None:
    """A settings file that cannot be parsed stops it before anything is removed."""
    machine.install()
    machine.write(machine.settings, "{")
    before = machine.files()

    assert {"in the way": [".claude/settings.json"], "kept": []} == machine.uninstall()
    assert before == machine.files()


def test_removed_settings_stay_removed(machine: Machine) -> None:
    """A settings file that is gone stays gone."""
    machine.install()
    machine.settings.unlink()

    assert (CLEAN, {}) == (machine.uninstall(), machine.files())


def test_foreign_files_in_upbeats_folder(machine: Machine) -> None:
    """An install removes foreign files from upbeat's folder; an uninstall leaves them."""
    machine.install()
    machine.write(machine.folder / "foreign", "x")
    machine.write(machine.folder / "a", "edited")
    changed = machine.install()
    machine.write(machine.folder / "foreign", "x")

    assert [".local/share/upbeat/claude/a", ".local/share/upbeat/claude/foreign"] == sorted(changed)
    assert CLEAN == machine.uninstall()
    assert BEFORE | {".local/share/upbeat/claude/foreign": "x"} == machine.files()


def test_a_users_files_in_upbeats_folder_are_marked(machine: Machine) -> None:
    """An install marks removed files that the user added or changed; if it is killed, an uninstall leaves them."""
    machine.install()
    machine.write(machine.folder / "foreign", "x")
    machine.write(machine.folder / "a", "edited")
    plan = machine.install_until_killed(machine.wanted(d="d"), 0)
    gone = {change.path.name: change.is_foreign for change in plan.changes if change.new is None}

    assert {"a": True, "c": False, "foreign": True} == gone
    assert CLEAN == machine.uninstall()
    assert BEFORE | FOREIGN_IN_PLACE == machine.files()


def test_an_upgrade_keeps_changes_of_other_programs(machine: Machine) -> None:
    """An upgrade that edits settings again keeps other programs' changes, and uninstall restores them."""
    machine.install()
    machine.write(machine.settings, '{"theirs": 2}')
    machine.install()

    assert '{"theirs": 2, "enabled": {"upbeat@upbeat": true}}' == machine.settings.read_text()
    assert (CLEAN, '{"theirs": 2}') == (machine.uninstall(), machine.settings.read_text())


def test_an_entry_that_the_user_already_has_is_not_upbeats(machine: Machine) -> None:
    """An uninstall leaves it."""
    machine.write(machine.settings, OURS)
    machine.install(machine.wanted_settings(None, SettingsEntry(("known", "upbeat"), True)))

    assert OURS.replace("}}\n", '}, "known": {"upbeat": true}}\n') == machine.settings.read_text()
    assert (CLEAN, OURS) == (machine.uninstall(), machine.settings.read_text())


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("gone", [".local/share/upbeat", ".local/share/upbeat/receipts"])
def test_an_installation_without_its_receipt_is_recognized(machine: Machine, gone: str, again: bool) -> None:
    """Settings with all of upbeat's entries, and roles with upbeat's content, are its own without files or receipt."""
    machine.install()
    shutil.rmtree(machine.root / gone)
    if again:
        machine.install()

    assert (CLEAN, BEFORE) == (machine.uninstall(), machine.files())


def test_files_that_an_uninstall_left_are_no_installation(machine: Machine) -> None:
    """The next uninstall has nothing to do."""
    machine.install()
    machine.write(machine.folder / "a", "edited")
    machine.write(machine.folder / "foreign", "x")
    machine.uninstall()
    left = machine.files()

    assert BEFORE | FOREIGN_IN_PLACE == left
    assert plan_uninstall("claude", machine.wanted(), machine.environment) is None


def test_a_folder_or_an_entry_alone_is_no_installation(machine: Machine) -> None:
    """A folder with upbeat's name is no installation, nor are settings with some of its entries."""
    for name, text in FOREIGN.items():
        machine.write(machine.folder / name, text)
    machine.write(machine.settings, OURS)
    more = machine.wanted_settings(None, SettingsEntry(("known", "upbeat"), True))

    assert plan_uninstall("claude", more, machine.environment) is None


def test_unreadable_settings_do_not_matter_where_nothing_was_installed(machine: Machine) -> None:
    """An uninstall ignores settings that are damaged, a folder, or a circle of links."""
    files = [machine.settings.with_name(name) for name in ("damaged", "folder", "circle")]
    files[0].write_text("{")
    files[1].mkdir()
    files[2].symlink_to("circle")

    for path in files:
        assert plan_uninstall("claude", machine.wanted_settings(path), machine.environment) is None


def test_foreign_files_without_a_receipt(machine: Machine) -> None:
    """Without a receipt, uninstall removes only files with upbeat's names, and marks those with other content."""
    machine.write(machine.folder / "b/c", "c1")
    for name, text in FOREIGN.items():
        machine.write(machine.folder / name, text)
    plan = plan_uninstall("claude", machine.wanted(), machine.environment)

    assert plan is not None
    assert {"a": True, "c": False} == {change.path.name: change.is_foreign for change in plan.changes}
    assert CLEAN == machine.uninstall()
    assert BEFORE | {".local/share/upbeat/claude/foreign": "x"} == machine.files()


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("moved", [".claude/settings.json", ".claude", ".local/share/upbeat", ".local/share"])
def test_files_that_were_moved_and_linked_are_recognized(machine: Machine, moved: str, again: bool) -> None:
    """A file or folder that was moved and linked is recognized: an install writes only the receipt, with every path
    once, and an uninstall restores the bytes and leaves the link."""
    machine.install()
    machine.move(moved)
    if again:
        assert [] == machine.install()
    receipt = read_receipt(machine.environment, "claude")

    assert receipt is not None
    assert 4 == len(receipt.files)
    assert CLEAN == machine.uninstall()
    assert [SETTINGS] == list({path.resolve(): path.read_text() for path in machine.root.rglob("*.json")}.values())
    assert [] == list(machine.root.rglob("upbeat/*"))
    assert (machine.root / moved).is_symlink()
    assert (machine.root / moved).exists()


def test_a_users_link_in_upbeats_folder_is_refused(machine: Machine) -> None:
    """A link to a copy of upbeat's file is not upbeat's, and the copy is not touched."""
    machine.install()
    machine.write(machine.root / "copy", "a1")
    (machine.folder / "a").unlink()
    (machine.folder / "a").symlink_to(machine.root / "copy")

    with pytest.raises(UserError, match="is not a regular file; move it away"):
        machine.uninstall()
    assert "a1" == (machine.root / "copy").read_text()


def test_a_home_that_was_replaced_by_a_link_to_another(machine: Machine) -> None:
    """The other home's bytes are restored."""
    machine.install()
    other = machine.root / "other/settings.json"
    machine.write(other, "{}")
    machine.install(machine.wanted_settings(other))
    machine.settings.unlink()
    machine.settings.symlink_to(other)

    assert (CLEAN, "{}") == (machine.uninstall(), other.read_text())


def test_an_install_into_a_second_home_keeps_the_first(machine: Machine) -> None:
    """An uninstall removes both."""
    machine.install()
    other = machine.root / "other/settings.json"
    machine.install(machine.wanted_settings(other))

    assert OURS == machine.settings.read_text()
    assert other.exists()
    assert (CLEAN, BEFORE) == (machine.uninstall(), machine.files())


def test_an_installation_of_a_release_without_receipts_is_recognized(machine: Machine) -> None:
    """What an older release wrote, and its user with the client's commands, is upbeat's."""
    machine.write(machine.folder / "a", "a1")
    machine.write(machine.folder / "b/c", "old role")
    machine.write(machine.role, "old role")
    machine.write(machine.settings, OURS)
    old = machine.files()
    removable = plan_uninstall("claude", machine.wanted(), machine.environment)
    changed = machine.install()

    assert removable is not None
    assert sorted(old.keys() - {".claude/settings.json"}) == sorted(
        str(c.path.relative_to(machine.root)) for c in removable.changes if not c.is_settings
    )
    assert ".claude/settings.json" not in changed
    assert INSTALLED == machine.files()
    assert (CLEAN, BEFORE) == (machine.uninstall(), machine.files())


def test_an_older_release_can_be_uninstalled_without_an_upgrade(machine: Machine) -> None:
    """An uninstall removes an older release's files without an upgrade first."""
    machine.write(machine.folder / "a", "a0")
    machine.write(machine.folder / "b/c", "c1")
    machine.write(machine.settings, OURS)

    assert (CLEAN, BEFORE) == (machine.uninstall(), machine.files())
    assert [".claude", ".local", ".local/share"] == machine.folders()


def test_nothing_is_written_through_a_link_in_upbeats_folder(machine: Machine) -> None:
    """A link there is not upbeat's, so an install refuses."""
    machine.folder.mkdir(parents=True)
    (machine.folder / "a").symlink_to(machine.settings)

    with pytest.raises(UserError, match="is not a regular file; move it away"):
        machine.install()
    assert SETTINGS == machine.settings.read_text()


def test_settings_that_cannot_be_edited(machine: Machine) -> None:
    """The message names the file, the line, the column and the fix; nothing is made."""
    machine.write(machine.settings, '{\n  "a": 1,,\n}')

    with pytest.raises(UserError) as refused:
        machine.install()
    problem = f"{machine.settings}: line 2, column 10: expected a key or }}"
    assert f"{problem}\ncorrect it there and try again; nothing was changed" == str(refused.value)
    assert [".claude"] == machine.folders()
