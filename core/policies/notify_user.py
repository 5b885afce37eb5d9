"""Show the person a notification when a turn ends and nothing is left to do (session-notification)."""

from __future__ import annotations

from ..contract.event import Origin, PromptSubmitted, TurnEnding
from ..workflow.loop import asks_user
from . import finish_todo_list, pursue_goal
from .errand import Notify
from .policy import SILENT, Policy, View, Word, Words
from .silence_continuation import is_quiet
from .task_list import open_tasks

SHORTEST_SECONDS = 30.0
"""Whoever waits for less than that is still there."""

_TITLE = "upbeat"
_DONE = Words("The agent is done in {place}.", "{place}：代理已完成。")
_ASKS = Words("The agent asks you something in {place}.", "{place}：代理有问题要问你。")


def _prompt(event: PromptSubmitted, view: View) -> Word:
    return Word(notes=(f"{view.at:.0f}",)) if event.origin is Origin.USER else SILENT


def _ending(event: TurnEnding, view: View) -> Word:
    began = view.notes[0] if view.notes else ""
    if event.source.agent_id or event.running or not began.isdecimal() or view.at - float(began) < SHORTEST_SECONDS:
        return SILENT
    asks = asks_user(event.message)
    if not asks and _goes_on(view):
        return SILENT
    place = view.root.rstrip("/").rpartition("/")[2] or "/"
    text = (_ASKS if asks else _DONE).of(view.language).format(place=place)
    return Word(because="the person may be elsewhere", errands=(Notify(_TITLE, text),))


def _goes_on(view: View) -> bool:
    """Whether somebody may send the turn on."""
    state = view.state
    if is_quiet(state):
        return False
    if state.run is not None and state.run.is_running and not state.loop.ended:
        return True
    return bool(pursue_goal.has_the_floor(state) or open_tasks(state.notes(finish_todo_list.NAME)))


POLICY = Policy(
    name="notify-user",
    original="session-notification",
    number=15,
    what=Words(
        "When a turn ends with nothing left to do, or in a question, the desktop shows a notification.",
        "一轮结束且没有剩余工作，或以提问结束时，弹出桌面通知。",
    ),
    why=Words("Who waits for an agent looks elsewhere.", "等待代理时人往往在看别处。"),
    silent=Words(
        f"for turns of less than {SHORTEST_SECONDS:.0f} s, while tasks, a goal or a workflow are open, and while "
        "agents work in the background. Off by default: both clients have notifications of their own",
        f"少于 {SHORTEST_SECONDS:.0f} 秒的轮次、还有任务、目标或流程未完成，或有代理在后台运行时。默认关闭："
        "两个客户端都有自己的通知",
    ),
    on={PromptSubmitted: _prompt, TurnEnding: _ending},
    is_on=False,
    stays=True,
    rank=90,
)
