"""Bring back the open ones of the agent's tasks after a compaction (compaction-todo-preserver of oh-my-opencode)."""

from __future__ import annotations

from ..contract.effect import Inject
from ..contract.event import ClientName, SessionStarted, ToolFinished
from ..turn.frame import Ours
from .policy import SILENT, Carries, Policy, Standing, View, Word, Words
from .task_list import done_tasks, folded, open_tasks

MAX_SHOWN = 20

_TEXT = Words(
    "Your list of tasks as it was before the conversation was summarised: {done} done, {count} open:\n{tasks}\n"
    "Go on with it; if your list is empty now, write it again.",
    "对话被压缩之前你的任务列表：已完成 {done} 项，未完成 {count} 项：\n{tasks}\n"
    "请继续；如果列表现在是空的，请重新写入。",
)
_MORE = Words("… and {count} more", "……另有 {count} 项")


def _finished(event: ToolFinished, view: View) -> Word:
    notes = folded(view.notes, event)
    return SILENT if notes == view.notes else Word(notes=notes)


def _session(event: SessionStarted, view: View) -> Word:
    if not view.notes:
        return SILENT
    if event.how == "clear":
        return Word(notes=())
    tasks = open_tasks(view.notes)
    if event.how != "compact" or not tasks:
        return SILENT
    lines = [f"- {task}" for task in tasks[:MAX_SHOWN]]
    if len(tasks) > MAX_SHOWN:
        lines.append(_MORE.of(view.language).format(count=len(tasks) - MAX_SHOWN))
    text = _TEXT.of(view.language).format(done=done_tasks(view.notes), count=len(tasks), tasks=Ours("\n".join(lines)))
    return Word((Inject(text),), f"{len(tasks)} tasks were open")


POLICY = Policy(
    name="keep-todos-through-compaction",
    original="compaction-todo-preserver",
    number=14,
    what=Words(
        "After a compaction the agent is told which tasks of its own list were open, and how many were done.",
        "压缩后告知代理：它自己的任务列表中哪些未完成、已完成多少项。",
    ),
    why=Words(
        "A summary tells the story of the work, and rarely the whole list of what is left.",
        "摘要讲述工作经过，却很少保留完整的剩余清单。",
    ),
    silent=Words(
        "when nothing on the list is open, without a list, and at every other start of a session",
        "列表没有未完成项、没有列表，或会话以其他方式开始时",
    ),
    on={ToolFinished: _finished, SessionStarted: _session},
    clients={
        ClientName.CLAUDE_CODE: Standing(
            Carries.WORKS, "where the session has tools for tasks; models of today have them only when its user says so"
        ),
        ClientName.CODEX_CLI: Standing(
            Carries.DEGRADED, "the lists that Codex tells its hooks of (update_plan), which no recording shows"
        ),
    },
    stays=True,
    rank=21,
)
