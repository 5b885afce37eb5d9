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
    *("/usr/lib", "/lib", "/lib64", "/usr/local/lib"),
    *("/usr/share/locale", "/usr/share/zoneinfo", "/usr/share/git-core"),
)
FILES = {
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/locale.alias", "/etc/gitconfig", "/etc/group"),
    *("/etc/nsswitch.conf", "/etc/passwd", "/etc/os-release", "/etc/ssl/openssl.cnf", "/etc/mime.types"),
    *("/dev/null", "/dev/urandom", "/proc", "/proc/meminfo", "/proc/cpuinfo", "/proc/filesystems", "/proc/stat"),
}
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

    def sentences(self) -> list[str]:
        """Return one sentence for each."""
        kinds = {"ran": self.programs, "read": self.read, "connected to": self.connected, "leaked into": self.leaked}
        return [f"{kind} {what}" for kind, observed in kinds.items() for what in observed]


def judge(place: Place, seen: Seen) -> Verdict:
    """Return what processes did that is not on the list, by what the operating system says."""
    programs = [f"{path} {words[:120]}" for path, words in seen.programs if not _may_run(path, words, place)]
    connected = [socket for socket in seen.connected if not ("AF_UNIX" in socket and "upbeat" in socket)]
    read = {path for path in seen.opened if not _may_read(path, place)}
    return _verdict(place, programs, read, connected, seen.output)


def judge_inside(place: Place, number: int) -> Verdict:
    """Return the same for entry point ``number``, by what ``inside.py`` noted.

    A relative path may belong to any folder, and is left to strace.
    """
    programs: list[str] = []
    read: set[str] = set()
    connected: list[str] = []
    for line in (place.log / f"{number}.log").read_text().splitlines():
        kind, what, words = json.loads(line)
        if kind == "run" and not _may_run(what, words, place):
            programs.append(f"{what} {words[:120]}")
        elif kind == "open" and os.path.isabs(what) and not _may_read(_leads_to(what, words), place):
            read.add(what)
        elif kind == "import" and _is_below(os.path.realpath(what), [str(place.base)]):
            programs.append(f"{what} (imported)")
        elif kind == "connect" and "upbeat" not in what:
            connected.append(what)
    return _verdict(place, programs, read, connected, (place.log / f"{number}.out").read_bytes())


def _verdict(place: Place, programs: list[str], read: set[str], connected: list[str], output: bytes) -> Verdict:
    """Return all of that with the marks, the home and the output looked at as well."""
    programs += [f"{name} (it left its mark)" for name in place.sprung()]
    leaked = ["its output"] if CANARY.encode() in output.lower() else []
    stuck = ["nothing: it does not end"] if b"does not end" in output else []
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
    ours = [*map(str, (place.root, place.home, place.log, ROOT)), *PYTHON, *SYSTEM, f"/tmp/upbeat-{os.getuid()}"]
    return _is_below(path, ours) and not _is_device(path) and not path.startswith("/proc")


def _is_device(path: str) -> bool:
    """Whether a file of the repository that was opened is none that may be."""
    return not (os.path.isfile(path) or os.path.isdir(path) or not os.path.lexists(path))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
