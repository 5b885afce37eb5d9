"""Recall that searching can be handed to an agent (agent-usage-reminder of oh-my-opencode)."""

from __future__ import annotations

from ..contract.effect import Inject
from ..contract.event import Act, Delegating, ToolFinished
from .policy import SILENT, Policy, View, Word, Words

SEARCHES = 5
"""Searches and fetched pages of the main agent without a delegation, after which it is reminded."""

_LOOKS_AROUND = frozenset({Act.SEARCH, Act.FETCH})
_OVER = ("over",)
_TEXT = Words(
    "{count} searches of your own so far. If more are to come, let an agent search and report: what it reads does not "
    "fill your context, and several can look at once.",
    "你已亲自搜索 {count} 次。若还要继续，请交给代理搜索并汇报：它读的内容不占你的上下文，还可多个并行。",
)


def _finished(event: ToolFinished, view: View) -> Word:
    if event.call.act not in _LOOKS_AROUND or event.source.agent_id or view.notes == _OVER:
        return SILENT
    count = len(view.notes) + 1
    if count < SEARCHES:
        return Word(notes=(*view.notes, "search"))
    return Word((Inject(_TEXT.of(view.language).format(count=count)),), f"{count} searches, no delegation", _OVER)


def _delegating(event: Delegating, view: View) -> Word:
    return SILENT if event.source.agent_id or view.notes == _OVER else Word(notes=_OVER)


POLICY = Policy(
    name="remind-of-agents",
    original="agent-usage-reminder",
    number=9,
    what=Words(
        f"After {SEARCHES} searches of the main agent without a delegation it recalls, once, that agents can search.",
        f"主代理连续搜索 {SEARCHES} 次而未委派时，提醒一次可以让代理去搜索。",
    ),
    why=Words(
        "What the main agent reads itself stays in its context.",
        "主代理亲自读取的内容会一直占用其上下文。",
    ),
    silent=Words(
        "once work was delegated, after the first reminder until the conversation is compacted, and inside agents",
        "已经委派过、提醒过一次（直到对话被压缩），以及在子代理内",
    ),
    on={ToolFinished: _finished, Delegating: _delegating},
    is_on=False,
    rank=80,
)
