"""The workflow of a conversation: what Codex does becomes events of the core, and what the core wants becomes turns.

Law: the core decides and records, here as behind a hook. What hooks tell of the same thread has the same ids, so that
nothing counts twice. A fault of ours never costs the person a turn.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from ....core.contract.effect import Decision, Deny, Effect, Inject, KeepGoing, Stop, TellUser
from ....core.contract.event import (
    Act,
    Call,
    ClientName,
    Commanded,
    Delegated,
    Delegating,
    Event,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    Source,
    Task,
    ToolFinished,
    ToolStarting,
    TurnEnding,
    TurnFailed,
    TurnInterrupted,
)
from ....core.contract.report import TurnReport
from ....core.handle import handle, take_over
from ....core.journal.record import Record
from ....core.pipeline import NO_CAP, Runtime, TurnRequest
from ....core.ports import Situation, Surroundings
from ....core.settings import Toggle
from ....core.turn.report import timestamp
from ....core.turn.truncate import Cap
from ....core.workflow.registry import Registry
from ....core.workflow.state import NEW, SessionState
from ....core.workflow.tasks import Tasks
from ...hook_output import LEFT_OUT
from . import transport
from .rollouts import Answered, Changed, Deed, Ran, Rollouts, Spawned
from .show import inner_command

OCCASION = "codex-auto"
UNDECIDED = "could_not_evaluate"
T = TypeVar("T")

LATE_SECONDS = 5.0
"""A command that is noticed so late bears no witness: the files may have changed since."""

_CARRIED: dict[type[Event], tuple[type[Effect], ...]] = {
    SessionStarted: (Inject, TellUser),
    PromptSubmitted: (Inject, TellUser),
    TurnEnding: (KeepGoing, Stop, TellUser),
}
"""What codex-auto can carry out; at all other events it can only tell the person."""

_OCCASIONS = (transport.Message, transport.CommandRun, transport.FileChange, transport.ToolCall, transport.Pulse)
"""When it is worth looking at Codex's own records."""

_SPAWNS = ("spawn_agent", "spawnAgent")
"""Calls that start agents, as the two ways to Codex name them; its record says more of them."""


def shortfalls(event: Event, decision: Decision) -> tuple[str, ...]:
    """For each effect of ``decision`` whether it is left out without hooks."""
    carried = _CARRIED.get(type(event), (TellUser,))
    return tuple("" if isinstance(effect, carried) else LEFT_OUT for effect in decision.effects)


@dataclass(frozen=True, slots=True)
class Where:
    """Where Codex runs, absolute; the repository as the person named it, or None."""

    cwd: str
    repo: str | None = None


class Flow:
    """The workflow's side of a conversation. ``tell`` shows a sentence to the person.

    ``guard_text`` is what is told when a step was begun that a hook would have denied. ``ends_agents``: with the end
    of a turn its agents are gone, as with ``codex exec``.
    """

    def __init__(
        self,
        runtime: Runtime,
        where: Where,
        tell: Callable[[str], None],
        guard_text: str,
        rollouts: Rollouts | None = None,
        *,
        ends_agents: bool = False,
    ) -> None:
        self.state: SessionState = NEW
        """As it was when it last changed here."""
        self.fault = ""
        """Why the core failed when it last did."""
        self._runtime = runtime
        self._where = where
        self._tell = tell
        self._guard_text = guard_text
        self._rollouts = rollouts
        self._ends_agents = ends_agents
        self._session = self._thread = ""
        self._turn = self._message = ""
        self._is_onward = False
        self._opening: tuple[str, ...] = ()
        """What the model is to know from the beginning of the session on; it goes with the first prompt."""

    # --- sessions ---

    @property
    def session_id(self) -> str:
        """What the journal knows the session by; empty before the first turn."""
        return self._session

    def glance(self, thread_id: str) -> None:
        """See how the workflow of a thread stands, before anything is done on it."""
        if not self._session:
            self._see(thread_id)

    def enter(self, thread_id: str, *, forked: bool = False) -> None:
        """What comes is about ``thread_id``; empty: about a thread that Codex is to begin.

        Until Codex names that, the state has a name of ours.
        """
        if self._session and thread_id == self._thread:
            if not thread_id and self.state.shown:  # the last turn ended before Codex had a thread: this is a new one
                self._opening = _injected(self._decide(SessionStarted(self._source(), "clear")))
            self._look()
            return
        self.leave()
        self._thread = thread_id
        self._session = thread_id or f"codex-auto-{self._runtime.clock.nonce()}"
        if thread_id and self._rollouts:
            self._rollouts.follow(thread_id, is_new=False)
        begun = self._decide(SessionStarted(self._source(), "fork" if forked else "resume" if thread_id else "startup"))
        self._opening = _injected(begun)
        self._see(self._session)

    def leave(self) -> None:
        """The session is over, as far as this process goes."""
        if self._session:
            self._decide(SessionEnded(self._source(), OCCASION))
        self._session = self._thread = ""
        self.state = NEW

    def _named(self, thread_id: str) -> None:
        """Codex has told on which thread the turn runs."""
        if self._session and thread_id.lower() != self._session.lower():
            former, is_same = self._session, not self._thread  # else Codex went on with another thread
            source = self._source(thread_id)
            self.safely(UNDECIDED, lambda: take_over(source, former, self._runtime, is_same=is_same))
            self._session = self._thread = thread_id
            if self._rollouts:
                self._rollouts.follow(thread_id, is_new=True)

    # --- turns ---

    def prompt(self, prompt: str, request: TurnRequest) -> tuple[TurnReport | None, str]:
        """The turn of a person's prompt, prepared as ``request`` says, and what upbeat itself has to say to the model.

        There is no report when the core failed; ``fault`` says why.
        """
        self._is_onward = False
        self._begin()
        decision = self._decide(PromptSubmitted(self._source(), prompt), request.cap, request)
        self._see(self._session)
        report = decision.report if decision else None
        context = report.fused_context.for_model.additional_context if report else ""
        said = [self.opening(), *(text for text in _injected(decision) if text != context)]
        guidance = "\n\n".join(text for text in said if text)
        return report, guidance if len(guidance) < request.cap.limit else ""

    def opening(self) -> str:
        """What the model is to know since the session began or was summarised; told once."""
        said, self._opening = self._opening, ()
        return "\n\n".join(said)

    def event(self, event: transport.Event) -> None:
        """Something that Codex tells in a turn."""
        if not self._session:
            return
        match event:
            case transport.ThreadStarted():
                self._named(event.thread_id)
            case transport.Message():
                self._message = event.text
            case transport.Compacted():
                self._opening = _injected(self._decide(SessionStarted(self._source(), "compact")))
            case transport.TransportNote(transport.Notice.RESTARTED):
                self._decide(SessionStarted(self._source(), "resume"))  # agents that still worked are gone
            case transport.CommandRun() | transport.FileChange() if not self._has_record():
                self._told(event)
            case transport.Planned():
                self._planned(event)
            case transport.ToolCall() if event.tool not in _SPAWNS:
                self._decide(ToolStarting(self._source(), Call(self._own(event.item), event.tool, {})))
            case _:
                pass
        if isinstance(event, _OCCASIONS):
            self._look()

    def after(self, ending: transport.Ending) -> str:
        """What the next turn is to be asked, because there is work left; empty when the person is next."""
        if not self._session:
            return ""
        self._look()
        match ending:
            case transport.Completed():
                running = 0 if self._ends_agents else None
                event = TurnEnding(self._source(), self._message, continued=self._is_onward, running=running)
                decision = self._decide(event)
                onward = [one.text for one in decision.effects if isinstance(one, KeepGoing)] if decision else []
            case transport.Failed():
                self._decide(TurnFailed(self._source(), ending.why.value, ending.text))
                onward = []
            case transport.Interrupted():
                self.interrupted()
                onward = []
        self._see(self._session)
        if onward:
            self._is_onward = True
            self._begin()
        return "\n".join(onward)

    def interrupted(self) -> None:
        """The person stopped the turn, or what was about to follow it."""
        if self._session:
            self._decide(TurnInterrupted(self._source()))

    def _begin(self) -> None:
        self._turn = self._runtime.clock.nonce()[:6]
        self._message = ""

    # --- what a person asks for ---

    def command(self, verb: str, argument: str = "") -> None:
        """Carry out an order of the person; what came of it is told."""
        self._decide(Commanded(self._source(), verb, argument))
        self._see(self._session)

    def registry(self, root: str) -> Registry:
        """The workflows in force in the repository."""
        return self._runtime.workflows.load(root)[0]

    def tasks(self, root: str) -> Tasks | None:
        """The boxes of the feature that is worked on."""
        feature = self.state.run.feature if self.state.run else ""
        text = self._runtime.workspace.tasks(root, feature) if feature else None
        return None if text is None else Tasks.parse(text)

    # --- what Codex does ---

    def _has_record(self) -> bool:
        """Whether Codex keeps a record of the thread; without one, its events have to do."""
        return self._rollouts is not None and bool(self._rollouts.path(self._thread))

    def _look(self) -> None:
        if self._rollouts and self._thread:
            for deed in self._rollouts.news():
                self._note(deed)

    def _note(self, deed: Deed) -> None:
        match deed:
            case Ran():
                age = self._runtime.clock.now().timestamp() - deed.at
                if deed.exit_code is not None and age <= LATE_SECONDS:
                    self._ran(deed.call_id, deed.command, deed.output, deed.exit_code, deed.agent_id)
            case Changed():
                self._changed(deed.call_id, deed.agent_id)
            case Spawned():
                call = Call(deed.call_id, "spawn_agent", {"message": deed.prompt})
                self._decide(
                    Delegating(self._source(), call, deed.agent, deed.prompt, deed.title, is_sealed=deed.is_sealed)
                )
                self._decide(Delegated(self._source(), call, deed.agent_id))
            case Answered():
                call = Call(deed.call_id, "spawn_agent", {})
                failed = deed.message is None
                self._decide(Delegated(self._source(), call, deed.agent_id, deed.message, failed=failed))

    def _told(self, event: transport.CommandRun | transport.FileChange) -> None:
        call_id = self._own(event.item)
        if isinstance(event, transport.FileChange):
            self._changed(call_id)
        elif event.exit_code is not None:
            self._ran(call_id, inner_command(event.command), event.output, event.exit_code)

    def _ran(self, call_id: str, command: str, output: str, exit_code: int, agent_id: str = "") -> None:
        source, call = self._source(agent_id=agent_id), Call(call_id, "Bash", {"command": command})
        self._decide(ToolStarting(source, call, command))
        self._decide(ToolFinished(source, call, output, command, exit_code, failed=exit_code != 0))

    def _changed(self, call_id: str, agent_id: str = "") -> None:
        source, call = self._source(agent_id=agent_id), Call(call_id, "apply_patch", {})
        self._decide(ToolStarting(source, call))
        self._decide(ToolFinished(source, call))

    def _planned(self, plan: transport.Planned) -> None:
        """The model has written its list of tasks; a hook tells the same one."""
        tasks = tuple(Task(step.text, is_done=step.status == "completed") for step in plan.steps)
        call = Call(self._own("plan"), "update_plan", {}, Act.PLAN, tasks=tasks, is_whole_list=True)
        self._decide(ToolFinished(self._source(), call))

    def _own(self, item: str) -> str:
        """An id for ``item`` that no other turn has: those of ``codex exec`` begin anew."""
        return f"{self._turn}-{item}"

    # --- the core ---

    def _decide(self, event: Event, cap: Cap = NO_CAP, request: TurnRequest | None = None) -> Decision | None:
        """What the core decides on ``event``, told to the person as far as it is for them."""
        request = request or TurnRequest(event.source, "", OCCASION, self._where.repo)
        decision = self.safely(UNDECIDED, lambda: handle(event, self._runtime, cap, shortfalls, request))
        if decision is None:
            return None
        for effect in decision.effects:
            if isinstance(effect, TellUser | Stop):
                self._tell(effect.text)
            elif isinstance(effect, Deny) and self._guard_text:
                self._tell(f"{self._guard_text} {effect.text}")
                self._guard_text = ""
        return decision

    def _see(self, session_id: str) -> None:
        with self._runtime.journal.transaction() as transaction:
            self.state = transaction.state(session_id)

    def safely(self, name: str, do: Callable[[], T], *, is_kept: bool = True) -> T | None:
        """What ``do`` gives; None when it failed: then ``fault`` says why, and a record called ``name`` is kept."""
        try:
            return do()
        except Exception as error:  # the boundary: a fault of ours must not cost the person a turn
            self.fault = f"{type(error).__name__}: {error}"
            about = {"traceback": traceback.format_exc(limit=-8)}
        if is_kept:
            at = timestamp(self._runtime.clock.now())
            with self._runtime.journal.transaction() as transaction:
                transaction.append(Record(at, name, OCCASION, self._session, about=about))
        return None

    def _source(self, session_id: str = "", agent_id: str = "") -> Source:
        session = session_id or self._session
        transcript = self._rollouts.path(self._thread) if self._rollouts and self._thread else ""
        return Source(ClientName.CODEX_CLI, self._where.cwd, session, agent_id, transcript)


def _injected(decision: Decision | None) -> tuple[str, ...]:
    return tuple(one.text for one in decision.effects if isinstance(one, Inject)) if decision else ()


@dataclass(frozen=True, slots=True)
class Unlooped:
    """Implements ``core.ports.Surroundings`` with the loop off, for ``--no-loop``."""

    inner: Surroundings

    def locate(self, source: Source, repo_root: str | None, *, plan: bool) -> Situation:
        found = self.inner.locate(source, repo_root, plan=plan)
        origins = {**found.settings.origins, "loop.enabled": "--no-loop"}
        return replace(found, settings=replace(found.settings, loop_enabled=Toggle.OFF, origins=origins))
