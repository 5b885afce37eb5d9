"""Does turns with one ``codex app-server`` that stays: started once, asked again and again.

Law: a prompt is sent at most once. A turn never steers another one: while the thread is busy, nothing is sent. When
the server dies its turn has failed; the next one starts it again and resumes the thread, and says so, once.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooSlow
from contextlib import ExitStack
from dataclasses import dataclass, field

from .app_server_context import ROOM, entries
from .app_server_events import UNWANTED
from .app_server_flags import translate
from .app_server_process import Connection, ConnectionLost, RequestRefused
from .app_server_rpc import Fields
from .app_server_turn import AskPerson, Memory, Over, Turn
from .command import MAX_PROMPT
from .exec_transport import IDLE_SECONDS
from .signals import Signals
from .transport import Ask, Completed, Event, Failed, Notice, Refused, TransportNote, Why

HANDSHAKE_SECONDS = 20.0
"""How long Codex may take to say hello."""

OLDEST = (0, 169, 0)
"""The first version whose app-server is known to take context with a kind and a name; older ones drop it silently."""

_ANSWER_SECONDS = 30.0
_VERSION = re.compile(r"/(\d+)\.(\d+)\.(\d+)")
_ALL_SOURCES = ("cli", "vscode", "exec", "appServer")


class AppServerUnavailable(Exception):
    """There is no app-server to be had; ``why`` and the text say what is wrong. ``codex exec`` may still work."""

    def __init__(self, why: Why, text: str) -> None:
        super().__init__(text)
        self.why = why


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A stored thread; ``updated`` is seconds since 1970, ``preview`` the first words of its first prompt."""

    thread_id: str
    name: str
    preview: str
    updated: int
    cwd: str


@dataclass(frozen=True, slots=True)
class Model:
    """A model that Codex offers."""

    name: str
    description: str
    is_default: bool


@dataclass(frozen=True, slots=True)
class Server:
    """How the app-server is started, and what each thread is started with."""

    program: str
    cwd: str
    variables: Mapping[str, str]
    version: str
    arguments: tuple[str, ...] = ()
    thread: Mapping[str, str] = field(default_factory=dict)
    handshake_seconds: float = HANDSHAKE_SECONDS

    def connect(self) -> Connection:
        """A running server that has said hello and is new enough.

        Raises:
            AppServerUnavailable: it is not, or does not.
        """
        connection = Connection([self.program, "app-server", *self.arguments], self.variables)
        with ExitStack() as unless_greeted:
            unless_greeted.callback(connection.kill)
            self._shake_hands(connection)
            unless_greeted.pop_all()
        return connection

    def _shake_hands(self, connection: Connection) -> None:
        client = {"name": "codex-auto", "title": "codex-auto", "version": self.version}
        able = {"experimentalApi": True, "optOutNotificationMethods": list(UNWANTED)}
        hello = connection.ask("initialize", {"clientInfo": client, "capabilities": able})
        try:
            agent = str(hello.result(self.handshake_seconds).get("userAgent", ""))
        except TooSlow:
            text = f"no answer of codex app-server in {self.handshake_seconds:g} s"
            raise AppServerUnavailable(Why.SILENT, text) from None
        except ConnectionLost as lost:
            why = Why.CODEX_CONFIG if "Error loading config" in str(lost) else Why.NOT_STARTED
            raise AppServerUnavailable(why, str(lost)) from None
        except RequestRefused as refused:
            raise AppServerUnavailable(Why.REFUSED, str(refused)) from None
        found = _VERSION.search(agent)
        if not found or tuple(int(part) for part in found.groups()) < OLDEST:
            oldest = ".".join(str(part) for part in OLDEST)
            raise AppServerUnavailable(Why.REFUSED, f"codex {agent or 'unknown'}; needed is {oldest} or newer")
        connection.tell("initialized")


def open_app_server(
    program: str,
    cwd: str,
    variables: Mapping[str, str],
    signals: Signals,
    *,
    version: str,
    flags: Sequence[str] = (),
    ask_person: AskPerson | None = None,
    idle_seconds: float = IDLE_SECONDS,
    handshake_seconds: float = HANDSHAKE_SECONDS,
) -> AppServerTransport:
    """The app-server transport, its server running. Takes until the server says hello, some 0.1 s.

    ``program`` and ``cwd`` are absolute paths, ``flags`` those for ``codex exec``, ``version`` is ours. Without
    ``ask_person`` every approval is declined. The caller closes it.

    Raises:
        AppServerUnavailable: use ``codex exec``; the text says why.
    """
    translated = translate(flags)
    if translated.problem:
        raise AppServerUnavailable(Why.USAGE, f"{translated.problem} is a flag of codex exec only")
    if not program:
        raise AppServerUnavailable(Why.NO_PROGRAM, "codex was not found")
    server = Server(program, cwd, variables, version, translated.arguments, translated.thread, handshake_seconds)
    return AppServerTransport(server, server.connect(), signals, ask_person, idle_seconds)


class AppServerTransport:
    """Implements ``transport.Transport``; made by ``open_app_server``.

    All of it is for one thread at a time; only ``close`` may be called from any.
    """

    name = "app-server"

    def __init__(
        self,
        server: Server,
        connection: Connection,
        signals: Signals,
        ask_person: AskPerson | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.model = ""
        """The model from the next turn on; empty leaves it to Codex."""
        self._server = server
        self._connection = connection
        self._signals = signals
        self.ask_person = ask_person
        """Who is asked for approvals; None declines them all."""
        self._idle_seconds = idle_seconds
        self._ready: dict[str, Future[Fields]] = {}
        """Threads that the server holds, or was asked to; a new one that nobody has taken yet is under ``""``."""
        self._memory = Memory()
        self._usual: dict[str, str] = {}
        """How hard the model of a thread thinks as its user has set it, once that is known."""
        self._raised: set[str] = set()
        """Threads whose last turn had an effort of its own."""
        self._turns = 0
        self._may_restart = True

    # --- the Transport ---

    def planned_command(self, thread_id: str, effort: str = "") -> str:
        """The command that runs, and as a shell comment what it is asked."""
        opening = f"thread/resume {thread_id}" if thread_id else "thread/start"
        return f"codex app-server  # {opening}, turn/start" + (f" with effort {effort}" if effort else "")

    def room(self, prompt: str) -> int:
        """The context has room of its own; the prompt only has to fit itself."""
        return ROOM if len(prompt) <= MAX_PROMPT else MAX_PROMPT - len(prompt)

    def send(self, ask: Ask) -> Iterator[Event]:
        if self.room(ask.prompt) < 0:
            yield Failed(Why.TOO_LONG)
            return
        yield from self._guarded(lambda: self._prompt(ask))

    # --- beside turns ---

    def prepare(self, thread_id: str) -> None:
        """Have the server take up ``thread_id`` (empty: a new thread) already; does not wait, and cannot fail."""
        if thread_id not in self._ready:
            self._ready[thread_id] = self._opening(thread_id)

    def compact(self, thread_id: str) -> Iterator[Event]:
        """Have Codex put a summary in the place of the thread so far; as ``send``, it ends with an ``Ending``."""
        yield from self._guarded(lambda: self._compacting(thread_id))

    def fork(self, thread_id: str) -> str:
        """A new thread with the history of ``thread_id``; its id.

        Raises:
            Refused: as do the methods below.
        """
        answer = self._call("thread/fork", {"threadId": thread_id, "excludeTurns": True, **self._thread_fields()})
        forked = _thread_id(answer)
        self._ready[forked] = _known(answer)
        return forked

    def threads(self, limit: int = 20) -> tuple[ThreadInfo, ...]:
        """The threads of this working directory, the newest first."""
        fields = {"cwd": self._server.cwd, "limit": limit, "sourceKinds": list(_ALL_SOURCES), "sortKey": "updated_at"}
        found = self._call("thread/list", fields).get("data")
        return tuple(_thread_info(one) for one in found if isinstance(one, dict)) if isinstance(found, list) else ()

    def models(self) -> tuple[Model, ...]:
        """The models that Codex offers."""
        found = self._call("model/list", {}).get("data")
        listed = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        return tuple(
            Model(str(one.get("model")), str(one.get("description")), one.get("isDefault") is True) for one in listed
        )

    def close(self) -> None:
        """End the server; nothing of it is left."""
        self._connection.close()

    # --- one turn ---

    def _guarded(self, turn: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        """``turn`` on a server that runs. Signals are its own meanwhile, and its ending is the last event."""
        with self._signals.watched():
            try:
                yield from self._revived()
                for event in turn():
                    if isinstance(event, Completed):
                        self._may_restart = True
                    yield event
            except Over as over:
                yield over.ending

    def _prompt(self, ask: Ask) -> Iterator[Event]:
        turn = self._turn()
        thread_id = self._open_thread(turn, ask.thread_id)
        yield from turn.wait_until_idle(thread_id)
        self._turns += 1
        fields: dict[str, object] = {"threadId": thread_id, "input": [{"type": "text", "text": ask.prompt}]}
        if context := entries(ask.context, self._turns, ask.guidance):
            fields["additionalContext"] = context
        if self.model:
            fields["model"] = self.model
        if effort := self._effort(thread_id, ask.effort):
            fields["effort"] = effort
        for event in turn.events("turn/start", fields):
            if isinstance(event, Failed) and event.why is Why.REFUSED:
                self._ready.pop(thread_id, None)  # it may have let the thread go: the next turn asks for it again
            yield event

    def _effort(self, thread_id: str, wanted: str) -> str:
        """What to send: an effort holds for the turns that follow, too, so the usual one is set again after it."""
        if wanted:
            self._usual.setdefault(thread_id, self._usual_effort(self._ready[thread_id]))
            self._raised.add(thread_id)
            return wanted
        if thread_id not in self._raised:
            return ""
        self._raised.discard(thread_id)
        return self._usual.get(thread_id, "")

    def _usual_effort(self, opened: Future[Fields]) -> str:
        """That of the user's settings, which the thread was opened with, or else the model's own."""
        answer = opened.result() if opened.done() and not opened.exception() else {}
        if effort := answer.get("reasoningEffort"):
            return str(effort)
        with contextlib.suppress(ConnectionLost, TooSlow, RequestRefused):
            found = self._connection.ask("model/list", {}).result(_ANSWER_SECONDS).get("data")
            models = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
            of_thread = (one for one in models if one.get("model") == (self.model or answer.get("model")))
            return next((str(one.get("defaultReasoningEffort") or "") for one in of_thread), "")
        return ""

    def _compacting(self, thread_id: str) -> Iterator[Event]:
        turn = self._turn()
        opened = self._open_thread(turn, thread_id)
        yield from turn.wait_until_idle(opened)
        yield from turn.events("thread/compact/start", {"threadId": opened})

    def _turn(self) -> Turn:
        return Turn(self._connection, self._signals, self._memory, self.ask_person, self._idle_seconds)

    def _open_thread(self, turn: Turn, thread_id: str) -> str:
        """The id of the thread that ``thread_id`` (empty: a new one) stands for, held by the server."""
        early = self._ready.get(thread_id)
        if early and early.done() and early.exception():
            self._ready.pop(thread_id)  # it may be free by now, or we may be told why not
        elif early and thread_id in self._memory.closed:
            self._ready.pop(thread_id)
        self._memory.closed.discard(thread_id)
        self.prepare(thread_id)
        opened = _thread_id(turn.result(self._ready[thread_id], self._server.handshake_seconds))
        self._ready[opened] = self._ready[thread_id]
        self._ready.pop("", None)
        return opened

    def _opening(self, thread_id: str) -> Future[Fields]:
        if not thread_id:
            return self._connection.ask("thread/start", self._thread_fields())
        fields = {"threadId": thread_id, "excludeTurns": True, **self._thread_fields()}
        return self._connection.ask("thread/resume", fields)

    def _thread_fields(self) -> dict[str, str]:
        return {"cwd": self._server.cwd, **self._server.thread}

    def _revived(self) -> Iterator[Event]:
        """Start the server again if it has ended: once, until a turn has come to its end."""
        how = self._connection.ended
        if not how:
            return
        was_stopped = self._memory.was_stopped
        if not self._may_restart and not was_stopped:
            raise Over(Failed(Why.GONE, how))
        self._may_restart = was_stopped
        self._memory = Memory(usage=self._memory.usage, warned=self._memory.warned)
        self._ready.clear()
        try:
            self._connection = self._server.connect()
        except AppServerUnavailable as problem:
            raise Over(Failed(Why.GONE, str(problem))) from None
        if not was_stopped:
            yield TransportNote(Notice.RESTARTED, how)

    def _call(self, method: str, fields: Fields) -> Fields:
        """An answer outside of a turn."""
        try:
            for _ in self._revived():
                continue
            return self._connection.ask(method, fields).result(_ANSWER_SECONDS)
        except (ConnectionLost, TooSlow) as lost:
            raise Refused(Failed(Why.NO_ENDING, str(lost) or f"no answer to {method}")) from None
        except RequestRefused as refused:
            raise Refused(Turn.refused(refused)) from None
        except Over as over:
            raise Refused(over.ending if isinstance(over.ending, Failed) else Failed(Why.REFUSED)) from None


def _known(fields: Fields) -> Future[Fields]:
    future: Future[Fields] = Future()
    future.set_result(fields)
    return future


def _thread_id(answer: Fields) -> str:
    thread = answer.get("thread")
    return str(thread.get("id", "")) if isinstance(thread, dict) else ""


def _thread_info(fields: Fields) -> ThreadInfo:
    def text(name: str) -> str:
        value = fields.get(name)
        return value if isinstance(value, str) else ""

    updated = fields.get("updatedAt")
    return ThreadInfo(
        text("id"), text("name"), text("preview"), updated if isinstance(updated, int) else 0, text("cwd")
    )
