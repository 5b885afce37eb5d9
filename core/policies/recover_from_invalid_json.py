"""Say how to mend arguments of a call that were no JSON (json-error-recovery of oh-my-opencode)."""

from __future__ import annotations

import re
from hashlib import sha256

from ..contract.effect import Inject
from ..contract.event import Act, ClientName, Delegated, ToolFinished
from ..turn.frame import Ours
from ..turn.word import word
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words

MOST_SHOWN = 200
"""Characters at the beginning of an answer in which such an error stands; further below it is a quotation."""

LONGEST_ANSWER = 2000
"""Characters of an answer that is nothing but an error. The error of a call that failed may be longer."""

MOST_REMEMBERED = 20
"""Errors that were met; the oldest is forgotten first."""

_CARRY_TEXT = frozenset({Act.SHELL, Act.READ, Act.SEARCH})
"""What these bring is text of others, in which such an error may stand."""

_PARSE = (
    r"unexpected (?:token|end of (?:json|input)|non-whitespace)|unterminated string|expect(?:ed|ing)\b.{0,60}"
    r"(?:property name|double quotes|delimiter|value|`|',' or|json)|(?:bad|invalid) (?:control character|\\?escape)|"
    r"(?:not |in)valid json|json\w* ?(?:parse|decode|syntax)\w* ?error|could not be parsed as json|"
    r"malformed json|EOF while parsing|trailing (?:characters|comma)|extra data"
)
_ARGUMENTS = r"argument|parameter|\bparams\b|tool (?:call|input|use)|function call|\binput\b"
_OF_ARGUMENTS = re.compile(
    rf"(?:{_ARGUMENTS}).{{0,120}}(?:{_PARSE})|(?:{_PARSE}).{{0,120}}(?:{_ARGUMENTS})|"
    r"(?:MCP error )?-32700\b|failed to parse (?:function |tool )?arguments|"
    r"expected as `?(?:object|array)`? but provided as `?string`?",
    re.IGNORECASE | re.DOTALL,
)
_OF_AN_ANSWER = re.compile(
    r"<!doctype|token '?<|(?:response|server|upstream|api) (?:was|is|returned|body)", re.IGNORECASE
)
"""Somebody else's JSON was no good, and not that of the call."""

_CALLS = ("argument", "param", "input", "tool call", "tool use", "function call", "-32700", "provided as")
_BREAKS = ("json", "unexpected", "untermin", "expect", "escape", "control char", "pars", "trailing", "extra data")
"""One of each stands in every such error."""

_PLACE = re.compile(
    r"\b(?:at )?(?:position|line|column|char(?:acter)?|offset) \d{1,9}(?:[ ,:]+(?:column|char) \d{1,9})?"
)
_TEXT = Words(
    "The arguments of {tool} were no valid JSON{place}, so it did not run. Do not send them again unchanged: escape "
    "quotes, backslashes and line breaks inside strings, close every bracket, leave no comma at an end. If the text is "
    "long, send it in parts or put it into a file.",
    "工具 {tool} 的参数不是有效的 JSON{place}，因此没有执行。不要原样重发：转义字符串中的引号、反斜杠和换行，"
    "补全括号，去掉末尾多余的逗号。文本较长时，请分段发送或先写入文件。",
)


def _finished(event: ToolFinished, view: View) -> Word:
    if event.interrupted or event.call.act in _CARRY_TEXT or not event.output:
        return SILENT
    if not event.failed and len(event.output) > LONGEST_ANSWER:
        return SILENT
    return _met(event.call.tool, event.output, view)


def _delegated(event: Delegated, view: View) -> Word:
    return _met(event.call.tool, event.error, view) if event.failed and event.error else SILENT


def _met(tool: str, text: str, view: View) -> Word:
    head = _head(text)
    low = head.lower()
    if not any(sign in low for sign in _BREAKS) or not any(sign in low for sign in _CALLS):
        return SILENT
    if _OF_AN_ANSWER.search(head) or not _OF_ARGUMENTS.search(head):
        return SILENT
    note = sha256(f"{tool}\n{head}".encode("utf-8", "replace")).hexdigest()[:12]
    if note in view.notes:
        return SILENT
    place = _PLACE.search(head)
    shown = Ours(f" ({word(place[0])})" if place else "")
    effect = Inject(_TEXT.of(view.language).format(tool=tool[:80], place=shown))
    return Word((effect,), "the arguments were no JSON", (*view.notes[1 - MOST_REMEMBERED :], note))


def _head(text: str) -> str:
    """The first line, and the second where the first only announces it."""
    first, _, rest = text[: 4 * MOST_SHOWN].lstrip().partition("\n")
    more = rest.partition("\n")[0] if first.rstrip().endswith(":") else ""
    return f"{first[:MOST_SHOWN]} {more[:MOST_SHOWN]}"


POLICY = Policy(
    name="recover-from-invalid-json",
    original="json-error-recovery",
    number=6,
    what=Words(
        "After a call whose arguments were no JSON it tells the agent what to mend, and not to repeat it unchanged.",
        "调用参数不是有效 JSON 时，告诉代理该改什么，并要求不要原样重发。",
    ),
    why=Words(
        "Agents send the same broken arguments again.",
        "代理常把同样损坏的参数再发一次。",
    ),
    silent=Words(
        "for commands, reads and searches, whose text may quote such an error; for an error in somebody else's answer; "
        "and for one that was met already",
        "命令、读取、搜索（其文本可能引用此类错误）、他人返回内容中的错误，以及已提示过的同一错误",
    ),
    on={ToolFinished: _finished, Delegated: _delegated},
    clients={
        ClientName.CLAUDE_CODE: WORKS,
        ClientName.CODEX_CLI: Standing(
            Carries.DEGRADED, "errors in the answer of a tool; its hooks are told nothing of a call that failed"
        ),
    },
)
