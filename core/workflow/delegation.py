"""Work that the main agent hands to others: which step a call is for, whether it may start, and how it ended.

Law: keyed by the call, never by the agent's name. Which agent a call became is believed when the client says so, or
when only one call can be meant; otherwise the answer is parked until the call itself returns. What is no stage of
the running workflow passes untouched.
"""

from __future__ import annotations

import re

from ..contract.effect import Deny, Inject, KeepGoing, PutBefore
from ..contract.event import AgentStarted, AgentStopped, Delegated, Delegating
from ..texts.workflow import texts
from ..turn.strip import strip
from . import verdict as verdicts
from .brief import CUT, names, of_step, verdict_words
from .facts import MAX_PARKED_CHARS, AgentParked, AgentTold, CallLinked, CallLost, Fact, StepStarted
from .fold import fold
from .handoff import check
from .machine import call_returned, missing_before
from .outcome import NOTHING, Outcome, Scene, Tick, said
from .registry import SPEC, Registry, Stage
from .state import Assignment, Run, SessionState, Step, StepStatus
from .verdict import Verdict
from .witness import judge

HANDOFF_CHARS = 600
"""What one step hands to the next at most."""

_PREFIX = re.compile(r"upbeat[:_-]")
_MARKER = re.compile(r"\s*\[(?:upbeat:|stage:)([\w:#-]+)\]", re.IGNORECASE)


def identify(event: Delegating, run: Run, registry: Registry) -> tuple[str, str]:
    """The agent that is meant and the key of the step, either may be empty: ``[stage:TEST:2]`` names a step.

    A marker that opens the title or the prompt comes first, then the kind of agent, then a title that names one.
    """
    for text in (event.title, event.prompt):
        if marker := _MARKER.match(text):
            name = marker[1]
            if run.step(name.upper()):
                return "", name.upper()
            if name.lower() in registry.agents:
                return name.lower(), ""
    for text in (event.agent, event.title):
        name = _PREFIX.sub("", text.strip(), count=1).lower().replace("_", "-")
        if name in registry.agents and (_PREFIX.match(text.strip()) or text == event.title):
            return name, ""
    return _numbered(event.title, registry), ""


def _numbered(title: str, registry: Registry) -> str:
    """The agent of ``upbeat_tester_2``: some clients take each title only once."""
    if not _PREFIX.match(title.strip()):
        return ""
    name = _PREFIX.sub("", title.strip(), count=1).lower().replace("_", "-")
    return max((agent for agent in registry.agents if name.startswith(f"{agent}-")), key=len, default="")


def delegating(event: Delegating, state: SessionState, scene: Scene) -> Outcome:
    """Let the call start a step, deny it when earlier ones are missing, or leave it alone."""
    run = state.run
    if run is None or not run.is_running or event.source.agent_id or _call(run, event.call.id):
        return NOTHING  # nothing to do with it, or told by a hook and once more by who drives the client
    agent, key = identify(event, run, scene.registry)
    step = _wanted(run, scene.registry, agent, key)
    if step is None:
        because = "no stage of the running workflow" if agent or key else "no agent of the workflow"
        return Outcome(said=(said("guard", "pass", because, agent=event.agent, title=event.title),))
    missing = missing_before(run, step)
    origin = _origin(scene.registry, run)
    if missing:
        return _denied(step, missing, scene, origin)
    context = of_step(run, step, event.call.id, scene.registry, scene.language)
    started = StepStarted(step.key, event.call.id, event.agent, is_told=not event.is_sealed)
    return Outcome(
        facts=(started,),
        effects=() if event.is_sealed else (PutBefore(context),),
        said=(said("guard", "allow", f"{step.key} may start", origin, agent=event.agent, step=step.key),),
    )


def _denied(step: Step, missing: tuple[Step, ...], scene: Scene, origin: str) -> Outcome:
    words = texts(scene.language)
    busy = all(other.status is StepStatus.ACTIVE for other in missing)
    template = words.denied_running if busy else words.denied
    text = template.format(key=step.key, missing=names(missing))
    return Outcome(
        effects=(Deny(text),),
        said=(said("guard", "deny", f"{step.key} would skip {names(missing)}", origin, missing=names(missing)),),
    )


def _wanted(run: Run, registry: Registry, agent: str, key: str) -> Step | None:
    """The step that a call of ``agent`` is for: the first of its stages that has not ended."""
    if key:
        step = run.step(key)
        return step if step and step.status is not StepStatus.DONE else None
    stages = registry.stages_of(agent)
    open_steps = [step for step in run.steps if step.stage in stages and step.status is not StepStatus.DONE]
    return next((s for s in open_steps if s.status is StepStatus.PENDING), open_steps[0] if open_steps else None)


def delegated(event: Delegated, state: SessionState, scene: Scene) -> Outcome:
    """The call has returned: now it is certain which agent it became, and perhaps how it ended."""
    run = state.run
    call = _call(run, event.call.id) if run else None
    if run is None or not run.can_go_on or call is None or call.verdict is not Verdict.NONE:
        return NOTHING
    if event.failed:
        return Outcome((CallLost(call.call_id),), said=(said("workflow", "lost", f"{call.key}: no agent came of it"),))
    facts: tuple[Fact, ...] = ()
    agent_id = event.agent_id or scene.agent_id
    if agent_id and call.agent_id != agent_id:
        facts = (CallLinked(call.call_id, agent_id),)
    parked = next((one.message for one in run.parked if one.agent_id == agent_id and agent_id), None)
    message = event.message if parked is None else parked
    if message is None:
        return Outcome(facts)
    after = fold(facts, state)
    return Outcome(facts) + _ended(after, call, message, scene, may_ask=False)


def agent_started(event: AgentStarted, state: SessionState, scene: Scene) -> Outcome:
    """Link the agent to its call when only one can be meant, and tell it its step where nothing could be put before."""
    run = state.run
    if run is None or not run.is_running:
        return NOTHING
    known = next((call for call in run.calls if call.agent_id == event.agent_id), None)
    call = known or _only_candidate(run, event.agent)
    step = run.step(call.key) if call else None
    if call is None or step is None:
        return NOTHING
    facts: tuple[Fact, ...] = () if known else (CallLinked(call.call_id, event.agent_id),)
    if call.is_told:
        return Outcome(facts)
    context = of_step(run, step, call.call_id, scene.registry, scene.language)
    told = said("workflow", "inject", "its prompt is hidden from hooks", step=step.key)
    return Outcome((*facts, AgentTold(call.call_id)), (Inject(context),), (told,))


def agent_stopped(event: AgentStopped, state: SessionState, scene: Scene) -> Outcome:
    """The agent's last message: its verdict, once it is known which call it was."""
    run = state.run
    if run is None or not run.can_go_on or not event.agent_id:
        return NOTHING
    call = next((call for call in run.calls if call.agent_id == event.agent_id), None)
    call = call or _marked(run, event.message) or _only_candidate(run, event.agent)
    if call is not None:
        if call.verdict is not Verdict.NONE:
            return NOTHING
        facts = () if call.agent_id else (CallLinked(call.call_id, event.agent_id),)
        return Outcome(facts) + _ended(
            fold(facts, state), call, event.message, scene, may_ask=run.is_running and not event.continued
        )
    if not _candidates(run, event.agent):
        return NOTHING
    parked = AgentParked(event.agent_id, event.agent, _both_ends(event.message))
    return Outcome((parked,), said=(said("workflow", "parked", "several calls may be meant", agent=event.agent),))


def _both_ends(message: str) -> str:
    """The beginning and the end of ``message``, where its verdict stands, in ``MAX_PARKED_CHARS``."""
    if len(message) <= MAX_PARKED_CHARS:
        return message
    half = (MAX_PARKED_CHARS - 3) // 2
    return f"{message[:half]}\n{CUT}\n{message[-half:]}"


def _ended(state: SessionState, call: Assignment, message: str, scene: Scene, *, may_ask: bool) -> Outcome:
    """What follows from an agent's last message. An unclear or unproven one is sent back once, while it can be."""
    run = state.run
    step = run.step(call.key) if run else None
    if run is None or step is None:
        return NOTHING
    message = strip(message)
    verdict, problem, notes = judged(state, step, message, scene)
    origin = _origin(scene.registry, run)
    if problem and may_ask:
        asked = said("workflow", "ask again", problem, origin, step=step.key, message=message[-300:])
        return Outcome(effects=(KeepGoing(problem),), said=(asked,))
    handoff = check(message).cut(HANDOFF_CHARS)
    facts = call_returned(run, scene.registry, call.call_id, verdict, notes, handoff)
    return concluded(run, scene, step.key, verdict, facts, message)


def judged(
    state: SessionState, step: Step, message: str, scene: Scene, stated: Verdict | None = None
) -> tuple[Verdict, str, str]:
    """The verdict of ``message`` on ``step``; what is wrong with it, for its author; and notes for who repairs.

    ``stated`` is the verdict, when it has been read already.
    """
    words = texts(scene.language)
    stage = scene.registry.stages.get(step.stage, Stage(step.stage, ""))
    accepted = (Verdict.PASS,) if step.mode == SPEC else stage.verdicts
    verdict = verdicts.read(message, accepted).verdict if stated is None else stated
    if verdict is Verdict.UNCLEAR:
        problem = words.no_verdict.format(key=step.key, words="|".join(verdict_words(stage)))
        return Verdict.UNCLEAR, problem, problem
    if verdict is Verdict.PASS and stage.witness and step.mode != SPEC and scene.needs_witness:
        testimony = judge(stage.witness, state.evidence, scene.tree, scene.language)
        if not testimony.found:
            problem = words.no_witness.format(key=step.key, because=testimony.because)
            return Verdict.UNCLEAR, problem, problem
    return verdict, "", "" if verdict is Verdict.PASS else verdicts.notes(message)


def concluded(run: Run, scene: Scene, key: str, verdict: Verdict, facts: tuple[Fact, ...], message: str) -> Outcome:
    """The outcome of a step that ended: its facts, and its box ticked when it passed."""
    after = fold(facts, SessionState(run=run)).run
    step = after.step(key) if after else None
    is_passed = step is not None and step.is_good and not step.repairs
    chores = (Tick(run.feature, (key,)),) if run.feature and is_passed else ()
    shown = {"step": key, "message": message[-300:], "missing in the handoff": ", ".join(check(message).missing)}
    word = said("workflow", verdict.value, f"{key} ended", _origin(scene.registry, run), **shown)
    return Outcome(facts, said=(word,), chores=chores)


def lose_all(state: SessionState) -> tuple[Fact, ...]:
    """The facts when every call that has not returned is lost: a crash, a new process, no task running any more."""
    calls = state.run.calls if state.run else ()
    return tuple(CallLost(call.call_id) for call in calls if call.verdict is Verdict.NONE)


def _call(run: Run, call_id: str) -> Assignment | None:
    return next((call for call in run.calls if call.call_id == call_id), None)


def _candidates(run: Run, agent: str) -> list[Assignment]:
    """The calls that an agent of this kind may be: those that wait for one of its name, or else of any."""
    waiting = [call for call in run.calls if not call.agent_id and call.verdict is Verdict.NONE]
    named = [call for call in waiting if call.agent == agent]
    return named or [call for call in waiting if not call.agent]


def _only_candidate(run: Run, agent: str) -> Assignment | None:
    candidates = _candidates(run, agent)
    return candidates[0] if len(candidates) == 1 else None


def _marked(run: Run, message: str) -> Assignment | None:
    """The call that the verdict's marker names, as long as nobody has told which agent that is."""
    call = verdicts.read(message, ()).call
    return next((one for one in run.calls if call and one.call_id[-40:] == call and not one.agent_id), None)


def _origin(registry: Registry, run: Run) -> str:
    workflow = registry.workflows.get(run.workflow)
    return workflow.origin if workflow else ""


def orphans(state: SessionState, running: int | None) -> tuple[Fact, ...]:
    """The facts for calls that cannot return any more, at the end of a turn: nothing runs, or no agent came of them."""
    if running == 0:
        return lose_all(state)
    calls = state.run.calls if state.run and state.run.is_running else ()
    return tuple(CallLost(call.call_id) for call in calls if call.verdict is Verdict.NONE and not call.agent_id)
