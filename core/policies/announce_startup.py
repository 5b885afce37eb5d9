"""Tell the user at startup that upbeat is active."""

from __future__ import annotations

from upbeat.core.contract.effect import NotifyUser
from upbeat.core.contract.event import SessionStarted
from upbeat.core.policy.definition import NO_RESULT, Handler, LocalizedText, Policy, PolicyContext, PolicyResult

_TEXT = LocalizedText(
    "upbeat is active in {place}; {loop}. Run `upbeat why` to see what it does and why.",
    "upbeat 已在 {place} 启用；{loop}。运行 `upbeat why` 查看它做了什么、为什么。",
)
_LOOP_ON = LocalizedText("unfinished turns may be continued", "未完成的回合可能会自动继续")
_LOOP_OFF = LocalizedText("turns are not continued (loop.enabled)", "不会自动继续（loop.enabled）")


def _on_session_started(event: SessionStarted, context: PolicyContext) -> PolicyResult:
    if event.trigger != "startup":
        return NO_RESULT
    place = context.root.rstrip("/").rpartition("/")[2] or "/"
    loop = (_LOOP_ON if context.loop_limits.is_enabled else _LOOP_OFF).localize(context.language)
    return PolicyResult(
        (NotifyUser(_TEXT.localize(context.language).format(place=place, loop=loop)),), "a session started"
    )


POLICY = Policy(
    name="announce-startup",
    handlers={SessionStarted: Handler(_on_session_started, is_for_main_agent=True)},
    effects=(NotifyUser,),
    is_enabled_by_default=False,
    rank=95,
)
