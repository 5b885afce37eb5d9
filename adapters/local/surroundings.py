"""Finds the repository and the settings that a turn happens in.

The order: a flag or request, then ``CI_AUTO_TOOLS_REPO_ROOT``, then a ``repo_root`` of the settings, then the git
top level, then the working directory. No process is started and nothing is written: plan mode runs this too.
"""

from __future__ import annotations

import os
from pathlib import Path

from ...core.contract.codes import LimitCode
from ...core.contract.event import ClientName, Source
from ...core.contract.report import Limit, RootSource
from ...core.errors import RequestError
from ...core.ports import Repository, Situation
from .environment import Environment
from .first_commit import first_commit
from .git_root import find_root
from .settings import load_settings


def working_directory() -> str:
    """Where this process is.

    Raises:
        RequestError: the folder was removed.
    """
    try:
        return os.getcwd()
    except OSError as error:
        raise RequestError(f"the working directory is gone ({error.strerror}); change to one that is there") from error


def root_of(repo: str | None, environment: Environment) -> str:
    """The repository that a command means, as records name it. Raises RequestError."""
    source = Source(ClientName.CLI, working_directory())
    return LocalSurroundings(environment).locate(source, repo, plan=False).repository.root


class LocalSurroundings:
    """Implements ``core.ports.Surroundings`` on this machine's files."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def locate(self, source: Source, repo_root: str | None, *, plan: bool) -> Situation:
        given = _usable(repo_root or self._environment.settings.get("CI_AUTO_TOOLS_REPO_ROOT", ""))
        start = os.path.realpath(os.path.join(_usable(source.cwd), given))
        top = find_root(start)
        base = start if given or not top.worktree else top.worktree
        resolved = load_settings(base, self._environment)
        inner, limits = "", list(resolved.limits)
        if not given and resolved.settings.repo_root:
            inner = _usable(resolved.settings.repo_root)
        root = os.path.realpath(os.path.join(base, os.path.expanduser(inner)))
        if _stays_inside(inner) and not Path(root).is_relative_to(base):  # by a link, which nobody has asked for
            limits.append(Limit.of(LimitCode.PATH_OUTSIDE, _printable(inner)))
            root, inner = base, ""
        kind: RootSource = "config" if given or inner else "git" if top.worktree else "no-git-root"
        problem = _printable(_problem(root, bare=top.is_bare))
        is_plan = plan or resolved.settings.mode == "plan"
        shown = _printable((given or inner or ".") if is_plan else root)
        identity = (first_commit(root) if is_plan and not problem else None) or shown
        repository = Repository(root, shown, kind, identity, problem)
        if not top.worktree and not problem:
            limits.append(Limit.of(LimitCode.NO_GIT_ROOT))
        return Situation(repository, resolved.settings, tuple(limits), resolved.problems)


def _usable(path: str) -> str:
    """``path`` as the system takes it; what it cannot take is replaced, so that nothing is found there."""
    path = path.replace("\0", "\ufffd")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-8", "replace").decode()
    return path


def _printable(path: str) -> str:
    """``path`` for people and for JSON: a byte that is no text shows as U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _stays_inside(path: str) -> bool:
    """Whether ``path`` names a folder of the project, as every relative one without ``..`` does."""
    return not path.startswith(("/", "~")) and ".." not in path.split("/")


def _problem(root: str, *, bare: bool) -> str:
    """Why nothing can be read at ``root``; empty when something can."""
    if not os.path.isdir(root):
        return f"{root} is not a folder; set CI_AUTO_TOOLS_REPO_ROOT or pass --repo"
    if bare:
        return f"{root} is a bare repository without a working tree; pass --repo with a checkout of it"
    if not os.access(root, os.R_OK | os.X_OK):
        return f"{root} is not readable; check its permissions"
    return ""
