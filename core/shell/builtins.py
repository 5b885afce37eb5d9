"""What the shell's own commands do to the ways through a line (``paths``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import replace
from upbeat.core.shell.expand import FAILED, JOB, UNKNOWN, join_path
from upbeat.core.shell.paths import (
    Frame,
    Invocation,
    Paths,
    Resolver,
    Script,
    State,
    Trace,
    compare_status,
    either,
    outcomes,
    with_variable,
)
from upbeat.core.shell.syntax import Words

_LEAVES = re.compile(r"\b(?:exit|return|logout|exec)\b")


class Runner(Protocol):
    """The shell that a built-in command runs in."""

    root: str
    resolve: Resolver | None

    def run_script(self, script: Script, state: State, trace: Trace, frame: Frame | None) -> Paths:
        """Run a script."""


Builtin = Callable[[Runner, Words, State, Trace, Frame], Paths]


def apply_set(state: State, words: Words) -> State:
    """Apply the options of ``set -euo pipefail`` and similar commands."""
    for at, word in enumerate(words):
        if not word.startswith(("-", "+")) or word.startswith("--"):
            continue
        on = word.startswith("-")
        if "e" in word[1:]:
            state = replace(state, errexit=on)
        if word.endswith("o") and at + 1 < len(words):
            if words[at + 1] == "pipefail":
                state = replace(state, pipefail=on)
            if words[at + 1] == "errexit":
                state = replace(state, errexit=on)
    return state


def _set(_shell: Runner, words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    state = apply_set(state, words[1:])
    if any(re.fullmatch(r"-[a-z]*n[a-z]*", word) for word in words[1:]):
        state = replace(state, is_opaque=True)
    if "--" in words:
        state = replace(state, positional=words[words.index("--") + 1 :])
    return {replace(state, status="0"): trace}


def _succeed(_shell: Runner, _words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    return {replace(state, status="0"): trace}


def _fail(_shell: Runner, _words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    return {replace(state, status=FAILED): trace}


def _either(_shell: Runner, _words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    return either(state, trace)


def _give_up(_shell: Runner, words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    """Other commands may mean something else from here on."""
    if words[0] == "hash" and "-p" not in words:
        return either(state, trace)
    return {replace(state, is_opaque=True): trace}


def _leave(_shell: Runner, words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    """``exit``, ``return``, ``break`` and ``continue``."""
    control = {"logout": "exit"}.get(words[0], words[0])
    state = replace(state, control=control)
    if control in ("break", "continue"):
        return {replace(state, status="0"): trace}
    code = words[1] if len(words) > 1 else state.status
    if code == FAILED or (code.isdecimal() and int(code) % 256):
        return {replace(state, status=FAILED): trace}
    return {replace(state, status="0"): trace} if code.isdecimal() else either(state, trace)


def _cd(_shell: Runner, words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    named = [word for word in words[1:] if not re.fullmatch(r"-[LPe@]+|--", word)]
    target = named[0] if named else "~"
    is_searched = "CDPATH" in dict(state.variables) and not target.startswith(("/", "."))
    is_unknown = target.startswith(("-", "~", "+")) or words[0] == "popd" or is_searched
    cwd = UNKNOWN if is_unknown else join_path(state.cwd, target)
    # Where it fails, what follows runs elsewhere; that both ways name the same folder keeps the commands the same.
    return {replace(state, status=status, cwd=cwd): trace for status in ("0", FAILED)}


def _test(_shell: Runner, words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    operands = words[1:-1] if words[-1] == "]" else words[1:]
    return outcomes(state, trace, compare_status(operands))


def _source(shell: Runner, words: Words, state: State, trace: Trace, frame: Frame) -> Paths:
    """Run a file in this shell; one that cannot be read may redefine anything."""
    note = Invocation(("source", *words[1:]), words, state.cwd)
    scripts = shell.resolve(note) if shell.resolve else ()
    if scripts is None:
        return {replace(state, is_opaque=True): trace}
    paths: Paths = {replace(state, status="0"): trace, replace(state, status=FAILED): trace}
    for script in scripts:
        paths = shell.run_script(script, state, trace, frame)
    return paths


def _eval(shell: Runner, words: Words, state: State, trace: Trace, frame: Frame) -> Paths:
    text = " ".join(words[1:])
    if UNKNOWN in text:
        return {replace(state, is_opaque=True): trace}
    return shell.run_script(Script(text, state.cwd, path=frame.script.path), state, trace, frame)


def _trap(_shell: Runner, words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    """A trap keeps the exit code unless it exits itself."""
    text = words[1] if len(words) > 2 else ""
    functions = dict(state.functions)
    bodies = [text, *((functions[name].text or b"").decode() for name in text.split() if name in functions)]
    hides = UNKNOWN in text or any(_LEAVES.search(body) for body in bodies)
    return {replace(state, status="0", is_opaque=state.is_opaque or hides): trace}


def _wait(_shell: Runner, words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    """``wait`` is 0; ``wait $!`` and ``wait %1`` exit as the job, with several as the last."""
    last = words[-1]
    number = last[1:] if last.startswith(JOB) else str(int(last[1:]) - 1) if re.fullmatch(r"%[1-9]", last) else ""
    status = "0" if len(words) == 1 else state.jobs[int(number)] if number and int(number) < len(state.jobs) else ""
    return either(state, trace) if status not in ("0", FAILED) else {replace(state, status=status): trace}


def _shift(_shell: Runner, words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    count = int(words[1]) if len(words) > 1 and words[1].isdecimal() else 1
    return {replace(state, status="0", positional=state.positional[count:]): trace}


def _read(_shell: Runner, words: Words, state: State, trace: Trace, _frame: Frame) -> Paths:
    for name in words[1:]:
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            state = with_variable(state, name, UNKNOWN)
    return either(state, trace)


BUILTINS: Mapping[str, Builtin] = {
    **dict.fromkeys((":", "true", "echo", "printf", "umask", "shopt", "setopt", "unset", "times"), _succeed),
    **dict.fromkeys(("ulimit", "jobs", "getopts", "let", "type", "sleep", "disown"), _either),
    **dict.fromkeys(("alias", "enable", "hash", "unalias"), _give_up),
    **dict.fromkeys(("exit", "return", "logout", "break", "continue"), _leave),
    **dict.fromkeys(("cd", "pushd", "popd", "chdir"), _cd),
    **dict.fromkeys(("test", "["), _test),
    **dict.fromkeys(("source", "."), _source),
    "false": _fail,
    "set": _set,
    "eval": _eval,
    "trap": _trap,
    "wait": _wait,
    "shift": _shift,
    "read": _read,
    "mapfile": _read,
}
