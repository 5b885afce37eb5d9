"""Send a turn on while the agent's own list of tasks has open ones (todo-continuation-enforcer)."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from ..contract.effect import KeepGoing, TellUser
from ..contract.event import Event, SessionStarted, ToolFinished, TurnEnding
from ..turn.frame import Ours
from . import pursue_goal
from .drive import LISTENS_TO, Drive, hindrance, noted, of_notes, released, seen, sent_on
from .policy import SILENT, Policy, View, Word, Words
from .task_list import folded, open_tasks

NAME = "finish-todo-list"
MAX_STALE = 3
"""Turns in a row that are sent on while the list stays as it is."""
MAX_IN_A_ROW = 8
"""Turns that are sent on between two prompts of the user: as many as Claude Code itself allows."""
MAX_SHOWN = 5

_TEXT = Words(
    "{count} of your tasks are still open: {tasks}. Go on with the first of them, and mark each one as soon as it "
    "is done. One that is not wanted any more is taken off the list; where only the user can decide, ask and end "
    "the turn.",
    "你的任务列表还有 {count} 项未完成：{tasks}。请从第一项继续，每完成一项就立即标记。"
    "不再需要的任务请从列表中移除；只有用户才能决定的，请提问并结束本轮。",
)
_OVER = Words(
    "upbeat stopped sending the agent on ({reason}); {count} of its tasks are open: {tasks}. Your next prompt "
    "starts anew.",
    "upbeat 不再续跑（{reason}）；代理的任务还有 {count} 项未完成：{tasks}。你的下一条提示会重新开始。",
)
_STALE = Words("its list did not change {count} times", "任务列表连续 {count} 次没有变化")
_MANY = Words("{count} times in a row", "已连续 {count} 次")


def _listened(event: Event, view: View) -> Word:
    """Everything but the end of a turn: what it tells is remembered, while there is a list."""
    if not view.notes and not isinstance(event, ToolFinished):
        return SILENT
    if isinstance(event, SessionStarted) and event.how == "clear":
        return Word(notes=())
    notes = folded(view.notes, event)
    if not notes:
        return SILENT
    before = of_notes(notes)
    after = seen(before, event, view.at)
    if after != before:
        notes = noted(notes, after)
    return SILENT if notes == view.notes else Word(notes=notes)


def _ending(event: TurnEnding, view: View) -> Word:
    if not view.notes or event.source.agent_id:
        return SILENT
    drive, tasks = of_notes(view.notes), open_tasks(view.notes)
    if not tasks:
        return SILENT
    if because := hindrance(event, view, drive) or pursue_goal.has_the_floor(view.state):
        return Word(because=f"let go: {because}", notes=noted(view.notes, released(drive)))
    mark = hashlib.sha256("\n".join(noted(view.notes, Drive())).encode()).hexdigest()[:16]
    stale = drive.stale + 1 if drive.mark == mark else 0
    if over := _over(drive, stale, view):
        return _ended(over, tasks, drive, view)
    text = _TEXT.of(view.language).format(count=len(tasks), tasks=_shown(tasks, view.language))
    after = sent_on(drive, view.at, mark, stale)
    return Word((KeepGoing(text),), f"{len(tasks)} tasks are open", noted(view.notes, after))


def _over(drive: Drive, stale: int, view: View) -> str:
    """Why nothing is sent on any more; empty when it is."""
    most = min(MAX_STALE, view.caps.stale)
    if stale >= most:
        return _STALE.of(view.language).format(count=most)
    if drive.sent >= min(MAX_IN_A_ROW, view.caps.iterations):
        return _MANY.of(view.language).format(count=drive.sent)
    return ""


def _ended(reason: str, tasks: tuple[str, ...], drive: Drive, view: View) -> Word:
    told = _OVER.of(view.language).format(reason=reason, count=len(tasks), tasks=_shown(tasks, view.language))
    return Word((TellUser(told),), f"ended: {reason}", noted(view.notes, replace(drive, is_over=True)))


def _shown(tasks: tuple[str, ...], language: str) -> Ours:
    quoted = [f"「{task}」" if language == "zh" else f'"{task}"' for task in tasks[:MAX_SHOWN]]
    return Ours(("、" if language == "zh" else ", ").join(quoted) + (" …" if len(tasks) > MAX_SHOWN else ""))


POLICY = Policy(
    name=NAME,
    original="todo-continuation-enforcer",
    number=19,
    what=Words(
        "While the agent's own list of tasks has open ones, a turn that wants to end is sent on, with their names.",
        "代理自己的任务列表还有未完成项时，想要结束的一轮会被续跑，并列出这些任务。",
    ),
    why=Words("Agents stop in the middle of the list that they made.", "代理常在自己列出的任务做到一半时停下。"),
    silent=Words(
        "when the turn ends in a question, agents work in the background, its user asked something else or broke it "
        "off, a workflow or a goal runs, the client only plans, within 60 s of a compaction, when nothing was done "
        f"in 5 s, after {MAX_STALE} turns without a change of the list and after {MAX_IN_A_ROW} in a row",
        "本轮以提问结束、有代理在后台运行、用户另有所问或已中断、有流程或目标在运行、处于计划模式、压缩后 60 秒内、"
        f"5 秒内什么也没做、列表连续 {MAX_STALE} 轮没有变化，或已连续续跑 {MAX_IN_A_ROW} 轮时",
    ),
    on={
        **dict.fromkeys((ToolFinished, *LISTENS_TO), _listened),
        TurnEnding: _ending,
    },
    stays=True,
    rank=30,
)
