"""Let every turn end, whoever wants to send it on, until the user's next ordinary prompt (stop-continuation-guard)."""

from __future__ import annotations

from ..contract.effect import Stop
from ..contract.event import Origin, PromptSubmitted, TurnEnding
from ..workflow.command import Verb, beside, read
from ..workflow.state import SessionState
from .policy import SILENT, Policy, View, Word, Words

NAME = "silence-continuation"

_TEXT = Words(
    "upbeat is quiet: this turn ends, whatever is left to do. Your next prompt lifts that.",
    "upbeat 已静默：无论还剩什么，本轮都会结束。你的下一条提示会解除静默。",
)
_QUIET = ("quiet",)
_MERELY_ASKS = ("status", "why", "help")
"""Commands that look at things and lift nothing."""


def is_quiet(state: SessionState) -> bool:
    """Whether its user wants nothing sent on."""
    return bool(state.notes(NAME))


def _prompt(event: PromptSubmitted, view: View) -> Word:
    if event.origin is not Origin.USER:
        return SILENT
    command = read(event.prompt)
    if command is None:
        return Word(notes=()) if view.notes else SILENT
    name, _rest = beside(event.prompt) or ("", "")
    if name in _MERELY_ASKS:
        return SILENT
    wants_quiet = command.verb is Verb.STOP or name == "quiet"
    if wants_quiet == bool(view.notes):
        return SILENT
    return Word(because="the user wants nothing sent on", notes=_QUIET) if wants_quiet else Word(notes=())


def _ending(_event: TurnEnding, view: View) -> Word:
    if not view.notes:
        return SILENT
    return Word((Stop(_TEXT.of(view.language)),), "the user wants nothing sent on")


POLICY = Policy(
    name=NAME,
    original="stop-continuation-guard",
    number=26,
    what=Words(
        "After `/upbeat:quiet` (Codex: `$upbeat:quiet`) or a stop word such as `stop` no turn is sent on: not by a "
        "workflow, a goal, a list of tasks or a rule.",
        "输入 `/upbeat:quiet`（Codex 中为 `$upbeat:quiet`）或「停」等停止词之后，任何一轮都不再被续跑：流程、目标、"
        "任务列表和规则都不行。",
    ),
    why=Words(
        "What sends turns on by itself needs one switch that always works.",
        "会自动续跑的东西，必须有一个永远有效的开关。",
    ),
    silent=Words(
        "from the user's next ordinary prompt on; a prompt that only looks (`/upbeat:status`) does not lift it",
        "用户的下一条普通提示之后；只查看状态的命令（`/upbeat:status`）不会解除",
    ),
    on={PromptSubmitted: _prompt, TurnEnding: _ending},
    stays=True,
    rank=1,
)
