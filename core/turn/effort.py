"""How hard the model is to think in a turn: more where its prompt asks for that (think-mode).

Law: an effort is raised and never lowered. A hook cannot set one; codex-auto can, and says so.
"""

from __future__ import annotations

import re

from .mask import clip, mask

NAME = "think-hard"
"""Switches it off in ``policies.off``."""
EFFORT = "high"
"""What Codex calls it."""

_ORDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra")

_ASKS = re.compile(
    r"\b(?:ultra-?think\b|(?:think|reason)\s+(?:(?:this|it|that)\s+through\s+|(?:about\s+(?:this|it|that)\s+)?)"
    r"(?:(?:really|very|extra|much)\s+)*(?:hard(?:er)?|deep(?:ly|er)?|carefully|thoroughly|long and hard)(?![-\w])"
    r"(?!\s+(?:drives?|cod(?:ed|ing)|links?|limits?|resets?|copy|copies|learning|wired)\b))"
    r"|(?:好好|仔[细細]|[认認]真|深入|深度)(?:地|的)?(?:想想|想一想|想清楚|思考|思索|考[虑慮])|深思熟[虑慮]|深思",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"(?:\b(?:i|we|they|you|he|she|it|models?|people|users?|don'?t|do not|doesn'?t|not|never|without|no need to)\s+"
    r"(?:need to\s+)?"
    r"|不(?:用|要|必|需要)?|[无無]需|[别別]|[没沒]有?)\s*$",
    re.IGNORECASE,
)
_CHEAP = ("think", "reason", "想", "思", "考")


def asks_to_think(prompt: str) -> bool:
    """Whether the user's own words in ``prompt``, outside code and quotes, ask to think hard."""
    if not any(word in prompt.lower() for word in _CHEAP):
        return False
    prose = mask(clip(prompt)).prose
    return any(not _DENIES.search(prose[max(found.start() - 30, 0) : found.start()]) for found in _ASKS.finditer(prose))


def effort_for(prompt: str, usual: str, *, is_on: bool = True) -> str:
    """The effort for the turn of ``prompt``: ``usual`` (empty: what Codex takes), or more where it is asked for."""
    if not is_on or not asks_to_think(prompt):
        return usual
    is_more = usual in _ORDER and _ORDER.index(usual) > _ORDER.index(EFFORT)
    return usual if is_more or (usual and usual not in _ORDER) else EFFORT
