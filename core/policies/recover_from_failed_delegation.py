"""Explain how to fix a call that started no subagent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import SubagentReturned
from upbeat.core.package_data import load_toml
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult

_MAX_ERROR_CHARS = 4000
"""Length of the scanned part of an error; it may list many agents."""

_NAME = re.compile(r"[\w:./-]{1,80}")
_UNKNOWN_AGENT = re.compile(
    r"agent(?:[ _]type)? ['\"`]?([\w:./-]{1,80})['\"`]?[^\n]{0,20}? not found|unknown agent", re.I
)
_AVAILABLE_AGENTS = re.compile(r"available agents(?: are)?: ?([\w:./, -]{1,3000})", re.IGNORECASE)
_MISSING_FIELD = re.compile(
    r"(?:required parameter |missing field |missing required \w+ )[`'\"]?(\w{1,40})", re.IGNORECASE
)

_CAUSES = {
    key: re.compile(pattern, re.IGNORECASE)
    for key, pattern in load_toml(__package__, "errors.toml")["recover-from-failed-delegation"].items()
}
_MAX_NEAREST = 3


def _on_subagent_returned(event: SubagentReturned, context: PolicyContext) -> PolicyResult:
    if not event.has_failed or not event.error:
        return NO_RESULT
    cause = _explain_error(event, context)
    if not cause:
        return NO_RESULT
    text = context.text("head", tool=event.call.tool) + cause
    return PolicyResult((InjectContext(text),), "a delegation failed")


def _explain_error(event: SubagentReturned, context: PolicyContext) -> str:
    """Return what went wrong and what to do; empty without an error."""
    error = event.error[:_MAX_ERROR_CHARS]
    if unknown := _UNKNOWN_AGENT.search(error[:300]):
        return _explain_unknown_agent(unknown[1] or _requested_agent(event.call.input), error, context)
    if names := tuple(dict.fromkeys(_MISSING_FIELD.findall(error[:1000]))):
        return context.text("missing_field", names=", ".join(f"`{name}`" for name in names[:5]))
    known = (context.text(key) for key, pattern in _CAUSES.items() if pattern.search(error[:1000]))
    return next(known, context.text("unknown") if error.strip() else "")


def _explain_unknown_agent(asked: str, error: str, context: PolicyContext) -> str:
    existing = _AVAILABLE_AGENTS.search(error)
    names = {name for word in existing[1].split(",") if _NAME.fullmatch(name := word.strip())} if existing else set()
    nearest = _nearest_names(asked, names)
    hint = context.text("nearest", names=", ".join(nearest)) if nearest else ""
    return context.text("unknown_agent", asked=f'"{asked}"' if asked else "that", near=hint)


def _nearest_names(asked: str, names: set[str]) -> list[str]:
    """Return the closest of ``names``: equal but for a plugin prefix first, then similar ones."""
    base_name = asked.lower().rpartition(":")[2].replace("_", "-")
    plain = {name: name.lower().rpartition(":")[2].replace("_", "-") for name in sorted(names)[:200]}
    same = [name for name, word in plain.items() if word == base_name and base_name]
    like = get_close_matches(base_name, list(plain.values()), _MAX_NEAREST, 0.6) if base_name else []
    alike = [name for name, word in plain.items() if word in like and name not in same]
    return [*same, *alike][:_MAX_NEAREST]


def _requested_agent(call_input: Mapping[str, Any]) -> str:
    """Return the agent type in the call's input, whatever the client calls the field."""
    agent_type = next(
        (value for name, value in call_input.items() if name.endswith("_type") and isinstance(value, str)), ""
    )
    return agent_type if _NAME.fullmatch(agent_type) else ""


POLICY = Policy(
    name="recover-from-failed-delegation",
    handlers={SubagentReturned: Handler(_on_subagent_returned)},
    effects=(InjectContext,),
    required_trait="reports_failures",
)
