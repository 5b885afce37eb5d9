"""Where the repository around a folder is, and whether git may be asked about it. Starts no process.

Law: a ``.git`` does not make another repository this one's: what it points to outside its folder has to point back.
Names are looked at and small files read; nothing that a ``.git`` holds makes any of it raise, hang or read elsewhere.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from .opening import is_below, open_folder, read_file, real_path

SMALL = 65536
MAX_CONFIG_BYTES = 1_000_000
MAX_INCLUDES = 20
MAX_REFERENCES = 5
"""Symbolic references that are followed, one to the next."""

MAX_PACKED = 16_000_000
"""Bytes of packed references that are read."""

MAX_ENTRIES = 20_000
"""Entries of one folder of a ``.git`` that are looked at; with more, git is not asked."""

_INCLUDE = re.compile(r"\[\s*include", re.I)
_PATH = re.compile(r"path\s*=([^\n]*)", re.I)
_READ_BY_GIT = (
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "packed-refs",
    "shallow",
    "objects",
    "refs",
    "info",
    "logs",
)
_FOLDERS_READ_BY_GIT = ("info", "objects", "objects/info", "objects/pack", "refs/replace")


class Kind(StrEnum):
    """What ``.git`` turned out to be, from a working directory upwards."""

    GIT = "git"
    BARE = "bare"
    FOREIGN = "foreign"
    BROKEN = "broken"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class RootInfo:
    """The repository around a directory.

    ``worktree`` is the real, absolute top of the working tree, or empty: without git, in a bare repository
    and below a broken ``.git``, which hides the repositories above it as it does for git. ``git_dir`` holds
    HEAD, ``common_dir`` the objects (they differ in a linked worktree); both are empty for a foreign one, whose
    ``.git`` leads to somebody else's. ``problem`` says what is bare, foreign or broken.
    """

    kind: Kind
    worktree: str = ""
    git_dir: str = ""
    common_dir: str = ""
    problem: str = ""

    @property
    def is_bare(self) -> bool:
        return self.kind is Kind.BARE


def find_root(cwd: str) -> RootInfo:
    """The repository around ``cwd``."""
    folder = real_path(cwd)
    while True:
        found = _at_dot_git(folder) or _at_bare(folder)
        if found:
            return found
        parent = os.path.dirname(folder)
        if parent == folder:
            return RootInfo(Kind.NONE)
        folder = parent


def outermost(root: str) -> str:
    """The highest folder above ``root`` (real) that has a ``.git``: the repository that holds it; else ``root``.

    An empty folder of that name is none: Codex's sandbox leaves one in each folder that it may write, ``/tmp`` too.
    """
    found = folder = root
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        if os.path.lexists(os.path.join(folder, ".git/HEAD")) or os.path.isfile(os.path.join(folder, ".git")):
            found = folder
    return found


def _at_dot_git(folder: str) -> RootInfo | None:
    """What ``folder/.git`` says; None when there is none, or an empty folder that git passes over too."""
    dot_git = os.path.join(folder, ".git")
    try:
        mode = os.lstat(dot_git).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and os.path.isdir(dot_git)):
        git_dir = real_path(dot_git)
        if foreign := _foreign(folder, git_dir):
            return foreign
        if not _is_git_dir(git_dir):
            return None if _is_empty(dot_git) else _broken(dot_git, "has no readable HEAD, objects and refs")
        return _with_work_tree(folder, git_dir)
    if not stat.S_ISREG(mode):
        return None
    text = read_small(folder, ".git")
    if not text.startswith("gitdir:"):
        return _broken(dot_git, "is a file that does not start with 'gitdir:'")
    git_dir = _real(folder, text[len("gitdir:") :].strip())
    if foreign := _foreign(folder, git_dir):
        return foreign
    if not _is_git_dir(git_dir):
        return _broken(dot_git, f"points to {git_dir}, where there is no repository")
    return _with_work_tree(folder, git_dir)


def _foreign(folder: str, git_dir: str) -> RootInfo | None:
    """What is said of a git directory outside of ``folder`` that does not name it as its own working tree."""
    if is_below(folder, git_dir) or not os.path.lexists(os.path.join(git_dir, "HEAD")) or _points_back(git_dir, folder):
        return None
    problem = f"{folder}/.git leads to {git_dir}, which does not point back; git is not asked"
    return RootInfo(Kind.FOREIGN, folder, problem=problem)


def _with_work_tree(folder: str, git_dir: str) -> RootInfo:
    common = _common_dir(git_dir)
    if common != git_dir and not is_below(folder, common) and os.path.dirname(git_dir) != f"{common}/worktrees":
        problem = f"{git_dir}/commondir leads to {common}, which has no such worktree; git is not asked"
        return RootInfo(Kind.FOREIGN, folder, problem=problem)
    if common == git_dir and _is_bare_by_config(git_dir):
        return _bare(git_dir)
    return RootInfo(Kind.GIT, folder, git_dir, common)


def _points_back(git_dir: str, folder: str) -> bool:
    """Whether a git directory elsewhere names ``folder`` as its working tree: a linked one, or that of a submodule.

    Only where git keeps those is anything opened.
    """
    if os.path.basename(os.path.dirname(git_dir)) == "worktrees":
        back = read_small(git_dir, "gitdir").strip()
        return bool(back) and _real(git_dir, back) == os.path.join(folder, ".git")
    if "/.git/modules/" not in git_dir:
        return False
    found = re.search(
        r"^[ \t]*worktree[ \t]*=[ \t]*\"?([^\"\n]+?)\"?[ \t]*$", read_small(git_dir, "config"), re.M | re.I
    )
    return bool(found and _real(git_dir, found[1]) == folder)


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
    shared = read_small(git_dir, "commondir").strip()
    return _real(git_dir, shared) if shared else git_dir


def _is_bare_by_config(git_dir: str) -> bool:
    core = re.search(r"^[ \t]*\[core\][^\[]*", read_small(git_dir, "config"), re.M | re.I)
    return bool(core and re.search(r"^[ \t]*bare[ \t]*=[ \t]*true[ \t]*$", core.group(), re.M | re.I))


def _real(base: str, path: str) -> str:
    """``path`` as ``base`` names it, without links; ``base`` itself for what the system does not take."""
    try:
        return real_path(os.path.join(base, path))
    except ValueError:
        return base


def read_small(root: str, path: str, most: int = SMALL) -> str:
    """The first ``most`` bytes of a regular file below ``root``, or nothing."""
    try:
        return os.fsdecode(read_file(path, most, root))
    except (OSError, ValueError):
        return ""


# --- where HEAD leads -----------------------------------------------------------------------------------


def head_name(info: RootInfo) -> str:
    """What HEAD holds: a reference, or a commit; empty without one."""
    if not info.git_dir:
        return ""
    try:  # as git wrote it long ago
        target = os.readlink(os.path.join(info.git_dir, "HEAD"))
    except OSError:
        return read_small(info.git_dir, "HEAD").strip()
    return f"ref: {target}" if target.startswith("refs/") else ""


def read_head(info: RootInfo) -> str:
    """The commit id that HEAD leads to; empty when there is none, or only git can tell."""
    text = head_name(info)
    for _ in range(MAX_REFERENCES):
        if not text.startswith("ref:"):
            return text
        name = text.removeprefix("ref:").strip()
        if not name.startswith("refs/") or ".." in name:
            return ""
        text = read_small(info.common_dir, name).strip() or _packed(info.common_dir, name)
    return ""


def _packed(common_dir: str, name: str) -> str:
    """The id of the reference ``name`` in the packed ones."""
    text = read_small(common_dir, "packed-refs", MAX_PACKED)
    found = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$", text, re.M)
    return found.group(1) if found else ""


# --- whether git may be asked ---------------------------------------------------------------------------


def problem_of(info: RootInfo) -> str:
    """Why git is not to be asked about a repository: what it would read or wait for elsewhere. Empty where it may."""
    if info.kind not in (Kind.GIT, Kind.BARE):
        return info.problem or "there is no repository"
    try:
        return next(_odd(info), "")
    except OSError as error:
        return f"{info.git_dir} cannot be looked at ({error.strerror})"


def borrows(info: RootInfo) -> bool:
    """Whether the repository takes objects from a folder that is not its own, so that it is only asked for names."""
    text = read_small(info.common_dir, "objects/info/alternates")
    places = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return not all(_is_own(info, _real(f"{info.common_dir}/objects", line.strip('"'))) for line in places)


def _odd(info: RootInfo) -> Iterator[str]:
    for folder in dict.fromkeys((info.git_dir, info.common_dir)):
        for name in _READ_BY_GIT:
            if _is_odd(info, f"{folder}/{name}"):
                yield f"{folder}/{name} leads elsewhere, or is no file; git is not asked"
        if _includes_others(info, f"{folder}/config") or _includes_others(info, f"{folder}/config.worktree"):
            yield f"{folder}/config includes a file that lies elsewhere; git is not asked"
    for name in _FOLDERS_READ_BY_GIT:
        if odd := _odd_entry(info, name):
            yield f"{info.common_dir}/{name}/{odd} leads elsewhere, or is no file; git is not asked"
    reference = head_name(info).removeprefix("ref:").strip()
    parts = reference.split("/") if reference.startswith("refs/") else []
    for count in range(2, len(parts) + 1):
        place = f"{info.common_dir}/{'/'.join(parts[:count])}"
        if _is_odd(info, place):
            yield f"{place} leads elsewhere, or is no file; git is not asked"


def _is_odd(info: RootInfo, path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return False
    if stat.S_ISLNK(mode):
        return not _is_own(info, _real("/", path)) or not (
            os.path.isfile(path) or not os.path.exists(path) or os.path.isdir(path)
        )
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _odd_entry(info: RootInfo, name: str) -> str:
    """The first entry of a folder of the git directory that git may read and is not to."""
    try:
        folder = open_folder(info.common_dir, name)
    except FileNotFoundError:
        return ""
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                is_plain = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
                if number >= MAX_ENTRIES or (not is_plain and _is_odd(info, f"{info.common_dir}/{name}/{entry.name}")):
                    return entry.name
    finally:
        os.close(folder)
    return ""


def _includes_others(info: RootInfo, path: str, depth: int = 0) -> bool:
    """Whether a configuration takes in a file that is not the repository's own, as far as can be told."""
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
    places = [_real(os.path.dirname(path), value) for value in named]
    return any(not _is_own(info, place) or _includes_others(info, place, depth + 5) for place in places)


def _is_own(info: RootInfo, path: str) -> bool:
    """Whether the real ``path`` lies in the repository: its working tree, or where its ``.git`` is."""
    return any(folder and is_below(folder, path) for folder in (info.worktree, info.git_dir, info.common_dir))
