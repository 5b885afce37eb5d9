"""Which place a path of a shell line is: a build folder, the project, a home, the system.

Law: a path is judged as it is written, without a look at the disk. What a variable hides is unknown; only what would
be there if it were empty counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from .harm import Here, split


class Place(StrEnum):
    """Where a path leads, the worst first."""

    SYSTEM = "system"
    """``/``, and the folders that a machine needs."""
    HOME = "home"
    """A whole home, or what people keep in it: keys, documents, settings."""
    PROJECT = "project"
    """All of the project, or a folder that it is in."""
    GIT = "git"
    """Its history."""
    EMPTY = "empty"
    """``$X/*``: the whole system if the variable is empty."""
    OUTSIDE = "outside"
    INSIDE = "inside"
    HARMLESS = "harmless"
    """Built, cached, temporary, or not to be told."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place, and where in the project it is (``inside``: relative to its root)."""

    place: Place
    inside: str = ""


BUILT = split(
    """node_modules bower_components dist build target out output .venv venv env virtualenv __pycache__ .tox .nox
    .pytest_cache .mypy_cache .ruff_cache .cache .next .nuxt .output .svelte-kit .turbo .parcel-cache .vite .angular
    coverage htmlcov .nyc_output .coverage .eggs .gradle Pods DerivedData .terraform .serverless .aws-sam .dart_tool
    tmp temp .tmp .temp logs log _build _site site public/build .docusaurus .hypothesis .ipynb_checkpoints obj bin
    storybook-static .sass-cache .stack-work dist-newstyle zig-cache zig-out .zig-cache test-results playwright-report
    generated gen .bundle release debug Debug Release x64 artifacts reports wheels wheelhouse Build"""
)
_BUILT_NAME = re.compile(r"cmake-build-\w+|[\w.-]+\.egg-info|(?:bazel|build|dist|out|target|tmp|temp|cache|venv)[-_.].*"
                         r"|.*[-_.](?:build|dist|out|tmp|temp|cache|venv|bak|backup|old|orig)|.*cache.*")  # fmt: skip

_HOME = re.compile(r"~|/home/[^/]+|/Users/[^/]+|/root")
_TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)(/|$)")
_CACHES = re.compile(
    r"/var/(?:cache|lib/apt/lists|lib/dpkg|tmp|log)(?:/|$)"
    r"|(?:~|/root|/home/[^/]+|/Users/[^/]+)/(?:\.cache|\.npm|\.cargo/(?:registry|git)|\.gradle|\.m2|\.pnpm-store|\.yarn"
    r"|\.ivy2|\.nuget|\.pub-cache|\.local/share/Trash|\.Trash|Library/(?:Caches|Developer/Xcode/DerivedData)|go/pkg)(?:/|$)"
)
_KEPT = re.compile(
    r"/(?:\.ssh|\.gnupg|\.aws|\.kube|\.docker|\.config|\.local|\.local/share|\.password-store|\.mozilla|\.claude|\.codex"
    r"|Documents|Desktop|Downloads|Pictures|Music|Videos|Movies|Library|projects?|code|src|work|workspace|repos?|dev)"
)
_SYSTEM_FOLDERS = split(
    """bin boot dev etc home lib lib32 lib64 media mnt nix opt proc root run sbin snap srv sys usr var Applications
    Library System Users Volumes data"""
)
_SYSTEM_BELOW = split(
    """usr/bin usr/lib usr/lib64 usr/sbin usr/share usr/local usr/include usr/local/bin usr/local/lib var/lib var/www
    var/mail var/spool etc/ssh etc/systemd etc/ssl etc/pam.d Library/Application System/Library"""
)
_TEMPORARY_NAME = re.compile(
    r"te?mp|scratch|cache|build|dist|out(?:put|dir)?\b|target|work_?dir|stag|stamp|dest", re.IGNORECASE
)
_ALL_OF = re.compile(r"/(?:\*|\.\*|\.\[[^/]*|\.\?\?\*|\{\*,\.\*\}|\*\*|\*/|\*\.\*)$")
_VARIABLE = re.compile(r"\$(?:\w+|\{[^}]*\}|\([^)]*\)|[@*#?!-])|`[^`]*`")
_HOME_WORD = re.compile(r"\$HOME\b|\$\{HOME\}")
_HERE_WORD = re.compile(r"\$PWD\b|\$\{PWD\}|\$\(pwd\)|`pwd`|\$OLDPWD\b")
_ROOT_WORD = re.compile(r"\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`|\$CLAUDE_PROJECT_DIR\b")
_ALTERNATIVES = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")
MAX_ALTERNATIVES = 20


def spots_of(word: str, here: Here, folder: str = "") -> Iterator[tuple[str, Spot]]:
    """Each path that ``word`` stands for (``/{bin,usr}`` for two), and where it leads from ``folder`` of a line."""
    for path in _spelled(word):
        yield path, spot_of(path, here, folder)


def spot_of(path: str, here: Here, folder: str = "") -> Spot:
    """Where ``path`` leads when it is used in ``folder`` (as a line tells it: ``Command.folder``)."""
    root, cwd = _real(here)
    told = _told(path, root, cwd)
    if _VARIABLE.search(told):
        return Spot(_of_variable(told))
    base = "" if told.startswith(("/", "~")) else _base(folder, root, cwd)
    if base == "?":
        return Spot(Place.HARMLESS)
    whole = told if told in ("", "/", "~") else _ALL_OF.sub("/", told if "/" in told else f"./{told}")
    return _of_path(normal(f"{base}/{whole}" if base else whole), root)


def normal(path: str) -> str:
    """``path`` without ``.``, ``..`` and double slashes; ``..`` above the start goes nowhere."""
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


def _spelled(word: str) -> list[str]:
    """``word`` once for each alternative between its braces."""
    found = _ALTERNATIVES.search(word)
    if not found or word[: found.start()].endswith("$"):
        return [word]
    return [word[: found.start()] + one + word[found.end() :] for one in found[1].split(",")[:MAX_ALTERNATIVES]]


def _real(here: Here) -> tuple[str, str]:
    """Root and working directory; where one is not in the other (a symlink between) the second is both."""
    is_inside = here.cwd == here.root or here.cwd.startswith(f"{here.root}/")
    return (here.root if here.root and is_inside else here.cwd), here.cwd


def _told(path: str, root: str, cwd: str) -> str:
    """``path`` with the variables that everybody knows."""
    path = path.removeprefix("file://")
    if "$" in path or "`" in path:
        path = _HOME_WORD.sub("~", path)
        path = _HERE_WORD.sub(lambda _found: cwd, path)
        path = _ROOT_WORD.sub(lambda _found: root, path)
    return path


def _base(folder: str, root: str, cwd: str) -> str:
    told = _told(folder, root, cwd)
    if told == "?" or _VARIABLE.search(told):
        return "?"
    return told if told.startswith(("/", "~")) else f"{cwd}/{told}"


def _of_variable(path: str) -> Place:
    """A path with an unknown variable: what it would be if that were empty."""
    first = _VARIABLE.search(path)
    if first is None or ":?" in first[0] or ":-" in first[0] or _TEMPORARY_NAME.search(first[0]):
        return Place.HARMLESS
    left = _VARIABLE.sub("", path)
    if first.start() == 0 and left.startswith("/") and first[0].startswith("$") and not first[0].startswith("$("):
        rest = normal(_ALL_OF.sub("/", left))
        return Place.EMPTY if rest == "/" or rest[1:] in _SYSTEM_FOLDERS | _SYSTEM_BELOW else Place.HARMLESS
    return Place.HARMLESS


def _of_path(path: str, root: str) -> Spot:
    """``path`` is absolute or begins with ``~``, and has no dots in it."""
    if path == root or (root.startswith(f"{path}/") and path != "/" and not _HOME.fullmatch(path)):
        return Spot(Place.PROJECT)
    if path.startswith(f"{root}/") and root != "/":
        return _of_inside(path[len(root) + 1 :])
    if found := _TEMPORARY.match(path):
        return Spot(Place.HARMLESS if len(path) > found.end() and found[1] else Place.OUTSIDE)
    if _CACHES.match(path) or _is_built(path):
        return Spot(Place.HARMLESS)
    home = _HOME.match(path)
    if home and path[home.end() :][:1] in ("", "/"):
        kept = path[home.end() :]
        return Spot(Place.HOME if not kept or _KEPT.fullmatch(kept) else Place.OUTSIDE)
    below = path[1:]
    if not below or below in _SYSTEM_FOLDERS or below in _SYSTEM_BELOW or re.fullmatch(r"[^/]*[*?][^/]*", below):
        return Spot(Place.SYSTEM)
    return Spot(Place.OUTSIDE)


def _of_inside(inside: str) -> Spot:
    parts = inside.split("/")
    if parts[0] == ".git":
        is_history = len(parts) == 1 or parts[1] in ("objects", "refs", "logs", "HEAD", "*")
        return Spot(Place.GIT if is_history else Place.HARMLESS, inside)
    is_built = any(part in BUILT or _BUILT_NAME.fullmatch(part) for part in parts)
    return Spot(Place.HARMLESS if is_built else Place.INSIDE, inside)


def _is_built(path: str) -> bool:
    """Outside of the project only deep down, and only by its last name: ``/srv/app/dist``, but not ``/usr/bin``."""
    parts = path.strip("/").split("/")
    return len(parts) > 2 and (parts[-1] in BUILT - {"bin", "env"} or bool(_BUILT_NAME.fullmatch(parts[-1])))
