"""Which detector knows what a program destroys; the table of calls knows the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from upbeat.core.destructive import calls, files, git, services
from upbeat.core.destructive.hazard import Hazard, Hazards, ShellLocation
from upbeat.core.destructive.nested import TEXT_PROGRAMS
from upbeat.core.lazy_dataclass import replace
from upbeat.core.shell import SimpleCommand

HazardDetector = Callable[[SimpleCommand, ShellLocation], Hazards]

HAZARD_DETECTORS: Mapping[str, HazardDetector] = {
    **services.SERVICE_DETECTORS,
    "rm": files.detect_rm,
    "grm": files.detect_rm,
    **dict.fromkeys(("rimraf", "del-cli", "trash-cli", "trash", "trash-put", "srm", "wipe"), files.detect_rimraf),
    "unlink": files.detect_unlink,
    "find": files.detect_find,
    **dict.fromkeys(("fd", "fdfind"), files.detect_fd),
    **dict.fromkeys(("tar", "bsdtar", "gtar", "zip", "7z", "7za", "7zz"), files.detect_archived),
    **dict.fromkeys(("cp", "ln", "install", "sponge", "gcp"), files.detect_replacing),
    "truncate": files.detect_truncate,
    **dict.fromkeys(("sed", "gsed"), files.detect_sed),
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


def _script_program(words: tuple[str, ...]) -> str:
    """Return the program that an interpreter runs: ``console`` of ``php bin/console``."""
    is_interpreter = words[0] in ("php", "python", "python3", "node", "ruby")
    return words[1].rpartition("/")[2] if is_interpreter and not words[1].startswith("-") else ""


def detect_in_command(command: SimpleCommand, location: ShellLocation) -> Iterator[Hazard]:
    program = command.words[0]
    is_found = False
    detect = HAZARD_DETECTORS.get(program)
    for hazard in detect(command, location) if detect else ():
        is_found = True
        yield hazard
    if program.startswith("mkfs."):
        yield from files.detect_mkfs(command, location)
    elif "$" in program or "*" in program or "?" in program:
        yield from files.detect_unknown_program(command, location)
    elif program in ("npx", "shx") and command.words[1:2] == ("rm",):
        yield from files.detect_rm(replace(command, words=command.words[1:]), location)
    elif not is_found:
        yield from calls.detect_call(command, has_detector=detect is not None)
        if command.words[1:] and (script := _script_program(command.words)):
            yield from calls.detect_call(replace(command, words=(script, *command.words[2:])), has_detector=True)
    if detect is None or program in services.INTERPRETERS or program == "heroku":
        yield from services.detect_embedded_sql(command) if program not in TEXT_PROGRAMS else ()
    if program in services.INTERPRETERS or program in ("eval", "source", "."):
        yield from services.detect_downloaded_script(command, location)
