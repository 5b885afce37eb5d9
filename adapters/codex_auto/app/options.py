"""The command line of codex-auto, and the prompt that comes with it.

Arguments after ``--`` belong to ``codex exec``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from upbeat import __version__
from upbeat.adapters.codex.transport.exec.transport import IDLE_SECONDS, MAX_PROMPT_CHARS, flags_problem
from upbeat.adapters.codex_auto.sessions.session import DEFAULT_SESSION, is_session_name
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.system.environment import decode_argument
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.core.errors import RequestError

TRANSPORTS = ("auto", "exec", "app-server")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra")
"""What Codex 0.169.0 knows; a model has some of them."""
_MAX_PROMPT_BYTES = 4 * MAX_PROMPT_CHARS + 4


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one run. ``prompt`` is None when it comes from standard input or the loop."""

    prompt: str | None = None
    is_plan_only: bool = False
    is_single_turn: bool = False
    is_json_output: bool = False
    is_new_session: bool = False
    is_loop_off: bool = False
    """Whether a turn ends even if its workflow has work left."""
    session_name: str = DEFAULT_SESSION
    is_session_named: bool = False
    """Whether the user chose the name of the session."""
    transport: str = "auto"
    repo: str | None = None
    codex_program: str = "codex"
    idle_seconds: float = IDLE_SECONDS
    effort: str = ""
    """The reasoning effort in Codex's terms; empty leaves it to Codex."""
    flags: tuple[str, ...] = ()


def parse_options(arguments: Sequence[str]) -> Options:
    """Parse ``arguments``.

    Raises:
        RequestError: They are invalid; argparse raises ``SystemExit`` for what it checks itself, and for --help.
    """
    words = list(arguments)
    cut = words.index("--") if "--" in words else len(words)
    ours, flags = words[:cut], tuple(words[cut + 1 :])
    given = build_parser().parse_args(ours)
    if given.json and given.transport == "app-server":
        raise RequestError("--json prints the lines of codex exec; omit --transport app-server")
    if given.json and given.plan:
        raise RequestError("--plan prints one JSON object of its own; omit --json")
    session = DEFAULT_SESSION if given.session is None else given.session
    if not is_session_name(session):
        raise RequestError("--session accepts up to 64 letters, digits, dots, hyphens or underscores")
    if given.idle_timeout < 0:
        raise RequestError("--idle-timeout accepts a number of seconds, or 0 for no limit")
    if problem := flags_problem(flags):
        raise RequestError(problem)
    return Options(
        prompt=None if given.prompt is None else decode_argument(given.prompt),
        is_plan_only=given.plan,
        is_single_turn=given.once or given.json,
        is_json_output=given.json,
        is_new_session=given.new,
        is_loop_off=given.no_loop,
        session_name=session,
        is_session_named=given.session is not None,
        transport=given.transport,
        repo=given.repo,
        codex_program=given.codex,
        idle_seconds=given.idle_timeout,
        effort=given.effort,
        flags=flags,
    )


def build_parser() -> OptionParser:
    """Return the parser of ``codex-auto``."""
    parser = OptionParser(
        prog="codex-auto",
        description="Run Codex with the relevant code of your repository added to every prompt.",
        epilog="exit codes of --once: 0 done; 1 the turn failed; 2 usage error, or no app-server available; "
        "20 configuration errors; 127 codex not found; 130, 143, 129 stopped by Ctrl-C, SIGTERM, SIGHUP; 141 standard "
        "output was closed. --plan has the exit codes of upbeat prepare.",
        usage="codex-auto [PROMPT] [options] [-- codex exec flags]",
    )
    parser.add_argument(
        "prompt", nargs="?", metavar="PROMPT", help="the first prompt (default: ask, or read standard input)"
    )
    parser.add_argument("-V", "--version", action="version", version=f"codex-auto {__version__}")
    parser.add_argument("--plan", action="store_true", help="dry run: print what a turn would do, as JSON")
    parser.add_argument(
        "--once",
        action="store_true",
        help="run one prompt: answer on standard output, everything else on standard error",
    )
    parser.add_argument(
        "--json", action="store_true", help="like --once, but print one JSON object per line (docs/codex-auto.md)"
    )
    parser.add_argument(
        "--no-loop", action="store_true", help="end each turn even if the workflow has work left (loop.enabled)"
    )
    parser.add_argument("--new", action="store_true", help="start a new session instead of continuing the last one")
    parser.add_argument(
        "--session", metavar="NAME", help=f"continue the session NAME of this repository (default: {DEFAULT_SESSION})"
    )
    parser.add_argument(
        "--transport",
        choices=TRANSPORTS,
        default="auto",
        help="how to connect to Codex (auto: app-server at a terminal if it answers, otherwise exec)",
    )
    parser.add_argument("--repo", metavar="DIR", help="the working directory (default: the current one)")
    parser.add_argument("--codex", metavar="PATH", default="codex", help="the Codex program (default: codex on PATH)")
    parser.add_argument(
        "--effort",
        metavar="LEVEL",
        choices=EFFORTS,
        default="",
        help=f"reasoning effort, as far as the model has it: {', '.join(EFFORTS)} (default: Codex's)",
    )
    parser.add_argument(
        "--idle-timeout",
        metavar="SECONDS",
        type=float,
        default=IDLE_SECONDS,
        help=f"stop a turn after this many seconds without progress; 0: never (default: {IDLE_SECONDS:g})",
    )
    return parser


def read_prompt(stdin: BinaryIO | None, texts: Texts) -> str:
    """Return the prompt on standard input.

    Raises:
        RequestError: There is none, or it is not UTF-8.
    """
    if stdin is None:
        raise RequestError(texts["prompt_empty"])
    try:
        data = stdin.read(_MAX_PROMPT_BYTES + 1)
    except OSError as error:
        raise RequestError(f"{texts['prompt_empty']} ({error.strerror})") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(data) > _MAX_PROMPT_BYTES:
            return data.decode("utf-8", "replace")  # cut inside a character, and too long anyway
        raise RequestError(texts["prompt_not_utf8"].format(position=error.start)) from error


def prompt_problem(prompt: str, texts: Texts) -> str:
    """Return why ``prompt`` cannot be sent; empty if it can."""
    if not prompt.strip():
        return texts["prompt_empty"]
    if len(prompt) > MAX_PROMPT_CHARS:
        return texts["prompt_too_long"].format(length=f"{len(prompt):,}", most=f"{MAX_PROMPT_CHARS:,}")
    try:
        prompt.encode("utf-8")
    except UnicodeEncodeError as error:  # an argument or a key that was no UTF-8
        return texts["prompt_not_utf8"].format(position=error.start)
    return ""
