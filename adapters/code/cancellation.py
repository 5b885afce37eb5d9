"""How every tool stops when the caller cancels it."""

from __future__ import annotations

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.engine.ports import Cancellation
from upbeat.core.errors import ToolFailure


def raise_if_cancelled(cancelled: Cancellation) -> None:
    """Raise ``ToolFailure`` (timeout) once ``cancelled`` is set."""
    if cancelled.is_set():
        raise ToolFailure(ErrorCode.TIMEOUT, "the search was stopped before it had an answer")
