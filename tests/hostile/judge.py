"""Report which of the observed calls are not allowed.

Invariant: what is not on the list is reported, whatever it may be good for.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from processes import ROOT

from .place import CANARY, Place
from .strace import Seen

INERT = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never", "--no-pager")
"""What every call of git has to say."""

PACKAGES = [path for path in sys.path if path.endswith("site-packages")]
PYTHON = tuple({os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, *PACKAGES)})
SYSTEM = (
    "/usr/lib",
    "/lib",
    "/lib64",
    "/usr/local/lib",
    "/usr/share/locale",
    "/usr/share/zoneinfo",
    "/usr/share/git-core",
)
FILES = frozenset(
    {
        *(
            "/etc/ld.so.cache",
            "/etc/ld.so.preload",
            "/etc/localtime",
            "/etc/locale.alias",
            "/etc/gitconfig",
            "/etc/nsswitch.conf",
        ),
        *("/etc/passwd", "/etc/group", "/etc/os-release", "/etc/ssl/openssl.cnf", "/etc/mime.types"),
        *("/dev/null", "/dev/urandom", "/proc", "/proc/meminfo", "/proc/cpuinfo", "/proc/filesystems", "/proc/stat"),
    }
)
PROCESS = re.compile(
    r"/proc/\d+/(?:stat|status|environ|cgroup|mounts|mountinfo|maps|fd|task/\d+/comm)|/proc/sys/(?:vm|kernel)/\w+|/sys/fs/cgroup/.*"
    r"|/sys/devices/system/cpu(?:/(?:online|possible))?|/sys/kernel/mm/.*"
)


@dataclass(frozen=True)
class Verdict:
    """What was not allowed. All four are empty where a promise holds."""

    programs: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    connected: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()

    def told(self) -> list[str]:
        """One sentence for each."""
        kinds = {"ran": self.programs, "read": self.read, "connected to": self.connected, "leaked into": self.leaked}
        return [f"{kind} {one}" for kind, found in kinds.items() for one in found]


def judge(place: Place, seen: Seen) -> Verdict:
    """Whether processes kept to the list; the marks and the home of ``place`` are looked at as well."""
    programs = [f"{path} {words[:120]}" for path, words in seen.programs if not _may_run(path, words, place)]
    programs += [f"{name} (it left its mark)" for name in place.sprung()]
    connected = [one for one in seen.connected if not _may_connect(one, place)]
    leaked = [*(["its output"] if CANARY.encode() in seen.output.lower() else []), *place.leaks()]
    read = sorted(path for path in seen.opened if not _may_read(path, place))
    return Verdict(tuple(programs), tuple(read), tuple(connected), tuple(leaked))


def judge_inside(place: Place, log: str, output: bytes) -> Verdict:
    """The same for what ``inside.py`` noted; a relative path may belong to any folder, and is left to strace."""
    programs: list[str] = []
    read: set[str] = set()
    connected: list[str] = []
    for line in log.splitlines():
        kind, what, words = json.loads(line)
        if kind == "run" and not _may_run(what, words, place):
            programs.append(f"{what} {words[:120]}")
        elif kind == "open" and os.path.isabs(what) and not _may_read(_leads_to(what, words), place):
            read.add(what)
        elif kind == "import" and _is_below(os.path.realpath(what), [str(place.base)]):
            programs.append(f"{what} (imported)")
        elif kind == "connect" and "upbeat" not in what:
            connected.append(what)
    programs += [f"{name} (it left its mark)" for name in place.sprung()]
    said, _, _ = output.rpartition(b"\n")
    leaked = ["its output"] if CANARY.encode() in said.lower() else []
    stuck = ["nothing: it does not end"] if b"does not end" in said else []
    return Verdict(tuple(programs), tuple(sorted(read)), tuple(connected), (*leaked, *place.leaks(), *stuck))


def _leads_to(path: str, how: str) -> str:
    """Where an opening ends; one that does not follow a link fails at it."""
    if how:
        folder, name = os.path.split(path)
        return os.path.join(os.path.realpath(folder), name)
    return os.path.realpath(path)


def _may_run(path: str, words: str, place: Place) -> bool:
    real = os.path.realpath(path)
    if _is_below(real, [str(place.base)]) or not os.path.isabs(path):
        return False
    if os.path.basename(path) == "git":
        return all(f'"{option}"' in words for option in INERT)
    return real == os.path.realpath(sys.executable)


def _may_read(path: str, place: Place) -> bool:
    if (
        path in FILES
        or path in place.looked_at_by_git
        or PROCESS.fullmatch(path)
        or path.startswith(("pipe:", "socket:", "anon_inode:", "/memfd:", "/dev/shm/"))
    ):
        return True
    ours = [
        str(place.root),
        str(place.home),
        str(place.told),
        *PYTHON,
        str(ROOT),
        *SYSTEM,
        f"/tmp/upbeat-{os.getuid()}",
    ]
    return _is_below(path, ours) and not _is_device(path) and not path.startswith("/proc")


def _may_connect(what: str, place: Place) -> bool:
    """The private socket of a session's server only."""
    return "AF_UNIX" in what and "upbeat" in what


def _is_device(path: str) -> bool:
    """Whether a file of the repository that was opened is none that may be."""
    return not (os.path.isfile(path) or os.path.isdir(path) or not os.path.lexists(path))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
