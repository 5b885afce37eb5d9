"""Do not let an agent's empty answer pass for work done (empty-task-response-detector of oh-my-opencode)."""

from __future__ import annotations

import re

from ..contract.effect import Inject, KeepGoing
from ..contract.event import AgentStopped, ClientName, Delegated
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words

LONGEST = 60
"""Characters of an answer that may have no content; a longer one is read by nobody here."""

_SAYS_NOTHING = frozenset(
    [
        *("done", "all done", "task done", "task complete", "task completed", "completed", "complete", "finished"),
        *("ok", "okay", "understood", "success", "no response requested", "no content", "no output", "none", "null"),
        *("i am done", "im done", "the task is done", "the task is complete", "the task has been completed"),
        *(
            "完成",
            "已完成",
            "任务完成",
            "任务已完成",
            "完成了",
            "好的",
            "好",
            "明白",
            "已处理",
            "無",
            "无",
            "任務已完成",
        ),
    ]
)
_NO_WORD = re.compile(r"[\W_]+")

_TO_THE_AGENT = Words(
    "Your answer says nothing. If the report has already been handed over by a tool, say so in one line; otherwise "
    "write what you did and found, in which files, how you checked it, and what is open.",
    "你的回答没有内容。如果已通过工具提交报告，请用一行说明；否则请写明做了什么、发现了什么、涉及哪些文件、如何验证、还有什么未完成。",
)
_TO_ITS_CALLER = Words(
    "The agent has answered without content: do not take its work for done. Look at what it changed, then ask it "
    "again for a report, or do that part yourself.",
    "该代理的回答没有内容：不要认为工作已完成。请先查看它改动了什么，再让它重新汇报，或自己完成这一部分。",
)


def says_nothing(message: str) -> bool:
    """Whether an answer is empty, or only says that it is over."""
    if len(message) > LONGEST:
        return not message.strip()
    words = _NO_WORD.sub(" ", message.replace("'", "").lower()).strip()
    return not words or words in _SAYS_NOTHING


def _stopped(event: AgentStopped, view: View) -> Word:
    if event.continued or not says_nothing(event.message):
        return SILENT
    return Word((KeepGoing(_TO_THE_AGENT.of(view.language)),), "an agent wants to end without a report")


def _delegated(event: Delegated, view: View) -> Word:
    if event.failed or event.message is None or not says_nothing(event.message):
        return SILENT
    return Word((Inject(_TO_ITS_CALLER.of(view.language)),), "an agent has answered without content")


POLICY = Policy(
    name="doubt-empty-answer",
    original="empty-task-response-detector",
    number=43,
    what=Words(
        "It asks an agent once for a report when its answer is empty or no more than “done”, and tells its caller not "
        "to take such an answer for success.",
        "代理的回答为空或只有“完成”时，要求它汇报一次，并提醒调用者不要当作成功。",
    ),
    why=Words(
        "An answer without content hides that nothing was done.",
        "没有内容的回答会掩盖什么都没做的事实。",
    ),
    silent=Words(
        "when the answer says anything at all, such as a verdict, when the agent was already asked once, and while it "
        "still works",
        "回答有任何内容（例如结论）、已经问过一次，或代理仍在工作时",
    ),
    on={AgentStopped: _stopped, Delegated: _delegated},
    clients={
        ClientName.CLAUDE_CODE: WORKS,
        ClientName.CODEX_CLI: Standing(Carries.DEGRADED, "asking the agent; its caller hears nothing of it by a hook"),
    },
    rank=60,
)
