"""A failed server is restarted after growing delays, and coroutines run in one background thread."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from upbeat.adapters.mcp_client.connection import BackgroundLoop, ServerConnection, restart_delay_seconds
from upbeat.adapters.mcp_client.program import Program
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure


def test_it_is_tried_again() -> None:
    """After its pause a server that failed is started again, and not before."""
    tried: list[float] = []
    never = threading.Event()

    def find() -> Program:
        tried.append(time.monotonic())
        raise ToolFailure(ErrorCode.TOOL_UNAVAILABLE, "there is none")

    background = BackgroundLoop()
    connection = ServerConnection("odd", find, background, initial_backoff=0.3)
    end = time.monotonic() + 10
    while len(tried) < 2 and time.monotonic() < end:
        connection.start()
        with pytest.raises(ToolFailure, match="there is none"):
            connection.wait_until_ready(never, 5)
    background.close()

    assert tried[1] - tried[0] >= 0.3


@pytest.mark.parametrize(("failures", "seconds"), [(0, 5), (1, 5), (2, 10), (3, 20), (7, 320), (8, 600), (99, 600)])
def test_pauses_double(failures: int, seconds: float) -> None:
    """The pause doubles with each failure in a row, up to ten minutes."""
    assert seconds == restart_delay_seconds(failures)


def _threads() -> int:
    return sum(thread.name == "mcp-client" for thread in threading.enumerate())


async def _answer() -> int:
    return 42


async def _forever() -> None:
    await asyncio.sleep(600)


def test_it_starts_with_the_first_work_and_ends_with_close() -> None:
    """There is no thread before the first coroutine and after close; running tasks are cancelled."""
    before, loop = _threads(), BackgroundLoop()
    assert before == _threads()
    assert 42 == loop.submit(_answer()).result(10)
    waiting = loop.submit(_forever())
    assert before + 1 == _threads()
    loop.close()
    loop.close()

    assert (before, True) == (_threads(), waiting.cancelled())


def test_an_exception_reaches_the_caller() -> None:
    """The exception of a coroutine is raised by its future."""

    async def fail() -> None:
        raise ValueError("no")

    loop = BackgroundLoop()
    with pytest.raises(ValueError, match="no"):
        loop.submit(fail()).result(10)
    loop.close()
