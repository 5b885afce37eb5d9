"""Stop commands that destroy what nothing brings back, and ask about those that may (our own)."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.effect import Ask, Deny, Effect
from ..contract.event import ClientName, Event, ToolStarting
from ..harm import Grade, Harm, Here, harms_of, may_harm
from ..texts.harms import ACTS, WAYS
from ..turn.frame import Ours
from ..turn.word import Template
from ..workflow.state import SessionState
from .look import ChangedFile, ChangedFiles, Look
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words

MOST = 3
"""Harms that are told of one line."""
MANY = 50
"""Changed files from which on nobody knows whether there are more."""

_CHANGED = ChangedFiles()
_DENIED = Words("Stopped: {acts}. {ways}", "已阻止：{acts}。{ways}")
_ASKED = Words("To be weighed: {acts}. {ways}", "请权衡：{acts}。{ways}")
_OWN = Words(
    " If exactly this is wanted, the person runs it, or switches this policy off.",
    "如果确实要这样做，请由用户自己运行，或关闭此策略。",
)


def _looks(event: Event, state: SessionState) -> tuple[Look, ...]:
    """Only what is lost if it was not committed needs to be looked up, and only where nothing is denied anyhow."""
    if not isinstance(event, ToolStarting) or not event.command or not may_harm(event.command):
        return ()
    found = harms_of(event.command, Here(state.root, event.source.cwd))
    return (_CHANGED,) if any(harm.loses is not None for harm in found) else ()


def _starting(event: ToolStarting, view: View) -> Word:
    if not event.command or not may_harm(event.command):
        return SILENT
    found = harms_of(event.command, Here(view.root, event.source.cwd))
    graded = [(harm, _grade(harm, view)) for harm in found]
    denied = [harm for harm, grade in graded if grade is Grade.DENY]
    asked = [harm for harm, grade in graded if grade is Grade.ASK]
    if not denied and not asked:
        return SILENT
    return Word((_effect(denied or asked, view.language, is_denied=bool(denied)),), _because(denied or asked))


def _grade(harm: Harm, view: View) -> Grade:
    """How bad it is, given what is not committed; what nobody could look up counts as changed."""
    changed: Sequence[ChangedFile] | None = view.found.get(_CHANGED)
    if harm.loses is None or changed is None:
        return harm.grade
    counted = [one for one in changed if one.removed is not None or not harm.only_tracked]
    if any(_is_lost(one.path, harm.loses) for one in counted) or len(changed) >= MANY:
        return harm.grade
    return harm.else_grade


def _is_lost(path: str, folder: str) -> bool:
    """Whether ``path`` is in ``folder``; one that ends in a slash is a folder for sure, and no file of its own."""
    return not folder or path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _effect(harms: Sequence[Harm], language: str, *, is_denied: bool) -> Effect:
    acts = [Template(ACTS[_of(language)][one.kind]).format(target=one.target[:100]) for one in harms[:MOST]]
    ways = dict.fromkeys(WAYS[_of(language)][one.kind].format() for one in harms[:MOST])
    joint, space = ("；", "") if language == "zh" else ("; ", " ")
    text = (
        (_DENIED if is_denied else _ASKED)
        .of(language)
        .format(acts=Ours(joint.join(dict.fromkeys(acts))), ways=Ours(space.join(ways)))
    )
    return Deny(text + _OWN.of(language)) if is_denied else Ask(text)


def _because(harms: Sequence[Harm]) -> str:
    return "; ".join(dict.fromkeys(f"{one.kind}: {one.target[:60]}" for one in harms[:MOST]))


def _of(language: str) -> str:
    return language if language in ACTS else "en"


POLICY = Policy(
    name="stop-destructive-commands",
    original="",
    number=0,
    what=Words(
        "It stops a command that destroys what nothing brings back (a home, the system, a disk, uncommitted work, a "
        "shared branch, a database), and asks about one that may. The line is parsed: text in quotes is no command.",
        "阻止会造成不可恢复损失的命令（用户目录、系统、磁盘、未提交的工作、共享分支、数据库），对可能有害的命令先询问。"
        "命令行会被解析，引号里的文字不算命令。",
    ),
    why=Words(
        "An agent that clears up by a wrong path takes more with it than it knows.",
        "代理清理时路径写错，会删掉它并不知道的东西。",
    ),
    silent=Words(
        "for built, cached and temporary files; for a file or folder of the project that has no changes to lose; for "
        "git commands that throw changes away where there are none, or that the same line has stashed; for text that "
        "only looks like a command; for scripts in files, containers and other languages, which it does not read",
        "构建产物、缓存和临时文件；项目内没有未提交改动的文件或目录；没有改动可丢、或同一行已先储藏的 git 命令；"
        "只是看起来像命令的文字；脚本文件、容器内和其他语言的代码（不读取）",
    ),
    on={ToolStarting: _starting},
    clients={
        ClientName.CLAUDE_CODE: WORKS,
        ClientName.CODEX_CLI: Standing(Carries.DEGRADED, "a refusal where it would ask, since hooks cannot ask there"),
    },
    looks=_looks,
    rank=10,
)
