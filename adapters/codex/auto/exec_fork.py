"""Copies a thread with ``codex exec fork``: no prompt, no turn, no request to a model.

Law: when it returns, nothing of it runs. Its standard input is closed; an open one hangs Codex.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from ...local.family import guarded, start
from .exec_events import decode, diagnose
from .transport import Failed, Refused, ThreadStarted, Why

SECONDS = 30.0
"""How long Codex may take; it has taken 0.4."""


def fork(argv: Sequence[str], variables: Mapping[str, str]) -> str:
    """The id of the new thread that ``argv`` makes.

    Raises:
        Refused: Codex made none.
    """
    try:
        process, family = start(guarded(list(argv)), variables, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Refused(Failed(Why.NO_PROGRAM, f"{argv[0]}: {error.strerror}")) from None
    with process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise Refused(Failed(Why.SILENT, f"{SECONDS:g}")) from None
        finally:
            family.end(process)  # also where it is late, or the person does not want to wait
    events = [decode(line) for line in out.split(b"\n") if line]
    started = [event.thread_id for event in events if isinstance(event, ThreadStarted)]
    if process.returncode or not started:
        raise Refused(diagnose(process.returncode, err.decode("utf-8", "replace"), began=False))
    return started[-1]
