"""Keep the tasks of a workflow in its ``tasks.md`` alone (tasks-todowrite-disabler of oh-my-opencode)."""

from __future__ import annotations

from ..contract.effect import Deny
from ..contract.event import Act, Event, ToolStarting
from ..workflow.specs import FOLDERS, Status
from ..workflow.state import SessionState
from .look import Existing, Look
from .policy import SILENT, Policy, View, Word, Words

_TEXT = Words(
    "The tasks of this workflow stand in `{path}`, and a second list would drift from it. Read it, tick a box there "
    "when its task is done and checked, and add what is missing as a box of its own.",
    "本流程的任务都在 `{path}` 中，另建列表会与之不一致。请读取它，任务完成并检查后在其中勾选，缺少的任务也加在那里。",
)


def _path(state: SessionState) -> str:
    """The list of the workflow that runs, relative to the repository; empty where none runs for a feature."""
    run = state.run
    if run is None or not run.is_running or not run.feature:
        return ""
    return f"{FOLDERS[Status.IN_PROGRESS]}/{run.feature}/tasks.md"


def _looks(event: Event, state: SessionState) -> tuple[Look, ...]:
    if not isinstance(event, ToolStarting) or event.call.act is not Act.PLAN:
        return ()
    path = _path(state)
    return (Existing((f"{state.root}/{path}",)),) if path and state.root else ()


def _starting(event: ToolStarting, view: View) -> Word:
    looks = _looks(event, view.state)
    if not looks or not view.found.get(looks[0]):
        return SILENT
    path = _path(view.state)
    return Word((Deny(_TEXT.of(view.language).format(path=path)),), "the workflow has a list", names=(path,))


POLICY = Policy(
    name="keep-one-task-list",
    original="tasks-todowrite-disabler",
    number=22,
    what=Words(
        "While a workflow with a `tasks.md` runs, it refuses the client's own list of tasks and names the file.",
        "带有 `tasks.md` 的流程运行时，拒绝客户端自带的任务列表，并指出该文件。",
    ),
    why=Words(
        "Of two lists of the same tasks one is always wrong.",
        "同样的任务有两份列表，总有一份是错的。",
    ),
    silent=Words(
        "without a running workflow, or while its feature has no `tasks.md`. Off by default: the client's list is what "
        "its user sees",
        "没有运行中的流程，或其特性没有 `tasks.md` 时。默认关闭：用户看到的是客户端的列表",
    ),
    on={ToolStarting: _starting},
    looks=_looks,
    is_on=False,
)
