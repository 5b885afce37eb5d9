"""What happens when a turn wants to end: it is sent on while there is work, and let go in every other case.

The first rule that applies decides:

===========================================  =======================================================
nothing runs, or the loop has ended          let go
every step has ended, boxes and witness too  complete
the user has asked something else            let go, this time
the turn ends in a question to the user      let go, this time
agents work in the background, and it shows    let go: the client comes back when they are done
a cap is reached, or nothing has moved       the loop ends and says so; only its user restarts it
another session works on the same feature    let go
otherwise                                    sent on, with what comes next
===========================================  =======================================================

Law: it cannot run away (every way to be sent on is counted) and cannot trap a human (asking, talking and stopping win).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from ..contract.effect import KeepGoing, TellUser
from ..contract.event import TurnEnding
from ..texts.workflow import texts
from ..turn.strip import strip
from . import verdict as verdicts
from .brief import onward, progress, unfinished, waiting
from .delegation import HANDOFF_CHARS, concluded, judged, orphans
from .facts import FeatureTaken, LoopEnded, Released, SentOn, WorkflowEnded
from .fold import fold
from .handoff import check
from .machine import current, is_done, step_ended
from .outcome import NOTHING, Archive, Outcome, Scene, said
from .registry import SPEC, Stage
from .state import Assignment, Run, RunStatus, SessionState
from .verdict import Verdict
from .witness import judge

CLIENT_CAP = 8
"""Claude Code ends a turn itself when it was sent on more often than this without a tool call."""
LEASE_SECONDS = 900.0
"""A session that has not been heard of for so long no longer holds its feature."""

_AFTER_A_QUESTION = " \t\r\"'”’)）]」』*_`"


def turn_ending(event: TurnEnding, state: SessionState, scene: Scene) -> Outcome:
    """Let the turn end, or send it on."""
    if state.run is None or not state.run.is_running:
        return NOTHING
    begun = Outcome((*orphans(state, event.running), *_feature_found(state.run, scene)))
    outcome = begun + _own_verdicts(event, fold(begun.facts, state), scene)
    return outcome + _decide(event, fold(outcome.facts, state), scene)


def _decide(event: TurnEnding, state: SessionState, scene: Scene) -> Outcome:
    run = state.run
    if run is None or not run.is_running:
        return NOTHING
    if state.loop.ended:
        return Outcome(said=(said("loop", "let go", f"ended: {state.loop.ended}"),))
    if not scene.caps.is_on and not is_done(run):
        return Outcome(said=(said("loop", "let go", "switched off: loop.enabled"),))
    problem = _unproven(state, run, scene) if is_done(run) else ""
    if is_done(run) and not problem:
        return _complete(run, scene)
    for rule in _RULES:
        if outcome := rule(event, state, run, scene):
            return outcome
    return _send_on(state, run, scene, problem)


def newcomer(run: Run, features: tuple[str, ...]) -> str:
    """The one feature that came up since the run began, when it has none yet."""
    new = [feature for feature in features if feature not in run.others]
    return new[0] if not run.feature and len(new) == 1 else ""


def _feature_found(run: Run, scene: Scene) -> tuple[FeatureTaken, ...]:
    found = newcomer(run, scene.features)
    return (FeatureTaken(found),) if found else ()


def _own_verdicts(event: TurnEnding, state: SessionState, scene: Scene) -> Outcome:
    """Steps that the main agent did itself, and says so with a marker that names the step."""
    outcome = NOTHING
    message = strip(event.message)
    for reading in verdicts.read_all(message):
        run = fold(outcome.facts, state).run
        if run is None or not run.is_running:
            break
        step = next((one for one in current(run) if one.key == reading.stage.upper()), None)
        if step is None or any(call.key == step.key for call in run.calls):
            continue
        verdict, _problem, notes = judged(fold(outcome.facts, state), step, message, scene, reading.verdict)
        handoff = check(message).cut(HANDOFF_CHARS)
        facts = step_ended(run, scene.registry, step.key, verdict, notes, handoff)
        outcome += concluded(run, scene, step.key, verdict, facts, message)
    return outcome


def _complete(run: Run, scene: Scene) -> Outcome:
    words = texts(scene.language)
    text = words.complete.format(workflow=run.workflow, progress=progress(run))
    left = unfinished(run)
    text += " " + words.left_open.format(steps=left) if left else ""
    chores = (Archive(run.feature),) if run.feature else ()
    word = said("loop", "complete", "every step has ended", left_open=left)
    return Outcome((WorkflowEnded(RunStatus.COMPLETE, left),), (TellUser(text),), (word,), chores)


def _unproven(state: SessionState, run: Run, scene: Scene) -> str:
    """What keeps a run whose steps have all ended from being complete: open boxes, an expired witness."""
    words = texts(scene.language)
    if scene.tasks and scene.tasks.open:
        return words.open_boxes.format(count=len(scene.tasks.open))
    if kind := _expired_kind(state, run, scene):
        because = judge(kind, state.evidence, scene.tree, scene.language).because
        return words.expired.format(because=because)
    return ""


def _expired_kind(state: SessionState, run: Run, scene: Scene) -> str:
    """The kind of witness that some passed step needs and that no longer holds."""
    if not scene.needs_witness:
        return ""
    passed = [step for step in run.steps if step.is_good and step.mode != SPEC]
    stages = (scene.registry.stages.get(step.stage, Stage(step.stage, "")) for step in passed)
    kinds = sorted({stage.witness for stage in stages if stage.witness})
    return next((k for k in kinds if not judge(k, state.evidence, scene.tree, scene.language).found), "")


def _let_go(reason: str, because: str, **looked_at: object) -> Outcome:
    return Outcome((Released(reason),), said=(said("loop", "let go", because, "", **looked_at),))


def _talk(_event: TurnEnding, state: SessionState, _run: Run, _scene: Scene) -> Outcome | None:
    return _let_go("talk", "the user asked something else") if state.loop.is_paused else None


def _question(event: TurnEnding, _state: SessionState, _run: Run, _scene: Scene) -> Outcome | None:
    if not asks_user(event.message):
        return None
    return _let_go("question", "the turn ends in a question to the user", message=event.message[-200:])


def _background(event: TurnEnding, _state: SessionState, run: Run, _scene: Scene) -> Outcome | None:
    """A client that counts its background tasks comes back when they are done. One that does not would drop them."""
    if not event.running:
        return None
    return _let_go("background", "agents still work", running=event.running, steps=waiting(_open_calls(run)))


def _open_calls(run: Run) -> list[Assignment]:
    return [call for call in run.calls if call.verdict is Verdict.NONE]


def _capped(_event: TurnEnding, state: SessionState, run: Run, scene: Scene) -> Outcome | None:
    loop, caps = state.loop, scene.caps
    used = max(0, (scene.tokens or 0) - loop.tokens_at_start)
    minutes = (scene.at - loop.started_at) / 60
    reached = (
        ("errors", loop.errors >= caps.errors),
        ("iterations", loop.iterations >= caps.iterations),
        ("minutes", minutes >= caps.minutes),
        ("tokens", used >= caps.tokens),
        ("stale", _stale(state, run, scene) >= caps.stale),
    )
    reason = next((name for name, is_reached in reached if is_reached), "")
    if not reason:
        return None
    words = texts(scene.language)
    why = words.reason(reason).format(count=caps.stale)
    text = words.ended.format(workflow=run.workflow, reason=why, steps=unfinished(run) or progress(run))
    looked = {"iterations": loop.iterations, "errors": loop.errors, "minutes": round(minutes), "tokens": used}
    return Outcome((LoopEnded(reason),), (TellUser(text),), (said("loop", "ended", reason, "", **looked),))


def _held(_event: TurnEnding, _state: SessionState, run: Run, scene: Scene) -> Outcome | None:
    holder = next(
        (n for n in scene.neighbours if _holds(n.state, run) and scene.at - n.updated_at < LEASE_SECONDS), None
    )
    if holder is None:
        return None
    text = texts(scene.language).held.format(feature=run.feature, session=holder.session_id[:13])
    released = _let_go("held", "another session works on the feature", session=holder.session_id)
    return released + Outcome(effects=(TellUser(text),))


def _holds(other: SessionState, run: Run) -> bool:
    """Whether the other session came first to the same feature, and still works on it."""
    theirs = other.run
    if theirs is None or not theirs.is_running or other.has_ended or other.loop.ended:
        return False
    return bool(run.feature) and theirs.feature == run.feature and theirs.id != run.id and theirs.id < run.id


Rule = Callable[[TurnEnding, SessionState, Run, Scene], Outcome | None]
_RULES: tuple[Rule, ...] = (_talk, _question, _background, _capped, _held)


def _send_on(state: SessionState, run: Run, scene: Scene, problem: str = "") -> Outcome:
    text = onward(state, scene.registry, scene.language, scene.caps.iterations, scene.tasks)
    if problem:
        text = f"{text.partition(chr(10))[0]}\n{problem}"
    sent = SentOn(fingerprint(run, scene), _stale(state, run, scene))
    word = said("loop", "send on", "there is work left", iteration=state.loop.iterations + 1, stale=sent.stale)
    return Outcome((sent,), (KeepGoing(text),), (word,))


def _stale(state: SessionState, run: Run, scene: Scene) -> int:
    """How many turns in a row have now ended without progress; waiting for an agent is neither."""
    if not state.loop.fingerprint or state.loop.fingerprint != fingerprint(run, scene):
        return 0
    return state.loop.stale + (not _open_calls(run))


def fingerprint(run: Run, scene: Scene) -> str:
    """What progress changes: the files, the boxes, the steps."""
    boxes = "" if scene.tasks is None else f"{len(scene.tasks.done)}/{len(scene.tasks.open)}"
    steps = ";".join(f"{step.key}={step.status}/{step.verdict}/{step.tries}" for step in run.steps)
    return hashlib.sha256(f"{scene.tree}\n{boxes}\n{steps}".encode()).hexdigest()[:16]


def asks_user(message: str) -> bool:
    """Whether the message ends in a question."""
    lines = [line for line in message.split("\n") if line.strip() and not line.strip().startswith("<!--")]
    return bool(lines) and lines[-1].rstrip(_AFTER_A_QUESTION).endswith(("?", "？"))
