"""Translate flags of ``codex exec`` for ``codex app-server``.

Invariant: an unsupported flag is never dropped silently; it is a reason to use ``codex exec`` instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_LONG_FORMS = {"-c": "--config", "-m": "--model", "-s": "--sandbox"}
_SERVER_FLAGS = ("--config", "--enable", "--disable")
_SWITCHES = ("--strict-config",)
_THREAD_FLAGS = {"--model": "model", "--sandbox": "sandbox"}
_IGNORED_FLAGS = ("--skip-git-repo-check",)
_BYPASS_FLAGS = ("--dangerously-bypass-approvals-and-sandbox", "--yolo")


@dataclass(frozen=True, slots=True)
class AppServerFlags:
    """``arguments`` of ``codex app-server``, and parameters of each thread.

    ``problem`` is the first unsupported flag.
    """

    arguments: tuple[str, ...] = ()
    thread_params: dict[str, str] = field(default_factory=dict)
    problem: str = ""


def translate_flags(flags: Sequence[str]) -> AppServerFlags:
    """Translate ``flags`` of ``codex exec`` for the app-server."""
    arguments: list[str] = []
    thread: dict[str, str] = {}
    waiting = list(flags)
    while waiting:
        flag = waiting.pop(0)
        name, value, has_value = _split_flag(flag)
        if name in (*_SERVER_FLAGS, *_THREAD_FLAGS) and not has_value:
            if not waiting:
                return AppServerFlags(problem=flag)
            value = waiting.pop(0)
        if name in _SERVER_FLAGS:
            arguments += [name, value]
        elif name in _THREAD_FLAGS:
            thread[_THREAD_FLAGS[name]] = value
        elif flag in _SWITCHES:
            arguments.append(flag)
        elif flag in _BYPASS_FLAGS:
            thread |= {"approvalPolicy": "never", "sandbox": "danger-full-access"}
        elif flag not in _IGNORED_FLAGS:
            return AppServerFlags(problem=flag or "''")
    return AppServerFlags(tuple(arguments), thread)


def _split_flag(flag: str) -> tuple[str, str, bool]:
    """Return the long name of ``flag``, its value, and whether the value is part of the same argument."""
    if flag.startswith("--"):
        name, has_value, value = flag.partition("=")
        return name, value, bool(has_value)
    name, value = _LONG_FORMS.get(flag[:2], flag), flag[2:].removeprefix("=")
    return name, value, len(flag) > 2
