"""Prompts, tools, and the beginning and end of sessions, as far as the workflow has to do with them."""

from __future__ import annotations

import re
from dataclasses import replace

from ..contract.effect import Inject, TellUser
from ..contract.event import (
    AskingUser,
    Commanded,
    Origin,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    ToolFinished,
    ToolStarting,
    TurnFailed,
    TurnInterrupted,
)
from ..texts.workflow import texts
from . import command as commands
from .brief import of_turn, unfinished, whole
from .command import Command, Verb
from .delegation import lose_all
from .facts import (
    AskedUser,
    CommandRan,
    Compacted,
    Fact,
    HandoverOffered,
    LoopEnded,
    Overridden,
    Released,
    SessionBegan,
    SessionClosed,
    TurnErred,
    UserTalked,
    Worked,
    WorkflowAdopted,
    WorkflowEnded,
    WorkflowReopened,
    WorkflowStarted,
)
from .fold import fold
from .loop import CLIENT_CAP
from .machine import begin
from .outcome import NOTHING, Outcome, Scene, said
from .state import Evidence, Loop, RunStatus, SessionState
from .witness import witnessed

_FEATURE = re.compile(r"(?<![\w-])(?:specs/features/in-progress/)?([a-z0-9]+(?:-[a-z0-9]+)*)(?![\w-])")
MAX_GOAL = 2000
OFFER_SECONDS = 86400.0
"""A run that was offered to another client longer ago is not taken up unasked."""


def session_started(event: SessionStarted, state: SessionState, scene: Scene) -> Outcome:
    """What a session has to know: its own workflow, or one that was handed over to it."""
    facts: tuple[Fact, ...] = (SessionBegan(event.source.client.value, scene.root),)
    if event.how in ("compact", "clear"):
        facts += (Compacted(),)
    elif event.how in ("startup", "resume"):
        facts += lose_all(state)
    adopted = _adopted(event.source.client.value, state, scene)
    after = fold((*facts, *adopted.facts), state)
    text = whole(after, scene.registry, scene.language, scene.tasks) if _is_open(after) or scene.tasks else ""
    effects = (Inject(text),) if text else ()
    word = (said("workflow", "inject", f"session {event.how}", chars=len(text)),) if text else ()
    return Outcome(facts) + adopted + Outcome(effects=effects, said=word)


def _is_open(state: SessionState) -> bool:
    return state.run is not None and state.run.status in (RunStatus.RUNNING, RunStatus.NEEDS_HUMAN)


def _adopted(client: str, state: SessionState, scene: Scene) -> Outcome:
    """Go on with what another session in this repository offers to this client."""
    if state.run is not None and state.run.is_running:
        return NOTHING
    for other in scene.neighbours:
        theirs = other.state
        is_fresh = scene.at - other.updated_at < OFFER_SECONDS
        if is_fresh and theirs.handover == client and theirs.run is not None and theirs.run.can_go_on:
            again = () if theirs.run.is_running else (WorkflowReopened(scene.at),)
            run = fold((*lose_all(theirs), *again), theirs).run or theirs.run
            loop = Loop(theirs.loop.iterations, started_at=theirs.loop.started_at, tokens_at_start=scene.tokens or 0)
            fact = WorkflowAdopted(run, loop, theirs.evidence, theirs.client, other.session_id)
            told = texts(scene.language).adopted.format(client=theirs.client, session=other.session_id[:13])
            word = said("workflow", "adopt", "it was handed over", session=other.session_id, client=theirs.client)
            return Outcome((fact,), (TellUser(told),), (word,))
    return NOTHING


def prompt_submitted(event: PromptSubmitted, state: SessionState, scene: Scene) -> Outcome:
    """A command of the user, or a prompt while a workflow runs."""
    if event.origin is not Origin.USER:
        return NOTHING
    begun = Outcome() if state.root else Outcome((SessionBegan(event.source.client.value, scene.root),))
    capped = _overridden(state, scene)
    adopted = _adopted(event.source.client.value, state, scene)
    before = begun + capped + adopted
    command = commands.read(event.prompt)
    after = fold(before.facts, state)
    outcome = before + (_obey(command, event, after, scene) if command else _talk(after, scene))
    text = of_turn(fold(outcome.facts, state), scene.registry, scene.language)
    starts = any(isinstance(fact, WorkflowStarted | WorkflowReopened) for fact in outcome.facts)
    if starts:
        words = texts(scene.language)
        is_new = any(isinstance(fact, WorkflowStarted) for fact in outcome.facts)
        text = f"{words.started if is_new else words.went_on}\n{text}"
    return outcome + Outcome(effects=(Inject(text),) if text else ())


def _obey(command: Command, event: PromptSubmitted, state: SessionState, scene: Scene) -> Outcome:
    is_ours = event.prompt.lstrip()[:1] in ("/", "$")
    match command.verb:
        case Verb.START:
            return start(command.workflow, command.goal, scene)
        case Verb.STOP:
            outcome = stop(state, scene)
        case Verb.GO_ON:
            outcome = go_on(state, scene)
        case Verb.OTHER:
            return NOTHING
    if outcome.facts or is_ours:
        return outcome
    return _talk(state, scene)


def commanded(event: Commanded, state: SessionState, scene: Scene) -> Outcome:
    """An order from beside the conversation; the answer always says where the workflow stands."""
    begun = Outcome() if state.root else Outcome((SessionBegan(event.source.client.value, scene.root),))
    match event.verb:
        case "start":
            outcome = start(event.argument, event.goal, scene)
        case "start-if-idle" if not _is_open(state):
            outcome = start(event.argument, event.goal, scene)
        case "stop":
            outcome = stop(state, scene)
        case "continue":
            outcome = go_on(state, scene)
        case "hand-over":
            outcome = hand_over(state, event.argument, scene)
        case _:
            outcome = NOTHING
    text = of_turn(fold(outcome.facts, state), scene.registry, scene.language)
    if not text and not outcome.effects:
        return begun + outcome + Outcome(effects=(TellUser(texts(scene.language).nothing_runs),))
    return begun + outcome + Outcome(effects=(Inject(text),) if text else ())


def stop(state: SessionState, scene: Scene) -> Outcome:
    """Nothing is sent on any more."""
    words = texts(scene.language)
    run = state.run
    if run is None or run.status not in (RunStatus.RUNNING, RunStatus.NEEDS_HUMAN):
        return Outcome(effects=(TellUser(words.nothing_runs),))
    facts: tuple[Fact, ...] = (WorkflowEnded(RunStatus.STOPPED, "stopped"), LoopEnded("stopped"))
    if state.handover:
        facts += (HandoverOffered(""),)
    told = TellUser(words.stopped.format(workflow=run.workflow))
    return Outcome(facts, (told,), (said("loop", "stop", "the user said so"),))


def go_on(state: SessionState, scene: Scene) -> Outcome:
    """The run goes on where it was, with new tries and a new loop."""
    if state.run is None or not state.run.can_go_on:
        return Outcome(effects=(TellUser(texts(scene.language).nothing_runs),))
    is_over = not state.run.is_running or state.loop.ended
    lost = lose_all(state) if is_over else ()  # a client may never tell that an agent was cut off
    fact = WorkflowReopened(scene.at, scene.tokens or 0)
    return Outcome((*lost, fact), said=(said("loop", "go on", "the user said so"),))


def hand_over(state: SessionState, to: str, scene: Scene) -> Outcome:
    """Offer the run to the next session of the client ``to`` in this repository."""
    words = texts(scene.language)
    run = state.run
    if run is None or not run.can_go_on:
        return Outcome(effects=(TellUser(words.nothing_runs),))
    told = TellUser(words.offered.format(workflow=run.workflow, client=to))
    return Outcome((HandoverOffered(to),), (told,), (said("workflow", "offer", f"to {to}"),))


def start(name: str, goal: str, scene: Scene) -> Outcome:
    """Begin the workflow ``name``, or say which there are."""
    workflow = scene.registry.workflows.get(commands.resolve(name, scene.registry.workflows))
    if workflow is None:
        known = ", ".join(scene.registry.workflows)
        told = TellUser(texts(scene.language).unknown.format(name=name[:40], known=known))
        return Outcome(effects=(told,), said=(said("workflow", "unknown", f"no workflow {name[:40]}"),))
    feature = _feature(goal, scene.features)
    run = replace(begin(workflow, scene.registry.stages, scene.run_id, goal[:MAX_GOAL], feature), others=scene.features)
    fact = WorkflowStarted(run, scene.at, scene.tokens or 0)
    word = said("workflow", "start", f"workflow {name}", workflow.origin, goal=goal[:200], feature=run.feature)
    return Outcome((fact,), said=(word,))


def _feature(goal: str, features: tuple[str, ...]) -> str:
    """The feature in progress that the goal names; with one only, that one when the goal names nothing else."""
    named = [match[1] for match in _FEATURE.finditer(goal) if match[1] in features]
    if named:
        return named[0]
    return features[0] if len(features) == 1 and not goal else ""


def _talk(state: SessionState, scene: Scene) -> Outcome:
    """The user says something while a workflow runs. A question is answered; the loop does not hold on to it."""
    if state.run is None or not state.run.is_running:
        return NOTHING
    pauses = scene.is_question
    word = said("loop", "pause" if pauses else "listen", "the user said something")
    return Outcome((UserTalked(pauses=pauses),), said=(word,))


def _overridden(state: SessionState, scene: Scene) -> Outcome:
    """A turn that was sent on ended all the same: the client's own cap."""
    run, loop = state.run, state.loop
    if run is None or not run.is_running or not loop.sent_on or loop.in_a_row <= CLIENT_CAP:
        return NOTHING
    told = TellUser(texts(scene.language).overridden.format(workflow=run.workflow, steps=unfinished(run)))
    word = said("loop", "not finished", "the client ended the turn itself", in_a_row=loop.in_a_row)
    return Outcome((Overridden(),), (told,), (word,))


def session_ended(_event: SessionEnded, state: SessionState, scene: Scene) -> Outcome:
    """The calls that still ran are lost; a loop that the client cut off is not finished."""
    return _overridden(state, scene) + Outcome((*lose_all(state), SessionClosed()))


def tool_starting(_event: ToolStarting, state: SessionState, _scene: Scene) -> Outcome:
    """Something is being done."""
    loop = state.loop
    return Outcome((Worked(),)) if loop.sent_on or loop.in_a_row or loop.has_asked else NOTHING


def tool_finished(event: ToolFinished, state: SessionState, scene: Scene) -> Outcome:
    """A command that can bear witness is remembered, with its exit code and the files that it ran on."""
    if state.run is None or not state.run.is_running or event.interrupted:
        return NOTHING
    if any(one.call_id == event.call.id and one.exit_code is not None for one in state.evidence):
        return NOTHING  # told twice, and the files may have changed in between
    known = scene.exit_code if event.exit_code is None else event.exit_code
    kind, code = witnessed(event.command, known, event.output)
    if not kind:
        return NOTHING
    evidence = Evidence(kind, event.command[:400], scene.tree, code, event.call.id, scene.at)
    word = said("witness", "saw", f"{kind}: exit code {code}", command=evidence.command, tree=scene.tree[:12])
    return Outcome((CommandRan(evidence),), said=(word,))


def asking_user(_event: AskingUser, state: SessionState, _scene: Scene) -> Outcome:
    """The agent asks its user with the client's own tool: the loop lets this turn end."""
    if state.run is None or not state.run.is_running:
        return NOTHING
    return Outcome((AskedUser(),), said=(said("loop", "pause", "the agent asks its user"),))


def turn_failed(event: TurnFailed, state: SessionState, _scene: Scene) -> Outcome:
    """A failed turn counts; three in a row end the loop. What it was to show may never have been read."""
    if state.run is None or not state.run.is_running:
        return Outcome((TurnErred(),)) if state.shown else NOTHING
    return Outcome((TurnErred(),), said=(said("loop", "error", event.error, message=event.message[:200]),))


def turn_interrupted(_event: TurnInterrupted, state: SessionState, _scene: Scene) -> Outcome:
    """The user broke the turn off: nothing is sent on until the next prompt."""
    return Outcome((Released("interrupted"),)) if state.run and state.run.is_running else NOTHING
