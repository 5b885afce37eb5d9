"""Records of prompts, injections and calls in short, and the statistics on them."""

from __future__ import annotations

from typing import Any

from upbeat.core.journal.stats import StatsCollector, StatsReport

Body = dict[str, Any]
ROOT = "/repo"


def body(event: str, session: str = "s", **more: Any) -> Body:
    """A record."""
    return {"at": "2026-01-02T03:04:05.678Z", "event": event, "session_id": session, "root": ROOT, **more}


def prompt(session: str = "s", origin: str = "user") -> Body:
    return body("PromptSubmitted", session, event_fields={"prompt": "p", "origin": origin})


def told(*names: str, part: str = "turn", text: str = "words", session: str = "s", **more: Any) -> Body:
    """A prompt with which ``part`` injects ``text`` about ``names``."""
    explanations = [{"component": part, "decision": "inject", "inputs": {"names": list(names)} if names else {}}]
    effects = [{"kind": "inject_context", "text": text, "part": part}]
    return prompt(session) | {"explanations": explanations, "effects": effects, "injected_chars": len(text)} | more


def held_out(*names: str, part: str = "turn", session: str = "s") -> Body:
    """A prompt with which the same was held out."""
    left = {"component": part, "decision": "dropped", "reason": "InjectContext: held out"}
    return told(*names, part=part, session=session, effects=[], injected_chars=0) | {
        "explanations": [*told(*names, part=part)["explanations"], left]
    }


def call(act: str = "read", *paths: str, session: str = "s", **more: Any) -> Body:
    """A call that has ended."""
    about = {"call_id": "c", "tool": "T", "tool_kind": act, "paths": list(paths), "has_failed": False} | more
    return body("ToolFinished", session, event_fields=about)


def shell(command: str, **more: Any) -> Body:
    return call("shell", command=command, **more)


def report(*bodies: Body) -> StatsReport:
    """The report on records."""
    stats = StatsCollector()
    for record in bodies:
        stats.add(record)
    return stats.build_report(30)
