"""Hazards of programs that change files and disks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from upbeat.core import lazy_re as re
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
_DEVICE = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|md\d|dm-|ada\d|nvd\d|by-)\w*")
_EMPTY_SOURCE = re.compile(r"empty|blank|none|null|^/tmp/|^/var/tmp/|^/dev/shm/")
_FIND_FILTERS = word_set(
    """-name -iname -path -ipath -wholename -regex -iregex -mtime -ctime -atime -mmin -cmin -amin -newer -size -empty
    -user -group -perm -prune -links -inum -samefile -xtype -newermt"""
)
_EXTREME_MODES = frozenset({"777", "0777", "000", "a+rwx", "a=rwx"})
_REMOVERS = frozenset({"rm", "shred", "unlink", "truncate", "srm", "wipe", "rmdir"})
_SOURCE_FILES = re.compile(
    r"\*\.(?:[jt]sx?|py|go|rs|java|kt|c|cc|cpp|h|hpp|cs|rb|php|swift|scala|vue|svelte|md|sql|sh|\*)"
)
_WILDCARD = re.compile(r"[*?{]")
"""A name pattern is deliberate; whole folders are written ``x/*`` and read as ``x``."""
_SETTINGS_FILE = re.compile(
    r"(?:~|/root|/home/[^/]+|/Users/[^/]+)/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|gitconfig|vimrc|netrc"
    r"|ssh/(?:config|authorized_keys|id_\w+|known_hosts|\*)|aws/(?:credentials|config)|kube/config|gnupg/[^/]+|npmrc|pypirc"
    r"|docker/config\.json|config/gh/hosts\.yml|bash_history|zsh_history|git-credentials|pgpass)"
    r"|/proc/sysrq-trigger|/sys/(?:block|bus|class|firmware|power|devices)/.+|/boot/.+|/dev/(?:mem|kmem|port)"
    r"|/etc/(?:passwd|shadow|group|sudoers|fstab|hosts|crontab|ssh/sshd_config|resolv\.conf)"
)


def detect_rm(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``rm -r`` and equivalents."""
    options = options_of(command)
    targets = arguments_of(command.words[1:])
    if "--no-preserve-root" in options:
        yield Hazard("delete-system", Severity.DENY, " ".join(targets))
    yield from _detect_listed_removal(command, location)
    if options & {"-r", "-R"} or any(len(name) > 2 and "--recursive".startswith(name) for name in options):
        yield from _removal_hazards(targets, command, location)
    else:
        yield from detect_unlink(command, location)


def detect_unlink(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """Removal of single files: keys and settings of the user or the machine, files of the git history."""
    for target in arguments_of(command.words[1:]):
        for path, place in classify_word(target, location, command.working_dir):
            if _SETTINGS_FILE.fullmatch(_home_as_tilde(path)):
                yield Hazard("settings", Severity.ASK, path)
            elif place.path_class is PathClass.GIT or (
                place.path_class in (PathClass.HOME, PathClass.SYSTEM, PathClass.OUTSIDE) and "*" in path
            ):
                yield Hazard(
                    "delete-history" if place.path_class is PathClass.GIT else "delete-outside", Severity.ASK, path
                )
            elif place.path_class is PathClass.PROJECT and path.startswith(("$(", "`")):
                yield Hazard("delete-project", Severity.DENY, path)


def detect_rimraf(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """Programs that always remove whole folders."""
    if command.words[1:2] in (("list",), ("ls",), ("restore",), ("empty",)):
        return
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
    programs = {program.rpartition("/")[2] for flag, program in pairwise(words) if flag.startswith(("-exec", "-ok"))}
    changes_modes = not programs.isdisjoint(("chmod", "chown", "chgrp", "chattr"))
    if "-delete" not in words and not changes_modes and programs.isdisjoint(_REMOVERS):
        return
    is_choosing = any(word in _FIND_FILTERS and before not in ("!", "-not") for before, word in pairwise(("", *words)))
    roots: list[str] = []
    for word in words[1:]:
        if word.startswith(("-", "(", "!")) and word not in ("-L", "-H", "-P"):
            break
        roots += [] if word in ("-L", "-H", "-P") else [word]
    sources = [name for flag, name in pairwise(words) if flag in ("-name", "-iname") and _SOURCE_FILES.fullmatch(name)]
    for hazard in _removal_hazards(roots or ["."], command, location):
        if changes_modes:
            if hazard.kind in ("delete-system", "delete-home"):
                yield Hazard("permissions", Severity.ASK, hazard.target)
        elif not is_choosing and not (hazard.kind == "delete-outside" and not _FIND_FILTERS.isdisjoint(words)):
            yield hazard
        elif sources and hazard.kind in ("delete-project", "delete-changes"):
            yield Hazard("delete-changes", Severity.ASK, sources[0], hazard.lost_path or "", ignores_untracked=True)
        elif hazard.severity is Severity.DENY and hazard.kind in ("delete-system", "delete-home"):
            yield Hazard(hazard.kind, Severity.ASK, hazard.target)


def _detect_listed_removal(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``ls … | xargs rm -rf``: the listed paths are removed."""
    listed = command.piped_from
    if not {"xargs", "parallel"} & set(command.wrappers) or not listed:
        return
    if listed[0] == "find":
        yield from detect_find(SimpleCommand((*listed, "-delete"), working_dir=command.working_dir), location)
    elif listed[0] in ("fd", "fdfind"):
        yield from detect_fd(SimpleCommand((*listed, "-X", "rm"), working_dir=command.working_dir), location)
    elif listed[:2] == ("git", "ls-files"):
        yield from _removal_hazards(arguments_of(listed[2:]) or (".",), command, location)
    elif listed[0] in _LISTING_PROGRAMS:
        yield from _removal_hazards(
            arguments_of(listed[1:]) or ((".",) if listed[0] == "ls" else ()), command, location
        )


def detect_fd(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``fd PATTERN FOLDER -X rm``; one that filters by name or ending is less severe."""
    words = command.words
    at = next((at for at, word in enumerate(words) if word in ("-x", "-X", "--exec", "--exec-batch")), len(words))
    if words[at + 1 : at + 2] not in (("rm",), ("shred",), ("unlink",), ("truncate",)):
        return
    arguments = arguments_of(words[1:at], frozenset({"-e", "--extension", "-t", "--type", "-d", "--max-depth", "-E"}))
    if arguments[:1] in ((), (".",)) and not {"-e", "--extension", "--changed-before", "-S", "--size"} & set(words):
        yield from _removal_hazards(arguments[1:] or (".",), command, location)


def detect_archived(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """Archivers that remove what they have packed: ``tar --remove-files``, ``zip -m``, ``7z a -sdel``."""
    words, options = command.words, options_of(command)
    if not ({"--remove-files", "--move", "-sdel"} & {*options, *words} or (words[0] == "zip" and "-m" in options)):
        return
    arguments = arguments_of(words[1:], frozenset({"-C", "-f", "--file"}))
    for hazard in _removal_hazards(arguments[1:] if words[0] != "tar" else arguments, command, location):
        if hazard.kind != "delete-changes":
            yield hazard


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
    """``chmod -R``, ``chown -R`` and ``chgrp -R`` outside the project; open or no permissions of settings."""
    if not options_of(command) & {"-R", "--recursive"}:
        arguments = arguments_of(command.words[1:])
        for target in arguments[1:] if arguments[:1] and arguments[0] in _EXTREME_MODES else ():
            is_folder = target in ("/", "~", "$HOME", "/etc", "/usr", "/var", "/home", "/root")
            if is_folder or _SETTINGS_FILE.fullmatch(_home_as_tilde(target)):
                yield Hazard("permissions", Severity.ASK, target)
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
    yield from detect_replacing(command, location)
    arguments = arguments_of(command.words[1:])
    for source in arguments[:-1]:
        for path, place in classify_word(source, location, command.working_dir):
            if place.path_class in (PathClass.SYSTEM, PathClass.HOME):
                yield Hazard("move-system-path", Severity.DENY, path)
            elif place.path_class is PathClass.GIT:
                yield Hazard("delete-history", Severity.ASK, path)
            elif arguments[-1] == "/dev/null" and place.path_class is not PathClass.DISPOSABLE:
                yield Hazard("delete-outside", Severity.ASK, path)


def detect_rsync(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``--delete`` removes everything from the target that is not in the source."""
    options = options_of(command)
    arguments = arguments_of(command.words[1:], frozenset({"-e", "--exclude", "--include", "--rsh"}))
    if arguments and any(option.startswith("--delete") for option in options) and not options & {"-n", "--dry-run"}:
        is_empty = bool(_EMPTY_SOURCE.search(arguments[0]))
        for hazard in _removal_hazards(arguments[-1:], command, location):
            if hazard.severity is Severity.DENY or (is_empty and hazard.kind == "delete-outside"):
                yield hazard
    if "--remove-source-files" in options and not options & {"-n", "--dry-run"}:
        for hazard in _removal_hazards(arguments[:-1], command, location):
            if hazard.kind != "delete-changes":
                yield hazard


def detect_replacing(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """Programs that replace their last argument: ``cp``, ``mv``, ``ln -sf``, ``install``, ``sponge``."""
    arguments = arguments_of(command.words[1:], frozenset({"-m", "--mode", "-o", "-g", "-S", "-t"}))
    if len(arguments) > 1 or command.words[0] == "sponge":
        yield from detect_overwritten(arguments[-1])
        if arguments[0] == "/dev/null" and command.words[0] in ("cp", "ln", "install"):
            yield from detect_emptied(arguments[-1], command, location)


def detect_emptied(path: str, command: SimpleCommand, location: ShellLocation) -> Hazards:
    """A file outside of the project that loses its content."""
    for name, place in classify_word(path, location, command.working_dir):
        if place.path_class in (PathClass.SYSTEM, PathClass.HOME, PathClass.OUTSIDE) and not name.startswith("/dev/"):
            yield Hazard("settings", Severity.ASK, name)


def detect_truncate(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``truncate -s 0``."""
    if any(re.fullmatch(r"(?:--size=|-s)?0", word) for word in command.words[1:]):
        for path in arguments_of(command.words[1:], frozenset({"-s", "--size", "-r"})):
            yield from detect_emptied(path, command, location)


def detect_sed(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """``sed -i`` that deletes every line of a settings file."""
    if not any(word.startswith(("-i", "--in-place")) for word in command.words):
        return
    arguments = arguments_of(command.words[1:], frozenset({"-e"}))
    if arguments and re.fullmatch(r"d|1,\$\s*d|/\.?\*?/d|2,\$\s*d", arguments[0]):
        for path in arguments[1:]:
            yield from detect_overwritten(path)


def detect_shred(command: SimpleCommand, location: ShellLocation) -> Hazards:
    yield from _detect_listed_removal(command, location)
    for target in arguments_of(command.words[1:], frozenset({"-n", "-s"})):
        is_harmless = any(
            place.path_class is PathClass.DISPOSABLE
            for _path, place in classify_word(target, location, command.working_dir)
        )
        if _DEVICE.match(target):
            yield Hazard("disk", Severity.DENY, target)
        elif not is_harmless:
            yield Hazard("shred", Severity.ASK, target)


def detect_dd(command: SimpleCommand, location: ShellLocation) -> Hazards:
    for word in command.words[1:]:
        if word.startswith("of="):
            yield from detect_overwritten(word[3:])
            if "if=/dev/null" in command.words:
                yield from detect_emptied(word[3:], command, location)


def detect_mkfs(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    for word in arguments_of(command.words[1:], frozenset({"-t", "-L", "-n"})):
        if word.startswith("/dev/") and not word.startswith("/dev/loop"):
            yield Hazard("disk", Severity.DENY, word)


def detect_disk_tool(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """Tools that change disks unless they only list."""
    words = command.words
    if {"-l", "--list", "print", "list", "info", "-V", "--version", "-p", "-i", "-I", "-t", "-T", "-tT", "-v"} & set(
        words[1:]
    ):
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
        yield from detect_overwritten(target)


def detect_overwritten(path: str) -> Hazards:
    """A file that is replaced: a disk, or settings of the machine or the user."""
    if _DEVICE.match(path):
        yield Hazard("disk", Severity.DENY, path)
    elif _SETTINGS_FILE.fullmatch(_home_as_tilde(path)):
        yield Hazard("settings", Severity.ASK, path)


def _home_as_tilde(path: str) -> str:
    return path.replace("${HOME}", "~").replace("$HOME", "~")
