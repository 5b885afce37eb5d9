"""Classify failed turns by the message of Codex.

Only the start of a message counts: what follows may quote a provider. A message that is not in the table is
``FailureReason.TURN_FAILED``, and the user reads it unchanged.

Source: recordings of 0.169.0, one row for each (``tests/recorded/codex/exec_errors.json``).
"""

from __future__ import annotations

import re
from dataclasses import replace

from upbeat.adapters.codex.transport.base import Failed, FailureReason

_REASON_BY_PATTERN: tuple[tuple[str, FailureReason], ...] = (
    (r"Missing environment variable", FailureReason.MISSING_KEY),
    (r"unexpected status 40[13]\b", FailureReason.UNAUTHORIZED),
    (r"unexpected status 402\b", FailureReason.QUOTA_EXCEEDED),
    (r"unexpected status 429\b", FailureReason.RATE_LIMITED),
    (r"unexpected status 4\d\d\b", FailureReason.BAD_REQUEST),
    (r"unexpected status 5\d\d\b", FailureReason.PROVIDER_ERROR),
    (r"exceeded retry limit, last status: 429\b", FailureReason.RATE_LIMITED),
    (r"exceeded retry limit, last status: 40[13]\b", FailureReason.UNAUTHORIZED),
    (r"exceeded retry limit, last status: 5\d\d\b", FailureReason.PROVIDER_ERROR),
    (r"rate limit exceeded:", FailureReason.RATE_LIMITED),
    (r"Quota exceeded\. Check", FailureReason.QUOTA_EXCEEDED),
    (r"Codex ran out of room in the model's context window", FailureReason.CONTEXT_FULL),
    (r"We.re currently experiencing high demand", FailureReason.PROVIDER_ERROR),
    (r"Selected model is at capacity", FailureReason.PROVIDER_ERROR),
    (r"(?:stream disconnected before completion: )?failed to lookup address", FailureReason.PROVIDER_UNREACHABLE),
    (r"Connection failed:", FailureReason.PROVIDER_UNREACHABLE),
    (r"stream disconnected before completion:", FailureReason.STREAM_DISCONNECTED),
    (r'\s*\{(?s:.{0,200}?)"error"\s*:', FailureReason.BAD_REQUEST),  # the body of a 400 response of the provider
)
_COMPILED_PATTERNS = tuple((re.compile(pattern), why) for pattern, why in _REASON_BY_PATTERN)

_WAITS_FOR_NETWORK = re.compile(r"Reconnecting\.\.\. waiting for network")


def classify_failure(failure: Failed) -> Failed:
    """Return ``failure`` with the reason that its text gives, unless it already has a specific one."""
    return (
        replace(failure, reason=failure_reason_from_message(failure.text))
        if failure.reason is FailureReason.TURN_FAILED
        else failure
    )


def failure_reason_from_message(text: str) -> FailureReason:
    """Return the reason in ``text``, the message of Codex's ``turn.failed``."""
    return next((why for rule, why in _COMPILED_PATTERNS if rule.match(text)), FailureReason.TURN_FAILED)


def is_waiting_for_network(text: str) -> bool:
    """Return whether ``text`` says that Codex waits for the provider without a limit."""
    return _WAITS_FOR_NETWORK.match(text) is not None


_MAX_SCANNED_CHARS = 4000
_REJECTED_HISTORY = re.compile(
    r"No tool (?:output|call) found for|required following item|without its required '?reasoning"
    r"|Item with id '\w{1,80}' not found|Duplicate item found with id"
    r"|encrypted content .{0,80}could not be (?:verified|decrypted)"
    r"|tool_use.{0,80}without.{0,40}tool_result|unexpected .{0,10}tool_use_id"
    r"|must (?:start|end) with a (?:thinking block|user message)|expected .{0,3}thinking"
    r"|does not support assistant message prefill",
    re.IGNORECASE,
)


def is_rejected_history(text: str) -> bool:
    """Return whether a provider says in ``text`` that it rejects the conversation itself, not the last request."""
    return _REJECTED_HISTORY.search(text[:_MAX_SCANNED_CHARS]) is not None
