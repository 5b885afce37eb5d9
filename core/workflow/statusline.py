"""Format the state of a session as one status line below the prompt.

Invariant: the line is drawn several times a minute, so this module reads the stored state and imports nothing that is
slow to import, not even the message catalogue. Missing or malformed values are omitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MESSAGES = {
    "en": {
        "complete": "complete",
        "needs_human": "needs you",
        "stopped": "stopped",
        "handed_over": "handed over",
        "paused": "paused",
        "ended": "needs you (loop ended)",
        "turn": "loop {count}",
        "context": "context {used}%",
        "unstored": "cannot store",
        "off": "off here (upbeat on)",
    },
    "zh": {
        "complete": "已完成",
        "needs_human": "需要你",
        "stopped": "已停止",
        "handed_over": "已移交",
        "paused": "已暂停",
        "ended": "需要你（循环已结束）",
        "turn": "循环 {count}",
        "context": "上下文 {used}%",
        "unstored": "无法保存",
        "off": "在此仓库已关闭（upbeat on）",
    },
}


def format_status_line(
    stored_state: Mapping[str, Any],
    context_percent: float | None = None,
    language: str = "en",
    *,
    can_store: bool = True,
    is_off: bool = False,
) -> str:
    """Return the workflow, its progress, its current steps, its loop, and the context usage in percent.

    ``stored_state`` is a ``SessionState`` as stored: ``{"run": …, "loop": …}``; empty for a session without one. With
    ``is_off``, upbeat is switched off here, and the line only says so.
    """
    messages = _MESSAGES.get(language, _MESSAGES["en"])
    if is_off:
        return f"upbeat · {messages['off']}"
    run, loop = (part if isinstance(part := stored_state.get(name), Mapping) else {} for name in ("run", "loop"))
    parts = ["upbeat", *_format_run(run, messages)]
    if len(parts) > 1:
        parts += _format_loop(loop, messages)
    if not can_store:
        parts.append(messages["unstored"])
    if context_percent is not None:
        parts.append(messages["context"].format(used=round(context_percent)))
    return " · ".join(parts)


def _format_run(run: Mapping[str, Any], messages: Mapping[str, str]) -> list[str]:
    stored = run.get("steps")
    steps = [step for step in stored if isinstance(step, Mapping)] if isinstance(stored, list) else []
    if not steps:
        return []
    done = sum(step.get("status") == "done" and step.get("verdict") == "pass" for step in steps)
    shown = [f"{run.get('workflow', '')} {done}/{len(steps)}"]
    if run.get("status") == "running":
        return shown + _format_active_steps(steps)
    word = messages.get(str(run.get("status")), str(run.get("status")))
    return [*shown, f"{word}: {run.get('reason')}" if run.get("status") == "needs_human" else word]


def _format_active_steps(steps: list[Mapping[str, Any]]) -> list[str]:
    """Return the active steps; if there are none, the next ones."""
    active = [step for step in steps if step.get("status") == "active"]
    first = next((step for step in steps if step.get("status") == "pending"), None)
    pending = [s for s in steps if first and s.get("status") == "pending" and s.get("group") == first.get("group")]
    mark, shown = ("●", active) if active else ("○", pending)
    return [f"{mark} {', '.join(str(step.get('key', '')) for step in shown)}"] if shown else []


def _format_loop(loop: Mapping[str, Any], messages: Mapping[str, str]) -> list[str]:
    if reason := loop.get("end_reason"):
        return (
            [] if reason == "needs_human" else [messages["paused" if reason == "paused" else "ended"]]
        )  # the status of the run says it
    if loop.get("waits_for") or loop.get("has_asked_user"):
        return [messages["needs_human"]]
    if loop.get("is_paused"):
        return [messages["paused"]]
    count = loop.get("iterations")
    return [messages["turn"].format(count=count)] if isinstance(count, int) and count else []
