"""Advise its user to summarise before the client has to in the middle of work (preemptive-compaction).

Law: it is advice to a person, between two turns; nothing here summarises.
"""

from __future__ import annotations

from ..contract.effect import Compact
from ..contract.event import ClientName, Event, Origin, PromptSubmitted, TurnEnding
from ..workflow.state import SessionState
from .look import ContextUse, Look, Use
from .policy import SILENT, Carries, Policy, Standing, View, Word, Words

SHARE = 0.78
"""Of the window, from which on it is advised."""

_NAME = "advise-compaction"
_TOLD = "told"
_USE = ContextUse()
_TEXT = Words(
    "The conversation fills {percent} % of the model's window ({tokens} of {window} tokens). A good moment for "
    "/compact: otherwise the client summarises by itself, in the middle of a turn.",
    "对话已占模型窗口的 {percent}%（{window} 个 token 中的 {tokens} 个）。现在适合执行 /compact，"
    "否则客户端会在某一轮中途自行压缩。",
)


def _is_meant(event: Event) -> bool:
    """Whether the main agent is between two turns."""
    if event.source.agent_id:
        return False
    return isinstance(event, TurnEnding) or (isinstance(event, PromptSubmitted) and event.origin is Origin.USER)


def _looks(event: Event, state: SessionState) -> tuple[Look, ...]:
    return (_USE,) if _is_meant(event) and not state.notes(_NAME) else ()


def _heard(event: TurnEnding | PromptSubmitted, view: View) -> Word:
    use: Use | None = view.found.get(_USE)
    if use is None or use.share < SHARE or view.notes or not _is_meant(event):
        return SILENT
    text = use.put_into(_TEXT.of(view.language))
    return Word((Compact(text),), f"{use.percent} % of the window", (_TOLD,))


POLICY = Policy(
    name=_NAME,
    original="preemptive-compaction",
    number=13,
    what=Words(
        f"When {SHARE:.0%} of the model's window is used it advises its user, between two turns, to summarise now.",
        f"模型窗口用到 {SHARE:.0%} 时，在两轮之间建议用户现在就压缩。",
    ),
    why=Words(
        "A summary between two turns loses less than one in the middle of work.",
        "在两轮之间压缩，比工作中途被压缩损失更少。",
    ),
    silent=Words(
        "before that, once it was said until the conversation is summarised, in agents, and where the window of the "
        "model is not known",
        "未达到比例、自上次压缩后已说过、在子代理内，或不知道模型窗口大小时",
    ),
    on={TurnEnding: _heard, PromptSubmitted: _heard},
    clients={
        ClientName.CLAUDE_CODE: Standing(
            Carries.DEGRADED, "a word to its user, for models whose window is known here: no hook summarises"
        ),
        ClientName.CODEX_CLI: Standing(
            Carries.DEGRADED,
            "a word to its user: no hook summarises; codex-auto does it by itself (`compact-before-full`)",
        ),
    },
    looks=_looks,
    rank=75,
)
