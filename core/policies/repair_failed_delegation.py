"""Say how to mend a delegation of which no agent came (delegate-task-retry of oh-my-opencode)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from ..contract.effect import Inject
from ..contract.event import ClientName, Delegated
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words

_LONGEST_ERROR = 4000
"""Characters of an error that are read: a list of agents may be long."""

_NAME = re.compile(r"[\w:./-]{1,80}")
_UNKNOWN = re.compile(r"agent(?:[ _]type)? ['\"`]?([\w:./-]{1,80})['\"`]?[^\n]{0,20}? not found|unknown agent", re.I)
_EXISTING = re.compile(r"available agents(?: are)?: ?([\w:./, -]{1,3000})", re.IGNORECASE)
_MISSING = re.compile(r"(?:required parameter |missing field |missing required \w+ )[`'\"]?(\w{1,40})", re.IGNORECASE)

_NOT_CALLED_SO = Words(
    "no agent is called {asked}. {near}Take a name exactly as it is listed, or a general one.",
    "没有名为 {asked} 的代理。{near}请按列表原样填写名称，或改用通用代理。",
)
_NEAR = Words("Nearest that exist: {names}. ", "最接近的现有代理：{names}。")
_LACKS = Words(
    "the call lacks {names}. Repeat it with every required field filled in, the others as they were.",
    "调用缺少 {names}。请补齐所有必填字段后重试，其余保持不变。",
)

_CAUSES: tuple[tuple[re.Pattern[str], Words], ...] = (
    (
        re.compile(r"thread limit|concurren\w* (?:limit|agents)|too many (?:agents|subagents|tasks)", re.IGNORECASE),
        Words(
            "as many agents are open as may be. Wait for one, close those that are done, or go on with one of them; "
            "the same call fails until then.",
            "同时打开的代理已达上限。请等待其中一个、关闭已完成的，或让现有代理继续；在此之前同样的调用仍会失败。",
        ),
    ),
    (
        re.compile(r"depth|nested|within a subagent|inside (?:a )?subagent|cannot spawn", re.IGNORECASE),
        Words(
            "an agent may start no further one here. Do this part yourself, or name it as open in your answer.",
            "此处的代理不能再启动代理。请自己完成这一部分，或在回答中列为未完成。",
        ),
    ),
    (
        re.compile(r"denied by (?:a )?permission|permission rule|not allowed|not permitted", re.IGNORECASE),
        Words(
            "its user does not allow this agent. Do not try again under another name: do the work yourself, or ask.",
            "用户不允许使用这个代理。不要换名重试：请自己完成，或询问用户。",
        ),
    ),
    (
        re.compile(r"worktree|not (?:in )?a git repo", re.IGNORECASE),
        Words(
            "its own working tree could not be made. Call it without isolation, or commit what stands in the way.",
            "无法为它创建独立工作树。请去掉隔离选项再调用，或先提交造成阻碍的改动。",
        ),
    ),
    (
        re.compile(r"requires? (?:the )?MCP servers?|MCP server\w* .{0,80}(?:missing|not connected)", re.IGNORECASE),
        Words(
            "it needs MCP servers that are not connected. Take an agent that does without them, or tell your user.",
            "它需要尚未连接的 MCP 服务器。请改用不需要它们的代理，或告知用户。",
        ),
    ),
    (
        re.compile(r"prompt is too long|context.{0,20}(?:length|window)|too many tokens", re.IGNORECASE),
        Words(
            "the prompt is too long for it. Name files and lines instead of pasting them, and split the work.",
            "提示词过长。请写明文件与行号而不要粘贴内容，并拆分任务。",
        ),
    ),
    (
        re.compile(r"overloaded|rate.?limit|API error|timed? ?out|connection|50\d\b|429\b", re.IGNORECASE),
        Words(
            "the model behind it could not be reached. Look first at what it has already changed, then try once more.",
            "其背后的模型无法访问。请先查看它已经改动了什么，再重试一次。",
        ),
    ),
)
_HEAD = Words("No agent came of {tool}: ", "调用 {tool} 没有产生代理：")
_MOST_NEAR = 3


def _delegated(event: Delegated, view: View) -> Word:
    if not event.failed or not event.error:
        return SILENT
    cause = _cause(event, view.language)
    if not cause:
        return SILENT
    text = _HEAD.of(view.language).format(tool=event.call.tool) + cause
    return Word((Inject(text),), "a delegation failed with a known error")


def _cause(event: Delegated, language: str) -> str:
    """What went wrong and what to do, in a sentence or two; empty for an error that nobody here knows."""
    error = event.error[:_LONGEST_ERROR]
    if unknown := _UNKNOWN.search(error[:300]):
        return _unknown(unknown[1] or _asked(event.call.input), error, language)
    if names := tuple(dict.fromkeys(_MISSING.findall(error[:1000]))):
        return _LACKS.of(language).format(names=", ".join(f"`{name}`" for name in names[:5]))
    return next((words.of(language) for pattern, words in _CAUSES if pattern.search(error[:1000])), "")


def _unknown(asked: str, error: str, language: str) -> str:
    existing = _EXISTING.search(error)
    names = {name for word in existing[1].split(",") if _NAME.fullmatch(name := word.strip())} if existing else set()
    near = _nearest(asked, names)
    hint = _NEAR.of(language).format(names=", ".join(near)) if near else ""
    return _NOT_CALLED_SO.of(language).format(asked=f'"{asked}"' if asked else "so", near=hint)


def _nearest(asked: str, names: set[str]) -> list[str]:
    """Those of ``names`` that may be meant: the same behind a plugin's prefix, then those that look alike."""
    wanted = asked.lower().rpartition(":")[2].replace("_", "-")
    plain = {name: name.lower().rpartition(":")[2].replace("_", "-") for name in sorted(names)[:200]}
    same = [name for name, word in plain.items() if word == wanted and wanted]
    like = get_close_matches(wanted, list(plain.values()), _MOST_NEAR, 0.6) if wanted else []
    alike = [name for name, word in plain.items() if word in like and name not in same]
    return [*same, *alike][:_MOST_NEAR]


def _asked(given: Mapping[str, Any]) -> str:
    """The kind of agent that the call names, whatever its client calls that field."""
    found = next((value for name, value in given.items() if name.endswith("_type") and isinstance(value, str)), "")
    return found if _NAME.fullmatch(found) else ""


POLICY = Policy(
    name="repair-failed-delegation",
    original="delegate-task-retry",
    number=35,
    what=Words(
        "After a delegation that failed it tells the agent why and what to change: the nearest name, the missing "
        "field, the limit that was met.",
        "委派失败后，告诉代理原因和该改什么：最接近的名称、缺少的字段、触及的上限。",
    ),
    why=Words(
        "Agents repeat a call that cannot work, or give up delegating.",
        "代理常重复注定失败的调用，或干脆不再委派。",
    ),
    silent=Words(
        "when an agent came of the call, when its user broke it off, and for errors that it does not know",
        "调用产生了代理、被用户中断，或遇到未知错误时",
    ),
    on={Delegated: _delegated},
    clients={
        ClientName.CLAUDE_CODE: WORKS,
        ClientName.CODEX_CLI: Standing(Carries.CANNOT, "its hooks are told nothing of a call that failed"),
    },
)
