"""Programs that run another command from their arguments: ``sudo``, ``timeout 5``, ``npx``, ``bash -c``.

Invariant: tables of words, without the grammar of the shell. A wrapper exits as the program that it runs; a program
that only ``runs`` others may exit otherwise, or run them repeatedly, later or elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.package_data import load_toml
from upbeat.core.shell.expand import UNKNOWN

MAX_WRAPPERS = 500
"""Maximum number of nested wrappers."""

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})

_OPTIONS: Mapping[str, Mapping[str, str]] = load_toml(__package__, "wrappers.toml")
_FOLDER_OPTIONS = frozenset({"-C", "--chdir", "--directory", "--cwd"})
"""Options of wrappers that name the folder to run in."""
_WRAPPERS, _SUBCOMMANDS, _RUNNER_OPTIONS = (_OPTIONS[table] for table in ("wrappers", "subcommands", "runners"))
_SKIPPING = _OPTIONS["skipping"]


def unwrap(words: Sequence[str]) -> tuple[str, ...]:
    """Return ``words`` without wrappers; the program without its folders."""
    return split_wrappers(words)[0]


def split_wrappers(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return ``words`` without wrappers, and the wrapping programs, the outermost first."""
    left = list(words)
    wrappers: list[str] = []
    for _ in range(MAX_WRAPPERS):
        while left and ASSIGNMENT.match(left[0]):
            left.pop(0)
        if not left:
            return (), tuple(wrappers)
        left[0] = left[0].rpartition("/")[2] or left[0]
        inner = _wrapped_command(left)
        if inner is None:
            return tuple(left), tuple(wrappers)
        wrappers.append(left[0])
        left = inner
    return (), tuple(wrappers)


@dataclass(frozen=True, slots=True)
class PeeledCommand:
    """The command inside one wrapper, the variables that the wrapper sets for it, and the folder if it changes that."""

    words: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: str = ""


def peel_wrapper(words: Sequence[str]) -> PeeledCommand | None:
    """Return the command that ``words`` wrap, if the outermost program is a wrapper."""
    plain = [words[0].rpartition("/")[2] or words[0], *words[1:]]
    if plain[0] == "xargs":  # its exit code is that of a command that fails
        inner: list[str] | None = skip_options(plain[1:], _RUNNER_OPTIONS["xargs"]) or None
    elif plain[:3] == ["uv", "tool", "run"] or plain[:2] == ["pipx", "run"]:
        inner = skip_options(plain[2 + (plain[0] == "uv") :], "--from --with --python -p --spec")
    else:
        inner = _wrapped_command(plain)
    if inner is None:
        return None
    options = plain[1 : len(plain) - len(inner)]
    folder = next((value for flag, value in pairwise([*options, ""]) if flag in _FOLDER_OPTIONS), "")
    folder = next((word.partition("=")[2] for word in options if word.partition("=")[0] in _FOLDER_OPTIONS
                   and "=" in word), folder)  # fmt: skip
    if plain[0] in ("sudo", "doas") and {"-i", "--login", "-D"} & set(options):
        folder = UNKNOWN  # a login shell begins in another home
    env: dict[str, str] = {}
    while inner and ASSIGNMENT.match(inner[0]):
        name, _, value = inner.pop(0).partition("=")
        env[name] = value
    return PeeledCommand(tuple(inner), tuple(env.items()), folder)


def _wrapped_command(words: list[str]) -> list[str] | None:
    """Return the command that ``words`` wrap; None if they wrap none."""
    program, second = words[0], words[1] if len(words) > 1 else ""
    subcommand = f"{program} {second}"
    if program in _SKIPPING:
        inner = skip_options(words[1:], _SKIPPING[program])[1:]
        return None if inner[:1] in (["-c"], ["--command"]) else inner
    if (program, second) == ("direnv", "exec"):
        return words[3:]
    if subcommand in ("mise exec", "mise x", "hatch env") and "--" in words:
        return words[words.index("--") + 1 :]
    if subcommand in _SUBCOMMANDS:
        return skip_options(words[2:], _SUBCOMMANDS[subcommand])
    if subcommand in ("rustup run", "nvm exec", "chamber exec", "aws-vault exec"):
        return skip_options(skip_options(words[2:], "")[1:], "")
    if program == "nix" and second in ("develop", "shell", "run"):
        at = next((at for at, word in enumerate(words) if word in ("-c", "--command")), len(words))
        return words[at + 1 :] or None
    if program == "command" and second in ("-v", "-V"):
        return None
    if program in _WRAPPERS and len(words) > 1:
        return skip_options(words[1:], _WRAPPERS[program])
    return None


def skip_options(words: Sequence[str], value_options: str) -> list[str]:
    """Return ``words`` from the first non-option on; ``value_options`` take a word of their own."""
    valued = value_options.split()
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return list(words[at + 1 :])
        if not word.startswith("-"):
            break
        at += 2 if word in valued else 1
    return list(words[at:])


def script_of(words: Sequence[str]) -> tuple[str, bool] | None:
    """Return the script of ``bash -c SCRIPT`` and whether ``pipefail`` is set; None for other commands."""
    if not words or words[0] not in SHELLS:
        return None
    for at, word in enumerate(words[1:], start=1):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word) and at + 1 < len(words):
            rest = [other for other in words[at + 1 :] if other != "pipefail"]
            options = words[1 : at + 1]
            has_pipefail = "pipefail" in words and any(other.endswith("o") for other in options)
            return (rest[0], has_pipefail) if rest else None
        if not word.startswith(("-", "+")) and word != "pipefail":
            return None
    return None


@dataclass(frozen=True, slots=True)
class NestedCommands:
    """What a program runs: commands as words, or a script. ``is_own``: the program also does something itself."""

    commands: tuple[tuple[str, ...], ...] = ()
    script: str | None = None
    has_own_effect: bool = False


def find_nested_commands(words: Sequence[str]) -> NestedCommands | None:
    """Return what the non-empty, unwrapped ``words`` run; None if nothing."""
    reader = _RUNNERS.get(words[0])
    found = reader(tuple(words)) if reader else None
    return found if found and (found.commands or found.script or found.has_own_effect) else None


def _runs_after_options(value_options: str, skipped: int = 0) -> Callable[[tuple[str, ...]], NestedCommands]:
    """A program that takes a command after its options and ``skipped`` words, as words or as one text."""

    def read(words: tuple[str, ...]) -> NestedCommands:
        rest = skip_options(words[1:], value_options)[skipped:]
        if rest[:1] == ["-c"]:
            rest = rest[1:2]
        return NestedCommands(script=rest[0]) if len(rest) == 1 else NestedCommands((tuple(rest),) if rest else ())

    return read


def _runs_joined_text(
    value_options: str, skipped: int = 0, *, has_own_effect: bool = False
) -> Callable[[tuple[str, ...]], NestedCommands | None]:
    """A program that passes the words after its options and ``skipped`` words to a shell, joined by spaces."""

    def read(words: tuple[str, ...]) -> NestedCommands | None:
        rest = skip_options(words[1:], value_options)[skipped:]
        return NestedCommands(script=" ".join(rest), has_own_effect=has_own_effect) if rest else None

    return read


def _runs_script_option(*options: str) -> Callable[[tuple[str, ...]], NestedCommands | None]:
    """A program that takes a script after one of ``options``."""

    def read(words: tuple[str, ...]) -> NestedCommands | None:
        at = next((number for number, word in enumerate(words) if word in options), 0)
        return NestedCommands(script=words[at + 1]) if at and at + 1 < len(words) else None

    return read


def _find_exec_commands(words: tuple[str, ...]) -> NestedCommands | None:
    """Each ``find … -exec COMMAND {} \\;``."""
    found: list[tuple[str, ...]] = []
    current: list[str] | None = None
    for word in words[1:]:
        if current is None:
            current = [] if word in _EXEC_OPTIONS else None
        elif word in (";", "+"):
            found.append(tuple(current))
            current = None
        else:
            current.append(word)
    if current:
        found.append(tuple(current))
    return NestedCommands(tuple(found), has_own_effect=True) if found else None


def _parallel_script(words: tuple[str, ...]) -> NestedCommands | None:
    rest = skip_options(words[1:], "-j --jobs -a -n -N -I -L")
    end = next((at for at, word in enumerate(rest) if word.startswith(":::")), len(rest))
    if "--dry-run" in words or "--dryrun" in words:
        return None
    given = [word for word in rest[end:] if not word.startswith(":::")]
    return NestedCommands(script=" ".join((*rest[:end], *given))) if end else None


_EXEC_OPTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_RUNNERS: Mapping[str, Callable[[tuple[str, ...]], NestedCommands | None]] = {
    "eval": _runs_joined_text(""),
    "xargs": _runs_after_options(_RUNNER_OPTIONS["xargs"]),
    "find": _find_exec_commands,
    "fd": _find_exec_commands,
    "fdfind": _find_exec_commands,
    "ssh": _runs_joined_text(_RUNNER_OPTIONS["ssh"], 1, has_own_effect=True),
    "su": _runs_script_option("-c", "--command"),
    "runuser": _runs_script_option("-c", "--command"),
    "watch": _runs_joined_text("-n --interval"),
    "parallel": _parallel_script,
    "hyperfine": lambda words: NestedCommands(script="\n".join(word for word in words[1:] if " " in word)),
    "flock": _runs_after_options("-w --timeout -E", 1),
    "setsid": _runs_after_options(""),
    "builtin": _runs_after_options(""),
    "trap": lambda words: NestedCommands(script=words[1]) if words[2:] and not words[1].startswith("-") else None,
}
