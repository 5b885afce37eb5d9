"""A cancelled tool stops with a timeout."""

from __future__ import annotations

import threading

import pytest

from upbeat.adapters.code.cancellation import raise_if_cancelled
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure


def test_only_a_cancelled_tool_stops() -> None:
    """Nothing happens before the cancellation is set; then the failure is a timeout."""
    cancelled = threading.Event()
    raise_if_cancelled(cancelled)
    cancelled.set()

    with pytest.raises(ToolFailure) as failure:
        raise_if_cancelled(cancelled)

    assert ErrorCode.TIMEOUT == failure.value.code
