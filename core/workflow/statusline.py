"""Where a session stands, on one line below the prompt.

Law: it is drawn several times a minute, so it reads the state as it is stored and imports nothing that takes time.
What is missing or of another form is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    "en": {
        "complete": "complete",
        "needs_human": "needs you",
        "stopped": "stopped",
        "handed_over": "handed over",
        "paused": "paused",
        "ended": "loop ended",
        "turn": "loop {count}",
        "context": "context {used}%",
    },
    "zh": {
        "complete": "已完成",
        "needs_human": "需要你",
        "stopped": "已停止",
        "handed_over": "已移交",
        "paused": "已暂停",
        "ended": "循环已结束",
        "turn": "循环 {count}",
        "context": "上下文 {used}%",
    },
}


def line(state: Mapping[str, Any], used: float | None = None, language: str = "en") -> str:
    """The workflow, how far it is, the steps at hand, the loop, and how much of the context is ``used`` (percent).

    ``state`` is a ``SessionState`` as it is stored: ``{"run": …, "loop": …}``; empty for a session that has none.
    """
    words = _WORDS.get(language, _WORDS["en"])
    parts = ["upbeat", *_run(_mapping(state.get("run")), words)]
    if len(parts) > 1:
        parts += _loop(_mapping(state.get("loop")), words)
    if used is not None:
        parts.append(words["context"].format(used=round(used)))
    return " · ".join(parts)


def _run(run: Mapping[str, Any], words: Mapping[str, str]) -> list[str]:
    steps = [step for step in _list(run.get("steps")) if isinstance(step, Mapping)]
    if not steps:
        return []
    done = sum(step.get("status") == "done" and step.get("verdict") == "pass" for step in steps)
    shown = [f"{run.get('workflow', '')} {done}/{len(steps)}"]
    if run.get("status") == "running":
        return shown + _at_hand(steps)
    return [*shown, words.get(str(run.get("status")), str(run.get("status")))]


def _at_hand(steps: list[Mapping[str, Any]]) -> list[str]:
    """The steps that are worked on; when there are none, those that come next."""
    active = [step for step in steps if step.get("status") == "active"]
    first = next((step for step in steps if step.get("status") == "pending"), None)
    coming = [s for s in steps if first and s.get("status") == "pending" and s.get("group") == first.get("group")]
    mark, found = ("●", active) if active else ("○", coming)
    return [f"{mark} {', '.join(str(step.get('key', '')) for step in found)}"] if found else []


def _loop(loop: Mapping[str, Any], words: Mapping[str, str]) -> list[str]:
    if loop.get("ended"):
        return [words["ended"]]
    if loop.get("is_paused"):
        return [words["paused"]]
    count = loop.get("iterations")
    return [words["turn"].format(count=count)] if isinstance(count, int) and count else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
