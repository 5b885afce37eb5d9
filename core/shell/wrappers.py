"""Programs that run another command, which stands in their words: ``sudo``, ``timeout 5``, ``npx``, ``bash -c``.

Law: tables of words; nothing here knows the grammar of the shell. What ``peel`` takes off ends as the program does that
it runs; what only ``runs`` knows may end otherwise, or run it often, later or elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

MAX_UNWRAPPED = 8
"""How many programs may wrap each other."""

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash"})

_WRAPPERS: dict[str, str] = {
    "time": "",
    "nice": "-n --adjustment",
    "ionice": "-c -n -p",
    "nohup": "",
    "command": "",
    "exec": "-a",
    "sudo": "-u -g -C -D -h -p -r -t -U --user --group",
    "doas": "-u -C",
    "stdbuf": "-i -o -e",
    "unbuffer": "",
    "caffeinate": "-t -w",
    "xvfb-run": "-n -s -e -f -p -w --server-args --server-num",
    "npx": "-p --package",
    "bunx": "",
    "pnpx": "",
    "uvx": "--from --with --python -p",
    "chronic": "",
    "env": "-u --unset -C --chdir",
}
"""Program -> its options that take a value of their own; the first other word is the program that it runs."""

_RUN_WORDS: dict[tuple[str, str], str] = {
    ("uv", "run"): "--with --python -p --extra --group --project --directory --package --env-file --with-requirements",
    ("uv", "tool"): "--from --with",
    ("poetry", "run"): "",
    ("pipenv", "run"): "",
    ("pdm", "run"): "-p --project",
    ("hatch", "run"): "",
    ("rye", "run"): "",
    ("pixi", "run"): "-e --environment --manifest-path",
    ("conda", "run"): "-n --name -p --prefix --cwd",
    ("mamba", "run"): "-n --name -p --prefix --cwd",
    ("bundle", "exec"): "",
    ("npm", "exec"): "-p --package -w --workspace",
    ("pnpm", "exec"): "--filter -F -C --dir",
    ("pnpm", "dlx"): "--package",
    ("yarn", "exec"): "",
    ("yarn", "dlx"): "-p --package",
    ("bun", "x"): "",
    ("mise", "exec"): "",
    ("mise", "x"): "",
    ("asdf", "exec"): "",
    ("direnv", "exec"): "",
    ("dotenv", "run"): "-f --file",
    ("rtx", "exec"): "",
    ("upbeat", "run"): "",
}
"""Program and word that run another command -> their options that take a value."""


def unwrap(words: Sequence[str]) -> tuple[str, ...]:
    """``words`` without what wraps the program; the program without its folders."""
    return peel(words)[0]


def peel(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``words`` without what wraps the program, and the programs that wrapped it, the outermost first."""
    left = list(words)
    wrappers: list[str] = []
    for _ in range(MAX_UNWRAPPED):
        while left and ASSIGNMENT.match(left[0]):
            left.pop(0)
        if not left:
            return (), tuple(wrappers)
        left[0] = left[0].rpartition("/")[2] or left[0]
        inner = _inner(left)
        if inner is None:
            return tuple(left), tuple(wrappers)
        wrappers.append(left[0])
        left = inner
    return (), tuple(wrappers)


def _inner(words: list[str]) -> list[str] | None:
    """The command that ``words`` wrap; None when they wrap none."""
    program, second = words[0], words[1] if len(words) > 1 else ""
    if program == "timeout":
        return after_options(words[1:], "-k --kill-after -s --signal")[1:]
    if (program, second) == ("direnv", "exec"):
        return words[3:]
    if (program, second) in _RUN_WORDS:
        return after_options(words[2:], _RUN_WORDS[program, second])
    if program == "command" and second in ("-v", "-V"):
        return None
    if program in _WRAPPERS and len(words) > 1:
        return after_options(words[1:], _WRAPPERS[program])
    return None


def after_options(words: Sequence[str], with_value: str) -> list[str]:
    """``words`` from the first that is no option on; ``with_value`` names the options that take a word of their own."""
    valued = with_value.split()
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
    """The script that ``bash -c SCRIPT`` runs, and whether it fails with any part of a pipe; None for others."""
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
class Runs:
    """What a program runs: commands as words, or a script. ``is_own``: and it does something itself."""

    commands: tuple[tuple[str, ...], ...] = ()
    script: str | None = None
    is_own: bool = False


def runs(words: Sequence[str]) -> Runs | None:
    """What ``words`` (peeled, not empty) run of what stands in them; None when that is nothing."""
    reader = _RUNNERS.get(words[0])
    found = reader(tuple(words)) if reader else None
    return found if found and (found.commands or found.script or found.is_own) else None


def _behind(with_value: str, skipped: int = 0) -> Callable[[tuple[str, ...]], Runs]:
    """A program that takes a command behind its options and ``skipped`` words, as words or as one text."""

    def read(words: tuple[str, ...]) -> Runs:
        rest = after_options(words[1:], with_value)[skipped:]
        if rest[:1] == ["-c"]:
            rest = rest[1:2]
        return Runs(script=rest[0]) if len(rest) == 1 else Runs((tuple(rest),) if rest else ())

    return read


def _joined(with_value: str, skipped: int = 0, *, is_own: bool = False) -> Callable[[tuple[str, ...]], Runs | None]:
    """A program that hands what stands behind its options and ``skipped`` words to a shell, with spaces between."""

    def read(words: tuple[str, ...]) -> Runs | None:
        rest = after_options(words[1:], with_value)[skipped:]
        return Runs(script=" ".join(rest), is_own=is_own) if rest else None

    return read


def _option(*options: str) -> Callable[[tuple[str, ...]], Runs | None]:
    """A program that takes a script behind one of ``options``."""

    def read(words: tuple[str, ...]) -> Runs | None:
        at = next((number for number, word in enumerate(words) if word in options), 0)
        return Runs(script=words[at + 1]) if at and at + 1 < len(words) else None

    return read


def _find(words: tuple[str, ...]) -> Runs | None:
    """``find … -exec COMMAND {} \\;``, as often as it stands there."""
    found: list[tuple[str, ...]] = []
    current: list[str] | None = None
    for word in words[1:]:
        if current is None:
            current = [] if word in _EXECUTES else None
        elif word in (";", "+"):
            found.append(tuple(current))
            current = None
        else:
            current.append(word)
    if current:
        found.append(tuple(current))
    return Runs(tuple(found), is_own=True) if found else None


def _trap(words: tuple[str, ...]) -> Runs | None:
    return Runs(script=words[1]) if len(words) > 2 and not words[1].startswith("-") else None


def _parallel(words: tuple[str, ...]) -> Runs | None:
    rest = after_options(words[1:], "-j --jobs -a -n -N -I -L")
    end = next((at for at, word in enumerate(rest) if word.startswith(":::")), len(rest))
    return Runs(script=" ".join(rest[:end])) if end else None


_EXECUTES = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_XARGS = (
    "-a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars "
    "--process-slot-var"
)
_SSH = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w"
_RUNNERS: Mapping[str, Callable[[tuple[str, ...]], Runs | None]] = {
    "eval": _joined(""),
    "xargs": _behind(_XARGS),
    "find": _find,
    "fd": _find,
    "fdfind": _find,
    "ssh": _joined(_SSH, 1, is_own=True),
    "su": _option("-c", "--command"),
    "runuser": _option("-c", "--command"),
    "watch": _joined("-n --interval"),
    "parallel": _parallel,
    "flock": _behind("-w --timeout -E", 1),
    "setsid": _behind(""),
    "builtin": _behind(""),
    "trap": _trap,
}
