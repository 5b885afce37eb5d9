"""Everything that a shell line would destroy, the worst first.

What the line does not tell is no harm, unless it cannot even be parsed and looks like it: then nothing is certain, and
it is asked about. Work that the line itself
has committed or stashed before is not lost by what comes later in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from ..shell import Command, commands
from ..shell.commands import SIZE, SYNTAX
from . import files, git, services
from .harm import Grade, Harm, Harms, Here

Rule = Callable[[Command, Here], Harms]

MAX_LOOKED_AT = 20_000
"""Characters of a line that is looked at for words."""

_NEEDLES = (
    *("rm", "find", "git", "dd", "mkfs", "-R", "mv ", "rsync", "shred", "wipefs", "disk", "part", "destroy", "remove"),
    *("sql", "bq ", "mariadb", "cockroach", "click", "drop", "redis", "mongo", "reset", "flush", "fresh", "docker"),
    *("podman", "kubectl", "oc ", "k3s", "helm", "terra", "tofu", "pulumi", "aws ", "gcloud", "az ", "gs", "rclone"),
    *("heroku", "fly", "unpublish", "yank", "gh re", "shutdown", "reboot", "halt", "poweroff", "init ", "crontab"),
    *("kill", "user", "iptables", "ufw", "nft", "curl", "wget", "rimraf", "crypt", "btrfs", "zpool", "zfs", "tee"),
    *(
        "> /dev/",
        ">/dev/",
        "> ~",
        "> /etc",
        "> $HOME",
        "blkdiscard",
        "mkswap",
        "chmod",
        "chown",
        "apply",
        "-rf",
        "-fr",
        "(){",
        "() {",
    ),
)
_WORDS = re.compile(
    r"(?<![\w.-])(?:rm|rimraf|mkfs|dd|shred|wipefs|find|fd|xargs|rsync|mv|chmod|chown|chgrp|reset|clean|checkout|switch"
    r"|restore|stash|push|branch|reflog|gc|worktree|filter-\w+|update-ref|psql|mysql\w*|mariadb|sqlite3|sqlcmd|bq|duckdb"
    r"|cockroach|clickhouse-client|dropdb|redis-cli|mongo(?:sh)?|db:\w+|migrate|flush|reset_db|prune|volume|down|delete"
    r"|destroy|purge|uninstall|unpublish|yank|state|s3|terminate-\w+|delete-\w+|apps?:destroy|pg:reset|shutdown|reboot"
    r"|halt|poweroff|init|crontab|kill|userdel|deluser|iptables|ufw|nft|curl|wget|diskutil|parted|fdisk|sfdisk|sgdisk"
    r"|cryptsetup|lvremove|vgremove|pvremove|zpool|zfs|btrfs|blkdiscard|mkswap|hdparm|docker|podman|tee|apply|run-all)(?![\w])"
    r"|(?:mkfs\.|migrate:|>\s*(?:/dev/|~|/etc|\$HOME)|\$\w+\s+-\w*[rf])|\(\)\s*\{"
)
_FORK_BOMB = re.compile(r"([\w:]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;?\s*\1")
_LOOKS_LIKE_IT = re.compile(
    r"(?<![\w.-])rm\s+(?:-[\w-]+\s+)*-\w*[rR]\w*\s+(?:-[\w-]+\s+)*[\"']?(?:/|~|\$HOME|\$\{HOME\}|\.\.?/?|\*)[\"'*/]*(?:\s|$|;)"
    r"|\bmkfs(?:\.\w+)?\s+\S*/dev/|\bdd\b[^|;\n]{0,200}\bof=/dev/(?:sd|nvme|hd|vd|disk)|>\s*/dev/(?:sd|nvme|hd|vd)"
    r"|\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|push\s+(?:-f|--force)(?!-))|\bDROP\s+(?:DATABASE|SCHEMA)\b"
    r"|\bterraform\s+destroy\b|\bfind\s+/\s[^|;\n]{0,200}-delete\b"
)

RULES: Mapping[str, Rule] = {
    **services.RULES,
    "rm": files.of_rm,
    "grm": files.of_rm,
    "rimraf": files.of_rimraf,
    "del-cli": files.of_rimraf,
    "find": files.of_find,
    "fd": files.of_find,
    **dict.fromkeys(("chmod", "chown", "chgrp"), files.of_chmod),
    "mv": files.of_mv,
    "rsync": files.of_rsync,
    "shred": files.of_shred,
    "dd": files.of_dd,
    **dict.fromkeys(("mkfs", "mke2fs", "mkswap", "wipefs", "blkdiscard", "newfs"), files.of_mkfs),
    **dict.fromkeys(("fdisk", "parted", "sfdisk", "sgdisk", "gdisk", "diskutil", "hdparm"), files.of_disk_tool),
    **dict.fromkeys(("zpool", "zfs", "lvremove", "vgremove", "pvremove", "btrfs", "cryptsetup"), files.of_volume_tool),
    "git": git.of_git,
}


@lru_cache(maxsize=32)
def may_harm(line: str) -> bool:
    """Whether ``line`` has a word in it that could destroy something: cheap, and often wrong."""
    return any(needle in line for needle in _NEEDLES) and _WORDS.search(line, 0, MAX_LOOKED_AT) is not None


@lru_cache(maxsize=32)
def harms_of(line: str, here: Here) -> tuple[Harm, ...]:
    """What ``line``, run ``here``, would destroy, the worst first. Each harm once; never raises."""
    if not may_harm(line):
        return ()
    found = tuple(dict.fromkeys(_harms(line, here)))
    return tuple(sorted(found, key=lambda harm: harm.grade is not Grade.DENY))


def _harms(line: str, here: Here) -> Iterator[Harm]:
    looked_at = line[:MAX_LOOKED_AT]
    if _FORK_BOMB.search(looked_at):
        yield Harm("fork-bomb", Grade.DENY, "fork bomb")
    told = commands(line)
    is_saved = False
    for command in told.items:
        for harm in _of_command(command, here):
            if is_saved and harm.loses is not None:
                harm = replace(harm, grade=harm.else_grade, loses=None)
            yield replace(harm, grade=Grade.ASK) if harm.grade is Grade.DENY and SYNTAX in told.gaps else harm
        is_saved = is_saved or (command.words[:1] == ("git",) and git.saves(command))
    if {SYNTAX, SIZE} & set(told.gaps) and (found := _LOOKS_LIKE_IT.search(looked_at)):
        yield Harm("unparsed", Grade.ASK, found[0].strip()[:80])


def _of_command(command: Command, here: Here) -> Iterator[Harm]:
    program = command.words[0] if command.words else ""
    if rule := RULES.get(program):
        yield from rule(command, here)
    elif program.startswith("mkfs."):
        yield from files.of_mkfs(command, here)
    elif "$" in program:
        yield from files.of_unknown(command, here)
    elif program in ("npx", "shx") and command.words[1:2] == ("rm",):
        yield from files.of_rm(replace(command, words=command.words[1:]), here)
    if program in services.INTERPRETERS or program in ("eval", "source", "."):
        yield from services.of_fetched(command, here)
    if command.redirects or program == "tee":
        yield from files.of_redirects(command, here)
