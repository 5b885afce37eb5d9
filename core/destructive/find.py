"""Find everything that a shell line would destroy, the most severe first.

A line that cannot be parsed but looks destructive is asked about. Work that the line itself has committed or stashed is
not lost by its later commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from upbeat.core.destructive import files, git, services
from upbeat.core.destructive.hazard import Hazard, Hazards, Severity, ShellLocation
from upbeat.core.lazy_dataclass import replace
from upbeat.core.package_data import load_toml
from upbeat.core.shell import SimpleCommand, parse_commands
from upbeat.core.shell.commands import SIZE_GAP, SYNTAX_GAP

HazardDetector = Callable[[SimpleCommand, ShellLocation], Hazards]

MAX_SCANNED_CHARS = 20_000

_LINES = load_toml(__package__, "destructive_lines.toml")
_REQUIRED_SUBSTRINGS: tuple[str, ...] = tuple(_LINES["substrings"])
_DESTRUCTIVE_WORDS = re.compile("".join(_LINES["words"]))
_FORK_BOMB = re.compile(r"([\w:]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;?\s*\1")
_DESTRUCTIVE_TEXT = re.compile("".join(_LINES["texts"]))

HAZARD_DETECTORS: Mapping[str, HazardDetector] = {
    **services.SERVICE_DETECTORS,
    "rm": files.detect_rm,
    "grm": files.detect_rm,
    "rimraf": files.detect_rimraf,
    "del-cli": files.detect_rimraf,
    "find": files.detect_find,
    "fd": files.detect_find,
    **dict.fromkeys(("chmod", "chown", "chgrp"), files.detect_chmod),
    "mv": files.detect_mv,
    "rsync": files.detect_rsync,
    "shred": files.detect_shred,
    "dd": files.detect_dd,
    **dict.fromkeys(("mkfs", "mke2fs", "mkswap", "wipefs", "blkdiscard", "newfs"), files.detect_mkfs),
    **dict.fromkeys(("fdisk", "parted", "sfdisk", "sgdisk", "gdisk", "diskutil", "hdparm"), files.detect_disk_tool),
    **dict.fromkeys(
        ("zpool", "zfs", "lvremove", "vgremove", "pvremove", "btrfs", "cryptsetup"), files.detect_volume_tool
    ),
    "git": git.detect_git,
}


@lru_cache(maxsize=32)
def find_hazards(line: str, location: ShellLocation) -> tuple[Hazard, ...]:
    """Return what ``line`` would destroy at ``location``, the most severe first, without duplicates. Never raises."""
    if not any(needle in line for needle in _REQUIRED_SUBSTRINGS):
        return ()
    if not _DESTRUCTIVE_WORDS.search(line, 0, MAX_SCANNED_CHARS):
        return ()
    hazards = dict.fromkeys(_detect_hazards(line, location))
    return tuple(sorted(hazards, key=lambda hazard: hazard.severity is not Severity.DENY))


def _detect_hazards(line: str, location: ShellLocation) -> Iterator[Hazard]:
    scanned = line[:MAX_SCANNED_CHARS]
    if _FORK_BOMB.search(scanned):
        yield Hazard("fork-bomb", Severity.DENY, "fork bomb")
    parsed = parse_commands(line)
    is_saved = False
    for command in parsed.items:
        for hazard in _detect_in_command(command, location):
            if is_saved and hazard.lost_path is not None:
                hazard = replace(hazard, severity=hazard.severity_if_clean, lost_path=None)
            if hazard.severity is Severity.DENY and SYNTAX_GAP in parsed.gaps:
                hazard = replace(hazard, severity=Severity.ASK)
            yield hazard
        is_saved = is_saved or (command.words[:1] == ("git",) and git.leaves_clean_tree(command))
    if {SYNTAX_GAP, SIZE_GAP} & set(parsed.gaps) and (match := _DESTRUCTIVE_TEXT.search(scanned)):
        yield Hazard("unparsed", Severity.ASK, match[0].strip()[:80])


def _detect_in_command(command: SimpleCommand, location: ShellLocation) -> Iterator[Hazard]:
    program = command.words[0] if command.words else ""
    if detect := HAZARD_DETECTORS.get(program):
        yield from detect(command, location)
    elif program.startswith("mkfs."):
        yield from files.detect_mkfs(command, location)
    elif "$" in program:
        yield from files.detect_unknown_program(command, location)
    elif program in ("npx", "shx") and command.words[1:2] == ("rm",):
        yield from files.detect_rm(replace(command, words=command.words[1:]), location)
    if program in services.INTERPRETERS or program in ("eval", "source", "."):
        yield from services.detect_downloaded_script(command, location)
    if command.redirects or program == "tee":
        yield from files.detect_redirects(command, location)
