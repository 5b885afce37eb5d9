"""One turn on a running ``codex app-server``, from the request that starts it to its end.

Invariant: it waits for the server and for signals at once, and always with a deadline. However it ends, the server no
longer works on the turn, or is gone.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from select import select
from time import monotonic

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.app_server.connection import (
    AppServerConnection,
    ConnectionLost,
    IncomingMessage,
    InvalidMessage,
    RpcError,
    RpcNotification,
    RpcRequest,
)
from upbeat.adapters.codex.transport.app_server.events import (
    DecodedNotification,
    HiddenProgress,
    ServerEvent,
    ServerTurnEnded,
    ServerTurnStarted,
    ThreadClosed,
    TokenUsageUpdated,
    decode,
    file_diffs_from_item,
)
from upbeat.adapters.codex.transport.app_server.requests import PendingApproval, item_id_of, pending_approval_from
from upbeat.adapters.codex.transport.exec.transport import RUNNING_ITEM_IDLE_FACTOR, UNREACHABLE_SECONDS
from upbeat.adapters.codex.transport.json_lines import JsonObject
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.core.json_fields import mapping_of, text_of

AskPerson = Callable[[base.ApprovalRequest], base.ApprovalDecision]
"""Asks the user, in the thread that reads the events; a KeyboardInterrupt means ``ApprovalDecision.CANCEL``."""

INTERRUPT_SECONDS = 5.0
"""How long Codex may take to stop a turn before it is killed."""

TERMINATE_SECONDS = 1.0
"""The same when codex-auto itself gets a signal to end."""

CLEANUP_SECONDS = 1.0
"""How long Codex may take to end the commands of a stopped turn."""

_POLL_SECONDS = 0.5


class TurnAborted(Exception):
    """The turn ends before it starts."""

    def __init__(self, ending: base.Ending) -> None:
        super().__init__(ending)
        self.ending = ending


@dataclass(slots=True)
class ServerState:
    """What is known about a server across turns."""

    active_turns: dict[str, str] = field(default_factory=dict)
    """The running turn of each thread."""
    thread_usage: dict[str, base.TokenUsage] = field(default_factory=dict)
    closed_threads: set[str] = field(default_factory=set)
    """Threads that the server closed."""
    shown_warnings: set[str] = field(default_factory=set)
    """Warnings that were shown; the server repeats them."""
    was_killed_by_us: bool = False
    """Whether codex-auto itself ended the server."""

    def apply(self, notification: DecodedNotification) -> None:
        """Apply what ``notification`` says about its thread."""
        for event in notification.events:
            match event:
                case ServerTurnStarted():
                    self.active_turns[notification.thread_id] = notification.turn_id
                case ServerTurnEnded() if self.active_turns.get(notification.thread_id) == notification.turn_id:
                    del self.active_turns[notification.thread_id]
                case ThreadClosed():
                    self.active_turns.pop(notification.thread_id, None)
                    self.closed_threads.add(notification.thread_id)
                case TokenUsageUpdated():
                    self.thread_usage[notification.thread_id] = event.usage
                case _:
                    pass


class AppServerTurn:
    """One turn, or one compaction, which is a turn of its own to Codex."""

    def __init__(
        self,
        connection: AppServerConnection,
        signals: SignalHandler,
        server_state: ServerState,
        ask_person: AskPerson | None,
        idle_seconds: float,
    ) -> None:
        self._connection = connection
        self._signals = signals
        self._server_state = server_state
        self._ask_person = ask_person
        self._idle_seconds = idle_seconds
        self._thread_id = self._turn_id = ""
        self._is_requested = False
        self._running_items: set[str] = set()
        self._file_diffs: dict[str, tuple[base.FileDiff, ...]] = {}
        self._ending: base.Ending | None = None
        self._stopped_by = 0
        self._timeout_failure: base.Failed | None = None
        self._is_interrupt_sent = False
        self._deadline = self._offline_since = 0.0
        self._last_progress = monotonic()

    def _wait(self, seconds: float) -> int:
        """Wait for the server or a signal; return the number of the signal, or 0."""
        select([self._connection.fileno(), self._signals.fileno()], [], [], seconds)
        return self._signals.take_pending()

    # --- before the start ---

    def wait_for(self, future: Future[JsonObject], seconds: float) -> JsonObject:
        """Return the result of ``future``.

        Raises:
            TurnAborted: It failed, took longer than ``seconds``, or a signal arrived.
        """
        end = monotonic() + seconds
        while not future.done():
            left = end - monotonic()
            if left < 0:
                raise TurnAborted(base.Failed(base.FailureReason.IDLE_TIMEOUT, f"{seconds:g}"))
            if number := self._wait(min(left, _POLL_SECONDS)):
                raise TurnAborted(base.Interrupted(number))
            self._connection.clear_wakeup()
        try:
            return future.result()
        except RpcError as refused:
            raise TurnAborted(self.failure_from(refused)) from None
        except ConnectionLost as lost:
            raise TurnAborted(base.Failed(base.FailureReason.SERVER_EXITED, str(lost))) from None

    def wait_until_idle(self, thread_id: str) -> Iterator[base.TurnEvent]:
        """Wait for the end of a turn that another client runs on the thread."""
        self._thread_id = thread_id
        yield from self._handle_all()
        if thread_id in self._server_state.active_turns:
            yield base.TransportNotice(base.TransportNoticeKind.WAITING)
        while thread_id in self._server_state.active_turns and not self._connection.exit_reason:
            if number := self._wait(_POLL_SECONDS):
                raise TurnAborted(base.Interrupted(number))
            yield from self._handle_all()

    @staticmethod
    def failure_from(error: RpcError) -> base.Failed:
        """Return why the server refuses a request."""
        text = str(error)
        reasons = (reason for words, reason in base.reasons_by("refusals").items() if words in text)
        return base.Failed(next(reasons, base.FailureReason.REQUEST_REFUSED), text)

    # --- events ---

    def events(self, method: str, fields: JsonObject) -> Iterator[base.TurnEvent]:
        """Start the turn with ``method``; yield its events, the ending last."""
        self._is_requested = True
        self._last_progress = last_heartbeat = monotonic()
        started = self._connection.request(method, fields)
        try:
            while self._ending is None:
                self._stop(self._wait(_POLL_SECONDS))
                yield from self._check_start(started)
                yield from self._handle_all()
                if monotonic() - last_heartbeat > base.HEARTBEAT_SECONDS:
                    last_heartbeat = monotonic()
                    yield base.Heartbeat()
                self._check_deadlines()
            if self._is_interrupt_sent:  # Codex would keep its commands as background terminals of the thread
                ended = self._connection.request("thread/backgroundTerminals/clean", {"threadId": self._thread_id})
                with contextlib.suppress(RpcError, ConnectionLost, TimeoutError):
                    ended.result(CLEANUP_SECONDS)
            yield self._ending
        finally:
            self._abandon(started)

    def _check_start(self, started: Future[JsonObject]) -> Iterator[base.TurnEvent]:
        if self._turn_id or not started.done():
            return
        problem = started.exception()
        if isinstance(problem, RpcError):
            self._ending = self.failure_from(problem)
        elif problem is None:
            yield from self._begin(text_of(mapping_of(started.result(), "turn"), "id"))

    def _begin(self, turn_id: str) -> Iterator[base.TurnEvent]:
        """Note the id of the turn; that of a compaction comes only with a notification."""
        if turn_id and not self._turn_id:
            self._turn_id = turn_id
            self._server_state.active_turns[self._thread_id] = turn_id
            yield base.ThreadStarted(self._thread_id)
            if self._stopped_by or self._timeout_failure:
                self._interrupt()

    def _handle_all(self) -> Iterator[base.TurnEvent]:
        for message in self._connection.take_messages():
            yield from self._handle(message)
        self._connection.has_running_commands = bool(self._running_items)

    def _handle(self, message: IncomingMessage) -> Iterator[base.TurnEvent]:
        match message:
            case InvalidMessage():
                yield base.UnrecognizedEvent(message.problem)
            case RpcRequest():
                yield from self._answer_approval(message)
            case RpcNotification():
                yield from self._handle_notification(message)

    def _handle_notification(self, message: RpcNotification) -> Iterator[base.TurnEvent]:
        decoded = decode(message.method, message.fields)
        self._server_state.apply(decoded)
        item = mapping_of(message.fields, "item")
        if message.method == "item/started" and item.get("type") == "fileChange":
            self._file_diffs[str(item.get("id"))] = file_diffs_from_item(item)  # an approval names only the item
        is_of_thread = decoded.thread_id in ("", self._thread_id)
        is_of_turn = not decoded.turn_id or (self._is_requested and self._turn_id in ("", decoded.turn_id))
        if not (is_of_thread and is_of_turn):
            self._last_progress = monotonic()  # a subagent of this turn, or the rest of another one
            return
        for event in decoded.events:
            yield from self._translate_event(event, decoded.turn_id)

    def _translate_event(self, server_event: ServerEvent, turn_id: str) -> Iterator[base.TurnEvent]:
        if not isinstance(server_event, base.Reconnecting):
            self._last_progress = monotonic()
            self._offline_since = 0.0
        elif base.is_waiting_for_network(server_event.text):
            self._offline_since = self._offline_since or monotonic()
        match server_event:
            case ServerTurnStarted():
                yield from self._begin(turn_id)
                yield base.TurnStarted()
            case ServerTurnEnded() if turn_id == self._turn_id:
                self._end(server_event)
            case ServerTurnEnded() | TokenUsageUpdated() | ThreadClosed() | HiddenProgress():
                return
            case base.WarningIssued() if server_event.text in self._server_state.shown_warnings:
                return
            case _:
                self._track_event(server_event)
                yield server_event

    def _track_event(self, event: base.TurnEvent) -> None:
        match event:
            case base.ItemStarted():
                self._running_items.add(event.item_id)
            case base.CommandFinished() | base.FilesChanged() | base.ToolCall():
                self._running_items.discard(event.item_id)
            case base.WarningIssued():
                self._server_state.shown_warnings.add(event.text)
            case _:
                pass

    def _end(self, ended: ServerTurnEnded) -> None:
        if ended.status == "completed" and self._stopped_by in (0, signal.SIGINT):
            self._ending = base.Completed(self._server_state.thread_usage.get(self._thread_id, base.TokenUsage()))
        elif self._stopped_by:
            self._ending = base.Interrupted(self._stopped_by)
        elif self._timeout_failure:
            self._ending = self._timeout_failure
        elif ended.failure:
            self._ending = ended.failure
        else:
            self._ending = base.Interrupted(signal.SIGINT)

    # --- requests of the server ---

    def _answer_approval(self, request: RpcRequest) -> Iterator[base.TurnEvent]:
        question = pending_approval_from(request, self._file_diffs.get(item_id_of(request), ()))
        if question is None:
            self._connection.respond_with_error(request, f"codex-auto has no answer to {request.method}")
            yield base.UnrecognizedEvent(request.method)
            return
        decision, by_person = self._ask_for_decision(question)
        self._connection.respond(request, question.response_for(decision))
        self._last_progress = monotonic()
        yield base.ApprovalDecided(question.request, decision, by_person)
        if decision is base.ApprovalDecision.CANCEL and self._turn_id:
            self._stop(signal.SIGINT)

    def _ask_for_decision(self, pending: PendingApproval) -> tuple[base.ApprovalDecision, bool]:
        if self._ask_person is None or self._stopped_by or pending.request.kind is base.ApprovalKind.INPUT:
            return base.ApprovalDecision.DECLINE, False
        try:
            return self._ask_person(pending.request), True
        except KeyboardInterrupt:
            return base.ApprovalDecision.CANCEL, True

    # --- the end ---

    def _stop(self, number: int) -> None:
        """Ask Codex to stop; kill it on the second signal."""
        if not number:
            return
        if self._stopped_by:
            self._kill()
            self._ending = base.Interrupted(self._stopped_by if number == signal.SIGINT else number)
            return
        self._stopped_by = number
        self._deadline = monotonic() + (INTERRUPT_SECONDS if number == signal.SIGINT else TERMINATE_SECONDS)
        self._interrupt()

    def _interrupt(self) -> None:
        if self._turn_id and not self._is_interrupt_sent:
            self._is_interrupt_sent = True
            self._connection.request("turn/interrupt", {"threadId": self._thread_id, "turnId": self._turn_id})

    def _kill(self) -> None:
        self._server_state.was_killed_by_us = True
        self._connection.kill()

    def _check_deadlines(self) -> None:
        """End the turn if the server has exited, or if it takes too long."""
        now = monotonic()
        if self._ending is not None:
            return
        if exit_reason := self._connection.exit_reason:
            failure = base.Failed(base.FailureReason.EXITED_MID_TURN, exit_reason)
            self._ending = base.Interrupted(self._stopped_by) if self._stopped_by else failure
        elif self._deadline:
            if now > self._deadline:
                self._kill()
                self._ending = self._timeout_failure or base.Interrupted(self._stopped_by)
        elif self._idle_seconds:
            patience = self._idle_seconds * (RUNNING_ITEM_IDLE_FACTOR if self._running_items else 1)
            if self._offline_since and now - self._offline_since > UNREACHABLE_SECONDS:
                self._interrupt_with_failure(base.Failed(base.FailureReason.PROVIDER_UNREACHABLE))
            elif now - self._last_progress > patience:
                self._interrupt_with_failure(base.Failed(base.FailureReason.IDLE_TIMEOUT, f"{self._idle_seconds:g}"))

    def _interrupt_with_failure(self, failure: base.Failed) -> None:
        self._timeout_failure = failure
        self._deadline = monotonic() + INTERRUPT_SECONDS
        self._interrupt()

    def _abandon(self, started: Future[JsonObject]) -> None:
        """Stop the turn if its events are not read to the end."""
        self._connection.has_running_commands = False
        if self._ending is not None or self._connection.exit_reason:
            return
        self._stop(signal.SIGINT)
        end = monotonic() + TERMINATE_SECONDS
        while self._ending is None and monotonic() < end and not self._connection.exit_reason:
            select([self._connection], [], [], 0.05)
            for _ in self._check_start(started):
                continue
            for _ in self._handle_all():
                continue
        if self._ending is None:
            self._kill()
