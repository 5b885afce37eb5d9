"""``upbeat prepare``: read one request or prompt, print one report; the exit code tells what happened.

Invariant: stdout is always one valid v1 object, and diagnostics go to stderr. This module has the command's only broad
``except``: if the core fails, the report is empty and the client continues without it (exit code 10).
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

from upbeat.adapters.cli.command_line import add_repo_option, exit_on_signals
from upbeat.adapters.clients.registry import CLIENT_IDS, find_client, to_client_id
from upbeat.adapters.system.config.resolver import working_directory
from upbeat.adapters.system.environment import decode_argument, read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import escape_controls, print_lines, read_screen
from upbeat.adapters.wiring import ServerLifetime, build_application
from upbeat.core.contract.codes import ErrorCode, ExitCode, LimitCode
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.contract.report import Client, Inputs, Limit, PrepareRequest, RequestClient, TurnReport
from upbeat.core.engine.pipeline import prepare_turn
from upbeat.core.engine.runtime import NO_CAP, TurnRequest
from upbeat.core.errors import RequestError
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.turn import report
from upbeat.core.turn.screen import turn_screen

MAX_INPUT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PrepareResult:
    """The report to print and the exit code."""

    report: TurnReport
    exit_code: ExitCode


def run(arguments: Sequence[str]) -> int:
    exit_on_signals()
    try:
        options = build_parser().parse_args(arguments)
        request = _request(options, sys.stdin.buffer if sys.stdin else None)
        result = prepare_report(request, plan=options.plan, strict=options.strict)
    except RequestError as error:
        result = PrepareResult(empty_report(LimitCode.INPUT_UNREADABLE, str(error)), ExitCode.UNREADABLE_INPUT)
    except Exception as error:  # the boundary: fail open and report it
        print(sanitize_text(traceback.format_exc()).text, end="", file=sys.stderr)
        problem = sanitize_text(f"{type(error).__name__}: {error}").text
        result = PrepareResult(empty_report(LimitCode.CORE_UNAVAILABLE, problem), ExitCode.CORE_UNAVAILABLE)
    if "--text" in arguments and "--raw" not in arguments:
        environment = read_environment()
        print_lines(turn_screen(result.report, read_screen(environment), is_plan="--plan" in arguments), environment)
        return result.exit_code
    context = result.report.fused_context.for_model.additional_context
    text = context if "--raw" in arguments else result.report.to_json()
    sys.stdout.buffer.write(escape_controls(text).encode() + b"\n" * bool(text))
    sys.stdout.buffer.flush()
    for limit in result.report.limits:
        print(f"[Limits] {limit.text}", file=sys.stderr)
    return result.exit_code


def prepare_report(request: PrepareRequest, *, plan: bool, strict: bool) -> PrepareResult:
    """Prepare ``request`` on this machine; return the report and the exit code."""
    client = request.client
    turn = TurnRequest(
        source=EventSource(client.name, working_directory(), client.session_id or ""),
        prompt=request.prompt,
        event_name=client.event,
        repo_root=request.repo_root,
        is_plan=plan,
        cap=find_client(client.name).codec().cap if client.name in CLIENT_IDS else NO_CAP,
    )
    application = build_application(server_lifetime=ServerLifetime.NEVER if plan else ServerLifetime.ONCE)
    try:
        prepared = prepare_turn(turn, application.runtime)
    finally:
        application.close()
    return PrepareResult(prepared, exit_code(prepared, strict=strict))


def exit_code(prepared: TurnReport, *, strict: bool) -> ExitCode:
    """Return the exit code that ``prepared`` stands for."""
    codes = {limit.code for limit in prepared.limits}
    if codes & {LimitCode.CONFIG_INVALID, LimitCode.CONFIG_IGNORED}:
        return ExitCode.CONFIG
    if not strict:
        return ExitCode.OK
    spent = {ErrorCode.TIMEOUT, ErrorCode.BUDGET_EXCEEDED}
    errors = {result.error.code for result in prepared.tool_results if result.error}
    if errors - spent - {ErrorCode.TOOL_UNAVAILABLE}:
        return ExitCode.TOOL_FAILED
    return ExitCode.BUDGET_SPENT if errors & spent or LimitCode.BUDGET_EXCEEDED in codes else ExitCode.OK


def empty_report(code: LimitCode, detail: str) -> TurnReport:
    """Return the empty report of a turn that could not be prepared."""
    from upbeat.adapters.system.clock import SystemClock

    clock = SystemClock()
    detail = sanitize_text(detail).text
    moment = report.ReportStamp(clock.now(), clock.nonce(), is_plan_mode=False)
    inputs = Inputs(prompt="", repo_root=".", repo_root_source="no-git-root")
    run_id = "empty-" + report.short_hash(code, detail, length=12)
    return report.assemble_empty_report(
        run_id, Client(name=ClientName.CLI, event="cli"), inputs, [Limit.of(code, detail)], moment
    )


def _request(options: argparse.Namespace, stdin: BinaryIO | None) -> PrepareRequest:
    """Return the request from the command line, or from stdin as JSON or plain text.

    Raises:
        RequestError: There is no request, or it cannot be read.
    """
    if options.prompt is not None:
        request = PrepareRequest(prompt=_require_utf8(options.prompt, "--prompt"))
    else:
        request = parse_request(_read_stdin(stdin))
    update: dict[str, object] = {}
    if options.client:
        name = ClientName(options.client)
        update["client"] = request.client.model_copy(update={"name": name})
    if options.repo:
        update["repo_root"] = options.repo
    return request.model_copy(update=update)


def _require_utf8(text: str, name: str) -> str:
    """Return ``text``, an argument of the command line. Raises RequestError if its bytes are not UTF-8."""
    text = decode_argument(text)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RequestError(f"{name} is not UTF-8 (character {error.start}); send UTF-8") from error
    return text


def parse_request(data: bytes) -> PrepareRequest:
    """Parse ``data`` as a JSON request, or take it as the prompt. Raises RequestError."""
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
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'request'}: {item['msg']}" for item in error.errors()
        )
        raise RequestError(f"stdin is not a v1 request: {problems}") from error
    except (ValueError, RecursionError) as error:
        raise RequestError(f"stdin starts with '{{' but is not JSON ({error}); send --prompt for text") from error


def _read_stdin(stdin: BinaryIO | None) -> bytes:
    if stdin is None or (hasattr(stdin, "isatty") and stdin.isatty()):
        return b""
    try:
        data = stdin.read(MAX_INPUT_BYTES + 1)
    except OSError as error:
        raise RequestError(f"stdin cannot be read ({error.strerror}); pass --prompt TEXT") from error
    if len(data) > MAX_INPUT_BYTES:
        raise RequestError(f"stdin has more than {MAX_INPUT_BYTES} bytes; send the prompt alone")
    return data


class _Parser(OptionParser):
    """Reports mistakes on the command line in the report, like those of any other request."""

    def error(self, message: str) -> NoReturn:
        raise RequestError(f"{message}; see upbeat prepare --help")


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = _Parser(
        prog="upbeat prepare",
        description="Prepare one turn. Prints one JSON object (contract v1: upbeat schema).",
        epilog="exit codes: 0 prepared (possibly degraded); 10 core unavailable; 20 configuration error; "
        "30 unreadable input; with --strict also 40 a tool failed, 50 budget exceeded",
    )
    parser.add_argument("--prompt", metavar="TEXT", help="the prompt (default: read a prompt or a request from stdin)")
    parser.add_argument(
        "--client",
        type=to_client_id,
        choices=[name.value for name in ClientName],
        metavar="CLIENT",
        help="apply the limits of this client: claude or codex",
    )
    add_repo_option(parser)
    parser.add_argument(
        "--plan", action="store_true", help="only print what would run; the same input gives the same bytes"
    )
    parser.add_argument("--text", action="store_true", help="print the report for people instead of JSON")
    parser.add_argument("--raw", action="store_true", help="print the exact text that the model gets, and nothing else")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 40 or 50 if a tool failed or the budget ran out"
    )
    return parser
