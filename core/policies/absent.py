"""The behaviours of the list that are no policies: no hook can have them, or the client has them itself.

Law: nothing is faked. What codex-auto can do instead, because it drives the client, is named and is done there.
"""

from __future__ import annotations

from dataclasses import dataclass

from .policy import Carries, Standing, Words

_NO_HISTORY = "hooks cannot change the conversation that the client sends"


@dataclass(frozen=True, slots=True)
class Absent:
    """One behaviour that is no policy. ``codex_auto`` says what the wrapper does instead; empty for nothing."""

    number: int
    original: str
    what: Words
    claude: Standing
    codex: Standing
    codex_auto: str = ""


def _cannot(why: str) -> Standing:
    return Standing(Carries.CANNOT, why)


def _native(why: str) -> Standing:
    return Standing(Carries.NATIVE, why)


ABSENT: tuple[Absent, ...] = (
    Absent(
        7,
        "anthropic-context-window-limit-recovery",
        Words("Goes on after a turn that failed because the window was full.", "窗口写满导致回合失败后继续。"),
        _native("it compacts by itself before the limit; a hook hears of a failed turn and can do nothing"),
        _cannot("no event tells of a failed turn"),
        "summarises the thread and goes on with the request, at most twice (`recover-from-full-context`)",
    ),
    Absent(
        8,
        "session-recovery",
        Words("Mends a history that the provider refuses.", "修复被服务方拒绝的会话历史。"),
        _cannot(_NO_HISTORY),
        _cannot(_NO_HISTORY),
        "goes on in a new thread with the prompt, its context and the workflow (`leave-refused-history`)",
    ),
    Absent(
        17,
        "thinking-block-validator",
        Words("Makes the parts of old messages valid before they are sent.", "发送前修正旧消息的结构。"),
        _cannot(_NO_HISTORY),
        _cannot(_NO_HISTORY),
    ),
    Absent(
        18,
        "think-mode",
        Words("More effort for a prompt that asks to think hard.", "提示要求深入思考时提高推理强度。"),
        _native("it reads such words itself, and no hook sets the effort"),
        _cannot("no hook sets the effort"),
        "sets the effort of that turn (`think-hard`)",
    ),
    Absent(
        31,
        "hashline-read-enhancer",
        Words(
            "Marks the lines of a file that was read for an edit tool of its own.", "为专用编辑工具给读到的行加标记。"
        ),
        _cannot("the edit tool is the client's, and would not know the marks"),
        _cannot("the edit tool is the client's, and would not know the marks"),
    ),
    Absent(
        34,
        "background-notification",
        Words("Tells the agent when a background task is done.", "后台任务结束时告知代理。"),
        _native("it sends its own notification of the task"),
        _native("an agent waits for the agents that it has started"),
    ),
    Absent(
        36,
        "anthropic-effort",
        Words("The highest effort for the strongest model.", "对最强模型使用最高推理强度。"),
        _cannot("no hook sets the effort"),
        _cannot("no hook sets the effort"),
        "takes the effort from its user (`--effort`) and sets it for each turn",
    ),
    Absent(
        40,
        "claude-code-hooks",
        Words("Runs the hooks of Claude Code's settings.", "运行 Claude Code 设置里的钩子。"),
        _native("they are its own"),
        _native("it reads hooks in the same form"),
    ),
    Absent(
        41,
        "auto-update-checker",
        Words("Looks for a newer version when a session begins.", "会话开始时检查新版本。"),
        _cannot("upbeat uses no network that its user has not asked for"),
        _cannot("upbeat uses no network that its user has not asked for"),
    ),
)
