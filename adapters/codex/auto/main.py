"""``codex-auto``: Codex with every turn prepared. Puts the parts together and says what came of it.

Law: plan mode starts no process and writes no file. Whatever ends codex-auto, no Codex of its turn is left.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from typing import TYPE_CHECKING, BinaryIO, TextIO

from ....core.errors import RequestError
from ...local.environment import WRAPPED, Environment, child_variables, read_environment
from ...terminal import are_terminals, escaped, guarded
from .options import Options, parse
from .prompt import problem_with, read_prompt
from .show import Show
from .signals import Signals
from .texts import Texts, texts_in
from .transport import Completed, Ending, Failed, Interrupted, Why

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ....core.contract.report import TurnReport
    from ....core.ports import Situation
    from .app_server_turn import AskPerson
    from .turn import Conversation

USAGE, CONFIGURATION, NO_CODEX, INTERRUPTED = 2, 20, 127, 130

_NO_READER = {errno.EPIPE: 141, errno.EIO: 129}
"""Exit codes when nobody reads us any more: as SIGPIPE, and, where the terminal has gone, as SIGHUP."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What every way of running needs."""

    options: Options
    environment: Environment
    texts: Texts
    signals: Signals
    show: Show
    program: str
    talks: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``codex-auto`` with ``arguments`` (default: the process's own); the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        with guarded():
            options = parse(sys.argv[1:] if arguments is None else arguments)
        with Signals() as signals:
            return _run(options, read_environment(), signals)
    except RequestError as error:
        print(escaped(f"codex-auto: {error}"), file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.errno not in _NO_READER:
            raise
        return _NO_READER[error.errno]
    finally:
        _let_go()


def _run(options: Options, environment: Environment, signals: Signals) -> int:
    from ...local.git_root import outermost
    from ...local.program import find_program

    texts = texts_in(environment.language)
    if options.repo is not None and not os.path.isdir(options.repo):
        raise RequestError(f"--repo {options.repo}: no such folder")
    is_single = options.once or (options.plan and options.prompt is not None)
    talks = are_terminals(sys.stdin, sys.stdout) and not is_single
    show = _show(options, environment, texts, talks=talks)
    program = find_program(options.codex, outermost(os.path.realpath(options.repo or ".")))
    if not program and not options.plan:
        print(f"codex-auto: {texts.no_codex}", file=sys.stderr)
        _ended(show, None, NO_CODEX)
        return NO_CODEX
    parts = _Parts(options, environment, texts, signals, show, program, talks)
    if talks:
        return _talk(parts)
    prompt = _prompt(parts)
    if options.plan:
        return _plan(parts, prompt, _opened(parts))
    return _once(parts, prompt)


def _show(options: Options, environment: Environment, texts: Texts, *, talks: bool) -> Show:
    aside = sys.stdout if talks else sys.stderr
    color = environment.color and are_terminals(aside)
    if not options.json:
        return Show(sys.stdout, aside, texts, color=color)
    from .json_lines import JsonShow

    return JsonShow(sys.stdout, aside, texts, color=color, lines_to=_bytes_of(sys.stdout))


def _talk(parts: _Parts) -> int:
    """The loop at a terminal. The core is put together while the person types the first prompt."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "codex-auto") as background, _closing(background.submit(_opened, parts)) as conversation:
        if parts.options.transport == "app-server":
            conversation.result()  # without it there is nothing to talk to
        from .codex_version import CodexVersion
        from .loop import Loop

        if not parts.options.plan:
            background.submit(lambda: conversation.result().warm_up())
        loop = Loop(
            conversation,
            parts.show,
            parts.texts,
            write_plan=_write,
            is_plan=parts.options.plan,
            state_home=None if parts.options.plan else parts.environment.state_home,
            color=parts.environment.color,
            version=None if parts.options.plan else CodexVersion(parts.program, child_variables({WRAPPED: "1"})),
            language=parts.environment.language,
            recorded=None if parts.options.plan else _recorded(parts.environment),
        )
        return loop.run(parts.options.prompt)


def _recorded(environment: Environment) -> Callable[[str], str]:
    """The last record of a session in which something was said or done, explained."""

    def told(session_id: str) -> str:
        from ....core.errors import JournalUnreadable
        from ....core.journal.explain import explain
        from ....core.journal.texts import TEXTS
        from ...wiring import journal

        try:
            entries = journal(environment).records(session_id)
        except JournalUnreadable as unreadable:
            return str(unreadable)
        telling = [entry for entry in entries if entry.body.get("said") or entry.body.get("effects")]
        return explain(telling[-1], TEXTS[environment.language]) if telling else ""

    return told


@contextlib.contextmanager
def _closing(opening: Future[Conversation]) -> Iterator[Future[Conversation]]:
    """Whatever ends the talk: no Codex is left, and the session is free."""
    try:
        yield opening
    finally:
        with contextlib.suppress(RequestError):  # then nothing was opened
            opening.result().close()


def _once(parts: _Parts, prompt: str) -> int:
    """One turn, for a script: the exit code says how it ended."""
    if problem := problem_with(prompt, parts.texts):
        raise RequestError(problem)
    conversation: Conversation | None = None
    ending: Ending | None = None
    try:
        conversation = _opened(parts)
        code, ending = _turn(parts, prompt, conversation)
    except KeyboardInterrupt:  # here and below: while no turn runs that would take the signal
        code, ending = INTERRUPTED, Interrupted(INTERRUPTED - 128)
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else 1
        ending = Interrupted(code - 128)
    finally:
        if conversation:
            conversation.close()
    _tell_the_end(parts, ending, conversation)
    _ended(parts.show, ending, code, conversation)
    return code


def _turn(parts: _Parts, prompt: str, conversation: Conversation) -> tuple[int, Ending | None]:
    from .turn import is_plan

    situation = conversation.situate()
    if is_plan(situation):
        return _plan(parts, prompt, conversation), None
    if situation.problems:
        return _misconfigured(parts, situation), None
    ending = conversation.turn(prompt, situation)
    match ending:
        case Completed():
            return 0, ending
        case Failed():
            return NO_CODEX if ending.why is Why.NO_PROGRAM else 1, ending
        case Interrupted():
            return 128 + ending.signal, ending


def _misconfigured(parts: _Parts, situation: Situation) -> int:
    for problem in situation.problems:
        parts.show.line(f"[Limits] {problem}")
    return CONFIGURATION


def _tell_the_end(parts: _Parts, ending: Ending | None, conversation: Conversation | None) -> None:
    thread_id = conversation.session.thread_id if conversation and conversation.session else ""
    if isinstance(ending, Failed):
        parts.show.failed(ending, thread_id)
    elif isinstance(ending, Interrupted):
        with contextlib.suppress(OSError):  # the terminal may be what went away
            command = conversation.resume_command() if conversation else ""
            how = parts.texts.resume_hint.format(thread=thread_id, command=command)
            parts.show.line(parts.texts.stopped.format(how=how) if thread_id else parts.texts.stopped_before)


def _ended(show: Show, ending: Ending | None, code: int, conversation: Conversation | None = None) -> None:
    """The last line for a program that reads JSON lines."""
    from .json_lines import JsonShow

    if not isinstance(show, JsonShow):
        return
    session = conversation.session if conversation else None
    show.ended(
        ending,
        code,
        thread_id=session.thread_id if session else "",
        session=conversation.name if conversation else "",
        resume=conversation.resume_command(always_named=True) if conversation else "",
    )


def _plan(parts: _Parts, prompt: str, conversation: Conversation) -> int:
    """Print what a turn would do; exit as ``upbeat prepare`` does."""
    from ....core.contract.codes import ExitCode, LimitCode

    problem = problem_with(prompt, parts.texts)
    unreadable = LimitCode.INPUT_UNREADABLE
    report = conversation.nothing(unreadable, problem, plan=True) if problem else conversation.plan(prompt)
    if parts.options.json:
        parts.show.prepared(report)
    else:
        _write(report)
        parts.show.limits(report.limits)
    codes = {
        LimitCode.CORE_UNAVAILABLE: ExitCode.CORE_UNAVAILABLE,
        LimitCode.CONFIG_INVALID: ExitCode.CONFIG,
        unreadable: ExitCode.UNREADABLE_INPUT,
    }
    found = {limit.code for limit in report.limits}
    return next((exit_code for code, exit_code in codes.items() if code in found), ExitCode.OK)


def _opened(parts: _Parts) -> Conversation:
    """The conversation of this place, with its session taken up."""
    from ....core.contract.event import ClientName, Source
    from ...wiring import Use, build
    from .command import effort_in
    from .connect import Wanted, connect
    from .flow import Unlooped
    from .rollouts import Rollouts, codex_home
    from .turn import Conversation, Effort, is_plan, place

    options = parts.options
    where = place(options.repo)
    use = Use.NEVER if options.plan else Use.ONCE
    stays = parts.talks and not options.plan
    application = build(parts.environment, stays=stays, use=None if stays else use)
    runtime = application.runtime
    source = Source(ClientName.CODEX_CLI, where.cwd)
    plans = options.plan or is_plan(runtime.surroundings.locate(source, options.repo, plan=True))
    if options.no_loop:
        runtime = replace(runtime, surroundings=Unlooped(runtime.surroundings))
    variables = child_variables({WRAPPED: "1"})
    asks = _approvals(parts) if parts.talks and not plans else None
    wanted = Wanted(options, parts.program, where.cwd, variables, plans, parts.talks, asks)
    way = connect(wanted, parts.signals, parts.texts)
    conversation = Conversation(
        runtime,
        way.transport,
        parts.show,
        where,
        options.session,
        way.limits,
        news=way.news,
        is_named=options.is_named,
        app_server=way.app_server,
        rollouts=Rollouts(codex_home(variables)),
        end_servers=application.close,
        effort=Effort(options.effort, effort_in(options.flags)),
    )
    parts.show.root = conversation.root
    conversation.resume(plan=plans, new=options.new)
    if not plans:
        application.warm_up(where.cwd)
    return conversation


def _approvals(parts: _Parts) -> AskPerson:
    """Asks the person at this terminal."""
    from .approvals import Approvals

    return Approvals(parts.show, parts.texts, parts.signals)


def _prompt(parts: _Parts) -> str:
    """The prompt of a single turn."""
    given = parts.options.prompt
    if given is not None and given != "-":
        return given
    if sys.stdin is None or are_terminals(sys.stdin):
        raise RequestError(parts.texts.prompt_empty)
    return read_prompt(sys.stdin.buffer, parts.texts)


def _let_go() -> None:
    """Keep the interpreter from failing over what nobody will read when it flushes at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _write(report: TurnReport) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(escaped(report.to_json()).encode() + b"\n")
    sys.stdout.buffer.flush()


def _bytes_of(stream: TextIO) -> BinaryIO:
    stream.flush()
    return stream.buffer
