"""Decide on recovery: when a thread is nearly full, too long, or refused by the provider.

Invariant: decisions only. codex-auto carries them out; ``policies.off`` disables each by name.
"""

from __future__ import annotations

COMPACT_BEFORE_FULL = "compact-before-full"
"""Summarize a thread before the turn that would overfill it (preemptive-compaction)."""
RECOVER_FROM_FULL_CONTEXT = "recover-from-full-context"
"""Continue with a summary if a thread no longer fits (anthropic-context-window-limit-recovery)."""
LEAVE_REFUSED_HISTORY = "leave-refused-history"
"""Continue in a new thread if the provider refuses the history of one (session-recovery)."""

COMPACTION_THRESHOLD = 0.78
"""The share of the model's window from which on the next turn may not fit."""
MAX_ATTEMPTS = 2
INITIAL_BACKOFF_SECONDS = 2.0
MAX_BACKOFF_SECONDS = 30.0


def should_compact(tokens: int, window: int) -> bool:
    """Return whether to summarize a thread of ``tokens`` in a ``window`` (0: unknown) before its next turn."""
    return window > 0 and tokens >= COMPACTION_THRESHOLD * window


def retry_delay_seconds(attempt: int) -> float | None:
    """Return the seconds to wait before retry ``attempt`` (from 0 on), or None after the last one."""
    return min(INITIAL_BACKOFF_SECONDS * 2**attempt, MAX_BACKOFF_SECONDS) if 0 <= attempt < MAX_ATTEMPTS else None
