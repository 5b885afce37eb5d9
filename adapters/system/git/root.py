"""Find the repository around a folder, and decide whether git may run in it. Starts no process.

Invariant: a ``.git`` that points outside its folder counts only if its target points back. Only names and small files
are read, and no content of a ``.git`` makes this module raise, hang or read elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from enum import StrEnum

from upbeat.adapters.system.files.safe_open import is_below, open_folder, read_file, real_path
from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass

MAX_SMALL_BYTES = 65536
MAX_CONFIG_BYTES = 1_000_000
MAX_INCLUDES = 20
MAX_REFERENCES = 5
"""Symbolic references that are followed."""

MAX_PACKED_REFS_BYTES = 16_000_000
"""Bytes of packed references to read."""

MAX_ENTRIES = 20_000
"""Entries per folder of a ``.git``; git does not run if there are more."""

_INCLUDE = re.compile(r"\[\s*include", re.I)
_PATH = re.compile(r"path\s*=([^\n]*)", re.I)
_READ_BY_GIT = (
    *("HEAD", "config", "config.worktree", "index", "packed-refs", "shallow"),
    *("objects", "refs", "info", "logs"),
)
_FOLDERS_READ_BY_GIT = ("info", "objects", "objects/info", "objects/pack", "refs/replace")


class RepositoryKind(StrEnum):
    """The kind of repository around a folder."""

    GIT = "git"
    BARE = "bare"
    FOREIGN = "foreign"
    BROKEN = "broken"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class RootInfo:
    """The repository around a folder.

    ``worktree`` is the real, absolute top of the working tree. It is empty without git, in a bare repository, and below
    a broken ``.git``, which hides the repositories above it (as for git). ``git_dir`` contains HEAD, ``common_dir`` the
    objects; they differ in a linked worktree, and are empty if the ``.git`` belongs to another repository. ``problem``
    describes what is bare, foreign or broken.
    """

    kind: RepositoryKind
    worktree: str = ""
    git_dir: str = ""
    common_dir: str = ""
    problem: str = ""

    @property
    def is_bare(self) -> bool:
        return self.kind is RepositoryKind.BARE


def main_worktree(folder: str) -> str:
    """Return the top of the main working tree of the repository around ``folder``; of a linked one, not its own."""
    info = find_root(folder)
    parent, name = os.path.split(info.common_dir)
    return parent if name == ".git" else info.worktree or real_path(folder)


def find_root(cwd: str) -> RootInfo:
    """Return the repository around ``cwd``."""
    folder = real_path(cwd)
    while True:
        if info := _at_dot_git(folder):
            return info
        if os.path.basename(folder) != ".git" and _common_dir(folder):  # a .git is not bare: it has a working tree
            return _bare_root(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return RootInfo(RepositoryKind.NONE)
        folder = parent


def outermost_repository(root: str) -> str:
    """Return the highest folder above ``root`` (real) that has a ``.git``, else ``root``.

    An empty ``.git`` folder does not count: Codex's sandbox leaves one in each writable folder, including ``/tmp``.
    """
    outermost = folder = root
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        if os.path.lexists(os.path.join(folder, ".git/HEAD")) or os.path.isfile(os.path.join(folder, ".git")):
            outermost = folder
    return outermost


def _at_dot_git(folder: str) -> RootInfo | None:
    """Return the repository of ``folder/.git``; None if there is none, or only an empty folder."""
    dot_git = os.path.join(folder, ".git")
    try:
        mode = os.lstat(dot_git).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and os.path.isdir(dot_git)):
        git_dir, fault = real_path(dot_git), "has no readable HEAD, objects and refs"
    elif stat.S_ISREG(mode):
        text = read_small(folder, ".git")
        if not text.startswith("gitdir:"):
            return RootInfo(RepositoryKind.BROKEN, problem=f"{dot_git} is a file that does not start with 'gitdir:'")
        git_dir = _resolve(folder, text.removeprefix("gitdir:").strip())
        fault = f"points to {git_dir}, where there is no repository"
    else:
        return None
    is_elsewhere = not is_below(folder, git_dir) and os.path.lexists(os.path.join(git_dir, "HEAD"))
    if is_elsewhere and not _points_back(git_dir, folder):
        problem = f"{dot_git} leads to {git_dir}, which does not point back; git is not used"
        return RootInfo(RepositoryKind.FOREIGN, folder, problem=problem)
    if common := _common_dir(git_dir):
        return _with_work_tree(folder, git_dir, common)
    return None if _is_empty(dot_git) else RootInfo(RepositoryKind.BROKEN, problem=f"{dot_git} {fault}")


def _with_work_tree(folder: str, git_dir: str, common: str) -> RootInfo:
    if common != git_dir and not is_below(folder, common) and os.path.dirname(git_dir) != f"{common}/worktrees":
        problem = f"{git_dir}/commondir leads to {common}, which has no such worktree; git is not used"
        return RootInfo(RepositoryKind.FOREIGN, folder, problem=problem)
    if common == git_dir:
        core = re.search(r"^[ \t]*\[core\][^\[]*", read_small(git_dir, "config"), re.M | re.I)
        if core and re.search(r"^[ \t]*bare[ \t]*=[ \t]*true[ \t]*$", core.group(), re.M | re.I):
            return _bare_root(git_dir)
    return RootInfo(RepositoryKind.GIT, folder, git_dir, common)


def _points_back(git_dir: str, folder: str) -> bool:
    """Return whether a git directory elsewhere names ``folder`` as its linked worktree or submodule.

    Files are opened only where git keeps those.
    """
    if os.path.basename(os.path.dirname(git_dir)) == "worktrees":
        back = read_small(git_dir, "gitdir").strip()
        return bool(back) and _resolve(git_dir, back) == os.path.join(folder, ".git")
    if "/.git/modules/" not in git_dir:
        return False
    match = re.search(
        r"^[ \t]*worktree[ \t]*=[ \t]*\"?([^\"\n]+?)\"?[ \t]*$", read_small(git_dir, "config"), re.M | re.I
    )
    return bool(match and _resolve(git_dir, match[1]) == folder)


def _bare_root(git_dir: str) -> RootInfo:
    problem = f"{git_dir} is bare: there is no working tree"
    return RootInfo(RepositoryKind.BARE, git_dir=git_dir, common_dir=git_dir, problem=problem)


def _is_empty(folder: str) -> bool:
    try:
        return not os.listdir(folder)
    except OSError:
        return False


def _common_dir(git_dir: str) -> str:
    """Return the git directory with the objects: ``git_dir``, or that of its worktree; empty if it is none."""
    head = os.path.join(git_dir, "HEAD")
    if not os.path.isfile(head) and not os.path.islink(head):
        return ""
    shared = read_small(git_dir, "commondir").strip()
    common = _resolve(git_dir, shared) if shared else git_dir
    return common if all(os.path.isdir(os.path.join(common, name)) for name in ("objects", "refs")) else ""


def _resolve(base: str, path: str) -> str:
    """Return the real path of ``path`` relative to ``base``; ``base`` if the path is invalid."""
    try:
        return real_path(os.path.join(base, path))
    except ValueError:
        return base


def read_small(root: str, path: str, max_bytes: int = MAX_SMALL_BYTES) -> str:
    """Return the first ``max_bytes`` of a regular file below ``root``, or an empty string."""
    try:
        return os.fsdecode(read_file(path, max_bytes, root))
    except (OSError, ValueError):
        return ""


# --- HEAD -----------------------------------------------------------------------------------------------


def head_name(info: RootInfo) -> str:
    """Return the content of HEAD: a reference or a commit; empty without one."""
    if not info.git_dir:
        return ""
    try:  # old versions of git wrote a link
        target = os.readlink(os.path.join(info.git_dir, "HEAD"))
    except OSError:
        return read_small(info.git_dir, "HEAD").strip()
    return f"ref: {target}" if target.startswith("refs/") else ""


def head_branch(root: str) -> str:
    """Return the branch that HEAD names, or the commit; empty without git. Starts no process."""
    text = head_name(find_root(root))
    return text.removeprefix("ref:").strip().removeprefix("refs/heads/")


def read_head(info: RootInfo) -> str:
    """Return the commit id of HEAD; empty if there is none, or only git can resolve it."""
    text = head_name(info)
    for _ in range(MAX_REFERENCES):
        if not text.startswith("ref:"):
            return text
        name = text.removeprefix("ref:").strip()
        if not name.startswith("refs/") or ".." in name:
            return ""
        text = read_small(info.common_dir, name).strip()
        if not text:
            packed = read_small(info.common_dir, "packed-refs", MAX_PACKED_REFS_BYTES)
            match = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$", packed, re.M)
            text = match[1] if match else ""
    return ""


# --- whether git may run --------------------------------------------------------------------------------


def git_problem(info: RootInfo) -> str:
    """Return why git must not run in a repository (it would read or wait elsewhere); empty if it may."""
    if info.kind not in (RepositoryKind.GIT, RepositoryKind.BARE):
        return info.problem or "there is no repository"
    try:
        return next(_unsafe_entries(info), "")
    except OSError as error:
        return f"{info.git_dir} cannot be read ({error.strerror})"


def foreign_objects(info: RootInfo, trusted: Iterable[str] = ()) -> str:
    """Return an object folder elsewhere that the repository borrows from; empty if there is none.

    With one, git may only list names. ``trusted`` are folders whose objects any repository may borrow: the user named
    them. The repository itself cannot: a downloaded one could point to private objects.
    """
    text = read_small(info.common_dir, "objects/info/alternates")
    lines = [line.strip('"') for line in text.splitlines() if line.strip() and not line.startswith("#")]
    paths = [_resolve(f"{info.common_dir}/objects", line) for line in lines]
    stores = [_resolve("/", os.path.expanduser(folder)) for folder in trusted]
    foreign = (path for path in paths if not _is_own(info, path))
    return next((path for path in foreign if not any(is_below(store, path) for store in stores)), "")


def _unsafe_entries(info: RootInfo) -> Iterator[str]:
    for folder in dict.fromkeys((info.git_dir, info.common_dir)):
        for name in _READ_BY_GIT:
            if _is_unsafe_entry(info, f"{folder}/{name}"):
                yield f"{folder}/{name} leads elsewhere or is not a file; git is not used"
        if _includes_others(info, f"{folder}/config") or _includes_others(info, f"{folder}/config.worktree"):
            yield f"{folder}/config includes a file elsewhere; git is not used"
    for name in _FOLDERS_READ_BY_GIT:
        if entry := _unsafe_entry_in(info, name):
            yield f"{info.common_dir}/{name}/{entry} leads elsewhere or is not a file; git is not used"
    reference = head_name(info).removeprefix("ref:").strip()
    parts = reference.split("/") if reference.startswith("refs/") else []
    for count in range(2, len(parts) + 1):
        path = f"{info.common_dir}/{'/'.join(parts[:count])}"
        if _is_unsafe_entry(info, path):
            yield f"{path} leads elsewhere or is not a file; git is not used"


def _is_unsafe_entry(info: RootInfo, path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return False
    if stat.S_ISLNK(mode):
        return not _is_own(info, _resolve("/", path)) or not (
            os.path.isfile(path) or not os.path.exists(path) or os.path.isdir(path)
        )
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _unsafe_entry_in(info: RootInfo, name: str) -> str:
    """Return the first entry of a folder of the git directory that git must not read."""
    try:
        folder = open_folder(info.common_dir, name)
    except FileNotFoundError:
        return ""
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                is_plain = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
                if number >= MAX_ENTRIES or (
                    not is_plain and _is_unsafe_entry(info, f"{info.common_dir}/{name}/{entry.name}")
                ):
                    return entry.name
    finally:
        os.close(folder)
    return ""


def _includes_others(info: RootInfo, path: str, depth: int = 0) -> bool:
    """Return whether a configuration may include a file outside the repository."""
    try:
        text = os.fsdecode(read_file(real_path(path), MAX_CONFIG_BYTES))
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    if not _INCLUDE.search(text):
        return len(text) >= MAX_CONFIG_BYTES
    named = [value.split("#")[0].split(";")[0].strip() for value in _PATH.findall(text)]
    if depth >= MAX_INCLUDES or any(re.search(r"[\"\\~%]", value) for value in named):
        return True
    included = [_resolve(os.path.dirname(path), value) for value in named]
    return any(not _is_own(info, each) or _includes_others(info, each, depth + 5) for each in included)


def _is_own(info: RootInfo, path: str) -> bool:
    """Return whether the real ``path`` is in the repository: its working tree or its git directories."""
    return any(folder and is_below(folder, path) for folder in (info.worktree, info.git_dir, info.common_dir))
