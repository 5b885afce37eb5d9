"""Show the AGENTS.md of the folders that are worked in (directory-agents-injector of oh-my-opencode)."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from ..contract.event import ClientName, Event, ToolFinished
from .folder_documents import Shows
from .look import Document
from .policy import Carries, Policy, Standing, View, Words

_NAME = "show-agents-files-of-folder"
_CLAUDES = "CLAUDE.md"
_IMPORT = "@AGENTS.md"


def _is_shown(one: Document, found: Sequence[Document], view: View, event: Event) -> bool:
    folder = posixpath.dirname(one.path)
    if event.source.client is ClientName.CODEX_CLI:
        here = posixpath.normpath(event.source.cwd)
        return not f"{here}/".startswith(f"{posixpath.join(view.root, folder)}/")
    beside = posixpath.join(folder, _CLAUDES)
    return not any(other.path == beside and (other.text == one.text or _IMPORT in other.text) for other in found)


_SHOWS = Shows(
    policy=_NAME,
    name="AGENTS.md",
    heading=Words(
        "You work in {folder} or below it now. {path} is what this project tells agents about the files there: keep to "
        "its conventions as far as they fit what the person you work for wants.",
        "你正在 {folder} 或其下级目录中工作。{path} 是本项目就该处文件写给代理的说明：在符合用户要求的前提下"
        "遵循其中的约定。",
    ),
    is_shown=_is_shown,
    also=(_CLAUDES,),
    with_root=False,
)

POLICY = Policy(
    name=_NAME,
    original="directory-agents-injector",
    number=1,
    what=Words(
        "When the agent reads or changes a file it is shown the AGENTS.md of that folder and of those above it, below "
        "the root: each once, the nearest first.",
        "代理读取或修改文件时，展示该目录及其上级目录（根目录除外）的 AGENTS.md：每份一次，最近的优先。",
    ),
    why=Words(
        "A folder has conventions of its own, and no client reads them when the work comes to that folder.",
        "目录有自己的约定，而工作进行到该目录时客户端不会去读。",
    ),
    silent=Words(
        "for the AGENTS.md of the root, for a call that failed, for one that was shown since the last compaction, for "
        "one that the CLAUDE.md beside it imports or repeats, and in Codex for its own folder and those above",
        "根目录的 AGENTS.md、失败的调用、自上次压缩后已展示过、同目录 CLAUDE.md 已导入或内容相同；"
        "Codex 中还包括其工作目录及上级目录",
    ),
    on={ToolFinished: _SHOWS.finished},
    clients={
        ClientName.CLAUDE_CODE: Standing(Carries.WORKS, "it reads the CLAUDE.md of a folder itself, and no AGENTS.md"),
        ClientName.CODEX_CLI: Standing(
            Carries.WORKS, "it reads those from the root down to its own folder; the others come from here"
        ),
    },
    looks=_SHOWS.looks,
    rank=41,
)
