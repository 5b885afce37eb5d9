"""Why a turn failed, read off the sentence that ``codex exec`` ends it with.

Law: total; a sentence that is not in the table is ``Why.TURN``, and people get to read it as it stands. Only how a
sentence begins counts: what follows may quote a provider, which may say anything.

Source: recordings of 0.169.0, one row for each (``tests/recorded/codex/exec_errors.json``).
"""

from __future__ import annotations

import re
from dataclasses import replace

from .transport import Failed, Why

_TABLE: tuple[tuple[str, Why], ...] = (
    (r"Missing environment variable", Why.MISSING_KEY),
    (r"unexpected status 40[13]\b", Why.UNAUTHORIZED),
    (r"unexpected status 402\b", Why.QUOTA),
    (r"unexpected status 429\b", Why.RATE_LIMIT),
    (r"unexpected status 4\d\d\b", Why.BAD_REQUEST),
    (r"unexpected status 5\d\d\b", Why.PROVIDER),
    (r"exceeded retry limit, last status: 429\b", Why.RATE_LIMIT),
    (r"exceeded retry limit, last status: 40[13]\b", Why.UNAUTHORIZED),
    (r"exceeded retry limit, last status: 5\d\d\b", Why.PROVIDER),
    (r"rate limit exceeded:", Why.RATE_LIMIT),
    (r"Quota exceeded\. Check", Why.QUOTA),
    (r"Codex ran out of room in the model's context window", Why.CONTEXT_FULL),
    (r"We.re currently experiencing high demand", Why.PROVIDER),
    (r"Selected model is at capacity", Why.PROVIDER),
    (r"(?:stream disconnected before completion: )?failed to lookup address", Why.UNREACHABLE),
    (r"Connection failed:", Why.UNREACHABLE),
    (r"stream disconnected before completion:", Why.CUT),
    (r'\s*\{(?s:.{0,200}?)"error"\s*:', Why.BAD_REQUEST),  # what the provider sent with a 400, as it stands
)
_RULES = tuple((re.compile(pattern), why) for pattern, why in _TABLE)

_WAITS = re.compile(r"Reconnecting\.\.\. waiting for network")


def sharpened(failed: Failed) -> Failed:
    """``failed`` with the reason that its text gives; one that already has a reason is left alone."""
    return replace(failed, why=why_of(failed.text)) if failed.why is Why.TURN else failed


def why_of(text: str) -> Why:
    """The reason in ``text``, the message of Codex's ``turn.failed``."""
    return next((why for rule, why in _RULES if rule.match(text)), Why.TURN)


def waits_for_network(trouble: str) -> bool:
    """Whether Codex has begun to wait for the provider without an end; ``trouble`` is what it says meanwhile."""
    return _WAITS.match(trouble) is not None
