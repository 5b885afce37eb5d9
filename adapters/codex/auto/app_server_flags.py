"""Flags of ``codex exec`` as ``codex app-server`` understands them.

Law: a flag that cannot be carried out is never dropped in silence; it is a reason to use ``codex exec`` instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_SHORT = {"-c": "--config", "-m": "--model", "-s": "--sandbox"}
_HANDED_ON = ("--config", "--enable", "--disable")
_ALONE = ("--strict-config",)
_PER_THREAD = {"--model": "model", "--sandbox": "sandbox"}
_NOT_NEEDED = ("--skip-git-repo-check",)
_WITHOUT_ASKING = ("--dangerously-bypass-approvals-and-sandbox", "--yolo")


@dataclass(frozen=True, slots=True)
class AppServerFlags:
    """``arguments`` stand behind ``codex app-server``, ``thread`` goes with the start of each thread.

    ``problem`` names the first flag that is not understood; the rest is then of no use.
    """

    arguments: tuple[str, ...] = ()
    thread: dict[str, str] = field(default_factory=dict)
    problem: str = ""


def translate(flags: Sequence[str]) -> AppServerFlags:
    """``flags`` of ``codex exec`` for the app-server."""
    arguments: list[str] = []
    thread: dict[str, str] = {}
    waiting = list(flags)
    while waiting:
        flag = waiting.pop(0)
        name, value, has_value = _split(flag)
        if name in (*_HANDED_ON, *_PER_THREAD) and not has_value:
            if not waiting:
                return AppServerFlags(problem=flag)
            value = waiting.pop(0)
        if name in _HANDED_ON:
            arguments += [name, value]
        elif name in _PER_THREAD:
            thread[_PER_THREAD[name]] = value
        elif flag in _ALONE:
            arguments.append(flag)
        elif flag in _WITHOUT_ASKING:
            thread |= {"approvalPolicy": "never", "sandbox": "danger-full-access"}
        elif flag not in _NOT_NEEDED:
            return AppServerFlags(problem=flag or "''")
    return AppServerFlags(tuple(arguments), thread)


def _split(flag: str) -> tuple[str, str, bool]:
    """The long name of ``flag``, its value, and whether the value stands in the same word."""
    if flag.startswith("--"):
        name, has_value, value = flag.partition("=")
        return name, value, bool(has_value)
    name, value = _SHORT.get(flag[:2], flag), flag[2:].removeprefix("=")
    return name, value, len(flag) > 2
