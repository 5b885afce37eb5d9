"""Refuse to write over a file that nobody has read (write-existing-file-guard of oh-my-opencode)."""

from __future__ import annotations

from collections.abc import Iterator

from ..contract.effect import Deny
from ..contract.event import Act, ClientName, Event, ToolFinished, ToolStarting
from ..harm import Here
from ..harm.places import Place, spot_of
from ..shell import Command, commands
from ..workflow.state import SessionState
from .look import Existing, Look
from .policy import SILENT, Carries, Policy, Standing, View, Word, Words
from .touched import touched

MOST = 200
"""Files that are remembered; of more, the latest."""
MOST_IN_A_CALL = 20
_LONGEST = 200
"""Characters of a path, relative to the repository, that is remembered and protected."""

_READERS = ("cat ", "sed ", "head ", "tail ", "nl ", "bat ", "less ", "awk ", "grep ", "rg ", "diff ")
"""What agents read files with in the shell."""
_PROGRAMS = frozenset(word.strip() for word in _READERS)
_TEXT = Words(
    "`{path}` exists, and this would replace all of it unread. Read it first (`cat`, `sed -n`) and try again, change "
    "only a part of it with an update in a patch, or take another name.",
    "`{path}` 已存在，这样会在未读过的情况下整个替换它。请先读取（`cat`、`sed -n`）再重试，用补丁只更新其中一部分，"
    "或换一个文件名。",
)


def _inside(path: str, root: str) -> str:
    """``path`` relative to the repository; empty for what is not in it."""
    inside = path.removeprefix(f"{root}/") if root else ""
    return inside if inside != path and len(inside) <= _LONGEST else ""


def _redirected(event: ToolStarting | ToolFinished, root: str) -> Iterator[str]:
    """The files of the repository that the line empties first; what is built, cached or a log is left out."""
    if ">" not in event.command:
        return
    for command in commands(event.command).items:
        for one in command.redirects:
            if one.writes and one.descriptor in ("", "1"):
                yield from _place(one.target, command, event, root)


def _place(word: str, command: Command, event: ToolStarting | ToolFinished, root: str) -> Iterator[str]:
    if not word or len(word) > _LONGEST or any(mark in word for mark in "*?[{$`"):
        return
    spot = spot_of(word, Here(root, event.source.cwd), command.folder)
    if spot.place is Place.INSIDE and not spot.inside.endswith(".log"):
        yield spot.inside


def _read(event: ToolFinished, root: str) -> Iterator[str]:
    """The files of the repository that the line names to a program that shows them."""
    if not any(reader in event.command for reader in _READERS):
        return
    for command in commands(event.command).items:
        if command.words[:1] and command.words[0] in _PROGRAMS:
            for word in command.words[1:MOST_IN_A_CALL]:
                yield from () if word.startswith("-") else _place(word, command, event, root)
        for one in command.redirects:
            if one.operator == "<":
                yield from _place(one.target, command, event, root)


def _replaced(event: Event, root: str) -> tuple[str, ...]:
    """What a call would replace as a whole if it is there: files of the repository, relative to its root."""
    if not isinstance(event, ToolStarting) or event.source.client is not ClientName.CODEX_CLI or not root:
        return ()
    if event.command:
        found = list(_redirected(event, root))
    elif event.call.act is Act.WRITE:  # a patch that only adds files
        found = [inside for path in event.call.paths if (inside := _inside(path, root))]
    else:
        found = []
    return tuple(dict.fromkeys(found))[:MOST_IN_A_CALL]


def _looks(event: Event, state: SessionState) -> tuple[Look, ...]:
    paths = _replaced(event, state.root)
    return (Existing(tuple(f"{state.root}/{path}" for path in paths)),) if paths else ()


def _starting(event: ToolStarting, view: View) -> Word:
    paths = _replaced(event, view.root)
    if not paths:
        return SILENT
    there = view.found.get(Existing(tuple(f"{view.root}/{path}" for path in paths))) or frozenset()
    path = next((one for one in paths if f"{view.root}/{one}" in there and one not in view.notes), "")
    if not path:
        return SILENT
    return Word((Deny(_TEXT.of(view.language).format(path=path)),), "it exists and was not read", names=(path,))


def _finished(event: ToolFinished, view: View) -> Word:
    """Notes what the session knows now: what it has read, changed, or written itself."""
    if event.source.client is not ClientName.CODEX_CLI or event.failed or not view.root:
        return SILENT
    if event.command:
        known = [*_redirected(event, view.root), *_read(event, view.root)]
    else:
        known = [inside for path in touched(event)[:MOST_IN_A_CALL] if (inside := _inside(path, view.root))]
    if not known or view.notes[-len(known) :] == tuple(known):
        return SILENT
    others = tuple(note for note in view.notes if note not in known)
    return Word(notes=(*others, *dict.fromkeys(known))[-MOST:])


POLICY = Policy(
    name="protect-existing-files",
    original="write-existing-file-guard",
    number=32,
    what=Words(
        "It refuses a patch that adds a file which is there already, and a `>` of the shell onto a file of the "
        "repository, as long as the session has neither read nor changed that file.",
        "会话尚未读过或改过某个已有文件时，拒绝用补丁「新增」它，也拒绝在终端用 `>` 覆盖它。",
    ),
    why=Words(
        "What is written over unread is lost without anybody having noticed.",
        "未读就覆盖，丢了什么都没人知道。",
    ),
    silent=Words(
        "for files that were read, changed or written before (until the conversation is compacted), new files, `>>`, "
        "logs, built and temporary files, whatever lies outside of the repository, and a patch that also updates files",
        "之前读过、改过或写过的文件（直到对话被压缩）、新文件、`>>`、日志、构建产物与临时文件、仓库之外的文件，以及"
        "同时更新其他文件的补丁",
    ),
    on={ToolStarting: _starting, ToolFinished: _finished},
    clients={
        ClientName.CLAUDE_CODE: Standing(Carries.NATIVE, "its Write refuses a file that was not read"),
        ClientName.CODEX_CLI: Standing(Carries.WORKS),
    },
    looks=_looks,
    rank=20,
)
