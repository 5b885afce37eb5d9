"""Find everything that a shell line would destroy, the most severe first.

A line that cannot be parsed but looks destructive is asked about. Work that the line itself has committed or stashed is
not lost by its later commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from upbeat.core.destructive import files, git, services
from upbeat.core.destructive.hazard import Hazard, Hazards, Severity, ShellLocation
from upbeat.core.shell import SimpleCommand, parse_commands
from upbeat.core.shell.commands import SIZE_GAP, SYNTAX_GAP

HazardDetector = Callable[[SimpleCommand, ShellLocation], Hazards]

MAX_SCANNED_CHARS = 20_000

_REQUIRED_SUBSTRINGS = (
    *("rm", "find", "git", "dd", "mkfs", "-R", "mv ", "rsync", "shred", "wipefs", "disk", "part", "destroy", "remove"),
    *("sql", "bq ", "mariadb", "cockroach", "click", "drop", "redis", "mongo", "reset", "flush", "fresh", "docker"),
    *("podman", "kubectl", "oc ", "k3s", "helm", "terra", "tofu", "pulumi", "aws ", "gcloud", "az ", "gs", "rclone"),
    *("heroku", "fly", "unpublish", "yank", "gh re", "shutdown", "reboot", "halt", "poweroff", "init ", "crontab"),
    *("kill", "user", "iptables", "ufw", "nft", "curl", "wget", "rimraf", "crypt", "btrfs", "zpool", "zfs", "tee"),
    *("> /dev/", ">/dev/", "> ~", "> /etc", "> $HOME", "blkdiscard", "mkswap", "chmod", "chown", "apply", "-rf"),
    *("-fr", "(){", "() {"),
)
_DESTRUCTIVE_WORDS = re.compile(
    r"(?<![\w.-])(?:rm|rimraf|mkfs|dd|shred|wipefs|find|fd|xargs|rsync|mv|chmod|chown|chgrp|reset|clean|checkout|switch"
    r"|restore|stash|push|branch|reflog|gc|worktree|filter-\w+|update-ref|psql|mysql\w*|mariadb|sqlite3|sqlcmd|bq|duckdb"
    r"|cockroach|clickhouse-client|dropdb|redis-cli|mongo(?:sh)?|db:\w+|migrate|flush|reset_db|prune|volume|down|delete"
    r"|destroy|purge|uninstall|unpublish|yank|state|s3|terminate-\w+|delete-\w+|apps?:destroy|pg:reset|shutdown|reboot"
    r"|halt|poweroff|init|crontab|kill|userdel|deluser|iptables|ufw|nft|curl|wget|diskutil|parted|fdisk|sfdisk|sgdisk"
    r"|cryptsetup|lvremove|vgremove|pvremove|zpool|zfs|btrfs|blkdiscard|mkswap|hdparm|docker|podman|tee|apply|run-all)(?![\w])"
    r"|(?:mkfs\.|migrate:|>\s*(?:/dev/|~|/etc|\$HOME)|\$\w+\s+-\w*[rf])|\(\)\s*\{"
)
_FORK_BOMB = re.compile(r"([\w:]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;?\s*\1")
_DESTRUCTIVE_TEXT = re.compile(
    r"(?<![\w.-])rm\s+(?:-[\w-]+\s+)*-\w*[rR]\w*\s+(?:-[\w-]+\s+)*[\"']?(?:/|~|\$HOME|\$\{HOME\}|\.\.?/?|\*)[\"'*/]*(?:\s|$|;)"
    r"|\bmkfs(?:\.\w+)?\s+\S*/dev/|\bdd\b[^|;\n]{0,200}\bof=/dev/(?:sd|nvme|hd|vd|disk)|>\s*/dev/(?:sd|nvme|hd|vd)"
    r"|\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|push\s+(?:-f|--force)(?!-))|\bDROP\s+(?:DATABASE|SCHEMA)\b"
    r"|\bterraform\s+destroy\b|\bfind\s+/\s[^|;\n]{0,200}-delete\b"
)

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
