"""Explain how to fix a call that started no subagent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import SubagentReturned
from upbeat.core.policy.definition import NO_RESULT, Handler, LocalizedText, Policy, PolicyContext, PolicyResult

_MAX_ERROR_CHARS = 4000
"""Length of the scanned part of an error; it may list many agents."""

_NAME = re.compile(r"[\w:./-]{1,80}")
_UNKNOWN_AGENT = re.compile(
    r"agent(?:[ _]type)? ['\"`]?([\w:./-]{1,80})['\"`]?[^\n]{0,20}? not found|unknown agent", re.I
)
_AVAILABLE_AGENTS = re.compile(r"available agents(?: are)?: ?([\w:./, -]{1,3000})", re.IGNORECASE)
_MISSING_FIELD = re.compile(
    r"(?:required parameter |missing field |missing required \w+ )[`'\"]?(\w{1,40})", re.IGNORECASE
)

_UNKNOWN_AGENT_TEXT = LocalizedText(
    "there is no agent named {asked}. {near}Use a name exactly as listed, or a general-purpose agent.",
    "没有名为 {asked} 的代理。{near}请按列表原样填写名称，或改用通用代理。",
)
_NEAREST_TEXT = LocalizedText("Closest matches: {names}. ", "最接近的现有代理：{names}。")
_MISSING_FIELD_TEXT = LocalizedText(
    "the call lacks {names}. Repeat it with every required field, the others unchanged.",
    "调用缺少 {names}。请补齐所有必填字段后重试，其余保持不变。",
)

_CAUSES: tuple[tuple[re.Pattern[str], LocalizedText], ...] = (
    (
        re.compile(r"thread limit|concurren\w* (?:limit|agents)|too many (?:agents|subagents|tasks)", re.IGNORECASE),
        LocalizedText(
            "too many agents are open. Wait for one, close finished ones, or continue with one of them; until then the "
            "same call fails again.",
            "同时打开的代理已达上限。请等待其中一个、关闭已完成的，或让现有代理继续；在此之前同样的调用仍会失败。",
        ),
    ),
    (
        re.compile(r"depth|nested|within a subagent|inside (?:a )?subagent|cannot spawn", re.IGNORECASE),
        LocalizedText(
            "subagents cannot start subagents here. Do this part yourself, or report it as open in your answer.",
            "此处的代理不能再启动代理。请自己完成这一部分，或在回答中列为未完成。",
        ),
    ),
    (
        re.compile(r"denied by (?:a )?permission|permission rule|not allowed|not permitted", re.IGNORECASE),
        LocalizedText(
            "the user does not allow this agent. Don't retry under another name: do the work yourself, or ask.",
            "用户不允许使用这个代理。不要换名重试：请自己完成，或询问用户。",
        ),
    ),
    (
        re.compile(r"worktree|not (?:in )?a git repo", re.IGNORECASE),
        LocalizedText(
            "its worktree could not be created. Call it without isolation, or commit the changes that block it.",
            "无法为它创建独立工作树。请去掉隔离选项再调用，或先提交造成阻碍的改动。",
        ),
    ),
    (
        re.compile(r"requires? (?:the )?MCP servers?|MCP server\w* .{0,80}(?:missing|not connected)", re.IGNORECASE),
        LocalizedText(
            "it needs MCP servers that are not connected. Use an agent that does not need them, or tell the user.",
            "它需要尚未连接的 MCP 服务器。请改用不需要它们的代理，或告知用户。",
        ),
    ),
    (
        re.compile(r"prompt is too long|context.{0,20}(?:length|window)|too many tokens", re.IGNORECASE),
        LocalizedText(
            "the prompt is too long. Reference files and lines instead of pasting them, and split the work.",
            "提示词过长。请写明文件与行号而不要粘贴内容，并拆分任务。",
        ),
    ),
    (
        re.compile(r"overloaded|rate.?limit|API error|timed? ?out|connection|50\d\b|429\b", re.IGNORECASE),
        LocalizedText(
            "its model could not be reached. Check what it has already changed, then retry once.",
            "其背后的模型无法访问。请先查看它已经改动了什么，再重试一次。",
        ),
    ),
)
_HEAD = LocalizedText("{tool} started no subagent: ", "{tool} 没有启动子代理：")
_MAX_NEAREST = 3


def _on_subagent_returned(event: SubagentReturned, context: PolicyContext) -> PolicyResult:
    if not event.has_failed or not event.error:
        return NO_RESULT
    cause = _explain_error(event, context.language)
    if not cause:
        return NO_RESULT
    text = _HEAD.localize(context.language).format(tool=event.call.tool) + cause
    return PolicyResult((InjectContext(text),), "a delegation failed with a known error")


def _explain_error(event: SubagentReturned, language: str) -> str:
    """Return what went wrong and what to do; empty for an unknown error."""
    error = event.error[:_MAX_ERROR_CHARS]
    if unknown := _UNKNOWN_AGENT.search(error[:300]):
        return _explain_unknown_agent(unknown[1] or _requested_agent(event.call.input), error, language)
    if names := tuple(dict.fromkeys(_MISSING_FIELD.findall(error[:1000]))):
        return _MISSING_FIELD_TEXT.localize(language).format(names=", ".join(f"`{name}`" for name in names[:5]))
    return next((words.localize(language) for pattern, words in _CAUSES if pattern.search(error[:1000])), "")


def _explain_unknown_agent(asked: str, error: str, language: str) -> str:
    existing = _AVAILABLE_AGENTS.search(error)
    names = {name for word in existing[1].split(",") if _NAME.fullmatch(name := word.strip())} if existing else set()
    nearest = _nearest_names(asked, names)
    hint = _NEAREST_TEXT.localize(language).format(names=", ".join(nearest)) if nearest else ""
    return _UNKNOWN_AGENT_TEXT.localize(language).format(asked=f'"{asked}"' if asked else "that", near=hint)


def _nearest_names(asked: str, names: set[str]) -> list[str]:
    """Return the closest of ``names``: equal but for a plugin prefix first, then similar ones."""
    base_name = asked.lower().rpartition(":")[2].replace("_", "-")
    plain = {name: name.lower().rpartition(":")[2].replace("_", "-") for name in sorted(names)[:200]}
    same = [name for name, word in plain.items() if word == base_name and base_name]
    like = get_close_matches(base_name, list(plain.values()), _MAX_NEAREST, 0.6) if base_name else []
    alike = [name for name, word in plain.items() if word in like and name not in same]
    return [*same, *alike][:_MAX_NEAREST]


def _requested_agent(call_input: Mapping[str, Any]) -> str:
    """Return the agent type in the call's input, whatever the client calls the field."""
    agent_type = next(
        (value for name, value in call_input.items() if name.endswith("_type") and isinstance(value, str)), ""
    )
    return agent_type if _NAME.fullmatch(agent_type) else ""


POLICY = Policy(
    name="recover-from-failed-delegation",
    handlers={SubagentReturned: Handler(_on_subagent_returned)},
    effects=(InjectContext,),
    required_trait="reports_failures",
)
