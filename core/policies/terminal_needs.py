"""Which commands wait for somebody at a terminal, and what to do instead. Law: what works without one is none of them.

``less`` and ``more`` are none: into a pipe they print everything, as ``cat`` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..harm.harm import arguments_of, options_of, split
from ..shell import Command


class Kind(StrEnum):
    """Why a command waits."""

    EDITOR = "editor"
    SCREEN = "screen"
    GIT_EDITOR = "git editor"
    GIT_MESSAGE = "git message"
    GIT_TODO = "git todo"
    GIT_HUNKS = "git hunks"
    REPL = "repl"
    REMOTE = "remote"
    QUESTIONS = "questions"


@dataclass(frozen=True, slots=True)
class Need:
    """One command that waits. ``shown`` is what it is called, ``way`` the flag that helps, where there is one."""

    kind: Kind
    shown: str
    way: str = ""

    @property
    def is_mended(self) -> bool:
        """Whether an editor that does nothing is all that it needs."""
        return self.kind is Kind.GIT_EDITOR


Found = Need | None
Rule = Callable[[Command], Found]

MAX_LOOKED_AT = 20_000
"""Characters of a line that are looked at for words."""

_EDITORS = split("vim vi nvim gvim vimdiff nvimdiff view nano pico emacs emacsclient joe micro helix hx")
_SCREENS = split("htop btop nvtop lazygit gitui tig ranger mc nnn k9s lazydocker alsamixer passwd")
_SCRIPTED = split("-es -Es -e -E --headless --batch -batch --script -script --version --help -h --eval")
_REPLS: Mapping[str, str] = {
    "python": "-c -m -V -VV -h --version --help",
    "node": "-e -p -c -v -h --eval --print --check --version --help --test --run",
    "irb": "-v -h --version --help",
    "ghci": "-e --version --help",
    "psql": "-c -f -l --command --file --list --version --help -V",
    "mysql": "-e --execute --version --help -V",
    "mariadb": "-e --execute --version --help -V",
    "sqlite3": "-version -help -init -batch",
    "mongosh": "--eval -f --file --version --help",
}
"""REPL -> its options with which it is none."""
_WITH_FILES = split("python node irb mongosh ghci")
"""Those that run a file which is named."""
_PACKAGES: Mapping[str, tuple[frozenset[str], frozenset[str], str]] = {
    "apt": (split("install remove purge upgrade full-upgrade dist-upgrade autoremove build-dep"), split(
        "-y --yes --assume-yes --assume-no -q=2 -s --simulate --dry-run --just-print --no-act --print-uris"), "-y"),
    "dnf": (split("install remove erase update upgrade autoremove reinstall downgrade group"), split(
        "-y --assumeyes --assumeno"), "-y"),
    "pacman": (frozenset(), split("--noconfirm"), "--noconfirm"),
}  # fmt: skip


def need_of(command: Command) -> Found:
    """What ``command`` waits for; None when it ends by itself, is fed by a pipe, or nobody can tell."""
    if not command.words or command.words[0].startswith("$"):
        return None
    if "watch" in command.wrappers:
        return Need(Kind.SCREEN, "watch")
    program = command.words[0]
    if program in _EDITORS:
        return None if options_of(command) & _SCRIPTED or _SCRIPTED & set(command.words) else Need(Kind.EDITOR, program)
    if program in _SCREENS:
        return None if {"--version", "--help", "-V", "-h"} & set(command.words) or _is_fed(command) else (
            Need(Kind.SCREEN, program))  # fmt: skip
    rule = _RULES.get(re.sub(r"(?<=python)[\d.]+$", "", program))
    return rule(command) if rule else None


def _is_fed(command: Command) -> bool:
    """Whether somebody answers: a pipe, a here-document, a file."""
    return bool(command.fed_by or command.text) or any(one.operator.startswith("<") for one in command.redirects)


def _git(command: Command) -> Found:
    words = list(command.words[1:])
    while words and words[0].startswith("-"):
        if words[0] in ("-c", "--config-env") and words[1:2] and "editor" in words[1].lower():
            return None
        words = words[2 if words[0] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace") else 1 :]
    if not words or any("EDITOR=" in one for one in command.assignments):
        return None
    verb, rest = words[0], set(words[1:])
    shown = f"git {verb}"
    if verb in ("add", "checkout", "reset", "restore", "stash", "commit") and rest & {"-p", "--patch"}:
        return None if _is_fed(command) else Need(Kind.GIT_HUNKS, f"{shown} -p")
    if verb in ("add", "clean") and rest & {"-i", "--interactive"}:
        return None if _is_fed(command) else Need(Kind.GIT_HUNKS, f"{shown} -i")
    rule = {"commit": _commit, "rebase": _rebase, "tag": _tag, "config": _config}.get(verb)
    if rule:
        return rule(tuple(words[1:]))
    if verb in ("merge", "cherry-pick", "revert") and "--continue" in rest:
        return Need(Kind.GIT_EDITOR, f"{shown} --continue", "GIT_EDITOR=: git …")
    return None


def _letters(words: tuple[str, ...], with_value: str) -> set[str]:
    """The options of ``words``: long ones without their values, of ``-am x`` a and m."""
    found: set[str] = set()
    for word in words:
        if word == "--":
            break
        if word.startswith("--"):
            found.add(word.partition("=")[0])
            continue
        for letter in word[1:] if word.startswith("-") else "":
            found.add(letter)
            if letter in with_value:
                break
    return found


def _commit(words: tuple[str, ...]) -> Found:
    given = _letters(words, "mFCctuS")
    told = {"m", "F", "C", "--message", "--file", "--reuse-message", "--no-edit", "--dry-run", "h", "--help"}
    if not given & {"e", "--edit", "c", "--reedit-message"} and given & (told | {"--fixup", "--short", "--porcelain"}):
        return None
    if "--amend" in given or given & {"--squash", "c", "--reedit-message", "e", "--edit"}:
        way = "--no-edit" if "--amend" in given else "GIT_EDITOR=: git …"
        return Need(Kind.GIT_EDITOR, "git commit --amend" if "--amend" in given else "git commit", way)
    return Need(Kind.GIT_MESSAGE, "git commit", "-m 'TEXT', or --no-edit for a message that git has prepared")


def _rebase(words: tuple[str, ...]) -> Found:
    given = _letters(words, "xsXC")
    if given & {"i", "--interactive", "--edit-todo"}:
        if "--autosquash" in given:
            return Need(Kind.GIT_EDITOR, "git rebase -i --autosquash", "GIT_EDITOR=: git …")
        return Need(Kind.GIT_TODO, "git rebase -i")
    if "--continue" in given:
        return Need(Kind.GIT_EDITOR, "git rebase --continue", "GIT_EDITOR=: git …")
    return None


def _tag(words: tuple[str, ...]) -> Found:
    given = _letters(words, "mFun")
    if given & {"a", "s", "--annotate", "--sign"} and not given & {"m", "F", "--message", "--file", "l", "d", "v"}:
        return Need(Kind.GIT_MESSAGE, "git tag -a", "-m 'TEXT'")
    return None


def _config(words: tuple[str, ...]) -> Found:
    is_edit = bool({"-e", "--edit"} & set(words)) or words[:1] == ("edit",)
    return Need(Kind.EDITOR, "git config --edit") if is_edit else None


def _ssh(command: Command) -> Found:
    if _is_fed(command) or options_of(command) & split("-N -f -V -Q -O -G -W -T"):
        return None
    hosts = arguments_of(command.words[1:], _SSH_VALUES)
    return Need(Kind.REMOTE, "ssh") if len(hosts) == 1 else None


def _remote(command: Command) -> Found:
    is_none = _is_fed(command) or "-b" in command.words or len(command.words) < 2
    return None if is_none else Need(Kind.REMOTE, command.words[0])


def _repl(command: Command) -> Found:
    program = re.sub(r"[\d.]+$", "", command.words[0]) if command.words[0].startswith("python") else command.words[0]
    words = command.words[1:]
    if _is_fed(command) or any(_matches(word, _REPLS[program].split()) for word in words):
        return None
    named = [word for word in words if not word.startswith("-")]
    is_kept_open = program in ("python", "node") and words[:1] == ("-i",)
    if (program in _WITH_FILES and named and not is_kept_open) or (program == "sqlite3" and len(named) != 1):
        return None
    return Need(Kind.REPL, program)


def _matches(word: str, options: list[str]) -> bool:
    """``-c``, ``-cTEXT``, ``-Bc`` and ``--command=TEXT`` are all ``-c`` or ``--command``."""
    if word.startswith("--") or len(word) < 2 or word[0] != "-":
        return word.partition("=")[0] in options
    return word in options or any(f"-{letter}" in options for letter in word[1:])


def _packages(command: Command) -> Found:
    program = command.words[0]
    name = {"apt-get": "apt", "yum": "dnf"}.get(program, program)
    verbs, told, way = _PACKAGES[name]
    given = options_of(command)
    if _is_fed(command) or told & given or (name == "apt" and ("-qq" in command.words or "-y" in given)):
        return None
    verb = next((word for word in command.words[1:] if not word.startswith("-")), "")
    asks = verb in verbs or (name == "pacman" and bool(given & {"-S", "-R", "-U"}) and not given & {"-s", "-i"})
    return Need(Kind.QUESTIONS, f"{program} {verb}".strip(), way) if asks else None


def _init(command: Command) -> Found:
    words = command.words[1:]
    is_plain = words[:1] == ("init",) and all(word.startswith("-") for word in words[1:])
    if _is_fed(command) or not is_plain or {"-y", "--yes", "-h", "--help"} & set(words):
        return None
    return Need(Kind.QUESTIONS, f"{command.words[0]} init", "-y")


def _top(command: Command) -> Found:
    is_none = options_of(command) & split("-b -l -v -h --batch --version --help") or re.match(
        r"-?b", (*command.words, "", "")[1])  # fmt: skip
    return None if is_none else Need(Kind.SCREEN, "top", "top -b -n 1")


def _tmux(command: Command) -> Found:
    return (
        Need(Kind.SCREEN, "tmux attach") if command.words[1:2] in (("attach",), ("a",), ("attach-session",)) else None
    )


_SSH_VALUES = split("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w")
_RULES: Mapping[str, Rule] = {
    "git": _git,
    "ssh": _ssh,
    **dict.fromkeys(("sftp", "ftp", "telnet"), _remote),
    **dict.fromkeys(_REPLS, _repl),
    **dict.fromkeys(("apt", "apt-get", "dnf", "yum", "pacman"), _packages),
    **dict.fromkeys(("npm", "yarn"), _init),
    "top": _top,
    "tmux": _tmux,
}

_WORDS = re.compile(
    r"(?<![\w.-])(?:python[\d.]*|watch|"
    + "|".join(sorted(re.escape(word) for word in {*_EDITORS, *_SCREENS, *_RULES} - {"python"}))
    + r")(?![\w-])"
)


def may_need(line: str) -> bool:
    """Whether ``line`` has the name of a program in it that may wait: cheap, and often wrong."""
    return _WORDS.search(line, 0, MAX_LOOKED_AT) is not None
