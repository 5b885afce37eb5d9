"""One turn on a running ``codex app-server``, from the request that starts it to the news that it is over.

Law: it waits for two things at once, the server and the person's signals, and for neither without an end. However
it is left, the server works on nothing of it any more, or is gone.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from select import select
from time import monotonic

from .app_server_events import (
    Closed,
    News,
    Progress,
    Told,
    TurnBegan,
    TurnEnded,
    Used,
    changes_of,
    decode,
)
from .app_server_process import Connection, ConnectionLost, Incoming, RequestRefused
from .app_server_requests import Question, item_of, question_in
from .app_server_rpc import Fields, Noise, Notification, Request
from .exec_transport import UNREACHABLE_SECONDS, WORKING_FACTOR
from .failures import waits_for_network
from .signals import Signals
from .transport import (
    PULSE_SECONDS,
    Answered,
    Approval,
    Began,
    Change,
    CommandRun,
    Completed,
    Decision,
    Ending,
    Event,
    Failed,
    FileChange,
    Interrupted,
    Matter,
    Notice,
    Pulse,
    ThreadStarted,
    ToolCall,
    TransportNote,
    Trouble,
    TurnStarted,
    Unknown,
    Usage,
    Warned,
    Why,
)

AskPerson = Callable[[Approval], Decision]
"""Asks the person, in the thread that reads the events; a KeyboardInterrupt of it is ``Decision.CANCEL``."""

INTERRUPT_SECONDS = 5.0
"""How long Codex may take to stop a turn before it is killed."""

LEAVE_SECONDS = 1.0
"""The same when codex-auto itself is told to end."""

CLEAN_SECONDS = 1.0
"""How long Codex may take to end the commands of a stopped turn."""

_PATIENCE = 0.5


class Over(Exception):
    """The turn ends before it began."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending)
        self.ending = ending


@dataclass(slots=True)
class Memory:
    """What is known of one server beyond a turn."""

    active: dict[str, str] = field(default_factory=dict)
    """The turn that runs on a thread."""
    usage: dict[str, Usage] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    """Threads that the server has let go."""
    warned: set[str] = field(default_factory=set)
    """Warnings that were shown; the server repeats them."""
    was_stopped: bool = False
    """It was us who ended the server."""

    def note(self, news: News) -> None:
        """Keep what ``news`` says about its thread."""
        for told in news.told:
            match told:
                case TurnBegan():
                    self.active[news.thread_id] = news.turn_id
                case TurnEnded() if self.active.get(news.thread_id) == news.turn_id:
                    del self.active[news.thread_id]
                case Closed():
                    self.active.pop(news.thread_id, None)
                    self.closed.add(news.thread_id)
                case Used():
                    self.usage[news.thread_id] = told.usage
                case _:
                    pass


class Turn:
    """One turn, or one compaction, which is a turn of its own to Codex."""

    def __init__(
        self,
        connection: Connection,
        signals: Signals,
        memory: Memory,
        ask_person: AskPerson | None,
        idle_seconds: float,
    ) -> None:
        self._connection = connection
        self._signals = signals
        self._memory = memory
        self._ask_person = ask_person
        self._idle_seconds = idle_seconds
        self._thread_id = self._turn_id = ""
        self._is_asked = False
        self._working: set[str] = set()
        self._changes: dict[str, tuple[Change, ...]] = {}
        self._ending: Ending | None = None
        self._stopped_by = 0
        self._given_up: Failed | None = None
        self._interrupt_sent = False
        self._deadline = self._waits_since = 0.0
        self._progress = monotonic()

    def _wait(self, seconds: float) -> int:
        """Wait for news of the server, or a signal to us: its number, or 0."""
        select([self._connection.fileno(), self._signals.fileno()], [], [], seconds)
        return self._signals.take()

    # --- before it begins ---

    def result(self, future: Future[Fields], seconds: float) -> Fields:
        """What ``future`` brings.

        Raises:
            Over: it brings nothing in time, or the person does not want to wait.
        """
        end = monotonic() + seconds
        while not future.done():
            left = end - monotonic()
            if left < 0:
                raise Over(Failed(Why.SILENT, f"{seconds:g}"))
            if number := self._wait(min(left, _PATIENCE)):
                raise Over(Interrupted(number))
            self._connection.hush()
        try:
            return future.result()
        except RequestRefused as refused:
            raise Over(self.refused(refused)) from None
        except ConnectionLost as lost:
            raise Over(Failed(Why.GONE, str(lost))) from None

    def wait_until_idle(self, thread_id: str) -> Iterator[Event]:
        """Let a turn that somebody else has started on the thread come to its end."""
        self._thread_id = thread_id
        yield from self._handle_all()
        if thread_id in self._memory.active:
            yield TransportNote(Notice.WAITING)
        while thread_id in self._memory.active and not self._connection.ended:
            if number := self._wait(_PATIENCE):
                raise Over(Interrupted(number))
            yield from self._handle_all()

    @staticmethod
    def refused(refused: RequestRefused) -> Failed:
        """Why the server does not do what it was asked."""
        text = str(refused)
        return Failed(next((why for words, why in _REFUSALS if words in text), Why.REFUSED), text)

    # --- while it runs ---

    def events(self, method: str, fields: Fields) -> Iterator[Event]:
        """Start it with ``method``; all that happens, the ending last."""
        self._is_asked = True
        self._progress = pulsed = monotonic()
        started = self._connection.ask(method, fields)
        try:
            while self._ending is None:
                self._stop(self._wait(_PATIENCE))
                yield from self._check_start(started)
                yield from self._handle_all()
                if monotonic() - pulsed > PULSE_SECONDS:
                    pulsed = monotonic()
                    yield Pulse()
                self._check_life()
                self._watch_the_time()
            if self._interrupt_sent:
                self._end_commands()
            yield self._ending
        finally:
            self._leave(started)

    def _check_start(self, started: Future[Fields]) -> Iterator[Event]:
        if self._turn_id or not started.done():
            return
        problem = started.exception()
        if isinstance(problem, RequestRefused):
            self._ending = self.refused(problem)
        elif problem is None:
            turn = started.result().get("turn")
            yield from self._begin(str(turn.get("id", "")) if isinstance(turn, dict) else "")

    def _begin(self, turn_id: str) -> Iterator[Event]:
        """A compaction is told its turn only by the news of it."""
        if turn_id and not self._turn_id:
            self._turn_id = turn_id
            self._memory.active[self._thread_id] = turn_id
            yield ThreadStarted(self._thread_id)
            if self._stopped_by or self._given_up:
                self._interrupt()

    def _handle_all(self) -> Iterator[Event]:
        for message in self._connection.take():
            yield from self._handle(message)
        self._connection.is_working = bool(self._working)

    def _handle(self, message: Incoming) -> Iterator[Event]:
        match message:
            case Noise():
                yield Unknown(message.what)
            case Request():
                yield from self._answer(message)
            case Notification():
                yield from self._hear(message)

    def _hear(self, message: Notification) -> Iterator[Event]:
        news = decode(message.method, message.fields)
        self._memory.note(news)
        self._note_changes(message)
        is_of_thread = news.thread_id in ("", self._thread_id)
        is_of_turn = not news.turn_id or (self._is_asked and self._turn_id in ("", news.turn_id))
        if not (is_of_thread and is_of_turn):
            self._progress = monotonic()  # an agent that works for this turn, or what is left of another
            return
        for told in news.told:
            yield from self._tell(told, news.turn_id)

    def _tell(self, told: Told, turn_id: str) -> Iterator[Event]:
        if not isinstance(told, Trouble):
            self._progress = monotonic()
            self._waits_since = 0.0
        elif waits_for_network(told.text):
            self._waits_since = self._waits_since or monotonic()
        match told:
            case TurnBegan():
                yield from self._begin(turn_id)
                yield TurnStarted()
            case TurnEnded() if turn_id == self._turn_id:
                self._end(told)
            case TurnEnded() | Used() | Closed() | Progress():
                return
            case Warned() if told.text in self._memory.warned:
                return
            case _:
                self._count(told)
                yield told

    def _count(self, event: Event) -> None:
        match event:
            case Began():
                self._working.add(event.item)
            case CommandRun() | FileChange() | ToolCall():
                self._working.discard(event.item)
            case Warned():
                self._memory.warned.add(event.text)
            case _:
                pass

    def _end(self, ended: TurnEnded) -> None:
        if ended.status == "completed" and self._stopped_by in (0, signal.SIGINT):
            self._ending = Completed(self._memory.usage.get(self._thread_id, Usage()))
        elif self._stopped_by:
            self._ending = Interrupted(self._stopped_by)
        elif self._given_up:
            self._ending = self._given_up
        elif ended.failure:
            self._ending = ended.failure
        else:
            self._ending = Interrupted(signal.SIGINT)

    # --- what the server asks ---

    def _answer(self, request: Request) -> Iterator[Event]:
        question = question_in(request, self._changes.get(item_of(request), ()))
        if question is None:
            self._connection.refuse(request, f"codex-auto has no answer to {request.method}")
            yield Unknown(request.method)
            return
        decision, by_person = self._decide(question)
        self._connection.answer(request, question.answer(decision))
        self._progress = monotonic()
        yield Answered(question.approval, decision, by_person)
        if decision is Decision.CANCEL and self._turn_id:
            self._stop(signal.SIGINT)

    def _decide(self, question: Question) -> tuple[Decision, bool]:
        if self._ask_person is None or self._stopped_by or question.approval.matter is Matter.INPUT:
            return Decision.DECLINE, False
        try:
            return self._ask_person(question.approval), True
        except KeyboardInterrupt:
            return Decision.CANCEL, True

    def _note_changes(self, message: Notification) -> None:
        """The question about a change names only its item; the change itself was told before."""
        item = message.fields.get("item")
        if message.method == "item/started" and isinstance(item, dict) and item.get("type") == "fileChange":
            self._changes[str(item.get("id"))] = changes_of(item)

    # --- its end ---

    def _stop(self, number: int) -> None:
        """The first signal asks Codex to stop; the next one does not ask."""
        if not number:
            return
        if self._stopped_by:
            self._kill()
            self._ending = Interrupted(self._stopped_by if number == signal.SIGINT else number)
            return
        self._stopped_by = number
        self._deadline = monotonic() + (INTERRUPT_SECONDS if number == signal.SIGINT else LEAVE_SECONDS)
        self._interrupt()

    def _interrupt(self) -> None:
        if self._turn_id and not self._interrupt_sent:
            self._interrupt_sent = True
            self._connection.ask("turn/interrupt", {"threadId": self._thread_id, "turnId": self._turn_id})

    def _end_commands(self) -> None:
        """A command that ran when its turn was stopped would go on as a background terminal of the thread."""
        cleaned = self._connection.ask("thread/backgroundTerminals/clean", {"threadId": self._thread_id})
        with contextlib.suppress(RequestRefused, ConnectionLost, TimeoutError):
            cleaned.result(CLEAN_SECONDS)

    def _kill(self) -> None:
        self._memory.was_stopped = True
        self._connection.kill()

    def _check_life(self) -> None:
        how = self._connection.ended
        if how and self._ending is None:
            self._ending = Interrupted(self._stopped_by) if self._stopped_by else Failed(Why.NO_ENDING, how)

    def _watch_the_time(self) -> None:
        now = monotonic()
        if self._ending is not None:
            return
        if self._deadline:
            if now > self._deadline:
                self._kill()
                self._ending = self._given_up or Interrupted(self._stopped_by)
        elif self._idle_seconds:
            patience = self._idle_seconds * (WORKING_FACTOR if self._working else 1)
            if self._waits_since and now - self._waits_since > UNREACHABLE_SECONDS:
                self._give_up(Failed(Why.UNREACHABLE))
            elif now - self._progress > patience:
                self._give_up(Failed(Why.SILENT, f"{self._idle_seconds:g}"))

    def _give_up(self, failed: Failed) -> None:
        self._given_up = failed
        self._deadline = monotonic() + INTERRUPT_SECONDS
        self._interrupt()

    def _leave(self, started: Future[Fields]) -> None:
        """If nobody reads on, Codex is not to work on."""
        self._connection.is_working = False
        if self._ending is not None or self._connection.ended:
            return
        self._stop(signal.SIGINT)
        end = monotonic() + LEAVE_SECONDS
        while self._ending is None and monotonic() < end and not self._connection.ended:
            select([self._connection], [], [], 0.05)
            for _ in self._check_start(started):
                continue
            for _ in self._handle_all():
                continue
        if self._ending is None:
            self._kill()


_REFUSALS = (
    ("no rollout found", Why.NO_ROLLOUT),
    (".jsonl is empty", Why.NO_ROLLOUT),  # it was killed before it had written the first line of the thread
    ("invalid session id", Why.NO_ROLLOUT),
    ("already has an active writer", Why.ACTIVE_WRITER),
    ("is archived", Why.ARCHIVED),
    ("failed to load configuration", Why.CODEX_CONFIG),
    ("Input exceeds the maximum length", Why.TOO_LONG),
)
"""Words with which the server refuses a request."""
