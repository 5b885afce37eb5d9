"""One event loop in one daemon thread: where the connections of a process live, beside all that is not asynchronous.

Law: nothing is started before the first work, and after ``close`` nothing is left of it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")


class Background:
    """Runs coroutines for the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Start ``work``; cancelling the future cancels it."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="mcp-client", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self, seconds: float = 3.0) -> None:
        """Cancel what runs, and wait for its end; the thread is given up after ``seconds``."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        atexit.unregister(self.close)
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            loop.call_soon_threadsafe(loop.stop)
        thread.join(seconds)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """The thread: until ``stop``, then whatever the tasks still need to end."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
