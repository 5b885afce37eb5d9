"""What programs do to files and disks: which of their words are lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from ..shell import Command
from .harm import Grade, Harm, Harms, Here, arguments_of, options_of, split
from .places import Place, spots_of

_REMOVAL: Mapping[Place, tuple[str, Grade]] = {
    Place.SYSTEM: ("delete-system", Grade.DENY),
    Place.HOME: ("delete-home", Grade.DENY),
    Place.PROJECT: ("delete-project", Grade.DENY),
    Place.GIT: ("delete-history", Grade.DENY),
    Place.EMPTY: ("delete-if-empty", Grade.ASK),
    Place.OUTSIDE: ("delete-outside", Grade.ASK),
}
_LISTS = frozenset({"ls", "find", "fd", "echo", "printf", "du"})
_DEVICE = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|md\d|dm-)\w*")
_FILTERS = split(
    """-name -iname -path -ipath -wholename -regex -iregex -mtime -ctime -atime -mmin -cmin -amin -newer -size -empty
    -user -group -perm -maxdepth -prune -links -inum -samefile -xtype -newermt"""
)
_PATTERN = re.compile(r"[*?{]")
"""What picks files out by their names, which is meant: whole folders are written ``x/*``, and read as ``x``."""
_SETTINGS = re.compile(
    r"(?:~|/root|/home/[^/]+|/Users/[^/]+)/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|gitconfig|vimrc|netrc"
    r"|ssh/(?:config|authorized_keys|id_\w+|known_hosts)|aws/credentials|kube/config)"
    r"|/etc/(?:passwd|shadow|group|sudoers|fstab|hosts|crontab|ssh/sshd_config|resolv\.conf)"
)


def of_rm(command: Command, here: Here) -> Harms:
    """``rm -r`` and its kin."""
    options = options_of(command)
    targets = arguments_of(command.words[1:])
    if "--no-preserve-root" in options:
        yield Harm("delete-system", Grade.DENY, " ".join(targets))
    if not options & {"-r", "-R", "--recursive"}:
        return
    if "xargs" in command.wrappers and command.fed_by[:1] and command.fed_by[0] in _LISTS:
        yield from _of_list(command, here)
    yield from _removed(targets, command, here)


def of_rimraf(command: Command, here: Here) -> Harms:
    """Programs that always remove whole folders."""
    yield from _removed(arguments_of(command.words[1:]), command, here)


def of_unknown(command: Command, here: Here) -> Harms:
    """``$RM -rf /``: a program that nobody knows, with the words of one that removes."""
    if {"-r", "-f"} <= options_of(command):
        for harm in _removed(arguments_of(command.words[1:]), command, here):
            if harm.grade is Grade.DENY:
                yield Harm(harm.kind, Grade.ASK, harm.target)


def of_find(command: Command, here: Here) -> Harms:
    """``find … -delete`` and ``find … -exec rm``; one that chooses by name or age is not half as bad."""
    words = command.words
    removes = "-delete" in words or any(
        one in ("rm", "shred", "unlink") for flag, one in pairwise(words) if flag.startswith("-exec")
    )
    if not removes:
        return
    is_choosing = not _FILTERS.isdisjoint(words)
    roots: list[str] = []
    for word in words[1:]:
        if word.startswith(("-", "(", "!")) and word not in ("-L", "-H", "-P"):
            break
        roots += [] if word in ("-L", "-H", "-P") else [word]
    for harm in _removed(roots or ["."], command, here):
        if not is_choosing:
            yield harm
        elif harm.grade is Grade.DENY and harm.kind in ("delete-system", "delete-home"):
            yield Harm(harm.kind, Grade.ASK, harm.target)


def _of_list(command: Command, here: Here) -> Harms:
    """``ls … | xargs rm -rf``: what is listed is removed."""
    listed = command.fed_by
    if listed[0] in ("find", "fd"):
        yield from of_find(Command((*listed, "-delete"), folder=command.folder), here)
    else:
        yield from _removed(arguments_of(listed[1:]) or ((".",) if listed[0] == "ls" else ()), command, here)


def _removed(targets: Iterable[str], command: Command, here: Here) -> Harms:
    is_remote = "ssh" in command.wrappers
    for target in targets:
        for path, spot in spots_of(
            target, here, "/nowhere/remote" if is_remote and not command.folder else command.folder
        ):
            if spot.place is Place.INSIDE and not _PATTERN.search(spot.inside):
                yield Harm("delete-changes", Grade.ASK, path, spot.inside, only_tracked=True)
            elif spot.place in _REMOVAL and not (is_remote and not path.startswith(("/", "~", "$HOME"))):
                kind, grade = _REMOVAL[spot.place]
                yield Harm(kind, grade, path)


def of_chmod(command: Command, here: Here) -> Harms:
    """``chmod -R``, ``chown -R`` and ``chgrp -R`` of what is not the project's."""
    if not options_of(command) & {"-R", "--recursive"}:
        return
    arguments = arguments_of(command.words[1:])
    for target in arguments[1:]:
        for path, spot in spots_of(target, here, command.folder):
            if spot.place in (Place.SYSTEM, Place.HOME):
                yield Harm("rights", Grade.DENY, path)
            elif spot.place in (Place.PROJECT, Place.OUTSIDE) and arguments[0] in (
                "777",
                "0777",
                "000",
                "a+rwx",
                "a=rwx",
            ):
                yield Harm("rights", Grade.ASK, path)


def of_mv(command: Command, here: Here) -> Harms:
    """A folder that is moved away as a whole."""
    arguments = arguments_of(command.words[1:])
    for source in arguments[:-1]:
        for path, spot in spots_of(source, here, command.folder):
            if spot.place in (Place.SYSTEM, Place.HOME):
                yield Harm("move", Grade.DENY, path)
            elif arguments[-1] == "/dev/null" and spot.place is not Place.HARMLESS:
                yield Harm("delete-outside", Grade.ASK, path)


def of_rsync(command: Command, here: Here) -> Harms:
    """``--delete`` empties what it copies to of all that is not in what it copies from."""
    options = options_of(command)
    arguments = arguments_of(command.words[1:], frozenset({"-e", "--exclude", "--include", "--rsh"}))
    if arguments and any(one.startswith("--delete") for one in options) and not options & {"-n", "--dry-run"}:
        for harm in _removed(arguments[-1:], command, here):
            if harm.grade is Grade.DENY:
                yield harm


def of_shred(command: Command, here: Here) -> Harms:
    for target in arguments_of(command.words[1:], frozenset({"-n", "-s"})):
        is_harmless = any(spot.place is Place.HARMLESS for _path, spot in spots_of(target, here, command.folder))
        if _DEVICE.match(target):
            yield Harm("disk", Grade.DENY, target)
        elif not is_harmless:
            yield Harm("shred", Grade.ASK, target)


def of_dd(command: Command, _here: Here) -> Harms:
    for word in command.words[1:]:
        if word.startswith("of=") and _DEVICE.match(word[3:]):
            yield Harm("disk", Grade.DENY, word[3:])


def of_mkfs(command: Command, _here: Here) -> Harms:
    for word in arguments_of(command.words[1:], frozenset({"-t", "-L", "-n"})):
        if word.startswith("/dev/") and not word.startswith("/dev/loop"):
            yield Harm("disk", Grade.DENY, word)


def of_disk_tool(command: Command, _here: Here) -> Harms:
    """Tools that change disks unless they only list."""
    words = command.words
    if {"-l", "--list", "print", "list", "info", "-V", "--version"} & set(words[1:]):
        return
    device = next((word for word in words[1:] if _DEVICE.match(word)), "")
    if words[0] == "diskutil" and not re.match(r"(?i)erase|partition|reformat|zero", "".join(words[1:2])):
        return
    if device or words[0] == "diskutil":
        yield Harm("disk", Grade.DENY, device or " ".join(words[1:3]))


def of_volume_tool(command: Command, _here: Here) -> Harms:
    """``zpool destroy``, ``lvremove``, ``btrfs subvolume delete``."""
    words = command.words
    if words[0] in ("lvremove", "vgremove", "pvremove") or {"destroy", "luksFormat", "luksErase"} & set(words[1:2]):
        yield Harm("disk", Grade.DENY, " ".join(words[1:4]))
    elif words[0] == "btrfs" and words[1:3] == ("subvolume", "delete"):
        yield Harm("disk", Grade.DENY, " ".join(words[3:4]))


def of_redirects(command: Command, _here: Here) -> Harms:
    """``> /dev/sda``, and settings of the machine or its user that are emptied."""
    targets = [one.target for one in command.redirects if one.writes]
    if command.words[:1] == ("tee",) and "-a" not in command.words:
        targets += arguments_of(command.words[1:])
    for target in targets:
        if _DEVICE.match(target):
            yield Harm("disk", Grade.DENY, target)
        elif _SETTINGS.fullmatch(target.replace("${HOME}", "~").replace("$HOME", "~")):
            yield Harm("settings", Grade.ASK, target)
