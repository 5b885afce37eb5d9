"""Continue turns until the user's goal is met and the agent says how it verified that."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from upbeat.core.contract.effect import ContinueTurn, InjectContext, NotifyUser
from upbeat.core.contract.event import Event, PromptOrigin, PromptSubmitted, SessionStarted, TurnEnding, TurnInterrupted
from upbeat.core.policy.continuation import (
    TRACKED_EVENTS,
    ContinuationState,
    blocking_reason,
    load_continuation,
    record_allowed_turn,
    record_continuation,
    store_continuation,
    track_event,
)
from upbeat.core.policy.definition import NO_RESULT, Handler, LocalizedText, Policy, PolicyContext, PolicyResult
from upbeat.core.prompt.quoted_spans import clip_prompt
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.sanitize.inline import SafeTemplate, sanitize_inline
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit
from upbeat.core.workflow.decide.command import Verb, parse_other_command, parse_workflow_command
from upbeat.core.workflow.state import SessionState
from upbeat.core.workflow.verdict.classify import MAX_SCANNED_CHARS
from upbeat.core.workflow.verdict.marker import find_goal_markers

NAME = "pursue-goal"
MAX_GOAL_CHARS = 2000
MAX_TURNS = 100
"""Continuations for one goal; the settings may allow fewer."""
MIN_AUDIT_CHARS = 12
"""A shorter audit does not say how the goal was verified."""

_NOTE = "goal "
_CLEAR_WORDS = ("off", "clear", "none", "关", "关闭", "關閉", "取消", "清除")
_MAX_EXCERPT_CHARS = 300
_MAX_AUDIT_CHARS = 500
_EXAMPLE = "each part of the goal, and how you verified it"

_MARKER = SafeTemplate('<!-- GOAL: {{"result": "MET", "call": "{id}", "audit": "' + _EXAMPLE + '"}} -->')
_COMPLETION_TEXT = LocalizedText(
    "When it is met, check every part of it against the actual state (files, test output), and end with this line, "
    "filled in:\n{marker}\nIf it cannot be reached, or only the user can decide, end the turn with a question.",
    "达成后，请逐项对照实际情况（文件、测试输出）检查，并以填好的这一行结尾：\n{marker}\n如果无法达成，或只有用户才能"
    "决定，请用一个提问结束本轮。",
)
_SET = LocalizedText(
    "The user has set a goal for this session, quoted between the lines:\n---\n{goal}\n---\n",
    "用户为本次会话设定了目标，以下两行之间是用户的原话：\n---\n{goal}\n---\n",
)
_CONTINUE_TEXT = LocalizedText(
    'The user\'s goal is not met yet: "{goal}". Continue with what is missing. ',
    "用户的目标尚未证明已达成：「{goal}」。请继续完成缺少的部分。",
)
_NO_AUDIT = LocalizedText(
    'You say that the goal is met, but not how you verified it: "{goal}". Verify it now. ',
    "你说目标已达成，但没有说明如何验证：「{goal}」。请现在验证。",
)
_SET_NOTICE = LocalizedText(
    "upbeat: goal set; turns continue until it is met. `goal off` or `stop` cancels it.",
    "upbeat：目标已设定，达成之前会自动继续；用 `goal off` 或「停」取消。",
)
_CURRENT_NOTICE = LocalizedText(
    'upbeat: the goal is "{goal}"; continued {count} times so far.',
    "upbeat：目标是「{goal}」，已自动继续 {count} 次。",
)
_NONE = LocalizedText(
    "upbeat: no goal is set. `goal TEXT` sets one.",
    "upbeat：目前没有目标；用 `goal 内容` 设定。",
)
_CLEARED = LocalizedText('upbeat: goal "{goal}" canceled.', "upbeat：目标「{goal}」已取消。")
_TOO_LONG = LocalizedText(
    "upbeat: the goal was not set: it has {count} characters, the limit is {most}. Put the details into a file and "
    "name the file.",
    "upbeat：目标有 {count} 个字符，超过上限 {most}，未设定。请把细节写入文件并在目标中引用。",
)
_MET = LocalizedText(
    'upbeat: the agent reports that the goal "{goal}" is met. Verification: {audit}',
    "upbeat：代理表示目标「{goal}」已达成。验证方式：{audit}",
)
_ENDED = LocalizedText(
    'upbeat stopped pursuing the goal "{goal}": {reason}. {way}',
    "upbeat 已停止追求目标「{goal}」：{reason}。{way}",
)
_PAUSED_HINT = LocalizedText("Your next prompt resumes it.", "你的下一条提示会恢复。")
_REMOVED_HINT = LocalizedText("Set it again to resume.", "如需继续，请重新设定。")
_LIMIT_REASONS: Mapping[str, LocalizedText] = {
    "stale": LocalizedText("{count} turns in a row made no progress", "连续 {count} 轮没有新进展"),
    "errors": LocalizedText("{count} turns in a row failed", "连续 {count} 轮失败"),
    "turns": LocalizedText("continued {count} times", "已自动继续 {count} 次"),
    "minutes": LocalizedText("{count} minutes have passed", "已用时 {count} 分钟"),
}


@dataclass(frozen=True, slots=True)
class _Goal:
    """``id`` is what its marker carries; ``since`` is in seconds since the epoch."""

    id: str
    since: float
    text: str

    @property
    def excerpt(self) -> SafeText:
        return SafeText(truncate_to_limit(" ".join(self.text.split()), TextLimit(_MAX_EXCERPT_CHARS))[0])

    @property
    def to_note(self) -> str:
        return f"{_NOTE}{self.id} {self.since:.0f} {self.text}"


def active_goal_reason(state: SessionState) -> str:
    """Return why other policies do not continue turns, or an empty string when no goal is active."""
    notes = state.notes_of(NAME)
    return "a goal is active" if _parse_goal(notes) and not load_continuation(notes).is_stopped else ""


def _parse_goal(notes: tuple[str, ...]) -> _Goal | None:
    note = next((note for note in notes if note.startswith(_NOTE)), "")
    id_, _, rest = note[len(_NOTE) :].partition(" ")
    since, _, text = rest.partition(" ")
    return _Goal(id_, float(since), text) if since.isdecimal() and text else None


def _on_prompt_submitted(event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    goal = _parse_goal(context.notes)
    name, rest = parse_other_command(event.prompt) or ("", "")
    if name == "goal":
        return _on_goal_command(rest, goal, context)
    if goal is None:
        return NO_RESULT
    command = parse_workflow_command(event.prompt)
    if command and command.verb is Verb.STOP:
        return _clear_goal(goal, context)
    return _track_event(event, context)


def _on_goal_command(text: str, goal: _Goal | None, context: PolicyContext) -> PolicyResult:
    if not text:
        text = _NONE.localize(context.language)
        if goal:
            count = load_continuation(context.notes).continuations
            text = _CURRENT_NOTICE.localize(context.language).format(goal=goal.excerpt, count=count)
        return PolicyResult((NotifyUser(text),), "asked for the goal")
    if text.strip(" .!。！").lower() in _CLEAR_WORDS:
        if goal:
            return _clear_goal(goal, context)
        return PolicyResult((NotifyUser(_NONE.localize(context.language)),), "there is no goal")
    if len(text) > MAX_GOAL_CHARS:
        notice = _TOO_LONG.localize(context.language).format(count=len(text), most=MAX_GOAL_CHARS)
        return PolicyResult((NotifyUser(notice),), "the goal is too long")
    text = sanitize_text(text).text.strip()
    new = _Goal(hashlib.sha256(f"{context.now}{text}".encode()).hexdigest()[:4], context.now, text)
    if not text:
        return NO_RESULT
    effects = (
        InjectContext(_goal_instructions(new, context.language)),
        NotifyUser(_SET_NOTICE.localize(context.language)),
    )
    return PolicyResult(effects, "the user set a goal", (new.to_note,))


def _clear_goal(goal: _Goal, context: PolicyContext) -> PolicyResult:
    return PolicyResult(
        (NotifyUser(_CLEARED.localize(context.language).format(goal=goal.excerpt)),), "the user canceled it", ()
    )


def _on_turn_interrupted(_event: TurnInterrupted, context: PolicyContext) -> PolicyResult:
    goal = _parse_goal(context.notes)
    return _clear_goal(goal, context) if goal else NO_RESULT


def _track_event(event: Event, context: PolicyContext) -> PolicyResult:
    before = load_continuation(context.notes)
    after = track_event(before, event, context.now)
    return NO_RESULT if after == before else PolicyResult(notes=store_continuation(context.notes, after))


def _on_session_started(event: SessionStarted, context: PolicyContext) -> PolicyResult:
    goal = _parse_goal(context.notes)
    if goal is None:
        return NO_RESULT
    if event.trigger == "clear":
        return PolicyResult(notes=())
    result = _track_event(event, context)
    if event.trigger != "compact":
        return result
    return replace(
        result,
        effects=(InjectContext(_goal_instructions(goal, context.language)),),
        reason="a summary may have lost the goal",
    )


def _on_turn_ending(event: TurnEnding, context: PolicyContext) -> PolicyResult:
    goal = _parse_goal(context.notes)
    if goal is None:
        return NO_RESULT
    continuation = load_continuation(context.notes)
    is_met, audit = _parse_goal_claim(event.message, goal)
    if is_met and audit:
        notice = _MET.localize(context.language).format(goal=goal.excerpt, audit=audit)
        return PolicyResult((NotifyUser(notice),), "the goal is met", ())
    if reason := blocking_reason(event, context, continuation):
        return PolicyResult(
            reason=f"not continued: {reason}",
            notes=store_continuation(context.notes, record_allowed_turn(continuation)),
        )
    digest = hashlib.sha256(event.message.encode("utf-8", "replace")).hexdigest()[:16]
    is_stale = bool(continuation.progress_digest) and (
        continuation.progress_digest == digest or not continuation.has_used_tools
    )
    stale = continuation.turns_without_progress + 1 if is_stale else 0
    if limit := _reached_limit(goal, continuation, stale, context):
        return _stop_pursuing(limit, goal, continuation, context)
    text = (_NO_AUDIT if is_met else _CONTINUE_TEXT).localize(context.language).format(
        goal=goal.excerpt
    ) + _completion_instructions(goal, context.language)
    return PolicyResult(
        (ContinueTurn(text),),
        "the goal is not met",
        store_continuation(context.notes, record_continuation(continuation, context.now, digest, stale)),
    )


def _parse_goal_claim(message: str, goal: _Goal) -> tuple[bool, str]:
    """Return whether ``message`` claims that the goal is met, and the sanitized audit."""
    markers = find_goal_markers(message if len(message) <= MAX_SCANNED_CHARS else clip_prompt(message))
    markers = tuple(marker for marker in markers if marker.get("call", goal.id) in (goal.id, ""))
    if not markers or any(marker.get("result", "").strip().upper() != "MET" for marker in markers):
        return False, ""
    audit = sanitize_inline(markers[-1].get("audit", ""), _MAX_AUDIT_CHARS)
    return True, audit if len(audit) >= MIN_AUDIT_CHARS and audit != _EXAMPLE else ""


def _reached_limit(
    goal: _Goal, continuation: ContinuationState, turns_without_progress: int, context: PolicyContext
) -> tuple[str, int] | None:
    """Return the name and value of the limit that is reached."""
    limits = context.loop_limits
    reached = (
        ("errors", limits.max_consecutive_errors, continuation.consecutive_failures),
        ("turns", min(MAX_TURNS, limits.max_turns), continuation.continuations),
        ("minutes", limits.max_minutes, int((context.now - goal.since) // 60)),
        ("stale", limits.max_turns_without_progress, turns_without_progress),
    )
    return next(((name, limit) for name, limit, count in reached if count >= limit), None)


def _stop_pursuing(
    limit: tuple[str, int], goal: _Goal, continuation: ContinuationState, context: PolicyContext
) -> PolicyResult:
    """Stop at ``limit``: the goal's own limits remove the goal, the others pause it until the next prompt."""
    name, count = limit
    is_removed = name in ("turns", "minutes")
    reason = _LIMIT_REASONS[name].localize(context.language).format(count=count)
    hint = (_REMOVED_HINT if is_removed else _PAUSED_HINT).localize(context.language)
    text = _ENDED.localize(context.language).format(goal=goal.excerpt, reason=reason, way=hint)
    return PolicyResult(
        (NotifyUser(text),),
        f"ended: {name}",
        () if is_removed else store_continuation(context.notes, replace(continuation, is_stopped=True)),
    )


def _goal_instructions(goal: _Goal, language: str) -> str:
    return _SET.localize(language).format(goal=SafeText(goal.text)) + _completion_instructions(goal, language)


def _completion_instructions(goal: _Goal, language: str) -> str:
    return _COMPLETION_TEXT.localize(language).format(marker=_MARKER.format(id=goal.id))


POLICY = Policy(
    name=NAME,
    handlers={
        **dict.fromkeys(TRACKED_EVENTS, Handler(_track_event, needs_notes=True)),
        PromptSubmitted: Handler(
            _on_prompt_submitted, origins=(PromptOrigin.USER,), text=re.compile("goal", re.IGNORECASE), needs_notes=True
        ),
        SessionStarted: Handler(_on_session_started, needs_notes=True),
        TurnInterrupted: Handler(_on_turn_interrupted, needs_notes=True),
        TurnEnding: Handler(_on_turn_ending, is_for_main_agent=True, needs_notes=True),
    },
    effects=(ContinueTurn, InjectContext, NotifyUser),
    survives_compaction=True,
    rank=20,
)
