"""Choose the reasoning effort of a turn: higher if the prompt requests it.

Invariant: the effort is raised, never lowered. Hooks cannot set an effort; codex-auto can, and reports it.
"""

from __future__ import annotations

import re

from upbeat.core.prompt.quoted_spans import clip_prompt, mask_prompt

POLICY_NAME = "think-hard"
"""The name that disables this in ``policies.off``."""
HIGH_EFFORT = "high"
"""Codex's name for high effort."""

_EFFORT_ORDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra")

_THINKING_REQUEST = re.compile(
    r"\b(?:ultra-?think\b|(?:think|reason)\s+(?:(?:this|it|that)\s+through\s+|(?:about\s+(?:this|it|that)\s+)?)"
    r"(?:(?:really|very|extra|much)\s+)*(?:hard(?:er)?|deep(?:ly|er)?|carefully|thoroughly|long and hard)(?![-\w])"
    r"(?!\s+(?:drives?|cod(?:ed|ing)|links?|limits?|resets?|copy|copies|learning|wired)\b))"
    r"|(?:好好|仔[细細]|[认認]真|深入|深度)(?:地|的)?(?:想想|想一想|想清楚|思考|思索|考[虑慮])|深思熟[虑慮]|深思",
    re.IGNORECASE,
)
_NEGATED_THINKING = re.compile(
    r"(?:\b(?:i|we|they|you|he|she|it|models?|people|users?|don'?t|do not|doesn'?t|not|never|without|no need to)\s+"
    r"(?:need to\s+)?"
    r"|不(?:用|要|必|需要)?|[无無]需|[别別]|[没沒]有?)\s*$",
    re.IGNORECASE,
)
_TRIGGER_WORDS = ("think", "reason", "想", "思", "考")


def requests_hard_thinking(prompt: str) -> bool:
    """Return whether the user's own words in ``prompt``, outside code and quotes, ask to think hard."""
    if not any(word in prompt.lower() for word in _TRIGGER_WORDS):
        return False
    prose = mask_prompt(clip_prompt(prompt)).prose
    return any(
        not _NEGATED_THINKING.search(prose[max(match.start() - 30, 0) : match.start()])
        for match in _THINKING_REQUEST.finditer(prose)
    )


def choose_effort(prompt: str, default: str, *, is_enabled: bool = True) -> str:
    """Return the effort for ``prompt``: ``default`` (empty: Codex's own), or a higher one if the prompt requests it."""
    if not is_enabled or not requests_hard_thinking(prompt):
        return default
    is_more = default in _EFFORT_ORDER and _EFFORT_ORDER.index(default) > _EFFORT_ORDER.index(HIGH_EFFORT)
    return default if is_more or (default and default not in _EFFORT_ORDER) else HIGH_EFFORT
