"""Block commands that wait for input at a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from upbeat.core.contract.effect import Deny, RewriteInput
from upbeat.core.contract.event import ToolStarting
from upbeat.core.policy.definition import NO_RESULT, Handler, LocalizedText, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.tty_requirements import PROGRAM_PATTERN, InteractionKind, TtyRequirement, find_tty_requirement
from upbeat.core.shell import parse_commands

ENVIRONMENT = "GIT_EDITOR=: GIT_PAGER=cat PAGER=cat GIT_TERMINAL_PROMPT=0 CI=true DEBIAN_FRONTEND=noninteractive "
"""Prefix for a command that would wait only for an editor."""

_DENIED_TEXT = LocalizedText(
    "`{shown}` waits for input at a terminal, and there is none. {way}",
    "`{shown}` 需要在终端交互，而这里没有终端。{way}",
)
_REWRITTEN_TEXT = LocalizedText(
    "`{shown}` opens an editor, and there is no terminal: it runs with `GIT_EDITOR=:`, which keeps the prepared "
    "message. Next time use {way}.",
    "`{shown}` 会打开编辑器，而这里没有终端：已加上 `GIT_EDITOR=:`，保留预设的提交信息。下次请使用 {way}。",
)
_WORKAROUNDS: Mapping[InteractionKind, LocalizedText] = {
    InteractionKind.EDITOR: LocalizedText(
        "Change the file with your edit tool or `sed`.", "请用编辑工具或 `sed` 修改文件。"
    ),
    InteractionKind.FULL_SCREEN: LocalizedText(
        "Run a command that prints once and exits, such as `ps`, `top -b -n 1` or `git log --oneline`.",
        "请运行只输出一次就结束的命令，如 `ps`、`top -b -n 1` 或 `git log --oneline`。",
    ),
    InteractionKind.GIT_EDITOR: LocalizedText("Use {way}.", "请使用 {way}。"),
    InteractionKind.GIT_MESSAGE: LocalizedText("Add {way}.", "请加上 {way}。"),
    InteractionKind.GIT_REBASE_TODO: LocalizedText(
        "Set the steps with `GIT_SEQUENCE_EDITOR` (`sed` on the list), or commit with `--fixup` and rebase with "
        "`-i --autosquash`.",
        "请用 `GIT_SEQUENCE_EDITOR`（以 `sed` 改列表）写好步骤，或先 `--fixup` 提交再 `-i --autosquash`。",
    ),
    InteractionKind.GIT_HUNKS: LocalizedText(
        "Name the files, or apply a patch with the part you want with `git apply --cached`.",
        "请指明文件，或用 `git apply --cached` 应用所需部分的补丁。",
    ),
    InteractionKind.REPL: LocalizedText(
        "Pass it a script: a file, `-c` or `-e` with the code, or a here-document.",
        "请给它脚本：文件、带代码的 `-c` 或 `-e`，或 here-document。",
    ),
    InteractionKind.REMOTE_SHELL: LocalizedText(
        "Append the command to run (`ssh HOST COMMAND`), or pipe a script into it.",
        "请在后面写上要在那里运行的命令（`ssh 主机 命令`），或用脚本作为输入。",
    ),
    InteractionKind.CONFIRMATION: LocalizedText("Answer its prompts with `{way}`.", "请用 `{way}` 预先回答。"),
}


def _on_tool_starting(event: ToolStarting, context: PolicyContext) -> PolicyResult:
    line = event.command
    parsed = parse_commands(line)
    need = next(filter(None, map(find_tty_requirement, parsed.items)), None)
    if need is None:
        return NO_RESULT
    name = next((name for name, value in event.call.input.items() if value == line), "")
    is_single = parsed.is_complete and len(parsed.items) == 1 and not parsed.items[0].wrappers
    if need.needs_only_editor and name and is_single and line.lstrip().startswith("git "):
        text = _REWRITTEN_TEXT.localize(context.language).format(shown=need.command_name, way=f"`{need.workaround}`")
        return PolicyResult(
            (RewriteInput(text, {name: ENVIRONMENT + line.lstrip()}),), f"{need.command_name} opens an editor"
        )
    return PolicyResult((Deny(_denial_text(need, context.language)),), f"{need.command_name} waits: {need.kind}")


def _denial_text(requirement: TtyRequirement, language: str) -> str:
    shown = f"`{requirement.workaround}`" if requirement.needs_only_editor else requirement.workaround
    way = _WORKAROUNDS[requirement.kind].localize(language).format(way=shown)
    return _DENIED_TEXT.localize(language).format(shown=requirement.command_name, way=way)


POLICY = Policy(
    name="block-interactive-commands",
    handlers={ToolStarting: Handler(_on_tool_starting, text=PROGRAM_PATTERN)},
    effects=(Deny, RewriteInput),
    rank=30,
)
