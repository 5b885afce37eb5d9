"""Recall agents and skills to who conducts a workflow by hand (category-skill-reminder of oh-my-opencode)."""

from __future__ import annotations

from ..contract.effect import Inject
from ..contract.event import CHANGES_FILES, Act, Delegating, ToolFinished
from .policy import SILENT, Policy, View, Word, Words

CALLS = 3
"""Calls of its own without a delegation, after which whoever conducts a workflow is reminded."""

_OWN_WORK = CHANGES_FILES | {Act.SHELL, Act.READ, Act.SEARCH}
_OVER = ("over",)
_TEXT = Words(
    "{count} calls of your own while the workflow {workflow} runs. Its steps are for agents: hand the next one over, "
    "and name the skills that it should read.",
    "工作流 {workflow} 进行中，你已亲自操作 {count} 次。各步骤应由代理完成：请交出下一步，并注明它应阅读的技能。",
)


def _finished(event: ToolFinished, view: View) -> Word:
    run = view.state.run
    if run is None or not run.is_running or event.source.agent_id:
        return SILENT
    if event.call.act not in _OWN_WORK or view.notes == _OVER or view.state.loop.is_paused:
        return SILENT
    count = len(view.notes) + 1
    if count < CALLS:
        return Word(notes=(*view.notes, "call"))
    text = _TEXT.of(view.language).format(count=count, workflow=run.workflow)
    return Word((Inject(text),), f"{count} calls of the main agent in a workflow", _OVER)


def _delegating(event: Delegating, view: View) -> Word:
    if event.source.agent_id or view.notes == _OVER or view.state.run is None:
        return SILENT
    return Word(notes=_OVER)


POLICY = Policy(
    name="remind-of-skills",
    original="category-skill-reminder",
    number=10,
    what=Words(
        f"While a workflow runs it recalls agents and skills, once, after {CALLS} calls of the main agent without a "
        "delegation.",
        f"工作流进行中，主代理亲自操作 {CALLS} 次而未委派时，提醒一次可用的代理与技能。",
    ),
    why=Words(
        "Whoever conducts a workflow and works himself leaves the step without its specialist.",
        "主导工作流的代理若亲自动手，该步骤就少了专门的代理。",
    ),
    silent=Words(
        "without a workflow, while its user talks of something else, once work was delegated, after the first "
        "reminder, and inside agents",
        "没有工作流、用户在谈别的事、已经委派过、提醒过一次，以及在子代理内",
    ),
    on={ToolFinished: _finished, Delegating: _delegating},
    is_on=False,
    rank=80,
)
