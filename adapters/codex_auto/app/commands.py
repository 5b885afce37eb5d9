"""The slash commands: one table, from which completion and help are derived.

Invariant: only ``/workflow start`` and ``/workflow continue`` send a prompt. A command never reaches Codex as text, and
text that only looks like a command is not lost: a path is a prompt, and so is the name of one of the user's saved
prompts; an unknown word after a slash is answered with the closest command.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from upbeat.adapters.codex.transport.base import CodexRequestError, Ending
from upbeat.adapters.codex_auto.app.options import prompt_problem
from upbeat.adapters.codex_auto.conversation.conversation import Conversation
from upbeat.adapters.codex_auto.conversation.turns import is_plan_mode
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view import explain
from upbeat.adapters.codex_auto.view.show import Style, TurnPrinter
from upbeat.core.engine.ports import RepoContext

if TYPE_CHECKING:
    from upbeat.adapters.codex.version import CodexVersion
    from upbeat.adapters.codex_auto.sessions.manager import SessionSummary

SHORT_ID_CHARS = 13
"""Characters of a thread id that distinguish threads: a UUIDv7 starts with a time stamp."""

_COMMAND_PATTERN = re.compile(r"/(?:([A-Za-z]+)(?:\s+(.*))?)?", re.DOTALL)
QUIT_COMMANDS = ("quit", "exit")
_WORKFLOW_SHORTCUTS = ("stop", "continue")
"""Verbs of ``/workflow`` that are also commands."""
_PROMPT_BY_VERB = {"start": "/upbeat:", "continue": "/upbeat:continue"}
"""The prompts that ``/workflow`` with these verbs sends."""


@dataclass(slots=True)
class CommandContext:
    """What the commands operate on."""

    conversation_future: Future[Conversation]
    printer: TurnPrinter
    texts: Texts
    is_plan_only: bool
    """Whether prompts are dry runs; ``/plan`` toggles it."""
    codex_version: CodexVersion | None = None
    language: str = "en"
    explain_session: Callable[[str], str] | None = None
    """Explains the last journal record of a session; None where there is no journal."""

    @property
    def conversation(self) -> Conversation:
        """The conversation; waits until it is open."""
        return self.conversation_future.result()

    def mode(self, repo_context: RepoContext) -> str:
        """Return ``plan`` or ``run``, from ``/plan`` and the settings."""
        return "plan" if self.is_plan_only or is_plan_mode(repo_context) else "run"


def parse_slash_command(text: str) -> tuple[str, str] | None:
    """Return the name and the argument if ``text`` is a command, known or not; None for a prompt."""
    match = _COMMAND_PATTERN.fullmatch(text.rstrip())
    if match is None:
        return None
    name, argument = (match[1] or "").lower(), (match[2] or "").strip()
    return ("workflow", name) if name in _WORKFLOW_SHORTCUTS and not argument else (name, argument)


def expand_to_prompt(name: str, argument: str) -> str:
    """Return the prompt that the command stands for; empty for all other commands."""
    verb, _, rest = argument.strip().partition(" ")
    if name != "workflow" or verb not in _PROMPT_BY_VERB or (verb == "start" and not rest.strip()):
        return ""
    return _PROMPT_BY_VERB[verb] + (rest.strip() if verb == "start" else "")


def execute_command(context: CommandContext, name: str, argument: str) -> Ending | None:
    """Run the command ``name``, or suggest the closest one."""
    if handler := SLASH_COMMANDS.get(name):
        return handler(context, argument)
    prefixed = [command for command in SLASH_COMMANDS if name and command.startswith(name)]
    close = get_close_matches(name, SLASH_COMMANDS, n=1) or prefixed
    if close:
        context.printer.print_line(context.texts["suggest_command"].format(word=f"/{name}", close=f"/{close[0]}"))
    else:
        context.printer.print_line(context.texts["unknown_command"].format(word=f"/{name}"))
    return None


def command_help(texts: Texts) -> list[tuple[str, str]]:
    """Return the name and the description of each command, in the order of the table."""
    return [(name, texts.group("command_help")[name]) for name in SLASH_COMMANDS]


# --- handlers ---


def _help(context: CommandContext, _argument: str) -> None:
    width = max(map(len, SLASH_COMMANDS)) + 3
    context.printer.print_lines(f"{f'/{name}':<{width}}{does}" for name, does in command_help(context.texts))
    context.printer.print_line("")
    context.printer.print_line(context.texts["key_help"])


def _new(context: CommandContext, _argument: str) -> None:
    context.conversation.start_new_thread(is_plan_only=context.is_plan_only)
    context.printer.window_usage = None
    context.printer.print_line(context.texts["new_thread"])


def _plan(context: CommandContext, _argument: str) -> None:
    context.is_plan_only = not context.is_plan_only
    context.printer.print_line(context.texts["plan_on"] if context.is_plan_only else context.texts["plan_off"])


def _context(context: CommandContext, prompt: str) -> None:
    """Show the context of the last turn, or of a prompt, which is looked up but not sent."""
    show, texts = context.printer, context.texts
    if not prompt:
        show.print_lines(explain.explain_context(show.report, texts) if show.report else [texts["no_turn_yet"]])
        return
    if problem := prompt_problem(prompt, texts):
        show.print_line(problem, Style.RED)
    elif context.mode(context.conversation.resolve_context()) == "plan":
        show.print_line(texts["context_in_plan"])
    else:
        report = context.conversation.preparer.prepare(prompt, is_plan_only=False)
        show.print_lines(explain.explain_context(report, texts))
        show.print_line(texts["context_preview"], Style.DIM)


def _why(context: CommandContext, _argument: str) -> None:
    printer, texts, settings = context.printer, context.texts, context.conversation.resolve_context().settings
    if printer.report:
        printer.print_lines(explain.explain_preparation(printer.report, settings, texts))
    else:
        printer.print_lines([texts["no_turn_yet"], *explain.describe_changed_settings(settings, texts)])
    session_id = context.conversation.workflow.session_id
    if context.explain_session and session_id and (text := context.explain_session(session_id)):
        printer.print_lines(["", *text.split("\n")])


def _tools(context: CommandContext, _argument: str) -> None:
    from upbeat.adapters.wiring import build_application

    settings, available = context.conversation.resolve_context().settings, build_application().tool_provider.tools()
    context.printer.print_lines(explain.describe_tools(settings, available, context.texts))


def _workflow(context: CommandContext, argument: str) -> None:
    """Show the workflow, stop it, or list all; ``expand_to_prompt`` handles the other verbs."""
    conversation = context.conversation
    bridge = conversation.workflow
    match argument:
        case "list":
            descriptions = explain.workflow_descriptions(bridge.load_registry(conversation.root), context.language)
            width = max((len(name) for name, _ in descriptions), default=0) + 2
            context.printer.print_lines(f"{name:<{width}}{text}" for name, text in descriptions)
        case "stop" if context.mode(conversation.resolve_context()) == "run":
            if holder := conversation.sessions.claim():
                context.printer.print_line(
                    context.texts["session_held"].format(name=conversation.sessions.name, holder=holder)
                )
                return
            conversation.open_workflow()
            bridge.execute_command("stop")
        case "":
            tasks = bridge.load_tasks(conversation.root)
            for line in explain.describe_workflow(bridge.state, tasks, context.texts, context.language):
                context.printer.print_line(line)
        case _:
            context.printer.print_line(context.texts["workflow_usage"])


def _status(context: CommandContext, _argument: str) -> None:
    conversation = context.conversation
    repo_context = conversation.resolve_context()
    session = conversation.session
    status = context.texts["status"].format(
        repository=conversation.root,
        name=conversation.sessions.name,
        session=session.thread_id if session else context.texts["session_new"],
        enabled=repo_context.settings.enabled,
        mode=context.mode(repo_context),
        transport=conversation.transport.name,
        command=conversation.planned_command(),
    )
    context.printer.print_line(status)
    if context.codex_version and (warning := context.codex_version.warning(context.texts)):
        context.printer.print_line(warning, Style.RED)


def _resume(context: CommandContext, choice: str) -> None:
    if choice:
        context.printer.window_usage = None
        context.printer.print_line(context.conversation.switch_session(choice))
        return
    known = context.conversation.list_sessions()
    context.printer.print_lines(
        _format_session(number, session, context.texts) for number, session in enumerate(known, start=1)
    )
    context.printer.print_line(context.texts["resume_usage"] if known else context.texts["resume_none"], Style.DIM)


def _format_session(number: int, session: SessionSummary, texts: Texts) -> str:
    held = texts["resume_held"].format(holder=session.holder) if session.holder else ""
    when = session.updated_at[:16].replace("T", " ")
    parts = (session.name, session.thread_id[:SHORT_ID_CHARS], when, held, " ".join(session.title.split()))
    return f"{number:>3}{'*' if session.is_current else ' '} {'  '.join(part for part in parts if part)}"


def _fork(context: CommandContext, _argument: str) -> None:
    if message := context.conversation.fork():
        context.printer.print_line(message)


def _compact(context: CommandContext, _argument: str) -> Ending | None:
    ending = context.conversation.turns.compact()
    if ending is None:
        context.printer.print_line(context.texts["compact_nothing"])
    return ending


def _model(context: CommandContext, name: str) -> None:
    server = context.conversation.app_server
    if server is None:
        context.printer.print_line(context.texts["model_needs_app_server"])
    elif name:
        server.model = name
        context.printer.print_line(context.texts["model_selected"].format(model=name))
    else:
        try:
            models = server.list_models()
        except CodexRequestError as refused:
            context.printer.show_failure(refused.failure, "")
            return
        context.printer.print_line(context.texts["model_list"])
        current = server.model or next((model.name for model in models if model.is_default), "")
        context.printer.print_lines(
            f"{'*' if model.name == current else ' '} {model.name}  {model.description}" for model in models
        )


def _quit(_context: CommandContext, _argument: str) -> None:
    """Exist for completion and help: the loop ends before it gets here."""


SLASH_COMMANDS: dict[str, Callable[[CommandContext, str], Ending | None]] = {
    "new": _new,
    "resume": _resume,
    "fork": _fork,
    "plan": _plan,
    "context": _context,
    "why": _why,
    "tools": _tools,
    "workflow": _workflow,
    "status": _status,
    "compact": _compact,
    "model": _model,
    "quit": _quit,
    "help": _help,
}
"""The handlers by name: each gets the argument, and returns an ending if Codex ran. ``command_help`` describes them."""
