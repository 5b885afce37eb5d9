"""Keep commands from waiting for somebody at a terminal that is not there (non-interactive-env)."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract.effect import Deny, RewriteInput
from ..contract.event import ClientName, ToolStarting
from ..shell import commands
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words
from .terminal_needs import Kind, Need, may_need, need_of

SETTINGS = "GIT_EDITOR=: GIT_PAGER=cat PAGER=cat GIT_TERMINAL_PROMPT=0 CI=true DEBIAN_FRONTEND=noninteractive "
"""Put before a command that would wait for an editor and for nothing else."""

_HEAD = Words(
    "`{shown}` waits for somebody at a terminal, and there is none here. {way}",
    "`{shown}` 要等终端前的人操作，而这里没有终端。{way}",
)
_MENDED = Words(
    "`{shown}` opens an editor, and there is no terminal here: it runs with `GIT_EDITOR=:`, which keeps the prepared "
    "message. Next time use {way}.",
    "`{shown}` 会打开编辑器，而这里没有终端：已加上 `GIT_EDITOR=:`，保留预设的信息。下次请使用 {way}。",
)
_WAYS: Mapping[Kind, Words] = {
    Kind.EDITOR: Words("Change the file with your edit tool, or with `sed`.", "请用编辑工具或 `sed` 修改文件。"),
    Kind.SCREEN: Words(
        "Run what prints once and ends, such as `ps`, `top -b -n 1` or `git log --oneline`.",
        "请运行只输出一次就结束的命令，如 `ps`、`top -b -n 1` 或 `git log --oneline`。",
    ),
    Kind.GIT_EDITOR: Words("Use {way}.", "请使用 {way}。"),
    Kind.GIT_MESSAGE: Words("Give it {way}.", "请加上 {way}。"),
    Kind.GIT_TODO: Words(
        "Write the steps with `GIT_SEQUENCE_EDITOR` (a `sed` on the list), or commit with `--fixup` and rebase with "
        "`-i --autosquash`.",
        "请用 `GIT_SEQUENCE_EDITOR`（以 `sed` 改列表）写好步骤，或先 `--fixup` 提交再 `-i --autosquash`。",
    ),
    Kind.GIT_HUNKS: Words(
        "Name the files, or apply a patch of the part that is meant with `git apply --cached`.",
        "请指明文件，或用 `git apply --cached` 应用所需部分的补丁。",
    ),
    Kind.REPL: Words(
        "Give it a script: a file, `-c` or `-e` with the code, or a here-document.",
        "请给它脚本：文件、带代码的 `-c` 或 `-e`，或 here-document。",
    ),
    Kind.REMOTE: Words(
        "Put the command to run there behind it (`ssh HOST COMMAND`), or feed it a script.",
        "请在后面写上要在那里运行的命令（`ssh 主机 命令`），或用脚本作为输入。",
    ),
    Kind.QUESTIONS: Words("Answer its questions beforehand with `{way}`.", "请用 `{way}` 预先回答。"),
}


def _starting(event: ToolStarting, view: View) -> Word:
    line = event.command
    if not line or not may_need(line):
        return SILENT
    told = commands(line)
    need = next((found for command in told.items if (found := need_of(command))), None)
    if need is None:
        return SILENT
    name = next((name for name, value in event.call.input.items() if value == line), "")
    if need.is_mended and name and _is_alone(line):
        text = _MENDED.of(view.language).format(shown=need.shown, way=f"`{need.way}`")
        return Word((RewriteInput(text, {name: SETTINGS + line.lstrip()}),), f"{need.shown} opens an editor")
    return Word((Deny(_denied(need, view.language)),), f"{need.shown} waits: {need.kind}")


def _is_alone(line: str) -> bool:
    """Whether ``line`` is one simple command of git, which settings before it reach."""
    told = commands(line)
    return told.is_whole and len(told.items) == 1 and not told.items[0].wrappers and line.lstrip().startswith("git ")


def _denied(need: Need, language: str) -> str:
    way = _WAYS[need.kind].of(language).format(way=f"`{need.way}`" if need.kind is Kind.GIT_EDITOR else need.way)
    return _HEAD.of(language).format(shown=need.shown, way=way)


POLICY = Policy(
    name="run-commands-without-terminal",
    original="non-interactive-env",
    number=27,
    what=Words(
        "It refuses commands that wait at a terminal (editors, `git rebase -i`, `git add -p`, `ssh` or a REPL without "
        "anything to run, questions of installers) and names the way out; where an editor of git is all, it sets "
        "`GIT_EDITOR=:` instead.",
        "拒绝会在终端等待的命令（编辑器、`git rebase -i`、`git add -p`、没有内容可运行的 `ssh` 或 REPL、"
        "安装程序的提问），并给出办法；只差 git 编辑器时改为设置 `GIT_EDITOR=:`。",
    ),
    why=Words(
        "A command that waits for a key holds up the whole turn until it times out.",
        "等待按键的命令会卡住整轮，直到超时。",
    ),
    silent=Words(
        "for every command that ends by itself, which is left as it is, letter by letter; for pagers, which print into "
        "a pipe; for what is fed by a pipe or a here-document; and for text in quotes",
        "会自行结束的命令（逐字不变）；输出到管道时只会打印的分页器；由管道或 here-document 提供输入的命令；"
        "引号里的文字",
    ),
    on={ToolStarting: _starting},
    clients={
        ClientName.CLAUDE_CODE: WORKS,
        ClientName.CODEX_CLI: Standing(
            Carries.DEGRADED, "refusals, and advice where a setting would do, since its input cannot be changed"
        ),
    },
    rank=30,
)
