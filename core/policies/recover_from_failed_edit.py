"""Explain how to fix an edit that did not apply."""

from __future__ import annotations

import re

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import FILE_CHANGING_KINDS, ToolFinished
from upbeat.core.policy.definition import NO_RESULT, Handler, LocalizedText, Policy, PolicyContext, PolicyResult

_CAUSES: tuple[tuple[re.Pattern[str], LocalizedText], ...] = (
    (
        re.compile(r"(old|new)_string.{0,40}(same|identical|exactly)|no changes to make", re.IGNORECASE),
        LocalizedText("the old and the new text are the same", "新旧文本相同"),
    ),
    (
        re.compile(r"\b\d+ matches\b|multiple (matches|times)|not unique|more than once", re.IGNORECASE),
        LocalizedText("the old text occurs several times", "旧文本出现在多处"),
    ),
    (
        re.compile(r"modified since|has changed since|not been read|read it first", re.IGNORECASE),
        LocalizedText("the file changed since it was last read", "文件与上次读取的不一致"),
    ),
    (
        re.compile(r"invalid (patch|hunk)|not a valid (patch|hunk)", re.IGNORECASE),
        LocalizedText("the patch is malformed", "补丁本身的格式不正确"),
    ),
    (
        re.compile(r"not found|no match|failed to find|could not find|unexpected context", re.IGNORECASE),
        LocalizedText("the file does not contain the old text", "文件里没有这段旧文本"),
    ),
)
_FAILED_PATCH = re.compile(r"(?:Script error:\s*)?apply_patch verification failed|Exit code: [1-9]")
"""Beginning of the output of a patch that did not apply, for clients that report it only as text."""

MAX_SCANNED_CHARS = 2000
"""Length of the scanned part of an error, without the old text that it quotes."""

_TEXT = LocalizedText(
    "The edit of {path} did not apply: {cause}. Read that part of the file again, state what you expected, then edit "
    "what is actually there.",
    "对 {path} 的修改没有生效：{cause}。请重新读取文件的这一部分，说明你原本预期的内容，再按实际内容修改。",
)


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    if event.was_interrupted:
        return NO_RESULT
    if not event.has_failed and not _FAILED_PATCH.match(event.output):
        return NO_RESULT
    error = event.output[:MAX_SCANNED_CHARS].partition("\nString: ")[0]
    cause = next((words for pattern, words in _CAUSES if pattern.search(error)), None)
    if cause is None:
        return NO_RESULT
    path = ", ".join(event.call.paths[:3]) or event.call.tool
    text = _TEXT.localize(context.language).format(path=path, cause=cause.localize(context.language))
    return PolicyResult((InjectContext(text),), cause.en, mentioned_paths=event.call.paths)


POLICY = Policy(
    name="recover-from-failed-edit",
    handlers={ToolFinished: Handler(_on_tool_finished, tools=FILE_CHANGING_KINDS)},
    effects=(InjectContext,),
    required_trait="reports_failures",
)
