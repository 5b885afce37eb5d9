"""Explain how to fix tool arguments that were not valid JSON."""

from __future__ import annotations

import re
from hashlib import sha256

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import SubagentReturned, ToolFinished, ToolKind
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.sanitize.text import sanitize_inline

MAX_HEAD_CHARS = 200
"""Such an error is within the first characters of the output; further down it is a quotation."""

MAX_ERROR_CHARS = 2000
"""Maximum length of output that is nothing but an error; the error of a failed call may be longer."""

MAX_REMEMBERED_ERRORS = 20
"""Number of remembered errors; the oldest is dropped first."""

_CHECKED_TOOL_KINDS = frozenset(ToolKind) - {ToolKind.SHELL, ToolKind.READ, ToolKind.SEARCH}
"""The output of the other tools may quote such an error."""

_PARSE_ERROR = (
    r"unexpected (?:token|end of (?:json|input)|non-whitespace)|unterminated string|expect(?:ed|ing)\b.{0,60}"
    r"(?:property name|double quotes|delimiter|value|`|',' or|json)|(?:bad|invalid) (?:control character|\\?escape)|"
    r"(?:not |in)valid json|json\w* ?(?:parse|decode|syntax)\w* ?error|could not be parsed as json|"
    r"malformed json|EOF while parsing|trailing (?:characters|comma)|extra data"
)
_ARGUMENTS = r"argument|parameter|\bparams\b|tool (?:call|input|use)|function call|\binput\b"
_ARGUMENT_ERROR = re.compile(
    rf"(?:{_ARGUMENTS}).{{0,120}}(?:{_PARSE_ERROR})|(?:{_PARSE_ERROR}).{{0,120}}(?:{_ARGUMENTS})|"
    r"(?:MCP error )?-32700\b|failed to parse (?:function |tool )?arguments|"
    r"expected as `?(?:object|array)`? but provided as `?string`?|"
    r"\A(?:InputValidationError: ?)?JSON parse (?:error|failed)\b",
    re.IGNORECASE | re.DOTALL,
)
_RESPONSE_ERROR = re.compile(
    r"<!doctype|token '?<|(?:response|server|upstream|api) (?:was|is|returned|body)", re.IGNORECASE
)
"""The invalid JSON is not that of the call."""

_CALL_MARKERS = (
    "argument",
    "param",
    "input",
    "tool call",
    "tool use",
    "function call",
    "-32700",
    "provided as",
    "json parse",
)
_PARSE_MARKERS = ("json", "expect", "untermin", "escape", "control char", "pars", "trailing", "extra data")
"""Every such error contains one of each."""

_POSITION = re.compile(
    r"\b(?:at )?(?:position|line|column|char(?:acter)?|offset) \d{1,9}(?:[ ,:]+(?:column|char) \d{1,9})?"
)


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    if event.was_interrupted or not event.output:
        return NO_RESULT
    if not event.has_failed and len(event.output) > MAX_ERROR_CHARS:
        return NO_RESULT
    return _advise(event.call.tool, event.output, context)


def _on_subagent_returned(event: SubagentReturned, context: PolicyContext) -> PolicyResult:
    return _advise(event.call.tool, event.error, context) if event.has_failed and event.error else NO_RESULT


def _advise(tool: str, text: str, context: PolicyContext) -> PolicyResult:
    head = _head(text)
    low = head.lower()
    if not any(marker in low for marker in _PARSE_MARKERS) or not any(marker in low for marker in _CALL_MARKERS):
        return NO_RESULT
    if _RESPONSE_ERROR.search(head) or not _ARGUMENT_ERROR.search(head):
        return NO_RESULT
    note = sha256(f"{tool}\n{head}".encode("utf-8", "replace")).hexdigest()[:12]
    if note in context.notes:
        return NO_RESULT
    position = _POSITION.search(head)
    shown = SafeText(f" ({sanitize_inline(position[0])})" if position else "")
    effect = InjectContext(context.text("text", tool=tool[:80], place=shown))
    return PolicyResult(
        (effect,), "the arguments were not valid JSON", (*context.notes[1 - MAX_REMEMBERED_ERRORS :], note)
    )


def _head(text: str) -> str:
    """Return the first line, and the second one if the first ends in a colon."""
    first, _, rest = text[: 4 * MAX_HEAD_CHARS].lstrip().partition("\n")
    more = rest.partition("\n")[0] if first.rstrip().endswith(":") else ""
    return f"{first[:MAX_HEAD_CHARS]} {more[:MAX_HEAD_CHARS]}"


POLICY = Policy(
    name="recover-from-invalid-json",
    handlers={
        ToolFinished: Handler(_on_tool_finished, tools=_CHECKED_TOOL_KINDS),
        SubagentReturned: Handler(_on_subagent_returned),
    },
    effects=(InjectContext,),
)
