"""End the tmux sessions that the agent has started, when its own session ends (interactive-bash-session)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..contract.event import SessionEnded, ToolFinished, ToolStarting
from ..shell import commands
from .errand import EndTerminals, Terminal
from .policy import SILENT, Policy, View, Word, Words

NAME = "end-terminal-sessions"
MOST = 20
"""Sessions that are remembered; of more, the latest."""

_NAME = re.compile(r"[\w@%+-]{1,60}")
"""What a session may be called here: tmux changes dots and colons, and a variable is no name."""
_NEW = re.compile(r"new|new-s[a-z]*")
_WITH_VALUE = "cefFnstxy"
"""Options of ``tmux new-session`` that take a value."""


def _started(line: str) -> Iterator[str]:
    """The names of the sessions that ``line`` starts in the background, on tmux's usual server."""
    for command in commands(line).items:
        if command.words[:1] == ("tmux",):
            yield from _named(command.words[1:])


def _named(words: tuple[str, ...]) -> Iterator[str]:
    """``words`` are those behind ``tmux``: its commands, with ``;`` between them."""
    rest = list(words)
    while rest:
        end = rest.index(";") if ";" in rest else len(rest)
        first, rest = rest[:end], rest[end + 1 :]
        if first[:1] and _NEW.fullmatch(first[0]) and (name := _name_of(first[1:])):
            yield name


def _name_of(words: list[str]) -> str:
    """The name of a new session; empty where it has none that can be told, or is not one in the background."""
    name, is_detached, at = "", False, 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        for place, letter in enumerate(words[at][1:], start=2):
            is_detached = is_detached or letter == "d"
            if letter in _WITH_VALUE:
                value = words[at][place:]
                if not value:
                    at += 1
                    value = words[at] if at < len(words) else ""
                name = value if letter == "s" else name
                break
        at += 1
    return name if is_detached and _NAME.fullmatch(name) else ""


def _starts(line: str) -> tuple[str, ...]:
    if "tmux" not in line or "new" not in line or "-" not in line:
        return ()
    return tuple(dict.fromkeys(_started(line)))


def _starting(event: ToolStarting, view: View) -> Word:
    """Notes when a call begins that may start sessions."""
    names = _starts(event.command) if event.command else ()
    begun = tuple(f"{name} {view.at:.0f}" for name in names)
    return Word(notes=_kept((*view.notes, *begun))) if begun else SILENT


def _finished(event: ToolFinished, view: View) -> Word:
    """Notes when it has ended: what was created before or after is somebody else's."""
    names = _starts(event.command) if event.command and view.notes else ()
    if not names:
        return SILENT
    ended = [f"{note} {view.at:.0f}" if len(note.split()) == 2 and note.split()[0] in names else note
             for note in view.notes]  # fmt: skip
    return Word(notes=_kept(tuple(ended)))


def _ended(_event: SessionEnded, view: View) -> Word:
    terminals = tuple(_terminals(view.notes))
    if not terminals:
        return SILENT
    names = ", ".join(dict.fromkeys(one.name for one in terminals))
    return Word(because=f"the agent has started {names[:200]}", notes=(), errands=(EndTerminals(terminals),))


def _terminals(notes: tuple[str, ...]) -> Iterator[Terminal]:
    for note in notes:
        name, since, until = (*note.split(" "), "", "")[:3]
        if since.isdecimal() and until.isdecimal():
            yield Terminal(name, int(since) - 1, int(until) + 1)


def _kept(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))[-MOST:]


POLICY = Policy(
    name=NAME,
    original="interactive-bash-session",
    number=28,
    what=Words(
        "When a session ends, the tmux sessions that its agent has started (`tmux new -d -s NAME`) are ended with it.",
        "会话结束时，一并结束其代理启动的 tmux 会话（`tmux new -d -s 名称`）。",
    ),
    why=Words(
        "Servers that an agent has left running hold ports and memory, and nobody knows of them.",
        "代理留下的后台进程占用端口和内存，而没有人知道它们还在。",
    ),
    silent=Words(
        "for a tmux session that was there before the agent's command, or came after it, that somebody looks at, that "
        "has no name in the command, or is on a server of its own (`-L`, `-S`)",
        "在代理命令之前已有或之后才建立的、有人正在查看的、命令中没有名称的、或位于独立服务器（`-L`、`-S`）的 tmux "
        "会话",
    ),
    on={ToolStarting: _starting, ToolFinished: _finished, SessionEnded: _ended},
    stays=True,
    rank=90,
)
