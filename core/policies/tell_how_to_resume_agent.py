"""Say by which call an agent that was started is gone on with (task-resume-info of oh-my-opencode)."""

from __future__ import annotations

from ..contract.effect import Inject
from ..contract.event import ClientName, Delegated
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words

_TEXT = Words(
    "To go on with this agent (an answer to its question, a correction, more of the same work), call {call}: it still "
    "knows what it read and did. A new agent starts from nothing.",
    "若要让这个代理继续（回答它的问题、纠正、补充同类工作），请调用 {call}：它仍记得读过和做过的内容；"
    "新代理要从零开始。",
)


def _delegated(event: Delegated, view: View) -> Word:
    if event.failed or not event.resume:
        return SILENT
    return Word((Inject(_TEXT.of(view.language).format(call=event.resume)),), "an agent was started")


POLICY = Policy(
    name="tell-how-to-resume-agent",
    original="task-resume-info",
    number=21,
    what=Words(
        "When an agent was started it tells the main agent the call that goes on with it.",
        "启动代理后，告诉主代理用哪个调用可以让它继续。",
    ),
    why=Words(
        "Otherwise a new agent is started for each correction, and reads everything again.",
        "否则每次纠正都会新启动一个代理，把一切重读一遍。",
    ),
    silent=Words(
        "when no agent came of the call, and when the client has not told what the agent is called",
        "调用没有产生代理，或客户端未告知代理名称时",
    ),
    on={Delegated: _delegated},
    clients={
        ClientName.CLAUDE_CODE: Standing(
            Carries.NATIVE, "each answer of an agent, and each launch, ends with its id and the tool that reaches it"
        ),
        ClientName.CODEX_CLI: WORKS,
    },
)
