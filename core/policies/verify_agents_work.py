"""Show what an agent left in the working tree, and ask for a check (the plan conductor atlas of oh-my-opencode)."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.effect import Inject
from ..contract.event import (
    CHANGES_FILES,
    AgentStopped,
    Delegated,
    Event,
    Origin,
    PromptSubmitted,
    ToolFinished,
)
from ..turn.frame import frame
from ..workflow.state import SessionState
from .changed_lines import LONGEST_PATH, MAX_SHOWN, count, listed
from .look import ChangedFile, ChangedFiles, Look
from .policy import EVERYWHERE, SILENT, Policy, View, Word, Words

_NAME = "verify-agents-work"
_BACK = "back "
_JUDGED = "judged "
"""An agent that the workflow has judged when it stopped: its call returns afterwards, and is none of the run's then."""
_WARNED = "warned "
_MOST_KEPT = 20
_PROSE = (".md", ".txt", ".rst")

_TEXT = Words(
    "{count} agent(s) came back. The working tree differs from the last commit in {files} file(s):\n{frame}\n"
    "An agent's word is no proof: read what it changed and run the check that would fail if it were wrong, before you "
    "build on it or report it as done.",
    "{count} 个代理已返回。工作树与上次提交相比有 {files} 个文件不同：\n{frame}\n"
    "代理的说法不是证据：在此基础上继续或汇报完成之前，请先阅读改动，并运行一个出错就会失败的检查。",
)
_EDITS = Words(
    "You have changed {path} yourself while the workflow {workflow} runs. No stage reviews or tests what its agents "
    "did not do: hand changes of code to the agent of the step, or say why not.",
    "工作流 {workflow} 进行中，你亲自修改了 {path}。不是由其代理完成的改动不会经过任何评审或测试阶段："
    "请把代码改动交给该步骤的代理，否则说明原因。",
)


def _looks(event: Event, state: SessionState) -> tuple[Look, ...]:
    if isinstance(event, Delegated):
        is_wanted = _has_answered(event) and not _is_judged(state, event.call.id, event.agent_id)
    else:
        is_wanted = _is_main(event) and bool(_back(state.notes(_NAME)))
    return (ChangedFiles(),) if is_wanted else ()


def _is_main(event: Event) -> bool:
    """Whether the main agent is heard again with ``event``."""
    if isinstance(event, PromptSubmitted):
        return event.origin in (Origin.USER, Origin.TASK_NOTIFICATION)
    return isinstance(event, ToolFinished) and not event.source.agent_id


def _has_answered(event: Delegated) -> bool:
    return event.message is not None and not event.failed and not event.source.agent_id


def _is_judged(state: SessionState, call_id: str = "", agent_id: str = "", agent: str = "") -> bool:
    """Whether the workflow itself looks at what comes of this call, or of this agent."""
    run = state.run
    if agent_id and f"{_JUDGED}{agent_id[:80]}" in state.notes(_NAME):
        return True
    if run is None or not run.can_go_on:
        return False
    return any(
        (call_id and call.call_id == call_id)
        or (agent_id and call.agent_id == agent_id)
        or (agent and not call.agent_id and call.agent in (agent, ""))
        for call in run.calls
    )


def _back(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note for note in notes if note.startswith(_BACK))


def _stopped(event: AgentStopped, view: View) -> Word:
    """It is the main agent that has to know, and that is heard at its next event only."""
    is_judged = _is_judged(view.state, agent_id=event.agent_id, agent=event.agent)
    kind = _JUDGED if is_judged else _BACK
    note = f"{kind}{event.agent_id[:80]}"
    if not event.agent_id or note in view.notes:
        return SILENT
    same = [other for other in view.notes if other.startswith(kind)]
    others = tuple(other for other in view.notes if not other.startswith(kind))
    return Word(notes=(*others, *same[1 - _MOST_KEPT :], note))


def _delegated(event: Delegated, view: View) -> Word:
    if not _has_answered(event) or _is_judged(view.state, event.call.id, event.agent_id):
        return SILENT
    return _shown(view, f"{_BACK}{event.agent_id[:80]}")


def _submitted(event: PromptSubmitted, view: View) -> Word:
    return _shown(view) if _is_main(event) and _back(view.notes) else SILENT


def _finished(event: ToolFinished, view: View) -> Word:
    if event.source.agent_id:
        return SILENT
    return _shown(view) if _back(view.notes) else _edited(event, view)


def _shown(view: View, *also: str) -> Word:
    """What differs in the working tree, once for all agents that are back; nothing where that is nothing."""
    back = tuple(dict.fromkeys((*_back(view.notes), *also)))
    notes = tuple(note for note in view.notes if not note.startswith(_BACK))
    files: tuple[ChangedFile, ...] = view.found.get(ChangedFiles()) or ()
    forgets = notes if notes != view.notes else None
    if not files or not view.nonce:
        return Word(notes=forgets) if forgets is not None else SILENT
    shown = frame(listed(files, view.language), view.nonce, source="git status")
    text = _TEXT.of(view.language).format(count=len(back), files=count(files), frame=shown)
    names = tuple(one.path for one in files[:MAX_SHOWN])
    return Word((Inject(text),), f"{len(back)} agents are back, {len(files)} files differ", forgets, names)


def _edited(event: ToolFinished, view: View) -> Word:
    """Whoever conducts a workflow is told, once in each, what changing code himself means."""
    run = view.state.run
    if run is None or not run.is_running or view.state.loop.is_paused or event.failed:
        return SILENT
    path = next((path for path in event.call.paths if not path.endswith(_PROSE)), "")
    note = f"{_WARNED}{run.id[:40]}"
    if event.call.act not in CHANGES_FILES or not path or note in view.notes:
        return SILENT
    shown = path.removeprefix(f"{view.root}/")[:LONGEST_PATH]
    text = _EDITS.of(view.language).format(path=shown, workflow=run.workflow)
    return Word((Inject(text),), "the main agent changes code in a workflow", (*view.notes, note), (path,))


POLICY = Policy(
    name=_NAME,
    original="atlas",
    number=39,
    what=Words(
        "When an agent is back it shows its caller which files differ from the last commit, and asks for a check. In a "
        "workflow it tells the main agent once that what it changes itself is reviewed by nobody.",
        "代理返回后，列出与上次提交不同的文件，并要求核实；在工作流中，提醒主代理一次：它亲自改动的代码无人评审。",
    ),
    why=Words(
        "Agents report as done what they meant to do.",
        "代理常把打算做的事当作已完成来汇报。",
    ),
    silent=Words(
        "when nothing differs, when the workflow judges that agent itself, inside agents; the second half also for "
        "prose, and while its user talks of something else",
        "工作树没有改动、工作流已在评判该代理，以及在子代理内；后半项还包括修改文档和用户在谈别的事时",
    ),
    on={Delegated: _delegated, AgentStopped: _stopped, PromptSubmitted: _submitted, ToolFinished: _finished},
    clients=EVERYWHERE,
    looks=_looks,
    rank=60,
)
