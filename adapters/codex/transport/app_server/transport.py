"""Run turns with one long-lived ``codex app-server``.

Invariant: a prompt is sent at most once. A turn never steers another one: while the thread is busy, nothing is sent.
When the server dies, its turn has failed; the next one restarts it, resumes the thread, and reports that once.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooSlow
from contextlib import ExitStack
from dataclasses import dataclass, field

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.app_server.connection import AppServerConnection, ConnectionLost, RpcError
from upbeat.adapters.codex.transport.app_server.context import MAX_CONTEXT_CHARS, context_entries
from upbeat.adapters.codex.transport.app_server.events import OPT_OUT_METHODS
from upbeat.adapters.codex.transport.app_server.turn import AppServerTurn, AskPerson, ServerState, TurnAborted
from upbeat.adapters.codex.transport.exec.transport import IDLE_SECONDS, MAX_PROMPT_CHARS
from upbeat.adapters.codex.transport.json_lines import JsonObject, int_field
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.core.json_fields import mapping_of, mappings_of, text_of

HANDSHAKE_SECONDS = 20.0
"""How long Codex may take to answer the handshake."""

MIN_APP_SERVER_VERSION = (0, 169, 0)
"""The first version whose app-server accepts context with a kind and a name; older ones drop it silently."""

_RESPONSE_SECONDS = 30.0
_USER_AGENT_VERSION = re.compile(r"/(\d+)\.(\d+)\.(\d+)")
_ALL_SOURCE_KINDS = ("cli", "vscode", "exec", "appServer")
_LONG_FORMS = {"-c": "--config", "-m": "--model", "-s": "--sandbox"}
_SERVER_FLAGS = ("--config", "--enable", "--disable")
_SWITCHES = ("--strict-config",)
_THREAD_FLAGS = {"--model": "model", "--sandbox": "sandbox"}
_IGNORED_FLAGS = ("--skip-git-repo-check",)
_BYPASS_FLAGS = ("--dangerously-bypass-approvals-and-sandbox", "--yolo")


@dataclass(frozen=True, slots=True)
class AppServerFlags:
    """``arguments`` of ``codex app-server``, and parameters of each thread.

    ``problem`` is the first unsupported flag.
    """

    arguments: tuple[str, ...] = ()
    thread_params: dict[str, str] = field(default_factory=dict)
    problem: str = ""


def translate_flags(flags: Sequence[str]) -> AppServerFlags:
    """Translate ``flags`` of ``codex exec`` for the app-server."""
    arguments: list[str] = []
    thread: dict[str, str] = {}
    waiting = list(flags)
    while waiting:
        flag = waiting.pop(0)
        name, value, has_value = _split_flag(flag)
        if name in (*_SERVER_FLAGS, *_THREAD_FLAGS) and not has_value:
            if not waiting:
                return AppServerFlags(problem=flag)
            value = waiting.pop(0)
        if name in _SERVER_FLAGS:
            arguments += [name, value]
        elif name in _THREAD_FLAGS:
            thread[_THREAD_FLAGS[name]] = value
        elif flag in _SWITCHES:
            arguments.append(flag)
        elif flag in _BYPASS_FLAGS:
            thread |= {"approvalPolicy": "never", "sandbox": "danger-full-access"}
        elif flag not in _IGNORED_FLAGS:
            return AppServerFlags(problem=flag or "''")
    return AppServerFlags(tuple(arguments), thread)


def _split_flag(flag: str) -> tuple[str, str, bool]:
    """Return the long name of ``flag``, its value, and whether the value is part of the same argument."""
    if flag.startswith("--"):
        name, has_value, value = flag.partition("=")
        return name, value, bool(has_value)
    name, value = _LONG_FORMS.get(flag[:2], flag), flag[2:].removeprefix("=")
    return name, value, len(flag) > 2


class AppServerUnavailable(Exception):
    """The app-server is unavailable; ``reason`` and the text say why. ``codex exec`` may still work."""

    def __init__(self, reason: base.FailureReason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A stored thread; ``updated_at`` is in seconds since 1970, ``preview`` the first words of its first prompt."""

    thread_id: str
    name: str
    preview: str
    updated_at: int
    cwd: str


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that Codex offers."""

    name: str
    description: str
    is_default: bool


@dataclass(frozen=True, slots=True)
class AppServerLauncher:
    """How the app-server is started, and what each thread is started with."""

    program: str
    cwd: str
    variables: Mapping[str, str]
    version: str
    arguments: tuple[str, ...] = ()
    thread_params: Mapping[str, str] = field(default_factory=dict)
    handshake_seconds: float = HANDSHAKE_SECONDS

    def connect(self) -> AppServerConnection:
        """Start a server and shake hands.

        Raises:
            AppServerUnavailable: It does not start, does not answer, or is too old.
        """
        connection = AppServerConnection([self.program, "app-server", *self.arguments], self.variables)
        with ExitStack() as unless_greeted:
            unless_greeted.callback(connection.kill)
            self._shake_hands(connection)
            unless_greeted.pop_all()
        return connection

    def _shake_hands(self, connection: AppServerConnection) -> None:
        client = {"name": "codex-auto", "title": "codex-auto", "version": self.version}
        capabilities = {"experimentalApi": True, "optOutNotificationMethods": list(OPT_OUT_METHODS)}
        greeting = connection.request("initialize", {"clientInfo": client, "capabilities": capabilities})
        try:
            agent = str(greeting.result(self.handshake_seconds).get("userAgent", ""))
        except TooSlow:
            text = f"no answer from codex app-server in {self.handshake_seconds:g} s"
            raise AppServerUnavailable(base.FailureReason.IDLE_TIMEOUT, text) from None
        except ConnectionLost as lost:
            is_configuration = "Error loading config" in str(lost)
            reason = base.FailureReason.CODEX_CONFIG if is_configuration else base.FailureReason.EXITED_BEFORE_TURN
            raise AppServerUnavailable(reason, str(lost)) from None
        except RpcError as refused:
            raise AppServerUnavailable(base.FailureReason.REQUEST_REFUSED, str(refused)) from None
        version = _USER_AGENT_VERSION.search(agent)
        if not version or tuple(int(part) for part in version.groups()) < MIN_APP_SERVER_VERSION:
            oldest = ".".join(str(part) for part in MIN_APP_SERVER_VERSION)
            text = f"codex {agent or 'unknown'} is too old; {oldest} or newer is required"
            raise AppServerUnavailable(base.FailureReason.REQUEST_REFUSED, text)
        connection.notify("initialized")


def open_app_server(
    program: str,
    cwd: str,
    variables: Mapping[str, str],
    signals: SignalHandler,
    *,
    version: str,
    flags: Sequence[str] = (),
    ask_person: AskPerson | None = None,
    idle_seconds: float = IDLE_SECONDS,
    handshake_seconds: float = HANDSHAKE_SECONDS,
) -> AppServerTransport:
    """Start an app-server and open a transport to it, in about 0.1 s. The caller closes it.

    ``program`` and ``cwd`` are absolute paths, ``flags`` those for ``codex exec``, ``version`` is that of upbeat.
    Without ``ask_person`` every approval is declined.

    Raises:
        AppServerUnavailable: The text says why; use ``codex exec``.
    """
    translated = translate_flags(flags)
    if translated.problem:
        text = f"{translated.problem} is only a flag of codex exec"
        raise AppServerUnavailable(base.FailureReason.INVALID_FLAG, text)
    if not program:
        raise AppServerUnavailable(base.FailureReason.LAUNCH_FAILED, "codex was not found")
    server = AppServerLauncher(
        program, cwd, variables, version, translated.arguments, translated.thread_params, handshake_seconds
    )
    return AppServerTransport(server, server.connect(), signals, ask_person, idle_seconds)


class AppServerTransport:
    """Implements ``base.Transport``.

    Created by ``open_app_server``. Only ``close`` may be called from other threads.
    """

    name = "app-server"

    def __init__(
        self,
        launcher: AppServerLauncher,
        connection: AppServerConnection,
        signals: SignalHandler,
        ask_person: AskPerson | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.model = ""
        """The model of the next turns; empty leaves it to Codex."""
        self._launcher = launcher
        self._connection = connection
        self._signals = signals
        self.ask_person = ask_person
        """Asks the user for approvals; None declines them all."""
        self._idle_seconds = idle_seconds
        self._opened_threads: dict[str, Future[JsonObject]] = {}
        """Requests of threads by id; a new thread that is not in use yet has the id ``""``."""
        self._server_state = ServerState()
        self._default_efforts: dict[str, str] = {}
        """The configured effort of threads, once it is known."""
        self._threads_with_effort: set[str] = set()
        """Threads whose last turn had a different effort."""
        self._turn_count = 0
        self._can_restart = True

    # --- the Transport ---

    def planned_command(self, thread_id: str, effort: str = "") -> str:
        """Return the command that runs, and its requests as a shell comment."""
        opening = f"thread/resume {thread_id}" if thread_id else "thread/start"
        return f"codex app-server  # {opening}, turn/start" + (f" with effort {effort}" if effort else "")

    def remaining_chars(self, prompt: str) -> int:
        """Return the limit of the context, which does not depend on the prompt unless that is too long."""
        return MAX_CONTEXT_CHARS if len(prompt) <= MAX_PROMPT_CHARS else MAX_PROMPT_CHARS - len(prompt)

    def send(self, turn_input: base.TurnInput) -> Iterator[base.TurnEvent]:
        if self.remaining_chars(turn_input.prompt) < 0:
            yield base.Failed(base.FailureReason.PROMPT_TOO_LONG)
            return
        yield from self._run_turn(lambda: self._send_prompt(turn_input))

    # --- threads and models ---

    def preopen_thread(self, thread_id: str) -> None:
        """Request ``thread_id`` (empty: a new thread) in advance; does not wait and cannot fail."""
        if thread_id not in self._opened_threads:
            method = "thread/resume" if thread_id else "thread/start"
            former = {"threadId": thread_id, "excludeTurns": True} if thread_id else {}
            self._opened_threads[thread_id] = self._connection.request(method, {**former, **self._thread_fields()})

    def compact(self, thread_id: str) -> Iterator[base.TurnEvent]:
        """Have Codex replace the thread so far with a summary; the last event is an ``Ending``."""

        def run() -> Iterator[base.TurnEvent]:
            turn = self._new_turn()
            opened = self._open_thread(turn, thread_id)
            yield from turn.wait_until_idle(opened)
            yield from turn.events("thread/compact/start", {"threadId": opened})

        yield from self._run_turn(run)

    def fork(self, thread_id: str) -> str:
        """Copy ``thread_id``; return the id of the new thread.

        Raises:
            CodexRequestError: As the methods below.
        """
        answer = self._request("thread/fork", {"threadId": thread_id, "excludeTurns": True, **self._thread_fields()})
        forked = text_of(mapping_of(answer, "thread"), "id")
        self._opened_threads[forked] = Future()
        self._opened_threads[forked].set_result(answer)
        return forked

    def list_threads(self, limit: int = 20) -> tuple[ThreadInfo, ...]:
        """Return the threads of this working directory, the latest first."""
        fields = {
            "cwd": self._launcher.cwd,
            "limit": limit,
            "sourceKinds": list(_ALL_SOURCE_KINDS),
            "sortKey": "updated_at",
        }
        return tuple(
            ThreadInfo(
                text_of(thread, "id"),
                text_of(thread, "name"),
                text_of(thread, "preview"),
                int_field(thread, "updatedAt"),
                text_of(thread, "cwd"),
            )
            for thread in mappings_of(self._request("thread/list", fields), "data")
        )

    def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models that Codex offers."""
        return tuple(
            ModelInfo(str(model.get("model")), str(model.get("description")), model.get("isDefault") is True)
            for model in mappings_of(self._request("model/list", {}), "data")
        )

    def close(self) -> None:
        """End the server and all its processes."""
        self._connection.close()

    # --- one turn ---

    def _run_turn(self, start_turn: Callable[[], Iterator[base.TurnEvent]]) -> Iterator[base.TurnEvent]:
        """Run a turn on a running server with signals deferred; the last event is its ending."""
        with self._signals.deferring():
            try:
                yield from self._ensure_running()
                for event in start_turn():
                    if isinstance(event, base.Completed):
                        self._can_restart = True
                    yield event
            except TurnAborted as over:
                yield over.ending

    def _send_prompt(self, turn_input: base.TurnInput) -> Iterator[base.TurnEvent]:
        turn = self._new_turn()
        thread_id = self._open_thread(turn, turn_input.thread_id)
        yield from turn.wait_until_idle(thread_id)
        self._turn_count += 1
        fields: dict[str, object] = {"threadId": thread_id, "input": [{"type": "text", "text": turn_input.prompt}]}
        if context := context_entries(turn_input.context, self._turn_count, turn_input.guidance):
            fields["additionalContext"] = context
        if self.model:
            fields["model"] = self.model
        if effort := self._effort_to_send(thread_id, turn_input.effort):
            fields["effort"] = effort
        for event in turn.events("turn/start", fields):
            if isinstance(event, base.Failed) and event.reason is base.FailureReason.REQUEST_REFUSED:
                self._opened_threads.pop(thread_id, None)  # closed, perhaps: the next turn requests it again
            yield event

    def _effort_to_send(self, thread_id: str, requested: str) -> str:
        """Return the effort to send: it also applies to later turns, so the usual one must be restored."""
        if requested:
            self._default_efforts.setdefault(thread_id, self._default_effort(self._opened_threads[thread_id]))
            self._threads_with_effort.add(thread_id)
            return requested
        if thread_id not in self._threads_with_effort:
            return ""
        self._threads_with_effort.discard(thread_id)
        return self._default_efforts.get(thread_id, "")

    def _default_effort(self, thread_response: Future[JsonObject]) -> str:
        """Return the effort that the thread was opened with, or the default of its model."""
        answer = thread_response.result() if thread_response.done() and not thread_response.exception() else {}
        if effort := answer.get("reasoningEffort"):
            return str(effort)
        with contextlib.suppress(ConnectionLost, TooSlow, RpcError):
            models = mappings_of(self._connection.request("model/list", {}).result(_RESPONSE_SECONDS), "data")
            of_thread = (model for model in models if model.get("model") == (self.model or answer.get("model")))
            return next((str(model.get("defaultReasoningEffort") or "") for model in of_thread), "")
        return ""

    def _new_turn(self) -> AppServerTurn:
        return AppServerTurn(self._connection, self._signals, self._server_state, self.ask_person, self._idle_seconds)

    def _open_thread(self, turn: AppServerTurn, thread_id: str) -> str:
        """Open ``thread_id`` (empty: a new thread) in the server; return its id."""
        early = self._opened_threads.get(thread_id)
        if early and early.done() and early.exception():
            self._opened_threads.pop(thread_id)  # it may be free now, or the server says why not
        elif early and thread_id in self._server_state.closed_threads:
            self._opened_threads.pop(thread_id)
        self._server_state.closed_threads.discard(thread_id)
        self.preopen_thread(thread_id)
        answer = turn.wait_for(self._opened_threads[thread_id], self._launcher.handshake_seconds)
        opened = text_of(mapping_of(answer, "thread"), "id")
        self._opened_threads[opened] = self._opened_threads[thread_id]
        self._opened_threads.pop("", None)
        return opened

    def _thread_fields(self) -> dict[str, str]:
        return {"cwd": self._launcher.cwd, **self._launcher.thread_params}

    def _ensure_running(self) -> Iterator[base.TurnEvent]:
        """Start the server again if it has ended: once, until a turn has come to its end."""
        how = self._connection.exit_reason
        if not how:
            return
        was_stopped = self._server_state.was_killed_by_us
        if not self._can_restart and not was_stopped:
            raise TurnAborted(base.Failed(base.FailureReason.SERVER_EXITED, how))
        self._can_restart = was_stopped
        self._server_state = ServerState(
            thread_usage=self._server_state.thread_usage, shown_warnings=self._server_state.shown_warnings
        )
        self._opened_threads.clear()
        try:
            self._connection = self._launcher.connect()
        except AppServerUnavailable as problem:
            raise TurnAborted(base.Failed(base.FailureReason.SERVER_EXITED, str(problem))) from None
        if not was_stopped:
            yield base.TransportNotice(base.TransportNoticeKind.RESTARTED, how)

    def _request(self, method: str, fields: JsonObject) -> JsonObject:
        """Return the answer to a request outside of a turn."""
        try:
            for _ in self._ensure_running():
                continue
            return self._connection.request(method, fields).result(_RESPONSE_SECONDS)
        except (ConnectionLost, TooSlow) as lost:
            text = str(lost) or f"no answer to {method}"
            raise base.CodexRequestError(base.Failed(base.FailureReason.EXITED_MID_TURN, text)) from None
        except RpcError as refused:
            raise base.CodexRequestError(AppServerTurn.failure_from(refused)) from None
        except TurnAborted as over:
            refusal = base.Failed(base.FailureReason.REQUEST_REFUSED)
            failure = over.ending if isinstance(over.ending, base.Failed) else refusal
            raise base.CodexRequestError(failure) from None
