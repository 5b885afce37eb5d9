"""Remind the main agent of an agent that was started and has not been heard of since (unstable-agent-babysitter)."""

from __future__ import annotations

from ..contract.effect import Inject
from ..contract.event import (
    AgentStarted,
    AgentStopped,
    ClientName,
    Delegated,
    Origin,
    PromptSubmitted,
    SessionStarted,
    ToolFinished,
)
from .policy import SILENT, Carries, Policy, Standing, View, Word, Words
from .running_agents import folded, number, running

SILENT_SECONDS = 120.0
COOLDOWN_SECONDS = 300.0

_TOLD = "told "
_TEXT = Words(
    "{agents} started more than {minutes} min ago and has not ended. Look whether it still works before you build "
    "on what it was to do; nothing more is known here than that no end was seen.",
    "{agents} 已启动超过 {minutes} 分钟仍未结束。在依赖其结果之前，请先查看它是否还在工作；这里只知道尚未看到它结束。",
)


def _followed(event: AgentStarted | AgentStopped | Delegated | SessionStarted, view: View) -> Word:
    """Who began, and who was heard of. What was told is forgotten with the agents of an earlier process."""
    is_new = isinstance(event, SessionStarted) and event.how != "compact"
    notes = () if is_new else folded(view.notes, event, view.at)
    return Word(notes=notes) if notes != view.notes else SILENT


def _heard(event: ToolFinished | PromptSubmitted, view: View) -> Word:
    if not view.notes or event.source.agent_id:
        return SILENT
    if isinstance(event, PromptSubmitted) and event.origin is not Origin.USER:
        return SILENT
    told = max((number(one[len(_TOLD) :]) for one in view.notes if one.startswith(_TOLD)), default=0.0)
    late = [one for one in running(view.notes) if view.at - one.since >= SILENT_SECONDS]
    if not late or view.at - told < COOLDOWN_SECONDS:
        return SILENT
    minutes = int((view.at - min(one.since for one in late)) // 60)
    names = ", ".join(one.name for one in late[:5])
    text = _TEXT.of(view.language).format(agents=names, minutes=minutes)
    kept = tuple(one for one in view.notes if not one.startswith(_TOLD))
    return Word((Inject(text),), f"{len(late)} agents were not heard of", (f"{_TOLD}{view.at:.0f}", *kept))


_DEGRADED = Standing(Carries.DEGRADED, "a reminder at the next event: a hook sees starts and ends, and nothing between")

POLICY = Policy(
    name="watch-silent-agents",
    original="unstable-agent-babysitter",
    number=11,
    what=Words(
        "An agent that started two minutes ago or more and has not ended is named to the main agent, at its next call.",
        "启动两分钟以上仍未结束的代理，会在主代理下一次调用时提醒它。",
    ),
    why=Words(
        "An agent that hangs in the background is easily taken for one that is done.",
        "在后台卡住的代理容易被当成已完成。",
    ),
    silent=Words(
        "before two minutes are over, within five minutes of the last reminder, and while the main agent only "
        "waits. Off by default: agents that take long are usual",
        "未满两分钟、距上次提醒不足五分钟，以及主代理只是在等待时。默认关闭：代理耗时较长是常态",
    ),
    on={
        AgentStarted: _followed,
        AgentStopped: _followed,
        Delegated: _followed,
        SessionStarted: _followed,
        ToolFinished: _heard,
        PromptSubmitted: _heard,
    },
    clients={ClientName.CLAUDE_CODE: _DEGRADED, ClientName.CODEX_CLI: _DEGRADED},
    is_on=False,
    stays=True,
    rank=80,
)
