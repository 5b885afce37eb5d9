"""The ``codex-auto`` program: build the parts, run them, and report the result.

Invariant: a dry run starts no process and writes no file. However codex-auto ends, no Codex process of its turn
remains.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from typing import TYPE_CHECKING

from upbeat import __version__
from upbeat.adapters.codex.transport.base import Completed, Ending, Failed, FailureReason, Interrupted
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.codex_auto.app.options import Options, parse_options, prompt_problem, read_prompt
from upbeat.adapters.codex_auto.texts import Texts, load_texts
from upbeat.adapters.codex_auto.view.show import TurnPrinter
from upbeat.adapters.system.environment import WRAPPED_VARIABLE, Environment, child_variables, read_environment
from upbeat.adapters.system.terminal import are_terminals, escape_controls, escaping_output
from upbeat.core.errors import RequestError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from upbeat.adapters.codex_auto.conversation.conversation import Conversation
    from upbeat.adapters.codex_auto.conversation.turns import OpenedTransport
    from upbeat.core.contract.report import TurnReport

EXIT_USAGE, EXIT_CONFIGURATION, EXIT_NO_CODEX, EXIT_INTERRUPTED = 2, 20, 127, 130

_EXIT_CODE_BY_ERRNO = {errno.EPIPE: 141, errno.EIO: 129}
"""Exit codes when the output has no reader: as for SIGPIPE, and as for SIGHUP when the terminal is gone."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What every mode of running needs."""

    options: Options
    environment: Environment
    texts: Texts
    signals: SignalHandler
    printer: TurnPrinter
    program: str
    """The absolute path of Codex; empty if there is none."""
    variables: Mapping[str, str]
    """The environment of Codex."""
    is_interactive: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``codex-auto`` with ``arguments`` (default: those of the process); return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        with escaping_output():
            options = parse_options(sys.argv[1:] if arguments is None else arguments)
        with SignalHandler() as signals:
            return _run(options, read_environment(), signals)
    except RequestError as error:
        print(escape_controls(f"codex-auto: {error}"), file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        if error.errno not in _EXIT_CODE_BY_ERRNO:
            raise
        return _EXIT_CODE_BY_ERRNO[error.errno]
    finally:
        _flush_or_discard()


def _run(options: Options, environment: Environment, signals: SignalHandler) -> int:
    from upbeat.adapters.system.git.root import outermost_repository
    from upbeat.adapters.system.process.find_program import find_program

    texts = load_texts(environment.language)
    if options.repo is not None and not os.path.isdir(options.repo):
        raise RequestError(f"--repo {options.repo}: no such folder")
    is_single = options.is_single_turn or (options.is_plan_only and options.prompt is not None)
    talks = are_terminals(sys.stdin, sys.stdout) and not is_single
    show = _create_printer(options, environment, texts, is_interactive=talks)
    program = find_program(options.codex_program, outermost_repository(os.path.realpath(options.repo or ".")))
    if not program and not options.is_plan_only:
        print(escape_controls(f"codex-auto: {_missing_codex_text(options.codex_program, texts)}"), file=sys.stderr)
        _emit_ending(show, None, EXIT_NO_CODEX)
        return EXIT_NO_CODEX
    variables = child_variables({WRAPPED_VARIABLE: "1"})
    parts = RunContext(options, environment, texts, signals, show, program, variables, talks)
    if talks:
        return _run_interactive(parts)
    prompt = _read_single_prompt(parts)
    if options.is_plan_only:
        return _print_plan(parts, prompt, _open_conversation(parts))
    return _run_once(parts, prompt)


def _missing_codex_text(program: str, texts: Texts) -> str:
    """Return why ``program``, a name or a path, cannot be started."""
    path = os.path.expanduser(program)
    if os.sep not in program:
        key = "no_codex"
    elif os.path.isdir(path):
        key = "codex_is_folder"
    else:
        key = "codex_not_executable" if os.path.exists(path) else "codex_absent"
    return texts[key].format(path=program)


def _create_printer(options: Options, environment: Environment, texts: Texts, *, is_interactive: bool) -> TurnPrinter:
    aside = sys.stdout if is_interactive else sys.stderr
    color = environment.has_color and are_terminals(aside)
    if not options.is_json_output:
        return TurnPrinter(sys.stdout, aside, texts, has_color=color)
    from upbeat.adapters.codex_auto.app.json_lines import JsonLinesPrinter

    sys.stdout.flush()
    return JsonLinesPrinter(sys.stdout, aside, texts, has_color=color, lines_stream=sys.stdout.buffer)


def _run_interactive(context: RunContext) -> int:
    """Run the loop at a terminal. The conversation opens in the background while the user types the first prompt."""
    from concurrent.futures import ThreadPoolExecutor

    with (
        ThreadPoolExecutor(1, "codex-auto") as background,
        _closing_conversation(background.submit(_open_conversation, context)) as conversation,
    ):
        if context.options.transport == "app-server":
            conversation.result()  # without it there is nothing to talk to
        from upbeat.adapters.codex.version import CodexVersion
        from upbeat.adapters.codex_auto.app.commands import CommandContext
        from upbeat.adapters.codex_auto.app.loop import InteractiveLoop

        is_plan_only, environment = context.options.is_plan_only, context.environment
        if not is_plan_only:
            background.submit(lambda: conversation.result().preparer.warm_up())
        commands = CommandContext(
            conversation,
            context.printer,
            context.texts,
            is_plan_only,
            None if is_plan_only else CodexVersion(context.program, context.variables),
            environment.language,
            None if is_plan_only else _session_explainer(environment),
        )
        state_home = None if is_plan_only else environment.state_home
        loop = InteractiveLoop(commands, _write_report, state_home, environment.has_color)
        return loop.run(context.options.prompt)


def _session_explainer(environment: Environment) -> Callable[[str], str]:
    """Return a function that explains the last record of a session that has explanations or effects."""

    def explain(session_id: str) -> str:
        from upbeat.adapters.wiring import build_journal
        from upbeat.core.errors import JournalError
        from upbeat.core.journal.explain import find_telling_entry, format_explanation

        try:
            entries = build_journal(environment).records(session_id)
        except JournalError as unreadable:
            return str(unreadable)
        entry = find_telling_entry(entries)
        is_telling = entry is not None and (entry.body.get("explanations") or entry.body.get("effects"))
        return format_explanation(entry, environment.language) if entry and is_telling else ""

    return explain


@contextlib.contextmanager
def _closing_conversation(conversation_future: Future[Conversation]) -> Iterator[Future[Conversation]]:
    """Close the conversation in any case: no Codex process remains, and the session is released."""
    try:
        yield conversation_future
    finally:
        with contextlib.suppress(RequestError):  # nothing was opened
            conversation_future.result().close()


def _run_once(context: RunContext, prompt: str) -> int:
    """Run one turn for a script; the exit code says how it ended."""
    if problem := prompt_problem(prompt, context.texts):
        raise RequestError(problem)
    conversation: Conversation | None = None
    ending: Ending | None = None
    try:
        conversation = _open_conversation(context)
        code, ending = _run_turn(context, prompt, conversation)
    except KeyboardInterrupt:  # here and below: no turn is running that would take the signal
        code, ending = EXIT_INTERRUPTED, Interrupted(EXIT_INTERRUPTED - 128)
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else 1
        ending = Interrupted(code - 128)
    finally:
        if conversation:
            conversation.close()
    _print_ending(context, ending, conversation)
    _emit_ending(context.printer, ending, code, conversation)
    return code


def _run_turn(context: RunContext, prompt: str, conversation: Conversation) -> tuple[int, Ending | None]:
    from upbeat.adapters.codex_auto.conversation.turns import is_plan_mode
    from upbeat.core.contract.codes import NEEDS_USER_EXIT_CODE

    repo_context = conversation.resolve_context()
    if is_plan_mode(repo_context):
        return _print_plan(context, prompt, conversation), None
    for problem in repo_context.problems:
        context.printer.print_line(f"[Limits] {problem}")
    if repo_context.problems:
        return EXIT_CONFIGURATION, None
    ending = conversation.run_turn(prompt, repo_context)
    match ending:
        case Completed():
            return NEEDS_USER_EXIT_CODE if conversation.workflow.state.awaits_user else 0, ending
        case Failed():
            return EXIT_NO_CODEX if ending.reason is FailureReason.LAUNCH_FAILED else 1, ending
        case Interrupted():
            return 128 + ending.signal, ending


def _print_ending(context: RunContext, ending: Ending | None, conversation: Conversation | None) -> None:
    thread_id = conversation.session.thread_id if conversation and conversation.session else ""
    if isinstance(ending, Failed):
        context.printer.show_failure(ending, thread_id)
    elif isinstance(ending, Interrupted):
        with contextlib.suppress(OSError):  # the terminal may be gone
            command = conversation.resume_command() if conversation else ""
            how = context.texts["resume_hint"].format(thread=thread_id, command=command)
            context.printer.print_line(
                context.texts["stopped"].format(how=how) if thread_id else context.texts["stopped_before"]
            )


def _emit_ending(
    printer: TurnPrinter, ending: Ending | None, code: int, conversation: Conversation | None = None
) -> None:
    session = conversation.session if conversation else None
    printer.emit_ending(
        ending,
        code,
        thread_id=session.thread_id if session else "",
        session=conversation.sessions.name if conversation else "",
        resume_command=conversation.resume_command(is_always_named=True) if conversation else "",
    )


def _print_plan(context: RunContext, prompt: str, conversation: Conversation) -> int:
    """Print what a turn would do; exit as ``upbeat prepare`` does."""
    from upbeat.core.contract.codes import ExitCode, LimitCode

    problem = prompt_problem(prompt, context.texts)
    unreadable = LimitCode.INPUT_UNREADABLE
    report = (
        conversation.preparer.empty_report(unreadable, problem, is_plan_only=True)
        if problem
        else conversation.preparer.prepare(prompt, is_plan_only=True)
    )
    if context.options.is_json_output:
        context.printer.show_prepared(report)
    else:
        _write_report(report)
        context.printer.show_limits(report.limits)
    codes = {
        LimitCode.CORE_UNAVAILABLE: ExitCode.CORE_UNAVAILABLE,
        LimitCode.CONFIG_INVALID: ExitCode.CONFIG,
        LimitCode.CONFIG_IGNORED: ExitCode.CONFIG,
        unreadable: ExitCode.UNREADABLE_INPUT,
    }
    reported = {limit.code for limit in report.limits}
    return next((exit_code for code, exit_code in codes.items() if code in reported), ExitCode.OK)


def _open_conversation(context: RunContext) -> Conversation:
    """Open the conversation of this repository, with its session resumed."""
    from upbeat.adapters.codex.transport.exec.transport import effort_from_flags
    from upbeat.adapters.codex_auto.conversation.conversation import Conversation, codex_location
    from upbeat.adapters.codex_auto.conversation.rollouts import RolloutReader, codex_home
    from upbeat.adapters.codex_auto.conversation.turns import EffortSettings, is_plan_mode
    from upbeat.adapters.codex_auto.conversation.workflow_bridge import NoLoopContextResolver
    from upbeat.adapters.codex_auto.sessions.manager import SessionManager
    from upbeat.adapters.codex_auto.sessions.store import SessionStore
    from upbeat.adapters.wiring import ServerLifetime, build_application
    from upbeat.core.contract.event import ClientName, EventSource

    options, environment = context.options, context.environment
    location = codex_location(options.repo)
    is_long_lived = context.is_interactive and not options.is_plan_only
    single_use = ServerLifetime.NEVER if options.is_plan_only else ServerLifetime.ONCE
    application = build_application(
        environment,
        is_long_lived=is_long_lived,
        server_lifetime=None if is_long_lived else single_use,
        pins_configuration=True,
    )
    runtime = application.runtime
    source = EventSource(ClientName.CODEX_CLI, location.cwd)
    repo_context = runtime.context_resolver.resolve(source, options.repo, is_plan=True)
    repository, is_plan_only = repo_context.repository, options.is_plan_only or is_plan_mode(repo_context)
    if options.is_loop_off:
        runtime = replace(runtime, context_resolver=NoLoopContextResolver(runtime.context_resolver))
    sessions = SessionManager(
        None if repository.problem else SessionStore(environment.state_home, repository.root),
        options.session_name,
        context.texts,
        runtime.clock.now,
        is_named=options.is_session_named,
    )
    sessions.problems += [repository.problem] if repository.problem else []
    conversation = Conversation(
        runtime,
        open_transport(context, location.cwd, is_plan_only=is_plan_only),
        context.printer,
        replace(location, root=repository.root),
        sessions,
        RolloutReader(codex_home(context.variables)),
        EffortSettings(options.effort, effort_from_flags(options.flags)),
    )
    conversation.on_close = application.close
    conversation.workflow.configuration_pin = application.configuration_pin
    context.printer.root = repository.root
    conversation.open_session(is_plan_only=is_plan_only, is_new=options.is_new_session)
    if not is_plan_only:
        application.warm_up_servers(location.cwd)
    return conversation


def open_transport(context: RunContext, cwd: str, *, is_plan_only: bool) -> OpenedTransport:
    """Open the requested transport; the process of an app-server runs and has answered.

    Scripts get ``codex exec``. A user at a terminal gets ``codex app-server`` if it answers, and is informed which of
    the two is used. A dry run starts nothing.

    Raises:
        RequestError: app-server was requested by name and is unavailable.
    """
    options, texts = context.options, context.texts
    if is_plan_only or options.transport == "exec" or (options.transport == "auto" and not context.is_interactive):
        return _open_exec(context, cwd)
    from upbeat.adapters.codex.transport.app_server.transport import AppServerUnavailable, open_app_server
    from upbeat.adapters.codex_auto.conversation.turns import OpenedTransport

    ask_person = None
    if context.is_interactive:
        from upbeat.adapters.codex_auto.view.approvals import ApprovalPrompter

        ask_person = ApprovalPrompter(context.printer, context.signals)
    try:
        server = open_app_server(
            context.program,
            cwd,
            context.variables,
            context.signals,
            version=__version__,
            flags=options.flags,
            ask_person=ask_person,
            idle_seconds=options.idle_seconds,
        )
    except AppServerUnavailable as problem:
        reason = str(problem).strip().split("\n")[-1]
        if options.transport != "auto":
            raise RequestError(texts["app_server_unavailable"].format(reason=reason)) from None
        return _open_exec(context, cwd, (texts["using_exec"].format(reason=reason),))
    return OpenedTransport(server, server, notices=(texts["using_app_server"],))


def _open_exec(context: RunContext, cwd: str, notices: tuple[str, ...] = ()) -> OpenedTransport:
    from upbeat.adapters.codex.transport.exec.transport import CodexCommandLine, ExecTransport
    from upbeat.adapters.codex_auto.conversation.turns import OpenedTransport
    from upbeat.adapters.system.git.root import find_root
    from upbeat.core.contract.codes import LimitCode
    from upbeat.core.contract.report import Limit

    options = context.options
    is_outside_git = not find_root(cwd).worktree
    transport = ExecTransport(
        CodexCommandLine(options.codex_program, options.repo or "", options.flags, is_outside_git),
        context.program,
        context.variables,
        context.signals,
        options.idle_seconds,
        emits_raw_lines=options.is_json_output,
    )
    limits = (Limit.of(LimitCode.NO_GIT_ROOT, "Codex is started with --skip-git-repo-check"),) if is_outside_git else ()
    return OpenedTransport(transport, limits=limits, notices=notices)


def _read_single_prompt(context: RunContext) -> str:
    """Return the prompt of a single turn."""
    given = context.options.prompt
    if given is not None and given != "-":
        return given
    if sys.stdin is None or are_terminals(sys.stdin):
        raise RequestError(context.texts["prompt_empty"])
    return read_prompt(sys.stdin.buffer, context.texts)


def _flush_or_discard() -> None:
    """Flush the output, so that the interpreter does not fail at exit when the reader is gone."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _write_report(report: TurnReport) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(escape_controls(report.to_json()).encode() + b"\n")
    sys.stdout.buffer.flush()
