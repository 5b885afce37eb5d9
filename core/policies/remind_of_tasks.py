"""Recall the list of tasks that nobody has touched for long (task-reminder of oh-my-opencode)."""

from __future__ import annotations

from ..contract.effect import Inject
from ..contract.event import Act, ClientName, ToolFinished
from .policy import SILENT, Carries, Policy, Standing, View, Word, Words
from .task_list import folded, open_tasks

CALLS = 10
"""Calls that are not about the list while tasks are open, after which it is recalled."""

_COUNT = "calls "
_COUNTS = frozenset(str(count) for count in range(CALLS))
_TEXT = Words(
    "{count} calls since your list of tasks was touched; {open} open, the first: “{first}”. Bring it up to date: mark "
    "what is done, add what you have found.",
    "距上次更新任务列表已有 {count} 次调用；尚有 {open} 项未完成，第一项：“{first}”。"
    "请更新：勾掉已完成的，补上新发现的。",
)


def _finished(event: ToolFinished, view: View) -> Word:
    if event.source.agent_id:
        return SILENT
    if event.call.act is Act.PLAN:
        return _listed(event, view)
    still = open_tasks(view.notes)
    if not still:
        return SILENT
    tasks = _without_count(view.notes)
    count = _counted(view.notes) + 1
    if count < CALLS:
        return Word(notes=(*tasks, f"{_COUNT}{count}"))
    text = _TEXT.of(view.language).format(count=count, open=len(still), first=still[0])
    return Word((Inject(text),), f"{len(still)} tasks open, {count} calls about other things", tasks)


def _listed(event: ToolFinished, view: View) -> Word:
    """The list was looked at: what it says now, and the count begins anew."""
    notes = _without_count(folded(view.notes, event))
    return Word(notes=notes) if notes != view.notes else SILENT


def _without_count(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(note for note in notes if not note.startswith(_COUNT))


def _counted(notes: tuple[str, ...]) -> int:
    """How many calls are noted; 0 for none."""
    count = next((note[len(_COUNT) :] for note in notes if note.startswith(_COUNT)), "")
    return int(count) if count in _COUNTS else 0


POLICY = Policy(
    name="remind-of-tasks",
    original="task-reminder",
    number=20,
    what=Words(
        f"After {CALLS} calls that are not about the agent's list of tasks it recalls the list, while tasks are open.",
        f"任务列表仍有未完成项、而连续 {CALLS} 次调用都与它无关时，提醒一次。",
    ),
    why=Words(
        "A list that is not kept up to date says nothing about what is left.",
        "不更新的列表说明不了还剩什么。",
    ),
    silent=Words(
        "without a list, when all of it is done, when it was touched lately, and inside agents",
        "没有列表、全部完成、刚更新过，以及在子代理内",
    ),
    on={ToolFinished: _finished},
    clients={
        ClientName.CLAUDE_CODE: Standing(
            Carries.WORKS, "where the session has tools for tasks; models of today have them only when its user says so"
        ),
        ClientName.CODEX_CLI: Standing(
            Carries.DEGRADED, "the lists that Codex tells its hooks of (update_plan), which no recording shows"
        ),
    },
    stays=True,
    rank=70,
)
