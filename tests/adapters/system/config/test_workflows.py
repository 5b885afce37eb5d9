"""Workflow files are found in their folders; a project's apply once trusted; nothing in one breaks a turn."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

import pytest

from upbeat.adapters.system.config.trust import trust
from upbeat.adapters.system.config.workflows import (
    PROJECT_FILE,
    LocalWorkflows,
    load_workflows,
    project_workflow_file,
)
from upbeat.adapters.system.environment import Environment
from upbeat.core.workflow.registry_file import LoadedRegistry

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"


@pytest.fixture
def built_in(root: Path, home: Environment) -> LoadedRegistry:
    return load_workflows(str(root), home)


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_no_files(built_in: LoadedRegistry) -> None:
    """Without any file the built-in workflows are in force, and nothing is wrong."""
    assert (18, (), ()) == (len(built_in.registry.workflows), built_in.problems, built_in.untrusted_files)


def test_the_users_and_the_projects(root: Path, home: Environment) -> None:
    """The user's file counts at once, the project's once it is trusted, and then over the user's."""
    user = put(
        home.config_home, "upbeat/workflows.toml", "[stages.TEST]\nmax_attempts = 5\n[stages.QA]\nmax_attempts = 6\n"
    )
    path = put(root, PROJECT_FILE, '[stages.TEST]\nmax_attempts = 7\n[workflows.mine]\nstages = ["DEV"]\n')
    before = load_workflows(str(root), home)
    trust(path, path.read_bytes(), home)
    after = load_workflows(str(root), home)

    assert ((PROJECT_FILE,), (), 5, False) == (
        before.untrusted_files,
        before.problems,
        before.registry.stages["TEST"].max_attempts,
        "mine" in before.registry.workflows,
    )
    assert ((), (), 7, 6, f"{PROJECT_FILE}:3") == (
        after.untrusted_files,
        after.problems,
        after.registry.stages["TEST"].max_attempts,
        after.registry.stages["QA"].max_attempts,
        after.registry.workflows["mine"].origin,
    )

    put(root, PROJECT_FILE, "[stages.TEST]\nmax_attempts = 8\n")
    user.unlink()
    changed = load_workflows(str(root), home)

    assert ((PROJECT_FILE,), 3) == (changed.untrusted_files, changed.registry.stages["TEST"].max_attempts)


def test_a_wrong_users_file_changes_nothing(root: Path, home: Environment, built_in: LoadedRegistry) -> None:
    """All problems of the user's file are reported with its full path, and the built-in workflows stay."""
    path = put(
        home.config_home, "upbeat/workflows.toml", '[workflows.x]\nstages = ["DVE"]\n[stages.QA]\nmax_attempts = 99\n'
    )

    assert LoadedRegistry(
        built_in.registry,
        (
            f"{path}:4: stages.QA.max_attempts takes a whole number from 1 to 10; found 99",
            f"{path}:2: workflows.x.stages names no stage: 'DVE'; did you mean 'DEV'?",
        ),
    ) == load_workflows(str(root), home)


@pytest.mark.parametrize("whose", ["user", "project"])
def test_files_that_cannot_be_read(root: Path, home: Environment, built_in: LoadedRegistry, whose: str) -> None:
    """A file that cannot be parsed is one problem, the user's and the project's alike, and never an exception."""
    folder, name = (root, PROJECT_FILE) if whose == "project" else (home.config_home, "upbeat/workflows.toml")
    path = put(folder, name, b"workflows = ")
    loaded = load_workflows(str(root), home)

    assert (built_in.registry, 1) == (loaded.registry, len(loaded.problems))
    assert loaded.problems[0].startswith(f"{PROJECT_FILE if whose == 'project' else path}: not valid TOML: ")


def test_messages_are_clean(root: Path, home: Environment) -> None:
    """What a file holds cannot reach a log as a secret, nor a terminal as control sequences."""
    path = put(home.config_home, "upbeat/workflows.toml", f'"\\u001b[31m" = 1\n[stages.QA]\nagent = "{KEY}"\n')

    assert (
        f"{path}: unknown key '\\x1b[31m'",
        f"{path}:3: stages.QA.agent names no agent: '<redacted:aws-access-key>'",
    ) == load_workflows(str(root), home).problems


def test_links_out_of_the_project_are_not_its_workflows(
    root: Path, home: Environment, built_in: LoadedRegistry
) -> None:
    """A project cannot make another file its workflows, nor be waited for at a pipe."""
    outside = put(root.parent, "outside.toml", '[workflows.mine]\nstages = ["DEV"]\n')
    (root / ".upbeat").mkdir()
    (root / PROJECT_FILE).symlink_to(outside)

    assert (None, built_in) == (project_workflow_file(str(root)), load_workflows(str(root), home))

    (root / PROJECT_FILE).unlink()
    os.mkfifo(root / PROJECT_FILE)

    assert (None, built_in) == (project_workflow_file(str(root)), load_workflows(str(root), home))


def test_files_that_change_are_loaded_again(root: Path, home: Environment) -> None:
    """The same registry comes back until a file, or the trust in one, changes."""
    files = LocalWorkflows(home)
    first = files.load(str(root))
    again = files.load(str(root))
    user = put(home.config_home, "upbeat/workflows.toml", "[stages.QA]\nmax_attempts = 6\n")
    changed = files.load(str(root))
    project = put(root, PROJECT_FILE, "[stages.QA]\nmax_attempts = 77\n[stages.DEV]\n")
    untrusted = files.load(str(root))
    trust(project, project.read_bytes(), home)
    wrong = files.load(str(root))
    user.unlink()

    assert first[0] is again[0]
    assert [3, 6, 6, 6, 3] == [
        registry.stages["QA"].max_attempts for registry, _ in (first, changed, untrusted, wrong, files.load(str(root)))
    ]
    assert (f"{PROJECT_FILE}:2: stages.QA.max_attempts takes a whole number from 1 to 10; found 77",) == wrong[1]


@pytest.mark.bench
def test_loading_is_fast(root: Path, home: Environment) -> None:
    """Every hook loads the workflows: it takes a few milliseconds."""
    load_workflows(str(root), home)
    times = []
    for _ in range(9):
        start = perf_counter()
        load_workflows(str(root), home)
        times.append(perf_counter() - start)

    assert min(times) < 0.010
