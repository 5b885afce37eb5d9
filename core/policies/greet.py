"""Say at startup that upbeat listens here (startup-toast of oh-my-opencode)."""

from __future__ import annotations

from ..contract.effect import TellUser
from ..contract.event import ClientName, SessionStarted
from .policy import SILENT, Carries, Policy, Standing, View, Word, Words

_TEXT = Words(
    "upbeat listens in {place}; {loop}. `upbeat why` tells what it said and why.",
    "upbeat 已在 {place} 生效；{loop}。`upbeat why` 可查看它说了什么、为什么。",
)
_ON = Words("turns with work left may be sent on", "还有剩余工作的轮次可能会被续跑")
_OFF = Words("turns are not sent on (loop.enabled)", "不会续跑（loop.enabled）")


def _started(event: SessionStarted, view: View) -> Word:
    if event.how != "startup" or event.source.agent_id:
        return SILENT
    place = view.root.rstrip("/").rpartition("/")[2] or "/"
    loop = (_ON if view.caps.is_on else _OFF).of(view.language)
    return Word((TellUser(_TEXT.of(view.language).format(place=place, loop=loop)),), "a session began")


POLICY = Policy(
    name="greet",
    original="startup-toast",
    number=42,
    what=Words(
        "When a session begins it tells its user that upbeat listens there, and whether turns are sent on.",
        "会话开始时告诉用户 upbeat 已生效，以及是否会续跑。",
    ),
    why=Words("Who has just installed it wants to see that it works.", "刚安装的人想确认它在工作。"),
    silent=Words(
        "when a session goes on, is cleared or was summarised. Off by default: who knows it need not be told",
        "会话恢复、清空或压缩时。默认关闭：熟悉之后无需每次告知",
    ),
    on={SessionStarted: _started},
    clients={
        ClientName.CLAUDE_CODE: Standing(Carries.WORKS, "in the terminal; `-p` shows nothing of it"),
        ClientName.CODEX_CLI: Standing(Carries.WORKS, "in the terminal and over the app-server; `exec` prints none"),
    },
    is_on=False,
    rank=95,
)
