"""Tell an agent, once, how full its window is (context-window-monitor of oh-my-opencode).

Law: the numbers are the client's own, of its last answer. Where nobody tells how many tokens the model takes, nothing
is said.
"""

from __future__ import annotations

from ..contract.effect import Inject
from ..contract.event import ClientName, Event, PromptSubmitted, ToolFinished
from ..workflow.state import SessionState
from .look import ContextUse, Look, Use
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words

SHARE = 0.70
"""Of the window, from which on it is told."""

_NAME = "tell-context-use"
_USE = ContextUse()
_TEXT = Words(
    "Your window is {percent} % full: {tokens} of {window} tokens, as of your last answer. Finish what is begun, and "
    "write what has to outlive a summary into a file or your list of tasks; leave broad reading to agents.",
    "你的上下文窗口已用 {percent}%：{window} 个 token 中的 {tokens} 个（截至上一次回答）。请先完成已开始的工作，"
    "把压缩后仍需要的内容写进文件或任务列表；大范围阅读交给代理。",
)


def _told(event: Event) -> str:
    """The note that the agent of ``event`` was told: each has a window of its own."""
    return f"told {event.source.agent_mark}"


def _looks(event: Event, state: SessionState) -> tuple[Look, ...]:
    if not isinstance(event, ToolFinished | PromptSubmitted) or _told(event) in state.notes(_NAME):
        return ()
    return (_USE,)


def _heard(event: ToolFinished | PromptSubmitted, view: View) -> Word:
    use: Use | None = view.found.get(_USE)
    if use is None or use.share < SHARE or _told(event) in view.notes:
        return SILENT
    text = use.put_into(_TEXT.of(view.language))
    return Word((Inject(text),), f"{use.percent} % of the window", (*view.notes, _told(event)))


POLICY = Policy(
    name=_NAME,
    original="context-window-monitor",
    number=12,
    what=Words(
        f"When {SHARE:.0%} of an agent's window is used it tells the agent so, once, with the real numbers.",
        f"代理的上下文窗口用到 {SHARE:.0%} 时，用真实数字告知它一次。",
    ),
    why=Words(
        "An agent does not see how much room it has, and a summary takes it by surprise.",
        "代理看不到自己还剩多少空间，压缩往往来得突然。",
    ),
    silent=Words(
        "before that, once it was told until the conversation is summarised, and where the window of the model is "
        "not known",
        "未达到比例、自上次压缩后已告知过，或不知道模型窗口大小时",
    ),
    on={ToolFinished: _heard, PromptSubmitted: _heard},
    clients={
        ClientName.CLAUDE_CODE: Standing(
            Carries.DEGRADED, "the models whose window is known here: neither hooks nor transcripts tell it"
        ),
        ClientName.CODEX_CLI: WORKS,
    },
    looks=_looks,
    rank=75,
)
