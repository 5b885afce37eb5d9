"""The command line of codex-auto. What stands behind ``--`` belongs to ``codex exec``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .... import __version__
from ....core.errors import RequestError
from ...local.environment import as_typed
from .command import problem_with
from .exec_transport import IDLE_SECONDS
from .session import DEFAULT, is_session_name

TRANSPORTS = ("auto", "exec", "app-server")
_EFFORT = re.compile("[a-z]{1,20}")


@dataclass(frozen=True, slots=True)
class Options:
    """What the person asked for. ``prompt`` is None when it comes from standard input or the loop."""

    prompt: str | None = None
    plan: bool = False
    once: bool = False
    json: bool = False
    new: bool = False
    no_loop: bool = False
    """A turn is not sent on when its workflow has work left."""
    session: str = DEFAULT
    is_named: bool = False
    """The person chose the session's name."""
    transport: str = "auto"
    repo: str | None = None
    codex: str = "codex"
    idle_seconds: float = IDLE_SECONDS
    effort: str = ""
    """How hard the model is to think, in Codex's words; empty leaves it to Codex."""
    flags: tuple[str, ...] = ()


def parse(arguments: Sequence[str]) -> Options:
    """The options in ``arguments``.

    Raises:
        RequestError: they cannot be carried out. ``SystemExit`` where argparse says so itself, and for --help.
    """
    words = list(arguments)
    cut = words.index("--") if "--" in words else len(words)
    ours, flags = words[:cut], tuple(words[cut + 1 :])
    given = _parser().parse_args(ours)
    if given.json and given.transport == "app-server":
        raise RequestError("--json hands on the lines of codex exec; leave --transport app-server out")
    if given.json and given.plan:
        raise RequestError("--plan prints one JSON object of its own; leave --json out")
    session = DEFAULT if given.session is None else given.session
    if not is_session_name(session):
        raise RequestError("--session takes up to 64 letters, digits, dots, hyphens or underscores")
    if given.idle_timeout < 0:
        raise RequestError("--idle-timeout takes seconds, or 0 for none")
    if given.effort and not _EFFORT.fullmatch(given.effort):
        raise RequestError("--effort takes a word that the model knows, such as low, medium, high or xhigh")
    if problem := problem_with(flags):
        raise RequestError(problem)
    return Options(
        prompt=None if given.prompt is None else as_typed(given.prompt),
        plan=given.plan,
        once=given.once or given.json,
        json=given.json,
        new=given.new,
        no_loop=given.no_loop,
        session=session,
        is_named=given.session is not None,
        transport=given.transport,
        repo=given.repo,
        codex=given.codex,
        idle_seconds=given.idle_timeout,
        effort=given.effort,
        flags=flags,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="codex-auto",
        description="Talk to Codex with every turn prepared: what your repository says about the prompt goes along.",
        epilog="exit codes of --once: 0 done; 1 the turn failed; 2 usage, or no app-server though it was asked for; "
        "20 configuration; 127 codex not found; 130, 143, 129 stopped by Ctrl-C, SIGTERM, SIGHUP; 141 nobody reads "
        "standard output any more. --plan exits as upbeat prepare does.",
        usage="codex-auto [PROMPT] [options] [-- codex exec flags]",
        allow_abbrev=False,
    )
    parser.add_argument(
        "prompt", nargs="?", metavar="PROMPT", help="the first prompt (default: ask, or read standard input)"
    )
    parser.add_argument("-V", "--version", action="version", version=f"codex-auto {__version__}")
    parser.add_argument("--plan", action="store_true", help="print what a turn would do (JSON) and start nothing")
    parser.add_argument(
        "--once", action="store_true", help="one prompt: the answer on standard output, the rest on standard error"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="as --once, with one JSON object a line on standard output (docs/codex-auto.md)",
    )
    parser.add_argument(
        "--no-loop", action="store_true", help="let a turn end although the workflow has work left (loop.enabled)"
    )
    parser.add_argument("--new", action="store_true", help="start a new session instead of going on with the last")
    parser.add_argument(
        "--session", metavar="NAME", help=f"go on with the session NAME of this repository (default: {DEFAULT})"
    )
    parser.add_argument(
        "--transport",
        choices=TRANSPORTS,
        default="auto",
        help="how to talk to Codex (auto: app-server at a terminal if it answers, else exec)",
    )
    parser.add_argument("--repo", metavar="DIR", help="work there (default: here)")
    parser.add_argument(
        "--codex", metavar="PATH", default="codex", help="the Codex program (default: on the search path)"
    )
    parser.add_argument(
        "--effort",
        metavar="LEVEL",
        default="",
        help="how hard the model thinks: low, medium, high … (default: Codex's)",
    )
    parser.add_argument(
        "--idle-timeout",
        metavar="SECONDS",
        type=float,
        default=IDLE_SECONDS,
        help=f"stop a turn without progress for so long; 0: never (default: {IDLE_SECONDS:g})",
    )
    return parser
