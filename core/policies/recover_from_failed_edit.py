"""Say how to mend an edit that did not apply (edit-error-recovery of oh-my-opencode)."""

from __future__ import annotations

import re

from ..contract.effect import Inject
from ..contract.event import CHANGES_FILES, ClientName, ToolFinished
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words

_CAUSES: tuple[tuple[re.Pattern[str], Words], ...] = (
    (
        re.compile(r"(old|new)_string.{0,40}(same|identical|exactly)|no changes to make", re.IGNORECASE),
        Words("the old and the new text are the same", "新旧文本相同"),
    ),
    (
        re.compile(r"\b\d+ matches\b|multiple (matches|times)|not unique|more than once", re.IGNORECASE),
        Words("the old text stands in several places", "旧文本出现在多处"),
    ),
    (
        re.compile(r"modified since|has changed since|not been read|read it first", re.IGNORECASE),
        Words("the file is not what was read last", "文件与上次读取的不一致"),
    ),
    (
        re.compile(r"invalid (patch|hunk)|not a valid (patch|hunk)", re.IGNORECASE),
        Words("the patch itself has not the right form", "补丁本身的格式不正确"),
    ),
    (
        re.compile(r"not found|no match|failed to find|could not find|unexpected context", re.IGNORECASE),
        Words("the old text does not stand there", "文件里没有这段旧文本"),
    ),
)
_FAILED = re.compile(r"(?:Script error:\s*)?apply_patch verification failed|Exit code: [1-9]")
"""How the answer of a patch begins that did not apply, where the client does not tell so otherwise."""

LONGEST_READ = 2000
"""Characters of an error that are read; the old text that it quotes is not."""

_TEXT = Words(
    "The edit of {path} did not apply: {cause}. Read that part of the file again, say what you expected there, "
    "then edit what really stands there.",
    "对 {path} 的修改没有生效：{cause}。请重新读取文件的这一部分，说明你原本预期的内容，再按实际内容修改。",
)


def _finished(event: ToolFinished, view: View) -> Word:
    if event.interrupted or event.call.act not in CHANGES_FILES:
        return SILENT
    if not event.failed and not _FAILED.match(event.output):
        return SILENT
    said = event.output[:LONGEST_READ].partition("\nString: ")[0]
    cause = next((words for pattern, words in _CAUSES if pattern.search(said)), None)
    if cause is None:
        return SILENT
    path = ", ".join(event.call.paths[:3]) or event.call.tool
    text = _TEXT.of(view.language).format(path=path, cause=cause.of(view.language))
    return Word((Inject(text),), cause.en, names=event.call.paths)


POLICY = Policy(
    name="recover-from-failed-edit",
    original="edit-error-recovery",
    number=5,
    what=Words(
        "After an edit that did not apply it tells the agent why, and to read the file again before the next try.",
        "修改没有生效时，告诉代理原因，并要求先重新读取文件再试。",
    ),
    why=Words(
        "Agents repeat an edit from memory, and fail again.",
        "代理常凭记忆重复同样的修改，结果再次失败。",
    ),
    silent=Words(
        "when the edit applied, when its user broke it off, and when it failed for another reason, such as permissions",
        "修改已生效、被用户中断，或因其他原因失败（权限、文件不存在）时",
    ),
    on={ToolFinished: _finished},
    clients={
        ClientName.CLAUDE_CODE: WORKS,
        ClientName.CODEX_CLI: Standing(Carries.CANNOT, "its hooks are told nothing of a patch that failed"),
    },
)
