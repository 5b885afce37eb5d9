"""Bring back after a compaction what its summary loses first (compaction-context-injector of oh-my-opencode).

The user's own last words stand for themselves; what differs in the working tree is shown as data. The state of a
workflow comes from the workflow.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.effect import Inject
from ..contract.event import AgentStarted, AgentStopped, Delegated, Event, Origin, PromptSubmitted, SessionStarted
from ..turn.frame import frame
from ..turn.redact import redact
from ..turn.strip import strip
from ..turn.truncate import Cap, fit
from ..workflow.state import SessionState
from .changed_lines import MAX_SHOWN, count, listed
from .look import ChangedFile, ChangedFiles, Look
from .policy import EVERYWHERE, SILENT, Policy, View, Word, Words
from .running_agents import folded, running

MAX_PROMPTS = 3
MAX_CHARS = 300
"""Characters of a prompt that are kept."""

_MOST_READ = 600
"""Characters of a prompt that secrets are looked for in, before it is cut."""
_LONGEST_NAMED = 10
_PROMPT = "prompt "
_CHANGED = ChangedFiles()

_HEADING = Words(
    "The conversation was just summarised. From before, by upbeat's own record:",
    "对话刚被压缩。以下是 upbeat 自己记录的压缩前内容：",
)
_PROMPTS = Words("The last words of the person you work for, oldest first:", "用户最近的原话（从旧到新）：")
_AGENTS = Words(
    "Agents that were started and have not answered: {agents}. Go on with these; do not start others in their place.",
    "已启动但尚未返回的代理：{agents}。请继续等待或沿用，不要另起新的代替。",
)
_FILES = Words(
    "{files} file(s) differ from the last commit:\n{frame}", "与上次提交相比有 {files} 个文件不同：\n{frame}"
)


def _looks(event: Event, _state: SessionState) -> tuple[Look, ...]:
    return (_CHANGED,) if isinstance(event, SessionStarted) and event.how == "compact" else ()


def _prompted(event: PromptSubmitted, view: View) -> Word:
    if event.origin is not Origin.USER or event.source.agent_id:
        return SILENT
    text = _kept(event.prompt)
    if not text:
        return SILENT
    others = tuple(note for note in view.notes if not note.startswith(_PROMPT))
    prompts = [note for note in view.notes if note.startswith(_PROMPT)]
    return Word(notes=(*others, *prompts[1 - MAX_PROMPTS :], f"{_PROMPT}{text}"))


def _kept(prompt: str) -> str:
    """The beginning of a prompt, without secrets and in one line; what was cut off begins no half secret."""
    read = prompt[: 2 * _MOST_READ].lstrip()[:_MOST_READ]
    if len(read) == _MOST_READ:
        read = read.rsplit(None, 1)[0]
    return fit(" ".join(redact(strip(read)).text.split()), Cap(MAX_CHARS))[0]


def _followed(event: AgentStarted | AgentStopped | Delegated, view: View) -> Word:
    notes = folded(view.notes, event, view.at)
    return SILENT if notes == view.notes else Word(notes=notes)


def _session(event: SessionStarted, view: View) -> Word:
    if event.how == "clear":
        return Word(notes=()) if view.notes else SILENT
    if event.how != "compact":
        notes = folded(view.notes, event, view.at)
        return SILENT if notes == view.notes else Word(notes=notes)
    files: tuple[ChangedFile, ...] = view.found.get(_CHANGED) or ()
    parts = [*_told(view), *_shown(files, view)]
    if not parts:
        return SILENT
    text = "\n".join([_HEADING.of(view.language), *parts])
    return Word((Inject(text),), "the conversation was summarised", names=tuple(one.path for one in files[:MAX_SHOWN]))


def _told(view: View) -> list[str]:
    """What was noted: words of the user, and agents."""
    prompts = [note.removeprefix(_PROMPT) for note in view.notes if note.startswith(_PROMPT)]
    quoted = [f"「{one}」" if view.language == "zh" else f'"{one}"' for one in prompts]
    parts = [_PROMPTS.of(view.language), *(f"- {one}" for one in quoted)] if quoted else []
    agents = ", ".join(one.name for one in running(view.notes)[-_LONGEST_NAMED:])
    return [*parts, _AGENTS.of(view.language).format(agents=agents)] if agents else parts


def _shown(files: Sequence[ChangedFile], view: View) -> list[str]:
    if not files or not view.nonce:
        return []
    body = frame(listed(files, view.language), view.nonce, source="git status")
    return [_FILES.of(view.language).format(files=count(files), frame=body)]


POLICY = Policy(
    name="keep-thread-through-compaction",
    original="compaction-context-injector",
    number=4,
    what=Words(
        f"After a compaction it tells the agent how the last {MAX_PROMPTS} prompts of its user began, in their own "
        "words (secrets left out), which agents have not answered yet, and which files differ from the last commit.",
        f"压缩后告知代理：用户最近 {MAX_PROMPTS} 条提示的原话开头（去除密钥）、尚未返回的代理，"
        "以及与上次提交不同的文件。",
    ),
    why=Words(
        "A summary tells what a model took the request for, and forgets who still works for it.",
        "摘要只记下模型对请求的理解，还会忘记仍在工作的代理。",
    ),
    silent=Words(
        "at every other start of a session, and when there is nothing to tell; a workflow tells its state itself",
        "会话以其他方式开始，或没有可告知的内容时；进行中的流程会自行告知其状态",
    ),
    on={
        PromptSubmitted: _prompted,
        AgentStarted: _followed,
        AgentStopped: _followed,
        Delegated: _followed,
        SessionStarted: _session,
    },
    clients=EVERYWHERE,
    looks=_looks,
    stays=True,
    rank=20,
)
