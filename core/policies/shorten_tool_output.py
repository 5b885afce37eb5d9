"""Leave out the middle of what a tool said when it would fill the window (tool-output-truncator of oh-my-opencode).

Tokens are taken for four bytes each. What is kept is the head and the tail; a line between says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..contract.effect import RewriteOutput
from ..contract.event import Act, ClientName, Event, ToolFinished
from ..turn.truncate import Cap, Unit, fit, measure
from ..workflow.state import SessionState
from .look import ContextUse, Look, Use
from .policy import SILENT, Carries, Policy, Standing, View, Word, Words

BYTES = 4
"""Bytes that one token is taken for."""

LIMITS: Mapping[Act, int] = {Act.SEARCH: 50_000, Act.OTHER: 50_000, Act.FETCH: 10_000}
"""Tokens that may be said at most. What does none of the other acts is mostly the tool of an MCP server."""

SHARE = 0.5
"""The part of what is left of the window that one answer may take."""

LEAST = 2_000
"""Tokens that are never cut, however little is left."""

_HEAD = 0.7
"""The part of what is kept that comes from the beginning."""

_WAYS: Mapping[Act, Words] = {
    Act.SEARCH: Words(
        "search again with a narrower pattern, a folder or a limit", "请用更窄的模式、限定目录或数量后重新搜索"
    ),
    Act.FETCH: Words("fetch it again and ask for the one part that you need", "请重新获取，并只要求所需的部分"),
    Act.OTHER: Words(
        "call it again with a filter, a page or a smaller range", "请加上过滤条件、分页或更小的范围后重新调用"
    ),
}
_MISSING = Words(
    "\n\n[… about {tokens} tokens ({lines} lines) of {tool} were left out here, to leave room in the window. For what "
    "is missing {way}. …]\n\n",
    "\n\n[……为给上下文留出空间，此处省略了 {tool} 的约 {tokens} 个词元（{lines} 行）。需要省略的内容时，{way}。……]\n\n",
)


def _looks(event: Event, _state: SessionState) -> tuple[Look, ...]:
    return (ContextUse(),) if isinstance(event, ToolFinished) and _may_be_long(event) else ()


def _may_be_long(event: ToolFinished) -> bool:
    """Codex does this itself, and would put an answer of ours that is longer than 10,000 bytes into a file."""
    if event.failed or event.call.act not in LIMITS or event.source.client is ClientName.CODEX_CLI:
        return False
    return _tokens(event.output) > LEAST


def _tokens(text: str) -> int:
    return measure(text, Unit.UTF8) // BYTES if 4 * len(text) > LEAST * BYTES else 0


def allowed(act: Act, use: Use | None) -> int:
    """How many tokens an answer may take: the fixed limit, and less where the window is nearly full."""
    most = LIMITS[act]
    if use is None or not use.window:
        return most
    return max(min(most, int(SHARE * (use.window - use.tokens))), LEAST)


def _finished(event: ToolFinished, view: View) -> Word:
    if not _may_be_long(event):
        return SILENT
    size, most = _tokens(event.output), allowed(event.call.act, view.found.get(ContextUse()))
    if size <= most:
        return SILENT
    shown = _shortened(event, most, view.language)
    return Word((RewriteOutput(shown),), f"about {size} tokens, {most} may be said")


def _shortened(event: ToolFinished, most: int, language: str) -> str:
    """Head and tail of the output in about ``most`` tokens, at the ends of lines where there are any."""
    text, room = event.output, most * BYTES
    first = int(room * _HEAD)
    head = fit(text[: first + 1], Cap(first, Unit.UTF8), note="")[0]
    tail = _end_of(text, len(head), room - measure(head, Unit.UTF8))
    gap = text[len(head) : len(text) - len(tail)]
    way = _WAYS[event.call.act].of(language)
    lines, tokens = gap.count("\n") + 1, measure(gap, Unit.UTF8) // BYTES
    note = _MISSING.of(language).format(tokens=tokens, lines=lines, tool=event.call.tool[:80], way=way)
    return f"{head.rstrip()}{note}{tail.lstrip()}"


def _end_of(text: str, start: int, room: int) -> str:
    """The end of ``text`` behind ``start`` in ``room`` bytes; it begins a line if one begins in its first tenth."""
    at = max(start, len(text) - room)
    while at < len(text) and measure(text[at:], Unit.UTF8) > room:
        at += max((measure(text[at:], Unit.UTF8) - room) // 4, 1)
    line = text.find("\n", at, at + max((len(text) - at) // 10, 1))
    return text[line + 1 :] if line >= 0 else text[at:]


POLICY = Policy(
    name="shorten-tool-output",
    original="tool-output-truncator",
    number=16,
    what=Words(
        "It leaves out the middle of an answer that is too long: of searches and MCP tools above "
        f"{LIMITS[Act.SEARCH]:,} tokens, of fetched pages above {LIMITS[Act.FETCH]:,}, and above half of what is left "
        "of the window. Head and tail stay, and a line says what is missing and how to get it.",
        f"省略过长结果的中间部分：搜索与 MCP 工具超过 {LIMITS[Act.SEARCH]:,} 词元、"
        f"网页超过 {LIMITS[Act.FETCH]:,} 词元，或超过剩余窗口的一半时。保留首尾，并注明省略了什么、如何取得。",
    ),
    why=Words(
        "One long answer pushes the work itself out of the window.",
        "一个过长的结果会把真正的工作挤出窗口。",
    ),
    silent=Words(
        f"for less than {LEAST:,} tokens, for what files, commands and agents say, and for errors",
        f"少于 {LEAST:,} 词元、读取文件、命令与代理的结果，以及错误信息",
    ),
    on={ToolFinished: _finished},
    clients={
        ClientName.CLAUDE_CODE: Standing(
            Carries.DEGRADED,
            "answers that are text: lists of files (Glob, Grep without lines) and WebSearch stay whole",
        ),
        ClientName.CODEX_CLI: Standing(Carries.NATIVE, "Codex leaves out the middle of what tools say by itself"),
    },
    looks=_looks,
)
