"""Send turns on until the goal that its user has set is met, and how that was checked is said (ralph-loop, goal)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..contract.effect import Effect, Inject, KeepGoing, TellUser
from ..contract.event import Event, Origin, PromptSubmitted, SessionStarted, TurnEnding, TurnInterrupted
from ..turn.clean import clean
from ..turn.frame import Ours
from ..turn.mask import clip
from ..turn.truncate import Cap, fit
from ..turn.word import Template, word
from ..workflow.command import Verb, beside, read
from ..workflow.marker import goals
from ..workflow.state import SessionState
from ..workflow.verdict import MAX_READ
from .drive import LISTENS_TO, Drive, hindrance, noted, of_notes, released, seen, sent_on
from .policy import SILENT, Policy, View, Word, Words

NAME = "pursue-goal"
MAX_GOAL = 2000
"""Characters of a goal."""
MAX_TURNS = 100
"""Turns that one goal is sent on for, if the settings allow as many."""
MIN_AUDIT = 12
"""Characters below which nobody has said how a goal was checked."""

_NOTE = "goal "
_OFF = ("off", "clear", "none", "关", "关闭", "關閉", "取消", "清除")
_REPEATED = 300
_TOLD = 500
_EXAMPLE = "each part of the goal, and how you checked it"

_MARKER = Template('<!-- GOAL: {{"result": "MET", "call": "{id}", "audit": "' + _EXAMPLE + '"}} -->')
_HOW = Words(
    "When it is met, check each part of it against what is really there (files, test output), and end with this "
    "line, filled in:\n{marker}\nIf it cannot be reached, or only the user can decide, end the turn with a question.",
    "达成后，请逐项对照实际情况（文件、测试输出）检查，并以填好的这一行结尾：\n{marker}\n如果无法达成，"
    "或只有用户才能决定，请用一个提问结束本轮。",
)
_SET = Words(
    "The user has set a goal for this session, in the user's own words between the lines:\n---\n{goal}\n---\n",
    "用户为本次会话设定了目标，以下两行之间是用户的原话：\n---\n{goal}\n---\n",
)
_ONWARD = Words(
    'The goal of the user is not shown to be met yet: "{goal}". Go on with what is missing. ',
    "用户的目标尚未证明已达成：「{goal}」。请继续完成缺少的部分。",
)
_NO_AUDIT = Words(
    'You say that the goal is met, but not how you checked it: "{goal}". Check it now. ',
    "你说目标已达成，但没有说明如何检查：「{goal}」。请现在检查。",
)
_WAS_SET = Words(
    "upbeat: the goal is set; turns are sent on until it is met. `goal off` or `stop` ends that.",
    "upbeat：目标已设定，达成之前会自动续跑；用 `goal off` 或「停」结束。",
)
_STANDS = Words(
    'upbeat: the goal is "{goal}"; {count} turns were sent on for it.', "upbeat：目标是「{goal}」，已续跑 {count} 轮。"
)
_NONE = Words("upbeat: there is no goal. `goal TEXT` sets one.", "upbeat：目前没有目标；用 `goal 内容` 设定。")
_CLEARED = Words('upbeat: the goal "{goal}" is taken back.', "upbeat：目标「{goal}」已取消。")
_TOO_LONG = Words(
    "upbeat: the goal has {count} characters and was not set; at most {most}. Put the details into a file and name it.",
    "upbeat：目标有 {count} 个字符，未设定；最多 {most} 个。请把细节写入文件并在目标中引用。",
)
_MET = Words(
    'upbeat: the agent says that the goal "{goal}" is met. How it checked: {audit}',
    "upbeat：代理表示目标「{goal}」已达成。检查方式：{audit}",
)
_ENDED = Words(
    'upbeat stopped pursuing the goal "{goal}": {reason}. {way}', "upbeat 不再追求目标「{goal}」：{reason}。{way}"
)
_PAUSED = Words("Your next prompt goes on with it.", "你的下一条提示会继续。")
_GONE = Words("Set it again to go on.", "如需继续，请重新设定。")
_REASONS: Mapping[str, Words] = {
    "stale": Words("{count} turns in a row brought nothing new", "连续 {count} 轮没有新进展"),
    "errors": Words("{count} turns in a row failed", "连续 {count} 轮失败"),
    "turns": Words("{count} turns were sent on", "已续跑 {count} 轮"),
    "minutes": Words("{count} minutes are over", "已用时 {count} 分钟"),
}


@dataclass(frozen=True, slots=True)
class _Goal:
    """``id`` is what its marker carries; ``since`` is seconds since the epoch."""

    id: str
    since: float
    text: str

    @property
    def short(self) -> Ours:
        return Ours(fit(" ".join(self.text.split()), Cap(_REPEATED))[0])

    @property
    def note(self) -> str:
        return f"{_NOTE}{self.id} {self.since:.0f} {self.text}"


def has_the_floor(state: SessionState) -> str:
    """Why others send nothing on: a goal is pursued; empty when none is."""
    notes = state.notes(NAME)
    return "a goal is pursued" if _goal_of(notes) and not of_notes(notes).is_over else ""


def _goal_of(notes: tuple[str, ...]) -> _Goal | None:
    note = next((one for one in notes if one.startswith(_NOTE)), "")
    id_, _, rest = note[len(_NOTE) :].partition(" ")
    since, _, text = rest.partition(" ")
    return _Goal(id_, float(since), text) if since.isdecimal() and text else None


def _prompt(event: PromptSubmitted, view: View) -> Word:
    if event.origin is not Origin.USER:
        return SILENT
    goal = _goal_of(view.notes)
    name, rest = beside(event.prompt) or ("", "")
    if name == "goal":
        return _commanded(rest, goal, view)
    if goal is None:
        return SILENT
    command = read(event.prompt)
    if command and command.verb is Verb.STOP:
        return _cleared(goal, view)
    return _listened(event, view)


def _commanded(text: str, goal: _Goal | None, view: View) -> Word:
    if not text:
        stands = _STANDS.of(view.language).format(goal=goal.short, count=of_notes(view.notes).total) if goal else ""
        return Word((TellUser(stands or _NONE.of(view.language)),), "asked for the goal")
    if text.strip(" .!。！").lower() in _OFF:
        return _cleared(goal, view) if goal else Word((TellUser(_NONE.of(view.language)),), "there is no goal")
    if len(text) > MAX_GOAL:
        told = _TOO_LONG.of(view.language).format(count=len(text), most=MAX_GOAL)
        return Word((TellUser(told),), "the goal is too long")
    text = clean(text).text.strip()
    new = _Goal(hashlib.sha256(f"{view.at}{text}".encode()).hexdigest()[:4], view.at, text)
    if not text:
        return SILENT
    effects = (Inject(_whole(new, view.language)), TellUser(_WAS_SET.of(view.language)))
    return Word(effects, "the user has set a goal", (new.note,))


def _cleared(goal: _Goal, view: View) -> Word:
    return Word((TellUser(_CLEARED.of(view.language).format(goal=goal.short)),), "the user took it back", ())


def _interrupted(_event: TurnInterrupted, view: View) -> Word:
    goal = _goal_of(view.notes)
    return _cleared(goal, view) if goal else SILENT


def _listened(event: Event, view: View) -> Word:
    if not view.notes:
        return SILENT
    before = of_notes(view.notes)
    after = seen(before, event, view.at)
    return SILENT if after == before else Word(notes=noted(view.notes, after))


def _session(event: SessionStarted, view: View) -> Word:
    goal = _goal_of(view.notes)
    if goal is None:
        return SILENT
    if event.how == "clear":
        return Word(notes=())
    heard = _listened(event, view)
    if event.how != "compact":
        return heard
    return replace(heard, effects=(Inject(_whole(goal, view.language)),), because="a summary may have lost the goal")


def _ending(event: TurnEnding, view: View) -> Word:
    goal = _goal_of(view.notes)
    if goal is None or event.source.agent_id:
        return SILENT
    drive = of_notes(view.notes)
    is_met, audit = _read(event.message, goal)
    if is_met and audit:
        told = _MET.of(view.language).format(goal=goal.short, audit=audit)
        return Word((TellUser(told),), "the goal is met", ())
    if because := hindrance(event, view, drive):
        return Word(because=f"let go: {because}", notes=noted(view.notes, released(drive)))
    mark = hashlib.sha256(event.message.encode("utf-8", "replace")).hexdigest()[:16]
    is_stale = bool(drive.mark) and (drive.mark == mark or not drive.has_worked)
    stale = drive.stale + 1 if is_stale else 0
    if reason := _over(goal, drive, stale, view):
        return _ended(reason, goal, drive, view)
    text = (_NO_AUDIT if is_met else _ONWARD).of(view.language).format(goal=goal.short) + _how(goal, view.language)
    return Word((KeepGoing(text),), "the goal is not met", noted(view.notes, sent_on(drive, view.at, mark, stale)))


def _read(message: str, goal: _Goal) -> tuple[bool, str]:
    """Whether ``message`` says that the goal is met, and how that was checked, fit to be shown."""
    said = goals(message if len(message) <= MAX_READ else clip(message))
    ours = [one for one in said if one.get("call", goal.id) in (goal.id, "")]
    if not ours or any(one.get("result", "").strip().upper() != "MET" for one in ours):
        return False, ""
    audit = word(ours[-1].get("audit", ""), _TOLD)
    return True, audit if len(audit) >= MIN_AUDIT and audit != _EXAMPLE else ""


def _over(goal: _Goal, drive: Drive, stale: int, view: View) -> tuple[str, int] | None:
    """Which cap is reached, with its number."""
    caps = view.caps
    reached = (
        ("errors", caps.errors, drive.errors),
        ("turns", min(MAX_TURNS, caps.iterations), drive.total),
        ("minutes", caps.minutes, int((view.at - goal.since) // 60)),
        ("stale", caps.stale, stale),
    )
    return next(((name, most) for name, most, count in reached if count >= most), None)


def _ended(reason: tuple[str, int], goal: _Goal, drive: Drive, view: View) -> Word:
    """The caps of the goal itself end it; the others wait for its user."""
    name, most = reason
    is_gone = name in ("turns", "minutes")
    because = _REASONS[name].of(view.language).format(count=most)
    way = (_GONE if is_gone else _PAUSED).of(view.language)
    told: tuple[Effect, ...] = (TellUser(_ENDED.of(view.language).format(goal=goal.short, reason=because, way=way)),)
    return Word(told, f"ended: {name}", () if is_gone else noted(view.notes, replace(drive, is_over=True)))


def _whole(goal: _Goal, language: str) -> str:
    return _SET.of(language).format(goal=Ours(goal.text)) + _how(goal, language)


def _how(goal: _Goal, language: str) -> str:
    return _HOW.of(language).format(marker=_MARKER.format(id=goal.id))


POLICY = Policy(
    name=NAME,
    original="ralph-loop",
    number=24,
    what=Words(
        "`/upbeat:goal TEXT` (Codex: `$upbeat:goal TEXT`, anywhere: `[goal: TEXT]`) sets a goal. Turns are sent on "
        "until the agent says that it is met, and how it checked each part. `/upbeat:goal off` takes it back.",
        "`/upbeat:goal 内容`（Codex 中为 `$upbeat:goal 内容`，任何地方可用 `[goal: 内容]`）设定目标。"
        "在代理表明目标已达成并说明逐项检查方式之前，会自动续跑。`/upbeat:goal off` 取消。",
    ),
    why=Words(
        "Some work is done when a state is reached, and not when an agent feels like ending.",
        "有些工作要到达某个状态才算完成，而不是代理想停就停。",
    ),
    silent=Words(
        "without a goal; when the turn ends in a question, agents work in the background, its user asked something "
        "else, a workflow runs, the client only plans, within 60 s of a compaction. A stop word or breaking the "
        f"turn off takes the goal back; {MAX_TURNS} turns or the caps of `loop.*` end it",
        "没有目标；本轮以提问结束、有代理在后台运行、用户另有所问、有流程在运行、处于计划模式、压缩后 60 秒内。"
        f"停止词或中断会取消目标；续跑 {MAX_TURNS} 轮或达到 `loop.*` 上限时结束",
    ),
    on={
        **dict.fromkeys(LISTENS_TO, _listened),
        PromptSubmitted: _prompt,
        SessionStarted: _session,
        TurnInterrupted: _interrupted,
        TurnEnding: _ending,
    },
    stays=True,
    rank=20,
)
