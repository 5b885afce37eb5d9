"""When a thread is nearly full, too long, or refused by the provider: what is to be done, for who drives the client.

Invariant: decisions only. codex-auto carries them out; ``policies.off`` disables each by name.
"""

from __future__ import annotations

COMPACT_BEFORE_FULL = "compact-before-full"
"""Summarise a thread before the turn that would overfill it (preemptive-compaction)."""
RECOVER_FROM_FULL_CONTEXT = "recover-from-full-context"
"""Go on with a summary where a thread no longer fits (anthropic-context-window-limit-recovery)."""
LEAVE_REFUSED_HISTORY = "leave-refused-history"
"""Go on in a new thread where the provider does not take the history of one (session-recovery)."""

COMPACTION_THRESHOLD = 0.78
"""Of the model's window: from here on the next turn may not fit."""
MAX_ATTEMPTS = 2
INITIAL_BACKOFF_SECONDS = 2.0
MAX_BACKOFF_SECONDS = 30.0


def should_compact(tokens: int, window: int) -> bool:
    """Whether a thread of ``tokens`` in a ``window`` (0: not known) is to be summarised before its next turn."""
    return window > 0 and tokens >= COMPACTION_THRESHOLD * window


def retry_delay_seconds(attempt: int) -> float | None:
    """Seconds to wait before the try with this number, from 0 on; None when there is none."""
    return min(INITIAL_BACKOFF_SECONDS * 2**attempt, MAX_BACKOFF_SECONDS) if 0 <= attempt < MAX_ATTEMPTS else None
