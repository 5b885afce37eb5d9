"""Copy a thread with ``codex exec fork``: no prompt, no turn, no request to a model.

Invariant: no process remains. Standard input is closed; an open one makes Codex hang.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from upbeat.adapters.codex.transport.base import CodexRequestError, Failed, FailureReason, ThreadStarted
from upbeat.adapters.codex.transport.exec.events import decode, failure_from_exit
from upbeat.adapters.system.process.tree import start_process, with_death_signal

FORK_SECONDS = 30.0
"""Seconds that Codex may take; it usually takes 0.4."""


def fork(argv: Sequence[str], variables: Mapping[str, str]) -> str:
    """Run ``argv``; return the id of the new thread.

    Raises:
        CodexRequestError: Codex created none.
    """
    try:
        process, family = start_process(with_death_signal(list(argv)), variables, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise CodexRequestError(Failed(FailureReason.LAUNCH_FAILED, f"{argv[0]}: {error.strerror}")) from None
    with process:
        try:
            out, err = process.communicate(timeout=FORK_SECONDS)
        except subprocess.TimeoutExpired:
            raise CodexRequestError(Failed(FailureReason.IDLE_TIMEOUT, f"{FORK_SECONDS:g}")) from None
        finally:
            family.kill(process)  # also after a timeout or an interrupt
    events = [decode(line) for line in out.split(b"\n") if line]
    started = [event.thread_id for event in events if isinstance(event, ThreadStarted)]
    if process.returncode or not started:
        raise CodexRequestError(failure_from_exit(process.returncode, err.decode("utf-8", "replace"), has_begun=False))
    return started[-1]
