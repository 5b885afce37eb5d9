"""Which commands wait for input at a terminal, and the alternative. Invariant: no command that works without one.

``less`` and ``more`` do not wait: they print everything into a pipe, as ``cat`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from upbeat.core import lazy_re as re
from upbeat.core.destructive.hazard import arguments_of, options_of, word_set
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.package_data import load_toml
from upbeat.core.shell import SimpleCommand


class InteractionKind(StrEnum):
    """Why a command waits."""

    EDITOR = "editor"
    FULL_SCREEN = "screen"
    GIT_EDITOR = "git editor"
    GIT_MESSAGE = "git message"
    GIT_REBASE_TODO = "git todo"
    GIT_HUNKS = "git hunks"
    REPL = "repl"
    REMOTE_SHELL = "remote"
    CONFIRMATION = "questions"


@dataclass(frozen=True, slots=True)
class TtyRequirement:
    """One command that waits. ``command_name`` is shown, ``workaround`` is a flag that helps, if there is one."""

    kind: InteractionKind
    command_name: str
    workaround: str = ""

    @property
    def needs_only_editor(self) -> bool:
        """Whether an editor that does nothing is enough."""
        return self.kind is InteractionKind.GIT_EDITOR


TtyDetector = Callable[[SimpleCommand], TtyRequirement | None]

_DATA = load_toml(__package__, "tty_programs.toml")
_EDITOR_PROGRAMS, _FULL_SCREEN_PROGRAMS = word_set(_DATA["editors"]), word_set(_DATA["full_screen"])
_BATCH_OPTIONS = word_set(_DATA["batch_options"])
_REPLS: Mapping[str, str] = _DATA["repls"]
"""REPL -> its options that make it run and exit."""
_FILE_REPLS = word_set(_DATA["file_repls"])
"""REPLs that run a file argument."""
_PACKAGE_MANAGERS: Mapping[str, Mapping[str, str]] = _DATA["package_managers"]


def find_tty_requirement(command: SimpleCommand) -> TtyRequirement | None:
    """Return what ``command`` waits for; None if it exits by itself, reads a pipe, or is unknown."""
    if not command.words or command.words[0].startswith("$"):
        return None
    if "watch" in command.wrappers:
        return TtyRequirement(InteractionKind.FULL_SCREEN, "watch")
    program = command.words[0]
    if program in _EDITOR_PROGRAMS:
        is_batch = (options_of(command) | set(command.words)) & _BATCH_OPTIONS
        return None if is_batch else TtyRequirement(InteractionKind.EDITOR, program)
    if program in _FULL_SCREEN_PROGRAMS:
        exits = _has_input(command) or {"--version", "--help", "-V", "-h"} & set(command.words)
        return None if exits else TtyRequirement(InteractionKind.FULL_SCREEN, program)
    rule = _DETECTORS.get(re.sub(r"(?<=python)[\d.]+$", "", program))
    return rule(command) if rule else None


def _has_input(command: SimpleCommand) -> bool:
    """Return whether a pipe, a here-document or a file provides input."""
    return bool(command.piped_from or command.stdin_text) or any(
        redirect.operator.startswith("<") for redirect in command.redirects
    )


def _detect_git(command: SimpleCommand) -> TtyRequirement | None:
    words = list(command.words[1:])
    while words and words[0].startswith("-"):
        if words[0] in ("-c", "--config-env") and words[1:2] and "editor" in words[1].lower():
            return None
        words = words[2 if words[0] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace") else 1 :]
    if not words or any("EDITOR=" in assignment for assignment in command.assignments):
        return None
    verb, rest = words[0], set(words[1:])
    shown = f"git {verb}"
    if verb in ("add", "checkout", "reset", "restore", "stash", "commit") and rest & {"-p", "--patch"}:
        return None if _has_input(command) else TtyRequirement(InteractionKind.GIT_HUNKS, f"{shown} -p")
    if verb in ("add", "clean") and rest & {"-i", "--interactive"}:
        return None if _has_input(command) else TtyRequirement(InteractionKind.GIT_HUNKS, f"{shown} -i")
    rule = {"commit": _detect_commit, "rebase": _detect_rebase, "tag": _detect_tag, "config": _detect_config}.get(verb)
    if rule:
        return rule(tuple(words[1:]))
    if verb in ("merge", "cherry-pick", "revert") and "--continue" in rest:
        return TtyRequirement(InteractionKind.GIT_EDITOR, f"{shown} --continue", "GIT_EDITOR=: git …")
    return None


def _option_letters(words: tuple[str, ...], value_options: str) -> set[str]:
    """Return the options of ``words``: long ones without values, of ``-am x`` a and m."""
    options: set[str] = set()
    for word in words:
        if word == "--":
            break
        if word.startswith("--"):
            options.add(word.partition("=")[0])
            continue
        for letter in word[1:] if word.startswith("-") else "":
            options.add(letter)
            if letter in value_options:
                break
    return options


def _detect_commit(words: tuple[str, ...]) -> TtyRequirement | None:
    options = _option_letters(words, "mFCctuS")
    has_message = options & (
        word_set("m F C h --message --file --reuse-message --no-edit --dry-run --help")
        | {"--fixup", "--short", "--porcelain"}
    )
    opens_editor = options & {"e", "--edit", "c", "--reedit-message"}
    if has_message and not opens_editor:
        return None
    if "--amend" in options:
        return TtyRequirement(InteractionKind.GIT_EDITOR, "git commit --amend", "--no-edit")
    if opens_editor or "--squash" in options:
        return TtyRequirement(InteractionKind.GIT_EDITOR, "git commit", "GIT_EDITOR=: git …")
    return TtyRequirement(
        InteractionKind.GIT_MESSAGE, "git commit", "-m 'TEXT', or --no-edit for a message that git has prepared"
    )


def _detect_rebase(words: tuple[str, ...]) -> TtyRequirement | None:
    options = _option_letters(words, "xsXC")
    if options & {"i", "--interactive", "--edit-todo"}:
        if "--autosquash" in options:
            return TtyRequirement(InteractionKind.GIT_EDITOR, "git rebase -i --autosquash", "GIT_EDITOR=: git …")
        return TtyRequirement(InteractionKind.GIT_REBASE_TODO, "git rebase -i")
    if "--continue" in options:
        return TtyRequirement(InteractionKind.GIT_EDITOR, "git rebase --continue", "GIT_EDITOR=: git …")
    return None


def _detect_tag(words: tuple[str, ...]) -> TtyRequirement | None:
    options = _option_letters(words, "mFun")
    has_message = options & {"m", "F", "--message", "--file", "l", "d", "v"}
    if has_message or not options & {"a", "s", "--annotate", "--sign"}:
        return None
    return TtyRequirement(InteractionKind.GIT_MESSAGE, "git tag -a", "-m 'TEXT'")


def _detect_config(words: tuple[str, ...]) -> TtyRequirement | None:
    is_edit = bool({"-e", "--edit"} & set(words)) or words[:1] == ("edit",)
    return TtyRequirement(InteractionKind.EDITOR, "git config --edit") if is_edit else None


def _detect_ssh(command: SimpleCommand) -> TtyRequirement | None:
    if _has_input(command) or options_of(command) & word_set("-N -f -V -Q -O -G -W -T"):
        return None
    hosts = arguments_of(command.words[1:], _SSH_VALUES)
    return TtyRequirement(InteractionKind.REMOTE_SHELL, "ssh") if len(hosts) == 1 else None


def _detect_remote(command: SimpleCommand) -> TtyRequirement | None:
    is_none = _has_input(command) or "-b" in command.words or len(command.words) < 2
    return None if is_none else TtyRequirement(InteractionKind.REMOTE_SHELL, command.words[0])


def _detect_repl(command: SimpleCommand) -> TtyRequirement | None:
    program = re.sub(r"[\d.]+$", "", command.words[0]) if command.words[0].startswith("python") else command.words[0]
    words = command.words[1:]
    if _has_input(command) or any(_matches_option(word, _REPLS[program].split()) for word in words):
        return None
    named = [word for word in words if not word.startswith("-")]
    is_kept_open = program in ("python", "node") and words[:1] == ("-i",)
    if (program in _FILE_REPLS and named and not is_kept_open) or (program == "sqlite3" and len(named) != 1):
        return None
    return TtyRequirement(InteractionKind.REPL, program)


def _matches_option(word: str, options: list[str]) -> bool:
    """Return whether ``-c``, ``-cTEXT``, ``-Bc`` or ``--command=TEXT`` is one of ``options``."""
    if word.startswith("--") or len(word) < 2 or word[0] != "-":
        return word.partition("=")[0] in options
    return word in options or any(f"-{letter}" in options for letter in word[1:])


def _detect_package_manager(command: SimpleCommand) -> TtyRequirement | None:
    program = command.words[0]
    name = {"apt-get": "apt", "yum": "dnf"}.get(program, program)
    manager, options = _PACKAGE_MANAGERS[name], options_of(command)
    is_quiet = name == "apt" and "-qq" in command.words
    if is_quiet or _has_input(command) or options & word_set(manager["answers"]):
        return None
    verb = next((word for word in command.words[1:] if not word.startswith("-")), "")
    is_pacman_change = name == "pacman" and options & {"-S", "-R", "-U"} and not options & {"-s", "-i"}
    if not is_pacman_change and verb not in manager["verbs"].split():
        return None
    return TtyRequirement(InteractionKind.CONFIRMATION, f"{program} {verb}".strip(), manager["workaround"])


def _detect_init(command: SimpleCommand) -> TtyRequirement | None:
    words = command.words[1:]
    is_plain = words[:1] == ("init",) and all(word.startswith("-") for word in words[1:])
    if _has_input(command) or not is_plain or {"-y", "--yes", "-h", "--help"} & set(words):
        return None
    return TtyRequirement(InteractionKind.CONFIRMATION, f"{command.words[0]} init", "-y")


def _detect_top(command: SimpleCommand) -> TtyRequirement | None:
    is_batch = options_of(command) & word_set("-b -l -v -h --batch --version --help")
    if is_batch or "".join(command.words[1:2]).startswith("b"):
        return None
    return TtyRequirement(InteractionKind.FULL_SCREEN, "top", "top -b -n 1")


def _detect_tmux(command: SimpleCommand) -> TtyRequirement | None:
    is_attaching = command.words[1:2] in (("attach",), ("a",), ("attach-session",))
    return TtyRequirement(InteractionKind.FULL_SCREEN, "tmux attach") if is_attaching else None


_SSH_VALUES = word_set("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w")
_DETECTORS: Mapping[str, TtyDetector] = {
    "git": _detect_git,
    "ssh": _detect_ssh,
    **dict.fromkeys(("sftp", "ftp", "telnet"), _detect_remote),
    **dict.fromkeys(_REPLS, _detect_repl),
    **dict.fromkeys(("apt", "apt-get", "dnf", "yum", "pacman"), _detect_package_manager),
    **dict.fromkeys(("npm", "yarn"), _detect_init),
    "top": _detect_top,
    "tmux": _detect_tmux,
}

PROGRAM_PATTERN = re.compile(
    r"(?<![\w.-])(?:python[\d.]*|watch|"
    + "|".join(
        sorted(re.escape(word) for word in {*_EDITOR_PROGRAMS, *_FULL_SCREEN_PROGRAMS, *_DETECTORS} - {"python"})
    )
    + r")(?![\w-])"
)
"""Matches in every line that may wait; other lines need not be parsed."""
