"""Hazards of programs that change files and disks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from upbeat.core.destructive.hazard import Hazard, Hazards, Severity, ShellLocation, arguments_of, options_of, word_set
from upbeat.core.destructive.paths import PathClass, classify_word
from upbeat.core.shell import SimpleCommand

_REMOVAL_HAZARDS: Mapping[PathClass, tuple[str, Severity]] = {
    PathClass.SYSTEM: ("delete-system", Severity.DENY),
    PathClass.HOME: ("delete-home", Severity.DENY),
    PathClass.PROJECT: ("delete-project", Severity.DENY),
    PathClass.GIT: ("delete-history", Severity.DENY),
    PathClass.EMPTY_VARIABLE: ("delete-if-empty", Severity.ASK),
    PathClass.OUTSIDE: ("delete-outside", Severity.ASK),
}
_LISTING_PROGRAMS = frozenset({"ls", "find", "fd", "echo", "printf", "du"})
_DEVICE = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|md\d|dm-)\w*")
_FIND_FILTERS = word_set(
    """-name -iname -path -ipath -wholename -regex -iregex -mtime -ctime -atime -mmin -cmin -amin -newer -size -empty
    -user -group -perm -maxdepth -prune -links -inum -samefile -xtype -newermt"""
)
_EXTREME_MODES = frozenset({"777", "0777", "000", "a+rwx", "a=rwx"})
_WILDCARD = re.compile(r"[*?{]")
"""A name pattern is deliberate; whole folders are written ``x/*`` and read as ``x``."""
_SETTINGS_FILE = re.compile(
    r"(?:~|/root|/home/[^/]+|/Users/[^/]+)/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|gitconfig|vimrc|netrc"
    r"|ssh/(?:config|authorized_keys|id_\w+|known_hosts)|aws/credentials|kube/config)"
    r"|/etc/(?:passwd|shadow|group|sudoers|fstab|hosts|crontab|ssh/sshd_config|resolv\.conf)"
)


def detect_rm(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``rm -r`` and equivalents."""
    options = options_of(command)
    targets = arguments_of(command.words[1:])
    if "--no-preserve-root" in options:
        yield Hazard("delete-system", Severity.DENY, " ".join(targets))
    if not options & {"-r", "-R", "--recursive"}:
        return
    if "xargs" in command.wrappers and command.piped_from[:1] and command.piped_from[0] in _LISTING_PROGRAMS:
        yield from _detect_listed_removal(command, location)
    yield from _removal_hazards(targets, command, location)


def detect_rimraf(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """Programs that always remove whole folders."""
    yield from _removal_hazards(arguments_of(command.words[1:]), command, location)


def detect_unknown_program(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``$RM -rf /``: an unknown program with the arguments of a removal."""
    if {"-r", "-f"} <= options_of(command):
        for hazard in _removal_hazards(arguments_of(command.words[1:]), command, location):
            if hazard.severity is Severity.DENY:
                yield Hazard(hazard.kind, Severity.ASK, hazard.target)


def detect_find(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``find … -delete`` and ``find … -exec rm``; one that filters by name or age is less severe."""
    words = command.words
    removes = "-delete" in words or any(
        program in ("rm", "shred", "unlink") for flag, program in pairwise(words) if flag.startswith("-exec")
    )
    if not removes:
        return
    is_choosing = not _FIND_FILTERS.isdisjoint(words)
    roots: list[str] = []
    for word in words[1:]:
        if word.startswith(("-", "(", "!")) and word not in ("-L", "-H", "-P"):
            break
        roots += [] if word in ("-L", "-H", "-P") else [word]
    for hazard in _removal_hazards(roots or ["."], command, location):
        if not is_choosing:
            yield hazard
        elif hazard.severity is Severity.DENY and hazard.kind in ("delete-system", "delete-home"):
            yield Hazard(hazard.kind, Severity.ASK, hazard.target)


def _detect_listed_removal(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``ls … | xargs rm -rf``: the listed paths are removed."""
    listed = command.piped_from
    if listed[0] in ("find", "fd"):
        yield from detect_find(SimpleCommand((*listed, "-delete"), working_dir=command.working_dir), location)
    else:
        yield from _removal_hazards(
            arguments_of(listed[1:]) or ((".",) if listed[0] == "ls" else ()), command, location
        )


def _removal_hazards(targets: Iterable[str], command: SimpleCommand, location: ShellLocation) -> Hazards:
    is_remote = "ssh" in command.wrappers
    for target in targets:
        for path, place in classify_word(
            target, location, "/nowhere/remote" if is_remote and not command.working_dir else command.working_dir
        ):
            if place.path_class is PathClass.INSIDE and not _WILDCARD.search(place.relative_path):
                yield Hazard("delete-changes", Severity.ASK, path, place.relative_path, ignores_untracked=True)
            elif place.path_class in _REMOVAL_HAZARDS and not (is_remote and not path.startswith(("/", "~", "$HOME"))):
                kind, severity = _REMOVAL_HAZARDS[place.path_class]
                yield Hazard(kind, severity, path)


def detect_chmod(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``chmod -R``, ``chown -R`` and ``chgrp -R`` outside the project."""
    if not options_of(command) & {"-R", "--recursive"}:
        return
    arguments = arguments_of(command.words[1:])
    for target in arguments[1:]:
        for path, place in classify_word(target, location, command.working_dir):
            if place.path_class in (PathClass.SYSTEM, PathClass.HOME):
                yield Hazard("permissions", Severity.DENY, path)
            elif place.path_class in (PathClass.PROJECT, PathClass.OUTSIDE) and arguments[0] in _EXTREME_MODES:
                yield Hazard("permissions", Severity.ASK, path)


def detect_mv(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """Moving a whole system or home folder."""
    arguments = arguments_of(command.words[1:])
    for source in arguments[:-1]:
        for path, place in classify_word(source, location, command.working_dir):
            if place.path_class in (PathClass.SYSTEM, PathClass.HOME):
                yield Hazard("move-system-path", Severity.DENY, path)
            elif arguments[-1] == "/dev/null" and place.path_class is not PathClass.DISPOSABLE:
                yield Hazard("delete-outside", Severity.ASK, path)


def detect_rsync(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``--delete`` removes everything from the target that is not in the source."""
    options = options_of(command)
    arguments = arguments_of(command.words[1:], frozenset({"-e", "--exclude", "--include", "--rsh"}))
    if arguments and any(option.startswith("--delete") for option in options) and not options & {"-n", "--dry-run"}:
        for hazard in _removal_hazards(arguments[-1:], command, location):
            if hazard.severity is Severity.DENY:
                yield hazard


def detect_shred(command: SimpleCommand, location: ShellLocation) -> Hazards:
    for target in arguments_of(command.words[1:], frozenset({"-n", "-s"})):
        is_harmless = any(
            place.path_class is PathClass.DISPOSABLE
            for _path, place in classify_word(target, location, command.working_dir)
        )
        if _DEVICE.match(target):
            yield Hazard("disk", Severity.DENY, target)
        elif not is_harmless:
            yield Hazard("shred", Severity.ASK, target)


def detect_dd(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    for word in command.words[1:]:
        if word.startswith("of=") and _DEVICE.match(word[3:]):
            yield Hazard("disk", Severity.DENY, word[3:])


def detect_mkfs(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    for word in arguments_of(command.words[1:], frozenset({"-t", "-L", "-n"})):
        if word.startswith("/dev/") and not word.startswith("/dev/loop"):
            yield Hazard("disk", Severity.DENY, word)


def detect_disk_tool(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """Tools that change disks unless they only list."""
    words = command.words
    if {"-l", "--list", "print", "list", "info", "-V", "--version"} & set(words[1:]):
        return
    device = next((word for word in words[1:] if _DEVICE.match(word)), "")
    if words[0] == "diskutil" and not re.match(r"(?i)erase|partition|reformat|zero", "".join(words[1:2])):
        return
    if device or words[0] == "diskutil":
        yield Hazard("disk", Severity.DENY, device or " ".join(words[1:3]))


def detect_volume_tool(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """``zpool destroy``, ``lvremove``, ``btrfs subvolume delete``."""
    words = command.words
    if words[0] in ("lvremove", "vgremove", "pvremove") or {"destroy", "luksFormat", "luksErase"} & set(words[1:2]):
        yield Hazard("disk", Severity.DENY, " ".join(words[1:4]))
    elif words[0] == "btrfs" and words[1:3] == ("subvolume", "delete"):
        yield Hazard("disk", Severity.DENY, " ".join(words[3:4]))


def detect_redirects(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """``> /dev/sda``, and overwritten settings of the machine or the user."""
    targets = [redirect.target for redirect in command.redirects if redirect.is_overwrite]
    if command.words[:1] == ("tee",) and "-a" not in command.words:
        targets += arguments_of(command.words[1:])
    for target in targets:
        if _DEVICE.match(target):
            yield Hazard("disk", Severity.DENY, target)
        elif _SETTINGS_FILE.fullmatch(target.replace("${HOME}", "~").replace("$HOME", "~")):
            yield Hazard("settings", Severity.ASK, target)
