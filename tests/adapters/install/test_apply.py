"""A plan is carried out on the disk that it was made for, by one process at a time, or not at all."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from upbeat.adapters.install.apply import apply_plan, remove_leftovers
from upbeat.adapters.install.plan import InstallationPlan, plan_install
from upbeat.adapters.install.plugin import DesiredInstallation, SettingsEdit
from upbeat.adapters.install.receipt import receipt_path
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.files.lock import try_lock
from upbeat.adapters.system.files.settings_edit import SettingsEntry
from upbeat.core.errors import UserError


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return read_environment({"HOME": str(tmp_path)})


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    (tmp_path / "s").write_text("{}")
    return tmp_path / "s"


def planned(environment: Environment, settings: Path) -> InstallationPlan:
    edit = SettingsEdit(settings, "json", (SettingsEntry(("ours",), True),))
    wanted = DesiredInstallation({environment.data_home / "upbeat/claude": {"a": b"a"}}, {}, (edit,))
    return plan_install("claude", wanted, environment, "mcp")


def test_a_file_that_changed_since_the_plan_stops_it(environment: Environment, settings: Path) -> None:
    """If a file changes after the plan was shown, nothing is written."""
    plan = planned(environment, settings)
    settings.write_text('{"new": 1}')

    with pytest.raises(UserError, match="was changed by another program just now; try again\nnothing was changed"):
        apply_plan(plan, environment)
    assert ('{"new": 1}', False) == (settings.read_text(), environment.data_home.exists())


def test_of_two_installs_at_once_the_second_does_nothing(environment: Environment, settings: Path) -> None:
    """The receipt is no longer the one that its plan was made from."""
    plan = planned(environment, settings)
    apply_plan(plan, environment)
    settings.write_text("{}")
    shutil.rmtree(environment.data_home / "upbeat/claude")

    with pytest.raises(UserError, match=r"another upbeat process has just changed .*; run it again"):
        apply_plan(plan, environment)
    assert "{}" == settings.read_text()


def test_plans_are_applied_one_at_a_time(environment: Environment, settings: Path) -> None:
    """While another process applies one, nothing is done."""
    plan = planned(environment, settings)
    folder = receipt_path(environment, "claude").parent
    folder.mkdir(parents=True)
    other = os.open(folder, os.O_RDONLY)
    assert try_lock(other)

    with pytest.raises(UserError, match="another upbeat process is using"):
        apply_plan(plan, environment)
    os.close(other)
    assert "{}" == settings.read_text()
    apply_plan(plan, environment)
    assert "{}" != settings.read_text()


def test_drafts_of_killed_runs_are_removed(environment: Environment, settings: Path) -> None:
    """What a killed run left next to a file is removed by the next one; a user's file with a similar name is not."""
    (settings.with_name(".s.upbeat-1-0123abcd")).write_text("half")
    (settings.with_name(".s.upbeat")).write_text("of the user")
    apply_plan(planned(environment, settings), environment)

    assert [".local", ".s.upbeat", "s"] == sorted(path.name for path in settings.parent.iterdir())


def test_what_an_install_left_before_its_receipt_is_removed(environment: Environment, settings: Path) -> None:
    """An uninstall removes the draft and the empty folders."""
    place = receipt_path(environment, "claude")
    place.parent.mkdir(parents=True)
    (place.parent / ".claude.json.upbeat-1-0123abcd").write_text("half")
    remove_leftovers(environment, "claude")

    assert [] == list(environment.data_home.iterdir())


def test_a_new_settings_file_is_private(environment: Environment, settings: Path) -> None:
    """A settings file that did not exist is readable by its owner only; one that did keeps its mode."""
    settings.chmod(0o640)
    apply_plan(planned(environment, settings), environment)
    new = settings.with_name("new")
    plan = planned(environment, new)
    apply_plan(replace(plan, stored_receipt=plan.stored_receipt), environment)

    assert [0o640, 0o600] == [path.stat().st_mode & 0o777 for path in (settings, new)]
