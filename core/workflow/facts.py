"""The facts that change the state of a session, and how each of them changes it.

Invariant: a fact is in the past and is never rejected. Whether it may happen is decided before, in ``decide``. One that
does not fit the state leaves it unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from upbeat.core.lazy_dataclass import dataclass, replace
from upbeat.core.workflow.run_changes import (
    finish_subtask,
    insert_repair_steps,
    remember_ended,
    remove_call,
    reopen_run,
    with_call,
    with_step,
)
from upbeat.core.workflow.state import (
    AgentReading,
    Evidence,
    LoopState,
    PolicyNotes,
    RunStatus,
    SessionState,
    StepAuthor,
    StepStatus,
    StepVerdict,
    SubagentCall,
    UnmatchedResult,
    WorkflowRun,
    WorkflowStep,
)

MAX_EVIDENCE = 20
MAX_UNMATCHED_RESULTS = 20
MAX_SHOWN_EXCERPTS = 300
MAX_READING_AGENTS = 20
MAX_READ_FILES = 100
"""Files kept for each subagent, the latest."""
MAX_POLICY_NOTES = 200
MAX_UNMATCHED_RESULT_CHARS = 3000
"""Maximum length of each message: less than a record keeps, so that the verdict at its end is not cut off."""


class Fact:
    """What changes the state of a session; one subclass per kind."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class SessionBegan(Fact):
    """The client opened the session in the repository at ``root``."""

    client: str
    root: str


@dataclass(frozen=True, slots=True)
class SenderDeclared(Fact):
    """Events of the session count as its client's if they come from this process."""

    sender: str


@dataclass(frozen=True, slots=True)
class SessionClosed(Fact):
    """The client closed the session. Calls that were still running are lost."""


@dataclass(frozen=True, slots=True)
class ConversationCompacted(Fact):
    """The client replaced the conversation with a summary or cleared it."""


@dataclass(frozen=True, slots=True)
class ExcerptsShown(Fact):
    """These excerpts of the code were shown to the model; ``subject`` has the names that they led with."""

    excerpts: tuple[str, ...]
    subject: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelResponded(Fact):
    """The model has acted since its last prompt, so it has read the context injected with that prompt."""


@dataclass(frozen=True, slots=True)
class PolicyNotesSaved(Fact):
    """A policy saved notes for the next event, replacing its earlier notes."""

    policy: str
    notes: tuple[str, ...]
    survives_compaction: bool = False


@dataclass(frozen=True, slots=True)
class ContextInjected(Fact):
    """Policies and rules injected this many characters; ``is_new_turn`` resets the turn's count."""

    char_count: int
    is_new_turn: bool = False


@dataclass(frozen=True, slots=True)
class WorkflowStarted(Fact):
    """A workflow began and replaced any other; its loop is new."""

    run: WorkflowRun
    started_at: float
    tokens_at_start: int = 0


@dataclass(frozen=True, slots=True)
class WorkflowAdopted(Fact):
    """The session continues the run of another session."""

    run: WorkflowRun
    loop: LoopState
    evidence: tuple[Evidence, ...]
    from_client: str
    from_session: str


@dataclass(frozen=True, slots=True)
class WorkflowEnded(Fact):
    """The run ended with this status."""

    status: RunStatus
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WorkflowReopened(Fact):
    """The user resumed the run with a new loop; in a run that had ended, failed steps get new attempts."""

    reopened_at: float
    tokens_at_start: int = 0


@dataclass(frozen=True, slots=True)
class FeatureAssigned(Fact):
    """The run works on this feature of the specs."""

    feature: str


@dataclass(frozen=True, slots=True)
class HandoverOffered(Fact):
    """A session of ``to_client`` may continue the run; empty withdraws the offer."""

    to_client: str


@dataclass(frozen=True, slots=True)
class StepStarted(Fact):
    """A call began to work on a step."""

    step_key: str
    call_id: str
    agent: str
    has_instructions: bool = True
    started_at: float = 0.0
    subtask: str = ""


@dataclass(frozen=True, slots=True)
class CallLinked(Fact):
    """The subagent of a call is known."""

    call_id: str
    agent_id: str


@dataclass(frozen=True, slots=True)
class SubagentInstructed(Fact):
    """The subagent received its step when it started, because hooks cannot change its prompt."""

    call_id: str


@dataclass(frozen=True, slots=True)
class UnmatchedResultQueued(Fact):
    """A subagent returned, and its call is unknown."""

    agent_id: str
    agent: str
    message: str


@dataclass(frozen=True, slots=True)
class CallReturned(Fact):
    """A call returned with this verdict."""

    call_id: str
    verdict: StepVerdict
    failure_notes: str = ""
    handoff: str = ""
    handoff_chars: int = 0
    """The length of the handoff before it was cut; 0 if it is not in a file."""


@dataclass(frozen=True, slots=True)
class SubtaskFinished(Fact):
    """A call that worked on a sub-task of a split step returned with this verdict; the step goes on."""

    call_id: str
    verdict: StepVerdict
    failure_notes: str = ""
    handoff: str = ""


@dataclass(frozen=True, slots=True)
class CallLost(Fact):
    """A call will never return."""

    call_id: str


@dataclass(frozen=True, slots=True)
class StepFinished(Fact):
    """All calls of a step have returned; ``verdict`` is the worst of theirs."""

    step_key: str
    verdict: StepVerdict
    failure_notes: str = ""
    handoff: str = ""
    author: StepAuthor = StepAuthor.UNKNOWN
    handoff_chars: int = 0


@dataclass(frozen=True, slots=True)
class FilesRead(Fact):
    """A subagent read these files, relative to the repository."""

    agent_id: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NextStepTold(Fact):
    """The main agent learned which steps come next."""


@dataclass(frozen=True, slots=True)
class RepairPlanned(Fact):
    """``repair_steps``, whose groups are new to the run, come next; then the retried steps."""

    repair_steps: tuple[WorkflowStep, ...]
    retried_step_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandRan(Fact):
    """A command ran that can be evidence."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class TurnContinued(Fact):
    """A turn that was about to end was continued."""

    progress_fingerprint: str
    turns_without_progress: int


@dataclass(frozen=True, slots=True)
class TurnAllowed(Fact):
    """A turn was allowed to end, for now; ``awaits_user``: only the user's next prompt goes on."""

    reason: str
    awaits_user: bool = False


@dataclass(frozen=True, slots=True)
class LoopEnded(Fact):
    """The loop continues no more turns until the user restarts it."""

    reason: str


@dataclass(frozen=True, slots=True)
class ContinuationOverridden(Fact):
    """The client ended a continued turn: the work is not finished."""


@dataclass(frozen=True, slots=True)
class ToolUsed(Fact):
    """A tool was called, so the agent is working again."""


@dataclass(frozen=True, slots=True)
class TurnErrored(Fact):
    """A turn ended with an error."""

    awaits_user: bool = False


@dataclass(frozen=True, slots=True)
class AskedUser(Fact):
    """The agent asks the user with the client's tool; its turn may end unless it does more."""


@dataclass(frozen=True, slots=True)
class UserMessaged(Fact):
    """The user sent a prompt. ``pauses_loop``: it is unrelated to the workflow, so this turn may end."""

    pauses_loop: bool


def apply_facts(new_facts: Iterable[Fact], state: SessionState) -> SessionState:
    """Return ``state`` after ``new_facts``, in order."""
    return reduce(apply_fact, new_facts, state)


def apply_fact(state: SessionState, fact: Fact) -> SessionState:
    """Return ``state`` after ``fact``."""
    match fact:
        case SessionBegan():
            return replace(state, client=fact.client, root=fact.root, has_ended=False)
        case SenderDeclared():
            return replace(state, sender=fact.sender)
        case SessionClosed():
            return replace(state, has_ended=True)
        case ConversationCompacted():
            kept = tuple(notes for notes in state.policy_notes if notes.survives_compaction)
            compacted = replace(state, compactions=state.compactions + 1, policy_notes=kept)
            return replace(compacted, shown_excerpts=(), unread_excerpts=(), subject=())
        case ExcerptsShown():
            read = (excerpt for excerpt in state.shown_excerpts if excerpt not in state.unread_excerpts)
            shown = tuple(dict.fromkeys((*read, *fact.excerpts)))[-MAX_SHOWN_EXCERPTS:]
            subject = fact.subject or state.subject
            return replace(state, shown_excerpts=shown, unread_excerpts=fact.excerpts, subject=subject)
        case ModelResponded():
            return replace(state, unread_excerpts=())
        case PolicyNotesSaved():
            notes = [notes for notes in state.policy_notes if notes.policy != fact.policy]
            if fact.notes:
                latest = fact.notes[-MAX_POLICY_NOTES:]
                notes.append(PolicyNotes(fact.policy, latest, fact.survives_compaction))
            return replace(state, policy_notes=tuple(notes))
        case ContextInjected():
            this_turn = (0 if fact.is_new_turn else state.injected_chars_this_turn) + fact.char_count
            total = state.injected_chars + fact.char_count
            return replace(state, injected_chars_this_turn=this_turn, injected_chars=total)
        case CommandRan():
            return replace(state, evidence=_add_evidence(state.evidence, fact.evidence))
        case TurnErrored():  # the model may never have read what the turn showed
            return replace(state, loop=_apply_to_loop(state.loop, fact), shown_excerpts=(), unread_excerpts=())
        case _:
            return _apply_to_workflow(state, fact)


def _add_evidence(evidence: tuple[Evidence, ...], latest: Evidence) -> tuple[Evidence, ...]:
    """Return the latest evidence; of runs with a hidden exit code, one of each kind, so that they displace no proof."""
    if latest.is_hidden:
        evidence = tuple(run for run in evidence if not run.is_hidden or run.kind != latest.kind)
    return (*evidence, latest)[-MAX_EVIDENCE:]


def _apply_to_workflow(state: SessionState, fact: Fact) -> SessionState:
    match fact:
        case WorkflowStarted():
            loop = LoopState(started_at=fact.started_at, tokens_at_start=fact.tokens_at_start)
            return replace(state, run=fact.run, loop=loop, evidence=(), handover_client="")
        case WorkflowAdopted():
            return replace(state, run=fact.run, loop=fact.loop, evidence=fact.evidence, handover_client="")
        case HandoverOffered():
            return replace(state, handover_client=fact.to_client)
        case WorkflowReopened():
            loop = LoopState(started_at=fact.reopened_at, tokens_at_start=fact.tokens_at_start)
            run = reopen_run(state.run) if state.run and not state.run.is_running else state.run
            return replace(state, run=run, loop=loop)
        case _:
            run = _apply_to_run(state.run, fact) if state.run else None
            return replace(state, run=run, loop=_apply_to_loop(state.loop, fact))


def _apply_to_loop(loop: LoopState, fact: Fact) -> LoopState:
    if loop.waits_for and isinstance(fact, TurnContinued | ToolUsed | UserMessaged):
        loop = replace(loop, waits_for="")
    match fact:
        case TurnContinued():
            return replace(
                loop,
                iterations=loop.iterations + 1,
                progress_fingerprint=fact.progress_fingerprint,
                turns_without_progress=fact.turns_without_progress,
                consecutive_errors=0,
                was_continued=True,
                consecutive_continuations=loop.consecutive_continuations + 1,
            )
        case TurnAllowed():
            left = replace(loop, was_continued=False, consecutive_continuations=0, is_paused=False)
            return replace(left, has_asked_user=False, waits_for=fact.reason if fact.awaits_user else "")
        case AskedUser():
            return replace(loop, is_paused=True, has_asked_user=True)
        case LoopEnded():
            # The turn that ends the loop for lack of progress counts as well.
            stale = loop.turns_without_progress + (fact.reason == "no_progress")
            return replace(loop, end_reason=fact.reason, was_continued=False, turns_without_progress=stale)
        case ContinuationOverridden():
            return replace(loop, end_reason="overridden", was_continued=False)
        case ToolUsed():
            is_paused = loop.is_paused and not loop.has_asked_user  # an agent that works has its answer
            left = replace(loop, was_continued=False, consecutive_continuations=0)
            return replace(left, is_paused=is_paused, has_asked_user=False)
        case TurnErrored():
            left = replace(loop, waits_for="turn_failed" if fact.awaits_user else "")
            return replace(left, consecutive_errors=loop.consecutive_errors + 1, was_continued=False)
        case UserMessaged():
            stale = loop.turns_without_progress if loop.end_reason else 0
            left = replace(loop, was_continued=False, consecutive_continuations=0, turns_without_progress=stale)
            return replace(left, is_paused=fact.pauses_loop, has_asked_user=False)
        case _:
            return loop


def _apply_to_run(run: WorkflowRun, fact: Fact) -> WorkflowRun:
    match fact:
        case WorkflowEnded():
            return replace(run, status=fact.status, reason=fact.reason)
        case FeatureAssigned():
            return replace(run, feature=fact.feature)
        case StepStarted():
            call = SubagentCall(fact.call_id, fact.step_key, fact.agent, has_instructions=fact.has_instructions,
                                started_at=fact.started_at, subtask=fact.subtask)  # fmt: skip
            calls = (*(other for other in run.calls if other.call_id != fact.call_id), call)
            return with_step(replace(run, calls=calls), fact.step_key, status=StepStatus.ACTIVE)
        case CallLinked():
            return with_call(run, fact.call_id, agent_id=fact.agent_id)
        case SubagentInstructed():
            return with_call(run, fact.call_id, has_instructions=True)
        case UnmatchedResultQueued():
            others = (result for result in run.unmatched_results if result.agent_id != fact.agent_id)
            queue = (*others, UnmatchedResult(fact.agent_id, fact.agent, fact.message))
            return replace(run, unmatched_results=queue[-MAX_UNMATCHED_RESULTS:])
        case CallReturned():
            # The call keeps its verdict until its step has finished; the queued results of its agent are used up.
            result = {"verdict": fact.verdict, "failure_notes": fact.failure_notes}
            handoff = {"handoff": fact.handoff, "handoff_chars": fact.handoff_chars}
            after = with_call(run, fact.call_id, **result, **handoff)
            agents = {call.agent_id for call in after.calls if call.call_id == fact.call_id} - {""}
            queue = tuple(result for result in run.unmatched_results if result.agent_id not in agents)
            return replace(after, unmatched_results=queue)
        case SubtaskFinished():
            return finish_subtask(run, fact.call_id, fact.verdict, fact.failure_notes, fact.handoff)
        case CallLost():
            return remove_call(run, fact.call_id)
        case StepFinished():
            return _finish_step(run, fact)
        case FilesRead():
            return _add_reading(run, fact)
        case NextStepTold() | TurnContinued() | UserMessaged():  # the last two show the next steps as well
            return replace(run, has_untold_result=False)
        case RepairPlanned():
            return insert_repair_steps(run, fact.repair_steps, fact.retried_step_keys)
        case _:
            return run


def _add_reading(run: WorkflowRun, fact: FilesRead) -> WorkflowRun:
    """Return the run with the latest files of an agent, each once, and with the latest agents."""
    before = (path for path in run.paths_read_by(fact.agent_id) if path not in fact.paths)
    latest = AgentReading(fact.agent_id, (*before, *fact.paths)[-MAX_READ_FILES:])
    others = (reading for reading in run.readings if reading.agent_id != fact.agent_id)
    return replace(run, readings=(*others, latest)[-MAX_READING_AGENTS:])


def _finish_step(run: WorkflowRun, fact: StepFinished) -> WorkflowRun:
    step = run.find_step(fact.step_key)
    if step is None:
        return run
    agents = [call.agent_id for call in run.calls if call.step_key == fact.step_key]
    return with_step(
        replace(
            remember_ended(run, agents) if fact.author is StepAuthor.AGENT else run,
            calls=tuple(call for call in run.calls if call.step_key != fact.step_key),
            subtasks=tuple(  # another attempt at the step is another one at its sub-tasks
                replace(result, attempts=0) if result.step_key == fact.step_key else result for result in run.subtasks
            ),
            has_untold_result=run.has_untold_result or fact.author is StepAuthor.AGENT,
        ),
        fact.step_key,
        status=StepStatus.PENDING if fact.verdict is StepVerdict.UNCLEAR else StepStatus.DONE,
        verdict=fact.verdict,
        attempts=step.attempts + 1,
        failure_notes="" if fact.verdict is StepVerdict.PASS else fact.failure_notes,
        handoff=fact.handoff or step.handoff,
        handoff_chars=fact.handoff_chars if fact.handoff else step.handoff_chars,
        author=fact.author,
    )
