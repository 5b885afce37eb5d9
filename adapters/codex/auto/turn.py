"""One turn after the other on one thread: prepare, send, show, remember, and go on while the workflow wants it.

Law: a prompt that may have reached the model is never sent again. Only where Codex refused to resume because the
thread is gone, before it read anything, or a provider refused the thread's history, before the model did anything, is
the same prompt sent to a new thread, and that is said. What follows a thread that was too long refers to the prompt.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from ....core.contract.codes import LimitCode
from ....core.contract.event import ClientName, Source
from ....core.contract.report import Client, Inputs, Limit, TurnReport
from ....core.pipeline import Runtime, TurnRequest, prepare_turn
from ....core.policies.look import PromptFile
from ....core.ports import Situation
from ....core.settings import Mode, SessionMode, Switch
from ....core.turn import effort as efforts
from ....core.turn.report import Moment, empty, hash_of, timestamp
from ....core.turn.truncate import Cap, Unit
from .flow import OCCASION, Flow, Where
from .recovery import Hands, Recovery
from .rollouts import Rollouts
from .session import Session, is_thread_id
from .sessions import Known, Sessions
from .show import Show, Style
from .transport import (
    Ask,
    Began,
    CommandRun,
    Completed,
    Delta,
    Ending,
    Event,
    Failed,
    FileChange,
    Interrupted,
    Message,
    Refused,
    ThreadStarted,
    ToolCall,
    Transport,
    Usage,
    Why,
)

if TYPE_CHECKING:
    from .app_server import AppServerTransport

WARM_UP = "explain the main function"
_WORK = (Message, Delta, Began, CommandRun, FileChange, ToolCall)
"""What the model does in a turn."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard the model is to think: in every turn (empty: Codex decides), and what Codex was told by other means."""

    wanted: str = ""
    usual: str = ""


CODEXS_OWN = Effort()


@dataclass(slots=True)
class Place:
    """Where the conversation happens: ``folder`` as the person gave it (or None), and where Codex runs, absolute."""

    repo: str | None
    cwd: str


class Conversation:
    """The turns of one session.

    ``app_server`` is the transport where it can do more than turns (threads, models, asking a person), else None.
    ``is_named``: the person chose the session's name. ``end_servers`` ends what was started beside Codex.
    """

    def __init__(
        self,
        runtime: Runtime,
        transport: Transport,
        show: Show,
        place: Place,
        name: str,
        limits: Iterable[Limit] = (),
        *,
        news: Iterable[str] = (),
        is_named: bool = False,
        app_server: AppServerTransport | None = None,
        rollouts: Rollouts | None = None,
        end_servers: Callable[[], None] | None = None,
        effort: Effort = CODEXS_OWN,
    ) -> None:
        self._runtime = runtime
        self._effort = effort
        self._has_worked = False
        """The model has done something in the turn that was sent last."""
        self.recovery = Recovery(self._hands(), show.texts)
        self._end_servers = end_servers
        self._transport = transport
        self._show = show
        self._place = place
        self._limits = list(limits)
        """What to tell with the next turn."""
        self.app_server = app_server
        self.flow = Flow(
            runtime,
            Where(place.cwd, place.repo),
            show.line,
            show.texts.guard_unarmed,
            rollouts,
            ends_agents=transport.name == "exec",
        )
        """What the workflow makes of the turns."""
        self._forks: set[str] = set()
        """Threads that were made here as copies of others."""
        repository = self.situate(is_new=True).repository
        self.root = repository.root
        self.sessions = Sessions(
            self.root, name, show.texts, self._now, is_named=is_named, is_kept=not repository.problem
        )
        self.sessions.news += news
        if repository.problem:
            self._lost(repository.problem)

    # --- the session ---

    @property
    def session(self) -> Session | None:
        """What the next turn goes on with; None is a new thread."""
        return self.sessions.current

    @property
    def name(self) -> str:
        """The name of the session."""
        return self.sessions.name

    def situate(self, *, plan: bool = False, is_new: bool = False) -> Situation:
        """The repository and the settings as they are now."""
        source = Source(ClientName.CODEX_CLI, self._place.cwd) if is_new else self._source()
        return self._runtime.surroundings.locate(source, self._place.repo, plan=plan)

    def resume(self, *, plan: bool, new: bool = False) -> None:
        """Take up the stored session; ``new``: with a new thread. In plan mode nothing is written."""
        if not plan and not is_plan(self.situate(is_new=True)):
            self.sessions.open(new=new)
        elif not new:
            self.sessions.look()
        self._tell_apart()
        if self.app_server and self.sessions.is_ours:
            self.app_server.prepare(self.session.thread_id if self.session else "")
        if not plan:
            self.flow.glance(self._thread_id())

    def forget(self, *, plan: bool) -> None:
        """Let the next turn start a new thread; the former one can still be taken up, unless this is a plan."""
        if plan:
            self.sessions.current = None
            return
        self.sessions.forget()
        self._tell_apart()

    def known(self) -> tuple[Known, ...]:
        """The sessions of this repository that can be taken up, the latest first; threads of Codex among them."""
        elsewhere: list[Known] = []
        if self.app_server:
            try:
                elsewhere = [
                    Known(
                        one.thread_id, "", timestamp(datetime.fromtimestamp(one.updated, UTC)), one.name or one.preview
                    )
                    for one in self.app_server.threads()
                ]
            except Refused as refused:
                self._show.failed(refused.failed, "")
        return self.sessions.listed(elsewhere)

    def take_up(self, choice: str) -> str:
        """Go on with another session: a number of ``known``, a name, or a thread id; the sentence about it."""
        said = self.sessions.take_up(choice)
        self.tell_news()
        return said

    def fork(self) -> str:
        """Go on with a copy of the thread, in a session of its own; the sentence about it."""
        if self.session is None:
            return self._show.texts.fork_nothing
        try:
            thread_id = self._transport.fork(self.session.thread_id)
        except Refused as refused:
            self._show.failed(refused.failed, self.session.thread_id)
            return ""
        self._forks.add(thread_id)
        return self.sessions.branch(thread_id)

    def compact(self) -> Ending | None:
        """Have Codex make the thread shorter, and show it; None where that cannot be."""
        if self.session is None or self.app_server is None:
            return None
        self._show.begin()
        self.flow.enter(self.session.thread_id)
        return self._follow(self.app_server.compact(self.session.thread_id), self.session.thread_id, "")

    def has_prompt(self, name: str) -> bool:
        """Whether the person keeps a prompt that ``/name`` calls."""
        return self._runtime.ground.look(PromptFile(name), self._source(), self.root) is not None

    def resume_command(self, *, always_named: bool = False) -> str:
        """The command that goes on with this session later."""
        return self.sessions.command(self._place.repo, always_named=always_named)

    def tell_news(self) -> None:
        """Say what the person should know about sessions and the way to Codex; each once."""
        news, self.sessions.news = self.sessions.news, []
        for sentence in news:
            self._show.line(sentence, Style.DIM)

    def close(self) -> None:
        """Let others have the session, and leave no process."""
        self.sessions.close()
        self._transport.close()
        self.flow.leave()
        if self._end_servers:
            self._end_servers()

    # --- turns ---

    @property
    def transport(self) -> str:
        """The name of the way to Codex."""
        return self._transport.name

    def planned_command(self) -> str:
        """The command line of the next turn."""
        return self._transport.planned_command(self._thread_id(), self._effort.wanted)

    def warm_up(self) -> None:
        """Pay for the first look at the repository before anybody waits for it. What it finds is thrown away.

        The user's own servers are not asked what nobody wants to know.
        """
        self.flow.registry(self.root)
        situation = self.situate()
        alone = replace(situation, settings=replace(situation.settings, servers=()))
        prepare_turn(TurnRequest(self._source(), WARM_UP, OCCASION, self._place.repo), self._runtime, alone)

    def plan(self, prompt: str) -> TurnReport:
        """What a turn would do. No process is started and no file is written."""
        return self._prepare(prompt, plan=True)

    def preview(self, prompt: str) -> TurnReport:
        """What would go along with ``prompt``: looked up as for a turn, and not sent."""
        limits = list(self._limits)
        report = self._prepare(prompt, plan=False)
        self._limits = limits
        return report

    def nothing(self, code: LimitCode, problem: str, *, plan: bool) -> TurnReport:
        """The report when there was nothing to prepare, or the core itself failed."""
        limits = [*self._limits, Limit.of(code, problem)]
        moment = Moment(self._now(), self._runtime.clock.nonce(), plan)
        client = Client(name=ClientName.CODEX_CLI, event=OCCASION)
        inputs = Inputs(prompt="", repo_root=self.root, repo_root_source="config")
        return empty(f"empty-{hash_of(code, problem, length=12)}", client, inputs, limits, moment)

    def turn(self, prompt: str, situation: Situation) -> Ending:
        """Do one turn and show it. ``situation`` is what ``situate`` gave for it."""
        self._show.begin()
        self.tell_news()
        if self._transport.room(prompt) < 0:
            return Failed(Why.TOO_LONG)
        if situation.settings.codex_session_mode is SessionMode.EXEC:
            self.sessions.current = None
        if holder := self.sessions.claim():
            return Failed(Why.ACTIVE_WRITER, holder)
        try:
            return self._turns(prompt)
        except KeyboardInterrupt:  # between turns; while one runs, its stream takes the signal
            self.flow.interrupted()
            return Interrupted(signal.SIGINT)

    def enter(self) -> None:
        """Let the workflow know which thread it is about."""
        thread_id = self._thread_id()
        self.flow.enter(thread_id, forked=thread_id in self._forks)

    def _turns(self, prompt: str) -> Ending:
        """The turn of ``prompt``, and those that follow because the workflow has work left."""
        self.enter()
        if self.app_server and self.session and self.recovery.make_room(self._show.context_used):
            self._show.begin()
        report, guidance = self._decided(prompt)
        self._show.prepared(report)
        context = report.fused_context.for_model.additional_context
        ending = self._one(Ask(prompt, context, self._thread_id(), guidance, self._effort_for(prompt)))
        while onward := self.flow.after(ending):
            self._show.goes_on(onward)
            self._show.begin()
            ending = self._one(Ask(onward, thread_id=self._thread_id(), effort=self._effort.wanted))
        return ending

    def _one(self, ask: Ask) -> Ending:
        """One turn, sent to a new thread where that of ``ask`` is gone."""
        began = monotonic()
        ending = self._send(ask)
        if isinstance(ending, Failed) and ending.why is Why.NO_ROLLOUT:
            self._gone(ending)
            ending = self._send(replace(ask, thread_id="", context=self._anew(ask)))
        ending = self.recovery.after(ask, ending)
        if isinstance(ending, Completed):
            self._completed(ending, monotonic() - began)
        return ending

    def _effort_for(self, prompt: str) -> str:
        """What to send as the effort of the turn of ``prompt``."""
        usual = self._effort.wanted or self._effort.usual
        found = efforts.effort_for(prompt, usual, is_on=self._is_on(efforts.NAME))
        if found == usual:
            return self._effort.wanted
        self._show.line(self._show.texts.thinks.format(effort=found), Style.DIM)
        return found

    def _is_on(self, name: str) -> bool:
        """Whether what is done here under this name is wanted."""
        settings = self.situate().settings
        return settings.enabled is not Switch.OFF and name not in settings.policies_off

    def _hands(self) -> Hands:
        return Hands(
            tell=lambda sentence: self._show.line(sentence, Style.DIM),
            send=self._send,
            compact=self.compact,
            leave=lambda reason: self._gone(Failed(Why.BAD_REQUEST, reason)),
            anew=self._anew,
            opening=lambda: self.flow.opening(),
            thread_id=self._thread_id,
            has_worked=lambda: self._has_worked,
            is_on=self._is_on,
        )

    def _anew(self, ask: Ask) -> str:
        """The context of ``ask`` for a thread that was shown nothing yet."""
        if not ask.context:
            return ""
        request = self._request(ask.prompt, plan=False)
        request = replace(request, cap=replace(request.cap, limit=max(request.cap.limit - len(ask.guidance), 0)))
        done = self.flow.safely("could_not_prepare", lambda: prepare_turn(request, self._runtime))
        return done.fused_context.for_model.additional_context if done else ask.context

    def _decided(self, prompt: str) -> tuple[TurnReport, str]:
        """What was prepared for ``prompt``, and what upbeat says about the workflow."""
        request = self._request(prompt, plan=False)
        report, guidance = self.flow.prompt(prompt, request)
        report = report or self.nothing(LimitCode.CORE_UNAVAILABLE, self.flow.fault, plan=False)
        self._limits.clear()
        return report, guidance

    def _prepare(self, prompt: str, *, plan: bool) -> TurnReport:
        """What a turn would look up: nothing of it is recorded."""
        request = self._request(prompt, plan=plan)
        done = self.flow.safely("could_not_prepare", lambda: prepare_turn(request, self._runtime), is_kept=not plan)
        report = done or self.nothing(LimitCode.CORE_UNAVAILABLE, self.flow.fault, plan=plan)
        self._limits.clear()
        return report

    def _request(self, prompt: str, *, plan: bool) -> TurnRequest:
        return TurnRequest(
            source=self._source(),
            prompt=prompt,
            occasion=OCCASION,
            repo_root=self._place.repo,
            plan=plan,
            cap=Cap(max(self._transport.room(prompt), 0), Unit.CHARS),
            codex_command=self.planned_command(),
            limits=tuple(self._limits),
        )

    def _send(self, ask: Ask) -> Ending:
        return self._follow(self._transport.send(ask), ask.thread_id, ask.prompt)

    def _follow(self, told: Iterator[Event], asked_for: str, prompt: str) -> Ending:
        ending: Ending = Failed(Why.NO_ENDING)
        self._has_worked = False
        with closing(told) as events:  # type: ignore[type-var]
            for event in events:
                self.flow.event(event)
                match event:
                    case ThreadStarted():
                        self._started(event.thread_id, asked_for, prompt)
                    case Completed() | Failed() | Interrupted():
                        ending = event
                    case _:
                        self._has_worked = self._has_worked or isinstance(event, _WORK)
                        self._show.event(event)
        return ending

    def _started(self, thread_id: str, asked_for: str, prompt: str) -> None:
        """Remember the thread at once: even a turn that fails leaves it behind, to go on with."""
        if not is_thread_id(thread_id):
            return  # nothing that could be resumed
        if asked_for and thread_id.lower() != asked_for.lower():
            self._tell_lost(f"asked for {asked_for}, Codex began {thread_id}; going on with that")
        self._stored(self.sessions.begin(thread_id, self._place.cwd, prompt))

    def _gone(self, failed: Failed) -> None:
        self._tell_lost(f"{failed.text}; starting a new thread")
        self.sessions.current = None

    def _completed(self, ending: Completed, seconds: float) -> None:
        """Tokens are counted over the whole thread, so a turn's are the difference to those before."""
        before = self.session.usage if self.session else None
        used = _difference(ending.usage, before) if before else ending.usage
        self._show.completed(used, seconds, whole_session=before is None)
        if self.session:
            self.sessions.current = replace(self.session, usage=ending.usage)
            self._stored(self.sessions.save())

    def _stored(self, problem: str) -> None:
        if problem and self.session:
            self._tell_lost(f"{problem}; the session can be resumed with codex exec resume {self.session.thread_id}")
            self.sessions.stop_keeping()  # said once

    # --- what is told and recorded ---

    def _tell_apart(self) -> None:
        for problem in self.sessions.lost:
            self._lost(problem)
        self.sessions.lost.clear()

    def _lost(self, detail: str) -> None:
        self._limits.append(Limit.of(LimitCode.SESSION_UNAVAILABLE, detail))

    def _tell_lost(self, detail: str) -> None:
        self._show.limits([Limit.of(LimitCode.SESSION_UNAVAILABLE, detail)])

    def _thread_id(self) -> str:
        return self.session.thread_id if self.session else ""

    def _source(self) -> Source:
        return Source(ClientName.CODEX_CLI, self._place.cwd, self._thread_id())

    def _now(self) -> datetime:
        return self._runtime.clock.now()


def is_plan(situation: Situation) -> bool:
    """Whether the settings in force want a plan instead of a turn."""
    return situation.settings.mode is Mode.PLAN


def place(repo: str | None) -> Place:
    """The place for ``--repo``: Codex runs there, or in the working directory."""
    cwd = os.getcwd()
    return Place(repo, os.path.realpath(os.path.join(cwd, repo)) if repo else cwd)


def _difference(total: Usage, before: Usage) -> Usage:
    return Usage(
        max(total.input_tokens - before.input_tokens, 0),
        max(total.cached_input_tokens - before.cached_input_tokens, 0),
        max(total.output_tokens - before.output_tokens, 0),
    )
