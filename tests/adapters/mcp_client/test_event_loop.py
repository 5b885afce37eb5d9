"""Coroutines run in one background thread, which starts on demand and ends with close."""

from __future__ import annotations

import asyncio
import threading

import pytest

from upbeat.adapters.mcp_client.event_loop import BackgroundLoop


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
