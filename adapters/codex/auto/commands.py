"""The slash commands: one table, which completion and help are made from too.

Law: no command sends a prompt, but for ``/workflow start`` and ``continue``, which are short for one. A command never
reaches Codex as text, and a text that only looks like one is not swallowed: a path is a prompt, and so is the name of
one that the person keeps; what begins with a slash and another word is answered with the nearest command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ....core.ports import Situation
from . import explain, workflow_view
from .prompt import problem_with
from .show import Show, Style
from .texts import Texts
from .transport import Ending, Refused
from .turn import Conversation, is_plan

if TYPE_CHECKING:
    from .codex_version import CodexVersion
    from .sessions import Known

SHORT_ID = 13
"""Characters of a thread id that tell threads apart: the first of a UUIDv7 are a clock."""

_SHAPE = re.compile(r"/(?:([A-Za-z]+)(?:\s+(.*))?)?", re.DOTALL)
_LEAVE = ("quit", "exit")
_OF_WORKFLOW = ("stop", "continue")
"""Words of ``/workflow`` that are commands by themselves, too."""
_SENDS = {"start": "/upbeat:", "continue": "/upbeat:continue"}
"""What ``/workflow`` with these words is short for."""


@dataclass(slots=True)
class Desk:
    """What the commands work on."""

    opening: Future[Conversation]
    show: Show
    texts: Texts
    is_plan: bool
    """Prompts are only planned; ``/plan`` switches it."""
    version: CodexVersion | None = None
    language: str = "en"
    recorded: Callable[[str], str] | None = None
    """The last thing that the journal has on a session, explained; None where there is no journal."""

    @property
    def conversation(self) -> Conversation:
        """The conversation, as soon as it is there."""
        return self.opening.result()

    def mode(self, situation: Situation) -> str:
        """``plan`` or ``run``, whoever wants it so."""
        return "plan" if self.is_plan or is_plan(situation) else "run"

    def tell(self, lines: Iterable[str]) -> None:
        """Show ``lines``, each cut to the terminal."""
        self.show.lines(lines)


@dataclass(frozen=True, slots=True)
class Command:
    """One command; ``does`` gets what stands behind its name, and gives an ending where it was work for Codex.

    Its help is ``Texts.commands[name]``.
    """

    name: str
    does: Callable[[Desk, str], Ending | None]


def parse(text: str) -> tuple[str, str] | None:
    """The name and the argument when ``text`` is a command, known or not; None for a prompt."""
    found = _SHAPE.fullmatch(text.rstrip())
    if found is None:
        return None
    name, argument = (found[1] or "").lower(), (found[2] or "").strip()
    return ("workflow", name) if name in _OF_WORKFLOW and not argument else (name, argument)


def is_known(name: str) -> bool:
    """Whether there is a command ``name``."""
    return name in _BY_NAME


def leaves(name: str) -> bool:
    """Whether the command ``name`` ends the talk."""
    return name in _LEAVE


def prompt_of(name: str, argument: str) -> str:
    """The prompt that the command is short for; empty for those that are none."""
    verb, _, rest = argument.strip().partition(" ")
    if name != "workflow" or verb not in _SENDS or (verb == "start" and not rest.strip()):
        return ""
    return _SENDS[verb] + (rest.strip() if verb == "start" else "")


def run(desk: Desk, name: str, argument: str) -> Ending | None:
    """Carry out the command ``name``, or say which one is near."""
    command = _BY_NAME.get(name)
    if command:
        return command.does(desk, argument)
    close = get_close_matches(name, _BY_NAME, n=1) or [known for known in _BY_NAME if name and known.startswith(name)]
    if close:
        desk.show.line(desk.texts.did_you_mean.format(word=f"/{name}", close=f"/{close[0]}"))
    else:
        desk.show.line(desk.texts.no_command.format(word=f"/{name}"))
    return None


def listed(texts: Texts) -> list[tuple[str, str]]:
    """Each command's name with its help, in the order of the table."""
    return [(command.name, texts.commands[command.name]) for command in COMMANDS]


# --- what they do ---


def _help(desk: Desk, _argument: str) -> None:
    width = max(len(command.name) for command in COMMANDS) + 3
    desk.tell(f"{f'/{name}':<{width}}{does}" for name, does in listed(desk.texts))
    desk.show.line("")
    desk.show.line(desk.texts.help)


def _new(desk: Desk, _argument: str) -> None:
    desk.conversation.forget(plan=desk.is_plan)
    desk.show.context_used = None
    desk.show.line(desk.texts.new_thread)


def _plan(desk: Desk, _argument: str) -> None:
    desk.is_plan = not desk.is_plan
    desk.show.line(desk.texts.plan_on if desk.is_plan else desk.texts.plan_off)


def _context(desk: Desk, prompt: str) -> None:
    """With a prompt, look things up as a turn would, and send nothing."""
    show, texts = desk.show, desk.texts
    if not prompt:
        desk.tell(explain.context(show.report, texts) if show.report else [texts.no_turn_yet])
        return
    if problem := problem_with(prompt, texts):
        show.line(problem, Style.RED)
    elif desk.mode(desk.conversation.situate()) == "plan":
        show.line(texts.context_in_plan)
    else:
        desk.tell(explain.context(desk.conversation.preview(prompt), texts))
        show.line(texts.context_preview, Style.DIM)


def _why(desk: Desk, _argument: str) -> None:
    settings = desk.conversation.situate().settings
    if desk.show.report:
        desk.tell(explain.why(desk.show.report, settings, desk.texts))
    else:
        desk.tell([desk.texts.no_turn_yet, *explain.changed_settings(settings, desk.texts)])
    session_id = desk.conversation.flow.session_id
    if desk.recorded and session_id and (told := desk.recorded(session_id)):
        desk.tell(["", *told.split("\n")])


def _tools(desk: Desk, _argument: str) -> None:
    from ...wiring import build

    desk.tell(explain.tools(desk.conversation.situate().settings, build().provider.tools(), desk.texts))


def _workflow(desk: Desk, argument: str) -> None:
    """How far it is; ``stop`` and ``list``. What ``prompt_of`` knows does not come here."""
    conversation = desk.conversation
    flow = conversation.flow
    match argument:
        case "list":
            found = workflow_view.listed(flow.registry(conversation.root), desk.language)
            width = max((len(name) for name, _ in found), default=0) + 2
            desk.tell(f"{name:<{width}}{text}" for name, text in found)
        case "stop" if desk.mode(conversation.situate()) == "run":
            if holder := conversation.sessions.claim():
                desk.show.line(desk.texts.session_held.format(name=conversation.name, holder=holder))
                return
            conversation.enter()
            flow.command("stop")
        case "":
            tasks = flow.tasks(conversation.root)
            for line in workflow_view.standing(flow.state, tasks, desk.texts, desk.language):
                desk.show.line(line)
        case _:
            desk.show.line(desk.texts.workflow_how)


def _status(desk: Desk, _argument: str) -> None:
    conversation = desk.conversation
    situation = conversation.situate()
    session = conversation.session
    status = desk.texts.status.format(
        repository=conversation.root,
        name=conversation.name,
        session=session.thread_id if session else desk.texts.session_new,
        enabled=situation.settings.enabled,
        mode=desk.mode(situation),
        transport=conversation.transport,
        command=conversation.planned_command(),
    )
    desk.show.line(status)
    if desk.version and (complaint := desk.version.finding(desk.texts)):
        desk.show.line(complaint, Style.RED)


def _resume(desk: Desk, choice: str) -> None:
    if choice:
        desk.show.context_used = None
        desk.show.line(desk.conversation.take_up(choice))
        return
    known = desk.conversation.known()
    desk.tell(_session_line(number, one, desk.texts) for number, one in enumerate(known, start=1))
    desk.show.line(desk.texts.resume_how if known else desk.texts.resume_none, Style.DIM)


def _session_line(number: int, known: Known, texts: Texts) -> str:
    held = texts.resume_held.format(holder=known.holder) if known.holder else ""
    when = known.updated_at[:16].replace("T", " ")
    parts = (known.name, known.thread_id[:SHORT_ID], when, held, " ".join(known.title.split()))
    return f"{number:>3}{'*' if known.is_current else ' '} {'  '.join(part for part in parts if part)}"


def _fork(desk: Desk, _argument: str) -> None:
    if said := desk.conversation.fork():
        desk.show.line(said)


def _compact(desk: Desk, _argument: str) -> Ending | None:
    ending = desk.conversation.compact()
    if ending is None:
        desk.show.line(desk.texts.compact_nothing)
    return ending


def _model(desk: Desk, name: str) -> None:
    server = desk.conversation.app_server
    if server is None:
        desk.show.line(desk.texts.model_with_exec)
    elif name:
        server.model = name
        desk.show.line(desk.texts.model_now.format(model=name))
    else:
        try:
            models = server.models()
        except Refused as refused:
            desk.show.failed(refused.failed, "")
            return
        desk.show.line(desk.texts.model_list)
        current = server.model or next((model.name for model in models if model.is_default), "")
        desk.tell(f"{'*' if model.name == current else ' '} {model.name}  {model.description}" for model in models)


def _leave(_desk: Desk, _argument: str) -> None:
    """The loop leaves before it gets here; the entry is for completion and help."""


COMMANDS: tuple[Command, ...] = (
    Command("new", _new),
    Command("resume", _resume),
    Command("fork", _fork),
    Command("plan", _plan),
    Command("context", _context),
    Command("why", _why),
    Command("tools", _tools),
    Command("workflow", _workflow),
    Command("status", _status),
    Command("compact", _compact),
    Command("model", _model),
    Command("quit", _leave),
    Command("help", _help),
)
_BY_NAME = {command.name: command for command in COMMANDS}
