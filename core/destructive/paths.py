"""Classify the paths of a shell line: build folder, project, home, system.

Invariant: a path is classified as written, without disk access. A variable is unknown; only the path that is left if it
is empty counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from upbeat.core import lazy_re as re
from upbeat.core.destructive.hazard import ShellLocation, word_set
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.package_data import load_toml


class PathClass(StrEnum):
    """Where a path leads, the most severe first."""

    SYSTEM = "system"
    """``/`` and system folders."""
    HOME = "home"
    """A whole home directory, or keys, documents and settings in it."""
    PROJECT = "project"
    """The whole project, or a folder that contains it."""
    GIT = "git"
    """The git history of the project."""
    EMPTY_VARIABLE = "empty"
    """``$X/*``: the whole system if the variable is empty."""
    OUTSIDE = "outside"
    INSIDE = "inside"
    DISPOSABLE = "harmless"
    """Build output, caches, temporary files, or unknown."""


@dataclass(frozen=True, slots=True)
class ClassifiedPath:
    """The class of a path, and its position relative to the project root if it is inside."""

    path_class: PathClass
    relative_path: str = ""


_FOLDERS = load_toml(__package__, "folders.toml")
BUILD_FOLDERS = word_set(_FOLDERS["build"])
_BUILD_FOLDER_NAME = re.compile(r"cmake-build-\w+|[\w.-]+\.egg-info|(?:bazel|build|dist|out|target|tmp|temp|cache|venv)"
                         r"[-_.].*"
                         r"|.*[-_.](?:build|dist|out|tmp|temp|cache|venv|bak|backup|old|orig)|.*cache.*")  # fmt: skip

_LOCK_FILES = word_set(_FOLDERS["lock_files"])
_HOME = re.compile(r"~|/home/[^/]+|/Users/[^/]+|/root")
_TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)(/|$)")
_CACHES = re.compile(
    r"/var/(?:cache|lib/apt/lists|lib/dpkg|tmp|log)(?:/|$)"
    r"|(?:~|/root|/home/[^/]+|/Users/[^/]+)/(?:\.cache|\.npm|\.cargo/(?:registry|git)|\.gradle|\.m2|\.pnpm-store|\.yarn"
    r"|\.ivy2|\.nuget|\.pub-cache|\.local/share/Trash|\.Trash|Library/(?:Caches|Developer/Xcode/DerivedData)|go/pkg)(?:/|$)"
)
_PERSONAL_FOLDER = re.compile(
    r"/(?:\.ssh|\.gnupg|\.aws|\.kube|\.docker|\.config|\.local|\.local/share|\.password-store|\.mozilla|\.claude|\.codex"
    r"|Documents|Desktop|Downloads|Pictures|Music|Videos|Movies|Library|projects?|code|src|work|workspace|repos?|dev)"
)
_SYSTEM_FOLDERS = word_set(_FOLDERS["system"])
_SYSTEM_SUBFOLDERS = word_set(_FOLDERS["below_system"])
_TEMPORARY_NAME = re.compile(
    r"te?mp|scratch|cache|build|dist|out(?:put|dir)?\b|target|work_?dir|stag|stamp|dest", re.IGNORECASE
)
_TRAILING_WILDCARD = re.compile(r"/(?:\*|\.\*|\.\[[^/]*|\.\?\?\*|\{\*,\.\*\}|\*\*|\*/|\*\.\*)$")
_USER_FOLDER = re.compile(
    r"(?<![^\s/])/(?:home|Users)/(?:\$\{?(?:USER|LOGNAME)\}?|\$\((?:whoami|id -un)\)|`whoami`)(?=/|$)"
)
_ALL_FILES = re.compile(r"(?:\$\(|`)(?:git ls-files|ls(?:\s+-\w+)*|find\s+\.)\s*[)`]|[$`]\(?git ls-files\b[^*]*")
_VARIABLE = re.compile(r"\$(?:\w+|\{[^}]*\}|\([^)]*\)|[@*#?!-])|`[^`]*`")
_HOME_VARIABLE = re.compile(r"\$HOME\b|\$\{HOME\}")
_CWD_VARIABLE = re.compile(r"\$PWD\b|\$\{PWD\}|\$\(pwd\)|`pwd`|\$OLDPWD\b")
_ROOT_VARIABLE = re.compile(
    r"\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`|\$CLAUDE_PROJECT_DIR\b"
)
_BRACE_ALTERNATIVES = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")
MAX_ALTERNATIVES = 20


def classify_word(word: str, location: ShellLocation, working_dir: str = "") -> Iterator[tuple[str, ClassifiedPath]]:
    """Yield each path that ``word`` expands to (``/{bin,usr}`` to two), and its class."""
    paths, braces = [word], _BRACE_ALTERNATIVES.search(word)
    if braces and not word[: braces.start()].endswith("$"):
        alternatives = braces[1].split(",")[:MAX_ALTERNATIVES]
        paths = [word[: braces.start()] + part + word[braces.end() :] for part in alternatives]
    for path in paths:
        yield path, classify_path(path, location, working_dir)


def classify_path(path: str, location: ShellLocation, working_dir: str = "") -> ClassifiedPath:
    """Classify ``path`` in ``working_dir``, the folder of the command (``SimpleCommand.working_dir``)."""
    cwd = location.cwd
    is_inside = cwd == location.root or cwd.startswith(f"{location.root}/")
    root = location.root if location.root and is_inside else cwd  # one of them may be a symlink
    expanded = _expand_known_variables(path, root, cwd)
    if _ALL_FILES.fullmatch(expanded):
        return ClassifiedPath(PathClass.PROJECT)
    if _VARIABLE.search(expanded):
        return ClassifiedPath(_classify_variable(expanded))
    base = "" if expanded.startswith(("/", "~")) else _base_folder(working_dir, root, cwd)
    if base == "?":
        return ClassifiedPath(PathClass.DISPOSABLE)
    whole = expanded
    if expanded not in ("", "/", "~"):
        whole = _TRAILING_WILDCARD.sub("/", expanded if "/" in expanded else f"./{expanded}")
    return _classify_absolute(normalize_path(f"{base}/{whole}" if base else whole), root)


def normalize_path(path: str) -> str:
    """Return ``path`` without ``.``, ``..`` and double slashes; ``..`` above the start has no effect."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] not in ("", "~"):
            parts.pop()
        elif part == ".." and parts == ["~"]:
            parts = ["", "home"]
        elif part not in ("", ".", ".."):
            parts.append(part)
    joined = "/".join(part for part in parts if part)
    return joined if joined.startswith("~") else f"/{joined}"


def _expand_known_variables(path: str, root: str, cwd: str) -> str:
    """Replace well-known variables in ``path``."""
    path = path.removeprefix("file://")
    if "$" in path or "`" in path:
        path = _USER_FOLDER.sub("~", _HOME_VARIABLE.sub("~", path)).replace("$XDG_CONFIG_HOME", "~/.config")
        path = path.replace("$(git rev-parse --git-dir)", ".git")
        path = _CWD_VARIABLE.sub(lambda _found: cwd, path)
        path = _ROOT_VARIABLE.sub(lambda _found: root, path)
    return path


def _base_folder(working_dir: str, root: str, cwd: str) -> str:
    expanded = _expand_known_variables(working_dir, root, cwd)
    if expanded == "?" or _VARIABLE.search(expanded):
        return "?"
    return expanded if expanded.startswith(("/", "~")) else f"{cwd}/{expanded}"


def _classify_variable(path: str) -> PathClass:
    """A path with an unknown variable: what it would be if that were empty."""
    first = _VARIABLE.search(path)
    if first is None or ":?" in first[0] or ":-" in first[0] or _TEMPORARY_NAME.search(first[0]):
        return PathClass.DISPOSABLE
    left = _VARIABLE.sub("", path)
    if first.start() == 0 and left.startswith("/") and first[0].startswith("$") and not first[0].startswith("$("):
        rest = normalize_path(_TRAILING_WILDCARD.sub("/", left))
        return (
            PathClass.EMPTY_VARIABLE
            if rest == "/" or rest[1:] in _SYSTEM_FOLDERS | _SYSTEM_SUBFOLDERS
            else PathClass.DISPOSABLE
        )
    return PathClass.DISPOSABLE


def _classify_absolute(path: str, root: str) -> ClassifiedPath:
    """``path`` is absolute or begins with ``~``, and has no dots in it."""
    if path == root or (root.startswith(f"{path}/") and path != "/" and not _HOME.fullmatch(path)):
        return ClassifiedPath(PathClass.PROJECT)
    if path.startswith(f"{root}/") and root != "/":
        return _classify_in_project(path[len(root) + 1 :])
    if match := _TEMPORARY.match(path):
        return ClassifiedPath(PathClass.DISPOSABLE if len(path) > match.end() and match[1] else PathClass.OUTSIDE)
    if _CACHES.match(path) or _is_build_output(path):
        return ClassifiedPath(PathClass.DISPOSABLE)
    home = _HOME.match(path)
    if home and path[home.end() :][:1] in ("", "/"):
        kept = path[home.end() :]
        return ClassifiedPath(PathClass.HOME if not kept or _PERSONAL_FOLDER.fullmatch(kept) else PathClass.OUTSIDE)
    below = path[1:]
    if not below or below in _SYSTEM_FOLDERS or below in _SYSTEM_SUBFOLDERS or re.fullmatch(r"[^/]*[*?][^/]*", below):
        return ClassifiedPath(PathClass.SYSTEM)
    return ClassifiedPath(PathClass.OUTSIDE)


def _classify_in_project(relative_path: str) -> ClassifiedPath:
    parts = relative_path.split("/")
    if parts[0] == ".git":
        is_history = len(parts) == 1 or parts[1] in ("objects", "refs", "logs", "HEAD", "*")
        return ClassifiedPath(PathClass.GIT if is_history else PathClass.DISPOSABLE, relative_path)
    is_built = parts[-1] in _LOCK_FILES or any(
        part in BUILD_FOLDERS or _BUILD_FOLDER_NAME.fullmatch(part) for part in parts
    )
    return ClassifiedPath(PathClass.DISPOSABLE if is_built else PathClass.INSIDE, relative_path)


def _is_build_output(path: str) -> bool:
    """Outside of the project only deep down, and only by its last name: ``/srv/app/dist``, but not ``/usr/bin``."""
    parts = path.strip("/").split("/")
    return len(parts) > 2 and (
        parts[-1] in BUILD_FOLDERS - {"bin", "env"} or bool(_BUILD_FOLDER_NAME.fullmatch(parts[-1]))
    )
