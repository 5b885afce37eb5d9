"""When a thread is nearly full, too long, or refused by the provider: what is to be done, for who drives the client.

Law: decisions only. A hook can do none of it; codex-auto can, says so, and each has a name that ``policies.off`` knows.
"""

from __future__ import annotations

import re

COMPACTS = "compact-before-full"
"""Summarise a thread before the turn that would overfill it (preemptive-compaction)."""
RECOVERS = "recover-from-full-context"
"""Go on with a summary where a thread no longer fits (anthropic-context-window-limit-recovery)."""
LEAVES = "leave-refused-history"
"""Go on in a new thread where the provider does not take the history of one (session-recovery)."""

NEARLY_FULL = 0.78
"""Of the model's window: from here on the next turn may not fit."""
MAX_TRIES = 2
FIRST_PAUSE = 2.0
LONGEST_PAUSE = 30.0

_MOST_READ = 4000
_REFUSED = re.compile(
    r"No tool (?:output|call) found for|required following item|without its required '?reasoning"
    r"|Item with id '\w{1,80}' not found|Duplicate item found with id"
    r"|encrypted content .{0,80}could not be (?:verified|decrypted)"
    r"|tool_use.{0,80}without.{0,40}tool_result|unexpected .{0,10}tool_use_id"
    r"|must (?:start|end) with a (?:thinking block|user message)|expected .{0,3}thinking"
    r"|does not support assistant message prefill",
    re.IGNORECASE,
)


def wants_compaction(tokens: int, window: int) -> bool:
    """Whether a thread of ``tokens`` in a ``window`` (0: not known) is to be summarised before its next turn."""
    return window > 0 and tokens >= NEARLY_FULL * window


def pause_before(attempt: int) -> float | None:
    """Seconds to wait before the try with this number, from 0 on; None when there is none."""
    return min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE) if 0 <= attempt < MAX_TRIES else None


def is_refused_history(text: str) -> bool:
    """Whether a provider says in ``text`` that the conversation itself is out of order, and not the last request."""
    return _REFUSED.search(text[:_MOST_READ]) is not None
