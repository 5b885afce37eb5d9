"""Show the README.md of the folders that are worked in (directory-readme-injector of oh-my-opencode)."""

from __future__ import annotations

from ..contract.event import ToolFinished
from .folder_documents import Shows
from .policy import Policy, Words

_NAME = "show-readme-of-folder"
_SHOWS = Shows(
    policy=_NAME,
    name="README.md",
    heading=Words(
        "You work in {folder} or below it now. This is what {path} says.",
        "你正在 {folder} 或其下级目录中工作。以下是 {path} 的内容。",
    ),
    is_shown=lambda _one, _found, _view, _event: True,
)

POLICY = Policy(
    name=_NAME,
    original="directory-readme-injector",
    number=2,
    what=Words(
        "When the agent reads or changes a file it is shown the README.md of that folder and of those above it, up to "
        "the root's own: each once, the nearest first.",
        "代理读取或修改文件时，展示该目录及其上级目录（含根目录）的 README.md：每份一次，最近的优先。",
    ),
    why=Words(
        "What a folder is for often stands in no file but its README.",
        "目录的用途往往只写在它的 README 里。",
    ),
    silent=Words(
        "for a call that failed, and for one that was shown since the last compaction. Off by default: most READMEs "
        "are written for people, and an agent that needs one reads it",
        "失败的调用，以及自上次压缩后已展示过的。默认关闭：README 多是写给人看的，代理需要时会自己读",
    ),
    on={ToolFinished: _SHOWS.finished},
    looks=_SHOWS.looks,
    is_on=False,
    rank=85,
)
