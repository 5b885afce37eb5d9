"""``upbeat prepare``: the kernel as a filter. One request in, one report out; the exit code says what came of it.

Law: stdout is one valid v1 object whatever happens; diagnostics go to stderr. The one broad ``except`` of the
command is here: if the core fails, the report is empty and the client goes on without it (exit 10).
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

from pydantic import ValidationError

from ...core.contract.codes import ErrorCode, ExitCode, LimitCode
from ...core.contract.event import ClientName, Source
from ...core.contract.report import Client, Inputs, Limit, TurnReport
from ...core.contract.request import PrepareRequest, RequestClient
from ...core.errors import RequestError
from ...core.pipeline import NO_CAP, TurnRequest, prepare_turn
from ...core.turn import report
from ...core.turn.clean import clean
from ..local.environment import as_typed
from ..local.surroundings import working_directory
from ..terminal import escaped
from ..wiring import CLIENTS, Use, build, wire
from .ending import end_in_order

MAX_INPUT = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to print, and what to exit with."""

    report: TurnReport
    code: ExitCode


def run(arguments: Sequence[str]) -> int:
    end_in_order()
    show = as_text if "--text" in arguments else TurnReport.to_json
    try:
        options = _parser().parse_args(arguments)
        request = _request(options, sys.stdin.buffer if sys.stdin else None)
        outcome = prepare(request, plan=options.plan, strict=options.strict)
        text = show(outcome.report)
    except RequestError as error:
        outcome = Outcome(nothing(LimitCode.INPUT_UNREADABLE, str(error)), ExitCode.UNREADABLE_INPUT)
        text = show(outcome.report)
    except Exception as error:  # the boundary: fail open, and visibly
        print(clean(traceback.format_exc()).text, end="", file=sys.stderr)
        problem = clean(f"{type(error).__name__}: {error}").text
        outcome = Outcome(nothing(LimitCode.CORE_UNAVAILABLE, problem), ExitCode.CORE_UNAVAILABLE)
        text = show(outcome.report)
    _write(text)
    for limit in outcome.report.limits:
        print(f"[Limits] {limit.text}", file=sys.stderr)
    return outcome.code


def prepare(request: PrepareRequest, *, plan: bool, strict: bool) -> Outcome:
    """The report for ``request`` on this machine, and its exit code."""
    client = request.client
    turn = TurnRequest(
        source=Source(client.name, working_directory(), client.session_id or ""),
        prompt=request.prompt,
        occasion=client.event,
        repo_root=request.repo_root,
        plan=plan,
        cap=wire(client.name).CAP if client.name in CLIENTS else NO_CAP,
    )
    application = build(use=Use.NEVER if plan else Use.ONCE)
    try:
        prepared = prepare_turn(turn, application.runtime)
    finally:
        application.close()
    return Outcome(prepared, exit_code(prepared, strict=strict))


def exit_code(prepared: TurnReport, *, strict: bool) -> ExitCode:
    """What the report means for a script."""
    codes = {limit.code for limit in prepared.limits}
    if LimitCode.CONFIG_INVALID in codes:
        return ExitCode.CONFIG
    if not strict:
        return ExitCode.OK
    spent = {ErrorCode.TIMEOUT, ErrorCode.BUDGET_EXCEEDED}
    errors = {result.error.code for result in prepared.tool_results if result.error}
    if errors - spent - {ErrorCode.TOOL_UNAVAILABLE}:
        return ExitCode.TOOL_FAILED
    return ExitCode.BUDGET_SPENT if errors & spent or LimitCode.BUDGET_EXCEEDED in codes else ExitCode.OK


def nothing(code: LimitCode, detail: str) -> TurnReport:
    """The empty report of a turn that could not even be looked at."""
    from ..local.clock import SystemClock

    clock = SystemClock()
    detail = clean(detail).text
    moment = report.Moment(clock.now(), clock.nonce(), is_plan=False)
    inputs = Inputs(prompt="", repo_root=".", repo_root_source="no-git-root")
    run_id = "empty-" + report.hash_of(code, detail, length=12)
    return report.empty(run_id, Client(name=ClientName.CLI, event="cli"), inputs, [Limit.of(code, detail)], moment)


def _request(options: argparse.Namespace, stdin: BinaryIO | None) -> PrepareRequest:
    """The request from the command line, or from stdin as JSON or as plain text.

    Raises:
        RequestError: there is none, or it cannot be read.
    """
    if options.prompt is not None:
        request = PrepareRequest(prompt=_whole(options.prompt, "--prompt"))
    else:
        request = parse_request(_read(stdin))
    update: dict[str, object] = {}
    if options.client:
        name = ClientName(options.client)
        update["client"] = request.client.model_copy(update={"name": name})
    if options.repo:
        update["repo_root"] = options.repo
    return request.model_copy(update=update)


def _whole(text: str, name: str) -> str:
    """``text``, which was bytes on the command line; raises ``RequestError`` if those are no text."""
    text = as_typed(text)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RequestError(f"{name} is not UTF-8 (character {error.start}); send UTF-8") from error
    return text


def parse_request(data: bytes) -> PrepareRequest:
    """A JSON request, or else the prompt itself."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(f"stdin is not UTF-8 (byte {error.start}); send UTF-8") from error
    if not text.strip():
        raise RequestError("no prompt; pass --prompt TEXT, or a request or a prompt on stdin")
    if not text.lstrip().startswith("{"):
        return PrepareRequest(prompt=text, client=RequestClient())
    try:
        return PrepareRequest.model_validate(json.loads(text))
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'request'}: {one['msg']}" for one in error.errors())
        raise RequestError(f"stdin is not a v1 request: {found}") from error
    except (ValueError, RecursionError) as error:
        raise RequestError(f"stdin starts with '{{' but is not JSON ({error}); send --prompt for text") from error


def _read(stdin: BinaryIO | None) -> bytes:
    if stdin is None or (hasattr(stdin, "isatty") and stdin.isatty()):
        return b""
    try:
        data = stdin.read(MAX_INPUT + 1)
    except OSError as error:
        raise RequestError(f"stdin cannot be read ({error.strerror}); pass --prompt TEXT") from error
    if len(data) > MAX_INPUT:
        raise RequestError(f"stdin has more than {MAX_INPUT} bytes; send the prompt alone")
    return data


def as_text(prepared: TurnReport) -> str:
    """The report for a person: what was planned, what came of it, and what the model would read."""
    context = prepared.fused_context
    parts = [context.for_user.tool_plan_text, context.for_user.results_text]
    parts.append(context.for_model.additional_context or "(nothing to inject)")
    return "\n\n".join(part for part in parts if part)


def _write(text: str) -> None:
    sys.stdout.buffer.write(escaped(text).encode() + b"\n")
    sys.stdout.buffer.flush()


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the command line in the report, as for any other request."""

    def error(self, message: str) -> NoReturn:
        raise RequestError(f"{message}; see upbeat prepare --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        allow_abbrev=False,
        prog="upbeat prepare",
        description="Prepare one turn. Prints one JSON object (contract v1: upbeat schema).",
        epilog="exit codes: 0 prepared, also when degraded; 10 core unavailable; 20 configuration; "
        "30 unreadable input; with --strict also 40 a tool failed, 50 budget spent",
    )
    parser.add_argument("--prompt", metavar="TEXT", help="the prompt (default: from stdin, as text or as a request)")
    parser.add_argument("--client", choices=[name.value for name in ClientName], help="whose limits apply")
    parser.add_argument("--repo", metavar="DIR", help="the repository (default: the one around this folder)")
    parser.add_argument("--plan", action="store_true", help="only say what would run; same input, same bytes")
    parser.add_argument("--text", action="store_true", help="print the report for a person instead of JSON")
    parser.add_argument("--strict", action="store_true", help="exit 40 or 50 when something fell short")
    return parser
