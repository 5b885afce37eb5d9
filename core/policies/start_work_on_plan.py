"""Take up a feature of the specs by its name, whole or in part (start-work)."""

from __future__ import annotations

from ..contract.effect import Effect, Inject, TellUser
from ..contract.event import Event, Origin, PromptSubmitted
from ..workflow.command import beside
from ..workflow.specs import FEATURES, FOLDERS, Status
from ..workflow.state import SessionState
from .look import Features, Look, Plans
from .policy import SILENT, Policy, View, Word, Words

_MOST = 12
_TEXT = Words(
    "The user wants the work on the feature `{name}` to begin or go on. Its plan is in `{folder}`: read it first "
    "(`tasks.md`, and what lies beside it), say in one sentence where it stands, and do its open boxes in their "
    "order; tick each one when it is done and checked.{move} Where the work is worth stages, start a workflow with "
    "`{name}` as its goal (upbeat's tool `workflow`, or `upbeat workflow start NAME {name}` in the shell).",
    "用户要开始或继续做特性 `{name}`。计划在 `{folder}`：请先读它（`tasks.md` 及同目录文件），用一句话说明进度，"
    "再按顺序完成未勾选的项，每项完成并检查后勾选。{move}如果值得分阶段，请以 `{name}` 为目标启动流程（upbeat "
    "的工具 `workflow`，或在终端运行 `upbeat workflow start 流程名 {name}`）。",
)
_MOVE = Words(
    " It is in the backlog: `upbeat specs start {name}` takes it out, and its folder is `{folder}` then.",
    "它还在待办中：运行 `upbeat specs start {name}` 取出，之后目录为 `{folder}`。",
)
_SEVERAL = Words(
    "The user wants to work on a feature, and several are meant by `{wanted}`: {names}. Ask which one; begin nothing.",
    "用户要做一个特性，而「{wanted}」可能指：{names}。请询问是哪一个，先不要动手。",
)
_WHICH = Words(
    "The user wants to work on a feature and has not said on which. There are: {names}. Ask which one; begin nothing.",
    "用户要做一个特性但没有说是哪一个。现有：{names}。请询问是哪一个，先不要动手。",
)
_NONE = Words(
    "upbeat: no feature `{wanted}`. There are: {names}.",
    "upbeat：没有特性「{wanted}」。现有：{names}。",
)
_EMPTY = Words(
    "upbeat: no feature is in progress or in the backlog of {folder}. `upbeat specs new NAME` makes one.",
    "upbeat：{folder} 中没有进行中或待办的特性。用 `upbeat specs new 名称` 新建。",
)


def _wanted(event: Event) -> str | None:
    """What stands behind the command; None where the event is none."""
    if not isinstance(event, PromptSubmitted) or event.origin is not Origin.USER:
        return None
    name, rest = beside(event.prompt) or ("", "")
    return rest.split("\n", 1)[0].strip(" `'\"") if name == "start-work" else None


def _looks(event: Event, _state: SessionState) -> tuple[Look, ...]:
    return () if _wanted(event) is None else (Features(),)


def _prompt(event: PromptSubmitted, view: View) -> Word:
    wanted = _wanted(event)
    if wanted is None:
        return SILENT
    plans: Plans = view.found.get(Features(), Plans())
    known = (*plans.in_progress, *(name for name in plans.backlog if name not in plans.in_progress))
    found = _matching(wanted, plans, known)
    if len(found) == 1:
        effect: Effect = Inject(_begun(found[0], plans, view.language))
        return Word((effect,), f"the feature {found[0]}", names=(_folder(found[0], plans),))
    words, names = _problem(wanted, found), found or known
    shown = ", ".join(f"`{name}`" for name in names[:_MOST]) + (" …" if len(names) > _MOST else "")
    text = words.of(view.language).format(wanted=wanted[:60], names=shown, folder=FEATURES)
    effect = Inject(text) if words in (_SEVERAL, _WHICH) else TellUser(text)
    return Word((effect,), f"{len(found)} features fit")


def _problem(wanted: str, found: tuple[str, ...]) -> Words:
    if found:
        return _SEVERAL if wanted else _WHICH
    return _NONE if wanted else _EMPTY


def _matching(wanted: str, plans: Plans, known: tuple[str, ...]) -> tuple[str, ...]:
    """The features that are meant: by name, by part of it, or without one those in progress, else those that wait."""
    if not wanted:
        return plans.in_progress or plans.backlog
    name = "-".join(wanted.lower().replace("_", "-").split())
    if name in known:
        return (name,)
    return tuple(one for one in known if name in one)


def _begun(name: str, plans: Plans, language: str) -> str:
    move = ""
    if name not in plans.in_progress:
        move = _MOVE.of(language).format(name=name, folder=f"{FOLDERS[Status.IN_PROGRESS]}/{name}")
    return _TEXT.of(language).format(name=name, folder=_folder(name, plans), move=move)


def _folder(name: str, plans: Plans) -> str:
    return f"{FOLDERS[Status.IN_PROGRESS if name in plans.in_progress else Status.BACKLOG]}/{name}"


POLICY = Policy(
    name="start-work-on-plan",
    original="start-work",
    number=25,
    what=Words(
        "`/upbeat:start-work NAME` (Codex: `$upbeat:start-work NAME`) takes up the feature of `specs/features` "
        "whose name is or contains NAME; of several the agent asks which.",
        "`/upbeat:start-work 名称`（Codex 中为 `$upbeat:start-work 名称`）接手 `specs/features` "
        "中名称相同或包含该名称的特性；有多个时由代理询问。",
    ),
    why=Words(
        "A plan that lies in the repository should not have to be explained again.",
        "仓库里已有的计划不必再解释一遍。",
    ),
    silent=Words("without the command; it starts no workflow by itself", "没有该命令时；它不会自行启动流程"),
    on={PromptSubmitted: _prompt},
    looks=_looks,
    rank=20,
)
