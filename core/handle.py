"""One event of a client goes in, a decision comes out, and one record of it stays.

The turn is prepared outside the transaction, because tools take seconds; what the workflow says is decided inside
it, on the state as it is then. Law: every event that tells something leaves one record, and what the record says
is what was decided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from .contract.codes import LimitCode
from .contract.effect import NO_OPINION, Decision, Effect, Inject, Said, Stop, TellUser
from .contract.event import (
    AskingUser,
    Call,
    Delegating,
    Event,
    Origin,
    PromptSubmitted,
    SessionStarted,
    Source,
    ToolFinished,
    ToolStarting,
    TurnEnding,
    UnknownEvent,
)
from .contract.report import TurnReport
from .happening import Happening, rules_told, scene_of, with_neighbours
from .journal.entry import RENAMED
from .journal.record import Record
from .merge import Merged, Voice, merge
from .observations import applying
from .panel import NOBODY, Panel
from .pipeline import NO_CAP, Runtime, TurnRequest, configuration_limits, prepare_turn
from .ports import Transaction
from .settings import Mode, Switch
from .sightings import observations_of
from .texts.workflow import texts
from .turn.mask import clip
from .turn.omit import excerpts_of
from .turn.report import timestamp
from .turn.truncate import Cap
from .turn.word import word
from .workflow import command
from .workflow.brief import TURN_CHARS
from .workflow.decide import NEEDS_NOTHING, decide
from .workflow.facts import (
    Answered,
    Fact,
    HandoverOffered,
    Noted,
    Released,
    SentOn,
    SessionBegan,
    SessionClosed,
    Shown,
    WorkflowAdopted,
    WorkflowEnded,
)
from .workflow.fold import fold
from .workflow.outcome import NOTHING, Archive, Outcome, Tick
from .workflow.state import NEW, RunStatus, SessionState

HOOK_MS = 7000
"""Milliseconds that a turn may take in a hook: clients give up on one after ten seconds."""

WORKFLOW_RANK = 0
TURN_RANK = 10
MAX_NAMES = 20
"""Files that a record says a turn was about."""

MAX_OBSERVED = 5
"""Observations that a new session is told."""

MAX_OBSERVATION = 160
"""Characters of what one is about, and of what it says."""

_ANSWERS = (ToolStarting, ToolFinished, AskingUser, Delegating, TurnEnding)
"""What a model does that has read its prompt."""

_TOLD_AT_START = {LimitCode.CONFIG_INVALID, LimitCode.CONFIG_UNTRUSTED, LimitCode.CONFIG_MISPLACED}


Shortfalls = Callable[[Event, Decision], tuple[str, ...]]
"""For each effect of a decision how far a client falls short of it at an event; empty where it does not."""


def _none(_event: Event, decision: Decision) -> tuple[str, ...]:
    return ("",) * len(decision.effects)


def handle(
    event: Event,
    runtime: Runtime,
    cap: Cap = NO_CAP,
    shortfalls: Shortfalls = _none,
    request: TurnRequest | None = None,
) -> Decision:
    """The decision on one event of a client, recorded in the journal.

    ``cap`` is what the client can carry, ``shortfalls`` what it cannot: that is recorded. ``request`` is how
    turns are prepared for a client that drives them itself and shows their limits; its ``repo_root`` counts for
    every event, and its cap for none.
    """
    if isinstance(event, UnknownEvent) and event.is_noise:
        return NO_OPINION
    started = runtime.clock.monotonic()
    situation = runtime.surroundings.locate(event.source, request.repo_root if request else None, plan=False)
    happening = Happening(event, runtime, situation, started, request)
    panel = Panel.of(happening) if happening.is_on else NOBODY
    before = _state(happening, panel)
    panel = panel.informed(happening, before)
    turn = _turn(happening, before, _less(cap, panel.takes(happening, before, cap)))
    scene = scene_of(happening, before) if happening.is_on else None
    with runtime.journal.transaction() as transaction:
        state = transaction.state(event.source.session_id)
        outcome = decide(event, state, with_neighbours(scene, event, transaction, state)) if scene else NOTHING
        heard = panel.heard(happening, state)
        merged = merge((*_own_voices(turn, outcome, panel), *heard.voices), panel.room(happening, state, cap))
        outcome = _not_sent_on(outcome, merged)
        outcome += _shown(event, state, turn) if scene and not panel.is_held_out else NOTHING
        outcome += Outcome((*panel.noted(heard, merged, state), *panel.spent(happening, merged, state)))
        decision = replace(turn, effects=merged.effects, said=merged.said)
        after = fold(outcome.facts, state) if outcome.facts else None
        transaction.append(_record(happening, decision, merged, outcome, shortfalls(event, decision)), after)
        for fact in outcome.facts:
            if isinstance(fact, WorkflowAdopted):
                _give_up(fact.from_session, event.source.session_id, runtime, transaction)
    _work(outcome, happening)
    for errand in heard.errands:
        runtime.ground.run(errand, happening.situation.repository.root)
    _remember(happening, outcome, state)
    _renew(happening)
    return decision


def _not_sent_on(outcome: Outcome, merged: Merged) -> Outcome:
    """``outcome`` where somebody's ``Stop`` lets the turn end that the workflow would have sent on."""
    if not any(isinstance(effect, Stop) for effect in merged.effects):
        return outcome
    facts = tuple(Released("silenced") if isinstance(fact, SentOn) else fact for fact in outcome.facts)
    return replace(outcome, facts=facts)


def take_over(source: Source, former: str, runtime: Runtime, *, is_same: bool = True) -> None:
    """Let the session of ``source`` go on as ``former``, the name that it had before its client gave it one.

    ``is_same``: the conversation is the one that ``former`` had; another has not been shown what that one was.
    One transaction: whatever happens, exactly one of the two has the workflow.
    """
    with runtime.journal.transaction() as transaction:
        before, present = transaction.state(former), transaction.state(source.session_id)
        if before == NEW:
            return
        facts: tuple[Fact, ...] = (SessionBegan(before.client, before.root),)
        if before.run:
            facts += (WorkflowAdopted(before.run, before.loop, before.evidence, before.client, former),)
        if before.shown and is_same:
            facts += (Shown(before.shown),)
        facts += tuple(Noted(page.policy, page.notes, page.stays) for page in before.notebook if page.stays or is_same)
        at = timestamp(runtime.clock.now())
        record = Record(at, "SessionNamed", before.client, source.session_id, root=before.root, facts=facts)
        transaction.append(record, fold(facts, present))
        _give_up(former, source.session_id, runtime, transaction, RENAMED, SessionClosed())


def _give_up(
    session_id: str, to: str, runtime: Runtime, transaction: Transaction, event: str = "HandedOver", *also: Fact
) -> None:
    """The session whose run was adopted has it no more."""
    state = transaction.state(session_id)
    ended: tuple[Fact, ...] = (WorkflowEnded(RunStatus.HANDED_OVER, to), HandoverOffered("")) if state.run else ()
    facts = (*ended, *also)
    at = timestamp(runtime.clock.now())
    record = Record(at, event, state.client, session_id, root=state.root, facts=facts)
    transaction.append(record, fold(facts, state))


def _state(happening: Happening, panel: Panel) -> SessionState:
    """The session's state, to know what to look up; it may change until it is decided on."""
    if not happening.is_on or (isinstance(happening.event, NEEDS_NOTHING) and not panel.looks_up):
        return SessionState()
    with happening.runtime.journal.transaction() as transaction:
        return transaction.state(happening.source.session_id)


def _turn(happening: Happening, state: SessionState, cap: Cap) -> Decision:
    """What upbeat says to a prompt or a new session beside the workflow."""
    match happening.event:
        case PromptSubmitted(origin=Origin.WRAPPED):
            return Decision(silent_because=LimitCode.PREPARED_ELSEWHERE)
        case PromptSubmitted(origin=Origin.USER) as event:
            return _prepared(event, happening, state, cap)
        case PromptSubmitted():
            return Decision(silent_because=LimitCode.NOT_A_USER_PROMPT)
        case SessionStarted():
            _registry, problems = happening.runtime.workflows.load(happening.situation.repository.root)
            return _told_at_start(happening, (*problems, *rules_told(happening)))
        case _:
            return NO_OPINION


def _prepared(event: PromptSubmitted, happening: Happening, state: SessionState, cap: Cap) -> Decision:
    """The prepared turn, with room left for what the workflow has to say."""
    speaks = happening.is_on and (state.run is not None or command.read(event.prompt) is not None)
    room = replace(cap, limit=max(cap.limit - 4 * TURN_CHARS, 0)) if speaks and cap is not NO_CAP else cap
    prompt = clip(event.prompt)
    request = happening.request or TurnRequest(event.source, prompt, occasion="UserPromptSubmit", most_ms=HOOK_MS)
    request = replace(request, cap=room, shown=frozenset(state.shown) - frozenset(state.unread))
    turn = prepare_turn(request, happening.runtime, happening.situation)
    effects: list[Effect] = []
    if turn.fused_context.for_model.additional_context:
        effects.append(Inject(turn.fused_context.for_model.additional_context))
    broken = [limit.text for limit in turn.limits if limit.code == LimitCode.CONFIG_INVALID]
    if broken and happening.request is None:
        effects.append(TellUser("upbeat: " + "\n".join(map(word, broken))))
    return Decision(tuple(effects), turn, said=(_said_of(turn, happening),))


def _said_of(turn: TurnReport, happening: Happening) -> Said:
    """The turn's own word: which tools found what."""
    found = len(turn.fused_context.for_model.additional_context)
    because = "; ".join(limit.text for limit in turn.limits) or "prepared"
    looked = {
        "signals": [f"{signal.type}: {signal.match}" for signal in turn.inputs.signals],
        "tools": [f"{result.tool}: {result.status}, {result.duration_ms} ms" for result in turn.tool_results],
    }
    items = turn.fused_context.for_model.structured.items
    if names := list(dict.fromkeys(item.path for item in items if item.path))[:MAX_NAMES]:
        looked["names"] = names
    milliseconds = (happening.runtime.clock.monotonic() - happening.started) * 1000
    origin = "; ".join(happening.settings.changed.values())
    return Said("turn", "inject" if found else "nothing", because, looked, origin, round(milliseconds, 1))


def _shown(event: Event, state: SessionState, turn: Decision) -> Outcome:
    """What the model is shown with a prompt, and that it has read it once it does something."""
    if state.unread and isinstance(event, _ANSWERS):
        return Outcome((Answered(),))
    excerpts = excerpts_of(turn.report.fused_context.for_model.structured.items) if turn.report else ()
    return Outcome((Shown(excerpts),)) if excerpts else NOTHING


def _told_at_start(happening: Happening, problems: tuple[str, ...]) -> Decision:
    """What is wrong with the settings and the workflows, once; and what was observed, where that is wanted.

    Who shows the limits of its turns shows there what is wrong with the settings.
    """
    situation = happening.situation
    limits = (*configuration_limits(situation), *situation.limits) if happening.request is None else ()
    told = dict.fromkeys([*(limit.text for limit in limits if limit.code in _TOLD_AT_START), *problems])
    effects: list[Effect] = [TellUser("upbeat: " + "\n".join(map(word, told)))] if told else []
    if observed := _observed(happening):
        effects.append(Inject(observed))
    return Decision(tuple(effects)) if effects else NO_OPINION


def _observed(happening: Happening) -> str:
    """The surest observations on this project, one a line."""
    if not happening.settings.observations_enabled:
        return ""
    runtime = happening.runtime
    known = runtime.memory.known(happening.situation.repository.root)
    sure = applying(known, runtime.clock.now().timestamp())[:MAX_OBSERVED]
    lines = [f"- {word(one.trigger, MAX_OBSERVATION)} → {word(one.action, MAX_OBSERVATION)}" for one in sure]
    return "\n".join([texts(runtime.language).observed, *lines]) if lines else ""


def _remember(happening: Happening, outcome: Outcome, before: SessionState) -> None:
    """What the event shows of how its user works, where that is wanted."""
    if not happening.settings.observations_enabled:
        return
    sightings = observations_of(happening.event, outcome.facts, before)
    if sightings:
        now = happening.runtime.clock.now().timestamp()
        happening.runtime.memory.record(happening.situation.repository.root, sightings, now)


def _renew(happening: Happening) -> None:
    """The code is looked at anew when a session begins, and when a turn in which it was edited is over."""
    index, settings = happening.runtime.index, happening.settings
    works = settings.enabled is not Switch.OFF and settings.mode is Mode.RUN
    if index and works and isinstance(happening.event, SessionStarted | TurnEnding):
        index.renew(happening.situation.repository.root)


def _own_voices(turn: Decision, outcome: Outcome, panel: Panel) -> tuple[Voice, Voice]:
    """The workflow's word before the turn's, and both before anybody else's."""
    workflow = Voice("workflow", outcome.effects, WORKFLOW_RANK, outcome.said, is_budgeted=False)
    prepared = Voice("turn", turn.effects, TURN_RANK, turn.said, is_budgeted=False, is_withheld=panel.is_held_out)
    return workflow, prepared


def _less(cap: Cap, units: int) -> Cap:
    """``cap`` with room left for what others have to say."""
    return replace(cap, limit=max(cap.limit - units, 0)) if units and cap is not NO_CAP else cap


def _record(
    happening: Happening, decision: Decision, merged: Merged, outcome: Outcome, short: tuple[str, ...]
) -> Record:
    event, source, clock = happening.event, happening.source, happening.runtime.clock
    effects = tuple(
        {"kind": _snake(type(effect).__name__), "text": effect.text, "part": part}
        | ({"degraded": lacks} if lacks else {})
        for effect, part, lacks in zip(decision.effects, merged.parts, short, strict=True)
    )
    return Record(
        at=timestamp(clock.now()),
        event=event.name if isinstance(event, UnknownEvent) else type(event).__name__,
        client=source.client.value,
        session_id=source.session_id,
        agent_id=source.agent_id,
        root=happening.situation.repository.root,
        about=_about(event) | ({"driver": happening.request.occasion} if happening.request else {}),
        facts=outcome.facts,
        said=decision.said,
        effects=effects,
        turn=_summary(decision),
        injected_chars=sum(len(effect.text) for effect in decision.effects if isinstance(effect, Inject)),
        milliseconds=round((clock.monotonic() - happening.started) * 1000, 1),
    )


def _about(event: Event) -> dict[str, Any]:
    """The event's own fields, for whoever asks later what happened; calls are unfolded."""
    found: dict[str, Any] = {}
    for each in fields(event):
        value = getattr(event, each.name)
        if isinstance(value, Call):
            found |= {"call_id": value.id, "tool": value.tool, "input": dict(value.input), "act": value.act.value}
            found |= {"paths": list(value.paths)} if value.paths else {}
        elif each.name not in ("source", "raw", "is_noise") and value not in ("", None, ()):
            found[each.name] = value
    return found


def _summary(decision: Decision) -> Mapping[str, Any]:
    turn = decision.report
    summary: dict[str, Any] = {}
    if turn:
        summary |= {
            "run_id": turn.run_id,
            "limits": [limit.code for limit in turn.limits],
            "tools": [f"{result.tool}:{result.status}" for result in turn.tool_results],
        }
    if decision.silent_because:
        summary["silent_because"] = decision.silent_because.value
    return summary


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _work(outcome: Outcome, happening: Happening) -> None:
    """The files that follow from what was decided, once it is recorded."""
    root, workspace = happening.situation.repository.root, happening.runtime.workspace
    for chore in outcome.chores:
        match chore:
            case Tick():
                workspace.tick(root, chore.feature, chore.boxes)
            case Archive():
                workspace.archive(root, chore.feature)
