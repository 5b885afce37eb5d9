"""The repository is resolved from the turn's directory; no setting of a user or a project makes that fail."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from repositories import git, make_repository, write

from upbeat.adapters.system.config.resolver import LocalContextResolver
from upbeat.adapters.system.environment import read_environment
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.engine.ports import RepoContext, Repository
from upbeat.core.settings import ExecutionMode

ROOT_LIMIT = ["no-git-root"]
UNTRUSTED = "project configuration may only tighten until you trust it (upbeat trust)"


def locate(cwd: Path | str, repo_root: str | None = None, plan: bool = False, **variables: str) -> RepoContext:
    environment = read_environment({"HOME": str(cwd), **variables})
    return LocalContextResolver(environment).resolve(EventSource(ClientName.CLI, str(cwd)), repo_root, is_plan=plan)


def limits(context: RepoContext) -> list[str]:
    return [limit.text for limit in context.limits]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(Path(os.path.realpath(tmp_path)) / "a repo 仓库")


def found(root: Path | str, source: str, **more: Any) -> Repository:
    return Repository(
        **({"root": str(root), "display_path": str(root), "root_source": source, "identity": str(root)} | more)
    )


def test_the_top_of_the_working_tree(repo: Path) -> None:
    """From anywhere inside, the repository is the git top level."""
    assert found(repo, "git") == locate(repo).repository == locate(repo / "shop").repository
    assert [] == limits(locate(repo / "shop"))


def test_a_request_outweighs_all(repo: Path) -> None:
    """A repository that is asked for is taken as it is, a folder inside of one, too."""
    assert found(repo / "shop", "config") == locate("/", str(repo / "shop"), CI_AUTO_TOOLS_REPO_ROOT="/x").repository
    assert found(repo / "shop", "config") == locate(repo, "shop").repository


def test_the_environment_names_a_repository(repo: Path) -> None:
    """CI_AUTO_TOOLS_REPO_ROOT counts where nothing is asked for."""
    assert found(repo, "config") == locate("/", CI_AUTO_TOOLS_REPO_ROOT=str(repo)).repository


def test_the_settings_name_a_folder(repo: Path) -> None:
    """A project may turn attention to a folder of its own."""
    write(repo, {"config/auto-tools.toml": 'repo_root = "shop"'})

    assert found(repo / "shop", "config") == locate(repo / "shop").repository


def test_the_user_names_a_folder(repo: Path, tmp_path: Path) -> None:
    """A user may name any folder, also one outside."""
    other = write(tmp_path / "other", {"a": ""})
    write(repo, {".config/upbeat/auto-tools.toml": f'repo_root = "{other}"'})

    assert found(os.path.realpath(other), "config") == locate(repo).repository


@pytest.mark.parametrize("inner", ["link", "link/deeper", "shop/../link"])
def test_a_project_cannot_lead_out_by_a_link(repo: Path, tmp_path: Path, inner: str) -> None:
    """A folder of the project that is a link to elsewhere is not gone to."""
    (tmp_path / "secret/deeper").mkdir(parents=True)
    (repo / "link").symlink_to(tmp_path / "secret")
    write(repo, {"config/auto-tools.toml": f'repo_root = "{inner}"'})
    there = locate(repo)

    assert found(repo, "git") == there.repository
    assert 1 == len(limits(there))


def test_a_monorepo_names_its_package(repo: Path) -> None:
    """A package of a monorepo is asked for by its folder; git still counts as git."""
    assert [] == limits(locate(repo, "shop"))


@pytest.mark.parametrize(
    "as_asked",
    ["", "/nowhere/at/all", "nowhere", "\0", "a\0b", "x" * 5000, "a\ud800", "b\udcff", "README.md", "/dev/null"],
)
@pytest.mark.parametrize("plan", [False, True])
def test_what_is_not_there_is_a_problem(repo: Path, as_asked: str, plan: bool) -> None:
    """A path that is not a folder gives a repository with a problem that says what to set, never an exception."""
    there = locate(repo, as_asked or None, plan).repository

    assert bool(as_asked) == bool(there.problem)
    assert not as_asked or there.problem.endswith("is not a folder; set CI_AUTO_TOOLS_REPO_ROOT or pass --repo")
    (there.problem + there.display_path + there.identity).encode()


@pytest.mark.parametrize("cwd", ["/nowhere", "/a\0b", "/\ud800"])
def test_a_working_directory_that_is_gone(cwd: str) -> None:
    """The same holds for the working directory."""
    assert "is not a folder" in locate(cwd).repository.problem


def test_a_bare_repository(tmp_path: Path) -> None:
    """A bare repository is a problem with advice, because it has no files to read."""
    git(tmp_path, "init", "-q", "--bare", "x.git")
    root = os.path.realpath(tmp_path / "x.git")

    assert (
        found(
            root,
            "no-git-root",
            problem=f"{root} is a bare repository without a working tree; pass --repo with a checkout of it",
        )
        == locate(root).repository
    )


def test_a_linked_worktree(repo: Path) -> None:
    """A worktree is a repository of its own, with the identity of its history."""
    git(repo, "worktree", "add", "-q", "../tree")

    assert found(repo.parent / "tree", "git") == locate(repo.parent / "tree" / "shop").repository
    assert locate(repo, plan=True).repository.identity == locate(repo.parent / "tree", plan=True).repository.identity


def test_a_plan_shows_no_path_of_this_machine(repo: Path) -> None:
    """In plan mode the repository is shown as it was given, and known by its first commit."""
    first = git(repo, "rev-list", "--max-parents=0", "HEAD")

    assert found(repo, "git", display_path=".", identity=first) == locate(repo / "shop", plan=True).repository
    assert found(repo, "config", display_path="..", identity=first) == locate(repo / "shop", "..", plan=True).repository


def test_a_plan_without_commits(tmp_path: Path) -> None:
    """Where there is no first commit, the repository is known by how it is shown."""
    real = os.path.realpath(tmp_path)

    assert found(real, "no-git-root", display_path=".", identity=".") == locate(tmp_path, plan=True).repository


def test_plan_mode_by_settings(repo: Path) -> None:
    """The settings' plan mode shows the repository as a plan does."""
    there = locate(repo, CI_AUTO_TOOLS_MODE="plan")

    assert (ExecutionMode.PLAN, ".") == (there.settings.mode, there.repository.display_path)


def test_problems_and_limits_come_along(repo: Path) -> None:
    """The context has the limits of the settings."""
    write(repo, {"config/auto-tools.toml": "a = 1\n[budget]\nwall_ms = 9000\n"})
    there = locate(repo)

    assert () == there.problems
    assert [
        "configuration invalid and not trusted, so it is ignored: config/auto-tools.toml:1: unknown key 'a'",
        f"{UNTRUSTED}: config/auto-tools.toml:3: budget.wall_ms",
    ] == limits(there)


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    """A folder whose name is not UTF-8 is looked at, and shown with a replacement."""
    folder = os.path.join(os.fsencode(os.path.realpath(tmp_path)), b"caf\xe9")
    os.mkdir(folder)
    there = locate(os.fsdecode(folder)).repository

    assert (os.fsdecode(folder), "", True) == (there.root, there.problem, there.display_path.endswith("/caf\ufffd"))
