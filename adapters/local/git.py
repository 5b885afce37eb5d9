"""Git as a source of facts: read only, never trusted, never waited for.

Law: a repository is somebody else's. Its configuration starts no program here (no hooks, monitors, filters
or transports), no command outlives its deadline, and whatever git does not answer is found without git.
``find_root`` and ``first_commit`` start no process at all, so plan mode may use them.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import stat
import struct
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from time import monotonic, sleep

from ...core.ports import Cancellation
from .family import MARK, Family, new_mark

LIST_SECONDS = 5.0
"""The longest that listing one repository may take."""

MAX_FILES = 200_000
"""File names kept of one tree."""

MAX_OUTPUT = 64_000_000
"""Bytes read from one git command."""

MAX_SUBMODULES = 50
MAX_DEPTH = 30
MAX_PACKED = 16_000_000
"""Bytes of packed references that are read."""

MAX_REFERENCES = 5
"""Symbolic references that are followed, one to the next."""

POLL_MS = 10
MOST_SWEEPS = 10
"""How often what is left of a command is looked for, once it has to end."""

SKIPPED_FOLDERS = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", "CVS"),
        *("node_modules", "bower_components", "jspm_packages", ".yarn", ".pnpm-store"),
        *(".venv", "venv", ".env", "site-packages", "__pycache__", ".tox", ".nox", ".eggs"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "htmlcov"),
        *("dist", "build", "target", "out", "vendor", "Pods", ".gradle", ".terraform", ".next", ".nuxt"),
        *(".cache", ".idea", ".vs", "DerivedData", "coverage"),
    }
)
"""Folders that a walk without git leaves out: caches, builds and other people's code."""

_SAFE = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "protocol.allow=never"),
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
    "--no-pager",
)
_LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")


class Kind(StrEnum):
    """What ``.git`` turned out to be, from a working directory upwards."""

    GIT = "git"
    BARE = "bare"
    BROKEN = "broken"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class RootInfo:
    """The repository around a directory.

    ``worktree`` is the real, absolute top of the working tree, or empty: without git, in a bare repository
    and below a broken ``.git``, which hides the repositories above it as it does for git. ``git_dir`` holds
    HEAD, ``common_dir`` the objects (they differ in a linked worktree). ``problem`` says what is bare or broken.
    """

    kind: Kind
    worktree: str = ""
    git_dir: str = ""
    common_dir: str = ""
    problem: str = ""

    @property
    def is_bare(self) -> bool:
        return self.kind is Kind.BARE


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a tree, relative, sorted, with ``/``. ``by_git`` is False when the tree was walked.

    Names are decoded with ``surrogateescape``. ``truncated`` is True when there are more.
    """

    files: tuple[str, ...]
    by_git: bool
    truncated: bool = False


class _Never:
    def is_set(self) -> bool:
        return False


NEVER: Cancellation = _Never()


# --- where the repository is ---------------------------------------------------------------------------


def find_root(cwd: str) -> RootInfo:
    """The repository around ``cwd``, found by looking at names and small files only."""
    folder = os.path.realpath(cwd)
    while True:
        found = _at_dot_git(folder) or _at_bare(folder)
        if found:
            return found
        parent = os.path.dirname(folder)
        if parent == folder:
            return RootInfo(Kind.NONE)
        folder = parent


def _at_dot_git(folder: str) -> RootInfo | None:
    """What ``folder/.git`` says; None when there is none, or an empty folder that git passes over too."""
    dot_git = os.path.join(folder, ".git")
    if os.path.isdir(dot_git):
        if not _is_git_dir(dot_git):
            return None if _is_empty(dot_git) else _broken(dot_git, "has no readable HEAD, objects and refs")
        return _with_work_tree(folder, dot_git)
    if not os.path.isfile(dot_git):
        return None
    text = _read_small(dot_git)
    if not text.startswith("gitdir:"):
        return _broken(dot_git, "is a file that does not start with 'gitdir:'")
    git_dir = os.path.realpath(os.path.join(folder, text[len("gitdir:") :].strip()))
    if not _is_git_dir(git_dir):
        return _broken(dot_git, f"points to {git_dir}, where there is no repository")
    return _with_work_tree(folder, git_dir)


def _with_work_tree(folder: str, git_dir: str) -> RootInfo:
    common = _common_dir(git_dir)
    if common == git_dir and _is_bare_by_config(git_dir):
        return _bare(git_dir)
    return RootInfo(Kind.GIT, folder, git_dir, common)


def _at_bare(folder: str) -> RootInfo | None:
    """``folder`` as a bare repository. A ``.git`` folder is none: its parent has the working tree."""
    if os.path.basename(folder) == ".git" or not _is_git_dir(folder):
        return None
    return _bare(folder)


def _bare(git_dir: str) -> RootInfo:
    problem = f"{git_dir} is bare: there is no working tree"
    return RootInfo(Kind.BARE, git_dir=git_dir, common_dir=git_dir, problem=problem)


def _broken(dot_git: str, what: str) -> RootInfo:
    return RootInfo(Kind.BROKEN, problem=f"{dot_git} {what}")


def _is_empty(folder: str) -> bool:
    try:
        return not os.listdir(folder)
    except OSError:
        return False


def _is_git_dir(folder: str) -> bool:
    if not os.path.isfile(os.path.join(folder, "HEAD")) and not os.path.islink(os.path.join(folder, "HEAD")):
        return False
    common = _common_dir(folder)
    return all(os.path.isdir(os.path.join(common, name)) for name in ("objects", "refs"))


def _common_dir(git_dir: str) -> str:
    """Where a linked worktree keeps what it shares; ``git_dir`` itself otherwise."""
    shared = _read_small(os.path.join(git_dir, "commondir")).strip()
    return os.path.realpath(os.path.join(git_dir, shared)) if shared else git_dir


def _is_bare_by_config(git_dir: str) -> bool:
    text = _read_small(os.path.join(git_dir, "config"))
    core = re.search(r"^[ \t]*\[core\][^\[]*", text, re.M | re.I)
    return bool(core and re.search(r"^[ \t]*bare[ \t]*=[ \t]*true[ \t]*$", core.group(), re.M | re.I))


def _read_small(path: str, most: int = 65536) -> str:
    """The first ``most`` bytes of a regular file, or nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.fsdecode(os.read(fd, most)) if stat.S_ISREG(os.fstat(fd).st_mode) else ""
    except OSError:
        return ""
    finally:
        os.close(fd)


# --- who it is ------------------------------------------------------------------------------------------


def first_commit(root: str) -> str | None:
    """The id of the oldest commit that first parents reach from HEAD; None without one. Starts no process.

    In a shallow clone that is the oldest commit at hand.
    """
    info = find_root(root)
    if info.kind not in (Kind.GIT, Kind.BARE):
        return None
    from dulwich import errors  # half of start-up time for callers that never ask

    foreign = (
        errors.ApplyDeltaError,
        errors.ChecksumMismatch,
        errors.FileFormatException,
        errors.NotGitRepository,
    )
    try:
        return _oldest(info)
    except (*foreign, OSError, LookupError, ValueError, TypeError, AssertionError, zlib.error, struct.error):
        return None


def _oldest(info: RootInfo) -> str | None:
    from dulwich.objects import ObjectID
    from dulwich.repo import Repo

    with Repo(info.worktree or info.git_dir, bare=info.is_bare) as repo:
        try:
            commit = repo.head()
        except KeyError:
            return None
        shallow = repo.get_shallow()
        graph = repo.object_store.get_commit_graph()
        while commit not in shallow:
            known = graph.get_parents(commit) if graph else None
            parents = _parents(repo.object_store.get_raw(commit)[1]) if known is None else list(known)
            if not parents:
                break
            commit = ObjectID(parents[0])
        return commit.decode("ascii")


def _parents(raw: bytes) -> list[bytes]:
    """The parents named in the head of a raw commit."""
    head, _, _ = raw.partition(b"\n\n")
    return [line[len(b"parent ") :] for line in head.split(b"\n") if line.startswith(b"parent ")]


# --- what is in it --------------------------------------------------------------------------------------


def list_files(root: str, cancelled: Cancellation = NEVER, seconds: float = LIST_SECONDS) -> Listing:
    """The files of ``root`` that a person would call theirs: tracked, or untracked and not ignored.

    Submodules and repositories inside are listed as part of the tree. Without git, or when git does not
    answer in ``seconds``, the tree is walked without the usual folders of builds and dependencies.
    """
    deadline = monotonic() + seconds
    names = _list_by_git(root, "", cancelled, deadline, [MAX_SUBMODULES])
    if names:
        files = sorted(dict.fromkeys(names))
        return Listing(tuple(files[:MAX_FILES]), by_git=True, truncated=len(files) > MAX_FILES)
    walked: list[str] = []
    for name in _walk(root, "", 0):
        if len(walked) >= MAX_FILES or (len(walked) % 256 == 0 and (cancelled.is_set() or monotonic() > deadline)):
            return Listing(tuple(sorted(walked)), by_git=False, truncated=True)
        walked.append(name)
    return Listing(tuple(sorted(walked)), by_git=False)


def head(root: str) -> str:
    """The branch that HEAD names, or the commit; empty without git. Starts no process."""
    info = find_root(root)
    text = _read_small(os.path.join(info.git_dir, "HEAD")).strip() if info.git_dir else ""
    return text.removeprefix("ref:").strip().removeprefix("refs/heads/")


def read_head(info: RootInfo) -> str:
    """The commit id that HEAD leads to; empty when there is none, or only git can tell. Starts no process."""
    name = "HEAD"
    for _ in range(MAX_REFERENCES):
        folder = info.git_dir if name == "HEAD" else info.common_dir
        text = _read_small(os.path.join(folder, name)).strip()
        if not text.startswith("ref:"):
            return text or _packed(info.common_dir, name)
        name = text.removeprefix("ref:").strip()
        if not name.startswith("refs/") or ".." in name:
            return ""
    return ""


def _packed(common_dir: str, name: str) -> str:
    """The id of the reference ``name`` in the packed ones."""
    text = _read_small(os.path.join(common_dir, "packed-refs"), MAX_PACKED)
    found = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$", text, re.M)
    return found.group(1) if found else ""


def run(
    root: str, arguments: tuple[str, ...], cancelled: Cancellation = NEVER, seconds: float = LIST_SECONDS
) -> bytes | None:
    """What ``git ARGUMENTS`` prints in ``root``; None when it fails, is stopped, or says too much."""
    program = _program()
    if not program:
        return None
    deadline, mark = monotonic() + seconds, new_mark()
    try:
        process = subprocess.Popen(
            [program, *_SAFE, *arguments],
            cwd=root,
            env=_environment() | {MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    family = Family(process.pid, mark)
    with process:
        output = _drain(process, cancelled, deadline)
        if output is None or not _has_ended(process, cancelled, deadline):
            _kill(process, family)
    return output if process.returncode == 0 else None


def _list_by_git(root: str, prefix: str, cancelled: Cancellation, deadline: float, left: list[int]) -> list[str] | None:
    """Names under ``root`` with ``prefix``; None when git gives none. ``left`` counts repositories to go."""
    seconds = deadline - monotonic()
    if seconds <= 0 or (output := run(root, _LIST, cancelled, seconds)) is None:
        return None
    names = [os.fsdecode(name) for name in output.split(b"\0") if name]
    inner = _inner_repositories(root, names)
    found = [prefix + name for name in names if name.rstrip("/") not in inner]
    for name in sorted(inner):
        if left[0] <= 0:
            break
        left[0] -= 1
        found += _list_by_git(os.path.join(root, name), f"{prefix}{name}/", cancelled, deadline, left) or ()
    return found


def _inner_repositories(root: str, names: list[str]) -> set[str]:
    """The listed names that are repositories: submodules, and untracked ones (git ends those with ``/``)."""
    declared = set(re.findall(r"^\s*path\s*=\s*(.+?)\s*$", _read_small(os.path.join(root, ".gitmodules")), re.M))
    suspects = {
        name.rstrip("/")
        for name in names
        if name.endswith("/") or name in declared or "." not in name.rpartition("/")[2]
    }
    return {name for name in suspects if _is_own_repository(os.path.join(root, name))}


def _is_own_repository(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and os.path.lexists(os.path.join(path, ".git"))


def _walk(root: str, prefix: str, depth: int) -> Iterator[str]:
    """Relative names of the files under ``root/prefix``, in order; links are named and not followed."""
    try:
        with os.scandir(os.path.join(root, prefix)) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = prefix + entry.name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:
            continue
        if not is_folder:
            yield name
        elif depth < MAX_DEPTH and entry.name not in SKIPPED_FOLDERS:
            yield from _walk(root, name + "/", depth + 1)


@lru_cache(maxsize=1)
def _program() -> str | None:
    """The git of the search path, never one of the working directory."""
    for folder in os.get_exec_path():
        path = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _environment() -> dict[str, str]:
    """A new environment: what a client or a hook set (GIT_DIR and its kin) does not reach git.

    The home directory stays, because ``safe.directory`` and the person's own ignore file are read from it.
    """
    path = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]
    return {
        "PATH": os.pathsep.join(path),
        "HOME": os.path.expanduser("~"),
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ATTR_NOSYSTEM": "1",
    }


def _drain(process: subprocess.Popen[bytes], cancelled: Cancellation, deadline: float) -> bytes | None:
    """All of the output, or None when it has to be cut short."""
    assert process.stdout
    fd = process.stdout.fileno()
    poll = select.poll()
    poll.register(fd, select.POLLIN | select.POLLHUP)
    parts: list[bytes] = []
    size = 0
    while size <= MAX_OUTPUT:
        if cancelled.is_set() or monotonic() > deadline:
            return None
        if poll.poll(POLL_MS):
            part = os.read(fd, 1 << 20)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
    return None


def _has_ended(process: subprocess.Popen[bytes], cancelled: Cancellation, deadline: float) -> bool:
    """Wait for the end of a process that has said all; it may stay for all that."""
    while not cancelled.is_set() and monotonic() <= deadline:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL_MS / 1000)
            return True
    return False


def _kill(process: subprocess.Popen[bytes], family: Family) -> None:
    """End the process and all that it started, also what goes on starting others for a while."""
    for _ in range(MOST_SWEEPS):
        family.signal(signal.SIGKILL)
        process.poll()
        if not family.is_alive():
            return
        sleep(POLL_MS / 1000)
