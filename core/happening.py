"""An event with all that is known around it, and what the workflow needs to know to decide on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .contract.event import Call, Event, PromptSubmitted, Source
from .pipeline import Runtime, TurnRequest
from .ports import Situation, Transaction
from .settings import Settings, Switch, Toggle
from .turn.intent import read
from .turn.reading import Intent
from .workflow.decide import Need, needs
from .workflow.loop import asks_user, newcomer
from .workflow.outcome import Caps, Scene
from .workflow.state import SessionState
from .workflow.tasks import Tasks

MAX_NAMED = 5
"""Files that wait for trust and are named."""


@dataclass(frozen=True, slots=True)
class Happening:
    """An event with all that is known around it."""

    event: Event
    runtime: Runtime
    situation: Situation
    started: float
    request: TurnRequest | None = None

    @property
    def source(self) -> Source:
        return self.event.source

    @property
    def settings(self) -> Settings:
        return self.situation.settings

    @property
    def is_on(self) -> bool:
        """Whether the workflow has anything to say: it is switched off with everything else."""
        return self.settings.enabled is not Switch.OFF and bool(self.source.session_id)


def rules_told(happening: Happening) -> tuple[str, ...]:
    """What is wrong with the rules here, and which of them wait for trust: a sentence each."""
    book = happening.runtime.rules.load(happening.situation.repository.root)
    if not book.untrusted or not happening.is_on:
        return book.problems
    named = ", ".join(book.untrusted[:MAX_NAMED])
    more = f" and {len(book.untrusted) - MAX_NAMED} more" if len(book.untrusted) > MAX_NAMED else ""
    return (*book.problems, f"rules that you have not trusted may only tighten (`upbeat trust`): {named}{more}")


def scene_of(happening: Happening, state: SessionState) -> Scene:
    """What the event is decided on. Only what it needs is looked up."""
    event, runtime, settings = happening.event, happening.runtime, happening.settings
    root, wanted = happening.situation.repository.root, needs(happening.event, state)
    registry, _problems = runtime.workflows.load(root)
    now = runtime.clock.now()
    is_running = state.run is not None and state.run.is_running
    features = runtime.workspace.in_progress(root) if Need.FEATURES in wanted else ()
    feature = (state.run.feature or newcomer(state.run, features)) if state.run else ""
    text = runtime.workspace.tasks(root, feature) if Need.TASKS in wanted and feature else None
    return Scene(
        at=now.timestamp(),
        registry=registry,
        caps=caps_of(settings),
        language=runtime.language,
        root=root,
        run_id=f"{int(now.timestamp() * 1000):012x}-{runtime.clock.nonce()[:6]}",
        tree=runtime.workspace.tree(root) if Need.TREE in wanted else "",
        tasks=None if text is None else Tasks.parse(text),
        tokens=runtime.transcripts.tokens(event.source) if Need.TOKENS in wanted else None,
        exit_code=_exit_code(happening) if Need.EXIT_CODE in wanted else None,
        agent_id=_agent_id(happening) if Need.AGENT in wanted else "",
        features=features,
        is_question=is_running and _is_question(event),
        needs_witness=not settings.workflow_believe_claims,
    )


def with_neighbours(scene: Scene, event: Event, transaction: Transaction, state: SessionState) -> Scene:
    """``scene`` with the other sessions, if it needs them: read in the same transaction as the state."""
    if Need.NEIGHBOURS not in needs(event, state):
        return scene
    me = state.run.id if state.run else ""
    others = (n for n in transaction.neighbours(scene.root) if n.state.run and n.state.run.id != me)
    return replace(scene, neighbours=tuple(others))


def caps_of(settings: Settings) -> Caps:
    """How far a loop may go."""
    return Caps(
        is_on=settings.loop_enabled is Toggle.ON,
        iterations=settings.loop_max_turns,
        errors=settings.loop_max_errors,
        stale=settings.loop_max_stale,
        minutes=settings.loop_max_minutes,
        tokens=settings.loop_max_tokens,
    )


def _exit_code(happening: Happening) -> int | None:
    call = _call(happening.event)
    if call is None:
        return None
    return happening.runtime.transcripts.exit_codes(happening.source, frozenset({call.id})).get(call.id)


def _agent_id(happening: Happening) -> str:
    call = _call(happening.event)
    return happening.runtime.transcripts.agent_of(happening.source, call.id) if call else ""


def _call(event: Event) -> Call | None:
    return getattr(event, "call", None)


def _is_question(event: Event) -> bool:
    """A question: about the code, or whatever ends like one. A statement is taken for a word on the work."""
    if not isinstance(event, PromptSubmitted):
        return False
    return asks_user(event.prompt) or read(event.prompt).intent is Intent.DOCS
