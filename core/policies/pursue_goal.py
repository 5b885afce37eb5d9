"""Continue turns until the user's goal is met and the agent says how it verified that."""

from __future__ import annotations

import hashlib

from upbeat.core import lazy_re as re
from upbeat.core.contract.effect import ContinueTurn, InjectContext, NotifyUser
from upbeat.core.contract.event import Event, PromptOrigin, PromptSubmitted, SessionStarted, TurnEnding, TurnInterrupted
from upbeat.core.lazy_dataclass import dataclass, replace
from upbeat.core.policy.continuation import (
    NO_TOOL_CALL,
    TRACKED_EVENTS,
    ContinuationState,
    blocking_reason,
    load_continuation,
    record_allowed_turn,
    record_continuation,
    store_continuation,
    track_event,
)
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.sanitize.text import SafeTemplate, sanitize_inline, sanitize_text
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit
from upbeat.core.workflow.state import SessionState

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

_PROMPT_WORDS = re.compile(r"goal|promise|\A\s*(?:ulw|ultrawork)", re.IGNORECASE)
_MARKER = SafeTemplate('<!-- GOAL: {{"result": "MET", "call": "{id}", "audit": "' + _EXAMPLE + '"}} -->')


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
    def promise(self) -> str:
        """What the user asked the agent to say at the end, in ``<promise>`` tags; usually empty."""
        from upbeat.core.workflow.verdict.marker import find_promises

        return next(iter(find_promises(self.text)), "")

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
    from upbeat.core.workflow.decide.command import (  # the other events need no parser
        Verb,
        parse_command_at_work,
        parse_other_command,
        parse_prompt_as_goal,
    )

    goal = _parse_goal(context.notes)
    name, rest = parse_other_command(event.prompt) or ("", "")
    if name == "goal":
        return _on_goal_command(rest, goal, context)
    if not name and (text := parse_prompt_as_goal(event.prompt)):
        return _set_goal(text, context, is_in_prompt=True)
    if goal is None:
        return NO_RESULT
    command = parse_command_at_work(event.prompt)
    if command and command.verb is Verb.STOP:
        return _clear_goal(goal, context)
    return _track_event(event, context)


def _on_goal_command(text: str, goal: _Goal | None, context: PolicyContext) -> PolicyResult:
    command = f"{context.client.command_sign}upbeat:goal"
    if not text:
        text = context.text("none", command=command)
        if goal:
            count = load_continuation(context.notes).continuations
            text = context.text("current_notice", goal=goal.excerpt, count=count)
        return PolicyResult((NotifyUser(text),), "asked for the goal")
    if text.strip(" .!。！").lower() in _CLEAR_WORDS:
        if goal:
            return _clear_goal(goal, context)
        return PolicyResult((NotifyUser(context.text("none", command=command)),), "there is no goal")
    if len(text) > MAX_GOAL_CHARS:
        notice = context.text("too_long", count=len(text), most=MAX_GOAL_CHARS)
        return PolicyResult((NotifyUser(notice),), "the goal is too long")
    return _set_goal(text, context)


def _set_goal(text: str, context: PolicyContext, *, is_in_prompt: bool = False) -> PolicyResult:
    """Set the goal ``text``. A goal that stands in the prompt is not repeated, and may be longer: its ends are kept."""
    if len(text) > MAX_GOAL_CHARS:
        text = f"{text[: MAX_GOAL_CHARS // 2]} … {text[3 - MAX_GOAL_CHARS // 2 :]}"
    text = sanitize_text(text).text.strip()
    if not text:
        return NO_RESULT
    new = _Goal(hashlib.sha256(f"{context.now}{text}".encode()).hexdigest()[:4], context.now, text)
    instructions = _completion_instructions(new, context) if is_in_prompt else _goal_instructions(new, context)
    notice = context.text("set_notice", command=f"{context.client.command_sign}upbeat:goal")
    return PolicyResult((InjectContext(instructions), NotifyUser(notice)), "the user set a goal", (new.to_note,))


def _clear_goal(goal: _Goal, context: PolicyContext) -> PolicyResult:
    return PolicyResult((NotifyUser(context.text("cleared", goal=goal.excerpt)),), "the user canceled it", ())


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
        effects=(InjectContext(_goal_instructions(goal, context)),),
        reason="a summary may have lost the goal",
    )


def _on_turn_ending(event: TurnEnding, context: PolicyContext) -> PolicyResult:
    goal = _parse_goal(context.notes)
    if goal is None:
        return NO_RESULT
    continuation = load_continuation(context.notes)
    is_met, audit = _parse_goal_claim(event.message, goal)
    if is_met and audit:
        notice = context.text("met", goal=goal.excerpt, audit=audit)
        return PolicyResult((NotifyUser(notice),), "the goal is met", ())
    if reason := blocking_reason(event, context, continuation):
        notice = context.text(
            "ended", goal=goal.excerpt, reason=context.text("limit_words"), way=context.text("paused_hint")
        )
        return PolicyResult(
            (NotifyUser(notice),) if reason == NO_TOOL_CALL else (),
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
    text = context.text("no_audit" if is_met else "continue", goal=goal.excerpt)
    return PolicyResult(
        (ContinueTurn(text + _completion_instructions(goal, context)),),
        "the goal is not met",
        store_continuation(context.notes, record_continuation(continuation, context.now, digest, stale)),
    )


def _parse_goal_claim(message: str, goal: _Goal) -> tuple[bool, str]:
    """Return whether ``message`` claims that the goal is met, and the sanitized audit.

    The promise that the user asked for counts as the last line; the rest of the message is the audit.
    """
    from upbeat.core.prompt.quoted_spans import clip_prompt
    from upbeat.core.workflow.verdict.classify import MAX_SCANNED_CHARS
    from upbeat.core.workflow.verdict.marker import ends_in_promise, find_goal_markers, strip_promise_tags

    message = message if len(message) <= MAX_SCANNED_CHARS else clip_prompt(message)
    if goal.promise:
        is_met = ends_in_promise(message, goal.promise)
        audit = sanitize_inline(strip_promise_tags(message), _MAX_AUDIT_CHARS) if is_met else ""
        return is_met, audit if len(audit) >= MIN_AUDIT_CHARS else ""
    markers = find_goal_markers(message)
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
    reason = context.text(f"limit_{name}", count=count)
    hint = context.text("removed_hint" if is_removed else "paused_hint")
    text = context.text("ended", goal=goal.excerpt, reason=reason, way=hint)
    return PolicyResult(
        (NotifyUser(text),),
        f"ended: {name}",
        () if is_removed else store_continuation(context.notes, replace(continuation, is_stopped=True)),
    )


def _goal_instructions(goal: _Goal, context: PolicyContext) -> str:
    return context.text("set", goal=SafeText(goal.text)) + _completion_instructions(goal, context)


def _completion_instructions(goal: _Goal, context: PolicyContext) -> str:
    if goal.promise:
        return context.text("promise")
    return context.text("completion", marker=_MARKER.format(id=goal.id))


POLICY = Policy(
    name=NAME,
    handlers={
        **dict.fromkeys(TRACKED_EVENTS, Handler(_track_event, needs_notes=True)),
        PromptSubmitted: Handler(
            _on_prompt_submitted, origins=(PromptOrigin.USER,), text=_PROMPT_WORDS, needs_notes=True
        ),
        SessionStarted: Handler(_on_session_started, needs_notes=True),
        TurnInterrupted: Handler(_on_turn_interrupted, needs_notes=True),
        TurnEnding: Handler(_on_turn_ending, is_for_main_agent=True, needs_notes=True),
    },
    effects=(ContinueTurn, InjectContext, NotifyUser),
    survives_compaction=True,
    rank=20,
)
