"""Resolve the repository and the settings of a turn.

The order: a flag or request, then ``CI_AUTO_TOOLS_REPO_ROOT``, then a ``repo_root`` of the settings, then the git
top level, then the working directory. No process is started and nothing is written: plan mode runs this too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from upbeat.adapters.system.config.settings import load_settings, settings_paths
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.bounded_read import file_stamp, stable_stamps
from upbeat.adapters.system.git.first_commit import first_commit
from upbeat.adapters.system.git.root import RootInfo, find_root
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.engine.ports import RepoContext, Repository
from upbeat.core.errors import RequestError
from upbeat.core.settings import limit_of

if TYPE_CHECKING:
    from upbeat.core.contract.report import RootSource

MAX_CACHED_CONTEXTS = 100
_READABLE = os.R_OK | os.X_OK


def working_directory() -> str:
    """Return the working directory.

    Raises:
        RequestError: The folder was removed.
    """
    try:
        return os.getcwd()
    except OSError as error:
        raise RequestError(
            f"the working directory does not exist ({error.strerror}); change to an existing one"
        ) from error


def resolve_root(repo: str | None, environment: Environment) -> str:
    """Return the root of the repository for a command, as records name it. Raises RequestError."""
    source = EventSource(ClientName.CLI, working_directory())
    return LocalContextResolver(environment).resolve(source, repo, is_plan=False).repository.root


class LocalContextResolver:
    """Implements ``core.engine.ports.ContextResolver`` on this machine's files."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._cache: dict[tuple[str, str | None], tuple[tuple[str, ...], tuple[object, ...], RepoContext]] = {}
        """(working directory, requested root) -> the paths read, their stamps, and the result."""

    def resolve(self, source: EventSource, repo_root: str | None, *, is_plan: bool) -> RepoContext:
        key = (source.cwd, repo_root)
        known = None if is_plan else self._cache.get(key)
        if known and known[1] == tuple(map(file_stamp, known[0])) and os.access(known[2].repository.root, _READABLE):
            return known[2]
        given = _to_encodable(repo_root or self._environment.settings.get("CI_AUTO_TOOLS_REPO_ROOT", ""))
        start = os.path.realpath(os.path.join(_to_encodable(source.cwd), given))
        top = find_root(start)
        watched = self._watched_paths(source.cwd, start, top)
        stamps = stable_stamps(watched)
        context = self._resolve(given, start, top, is_plan=is_plan)
        if stamps and not is_plan and context.repository.root == top.worktree and not context.repository.problem:
            if len(self._cache) >= MAX_CACHED_CONTEXTS:
                self._cache.clear()
            self._cache[key] = (watched, stamps, context)
        return context

    def _watched_paths(self, cwd: str, start: str, top: RootInfo) -> tuple[str, ...]:
        """Return every path that the result depends on; none for a linked worktree, submodule or no repository."""
        git_dir = os.path.join(top.worktree, ".git")
        if not top.worktree or top.git_dir != git_dir or top.common_dir != git_dir:
            return ()
        folders = [start]
        while folders[-1] != top.worktree:
            folders.append(os.path.dirname(folders[-1]))
        above = [os.path.join(folder, name) for folder in folders for name in (".git", "HEAD")]
        return (
            *(cwd, start, *above, os.path.join(git_dir, "HEAD"), os.path.join(git_dir, "config")),
            *settings_paths(top.worktree, self._environment),
        )

    def _resolve(self, given: str, start: str, top: RootInfo, *, is_plan: bool) -> RepoContext:
        base = start if given or not top.worktree else top.worktree
        resolved = load_settings(base, self._environment)
        inner, limits = "", list(resolved.limits)
        if not given and resolved.settings.repo_root:
            inner = _to_encodable(resolved.settings.repo_root)
        root = os.path.realpath(os.path.join(base, os.path.expanduser(inner)))
        is_relative = not inner.startswith(("/", "~")) and ".." not in inner.split("/")
        if is_relative and not Path(root).is_relative_to(base):  # by a link, which nobody has asked for
            limits.append(limit_of(LimitCode.PATH_OUTSIDE, _printable(inner)))
            root, inner = base, ""
        kind: RootSource = "config" if given or inner else "git" if top.worktree else "no-git-root"
        problem = _printable(_root_problem(root, is_bare=top.is_bare))
        is_plan = is_plan or resolved.settings.mode == "plan"
        shown = _printable((given or inner or ".") if is_plan else root)
        identity = (first_commit(root) if is_plan and not problem else None) or shown
        repository = Repository(root, shown, kind, identity, problem)
        if not top.worktree and not problem:
            limits.append(limit_of(LimitCode.NO_GIT_ROOT))
        return RepoContext(repository, resolved.settings, tuple(limits), resolved.problems)


def _to_encodable(path: str) -> str:
    """Return ``path`` with characters replaced that the system does not accept, so that nothing is found there."""
    path = path.replace("\0", "\ufffd")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-8", "replace").decode()
    return path


def _printable(path: str) -> str:
    """Return ``path`` for display and JSON; undecodable bytes become U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _root_problem(root: str, *, is_bare: bool) -> str:
    """Return why ``root`` cannot be read; empty if it can."""
    if not os.path.isdir(root):
        return f"{root} is not a folder; set CI_AUTO_TOOLS_REPO_ROOT or pass --repo"
    if is_bare:
        return f"{root} is a bare repository without a working tree; pass --repo with a checkout of it"
    if not os.access(root, os.R_OK | os.X_OK):
        return f"{root} is not readable; check its permissions"
    return ""
