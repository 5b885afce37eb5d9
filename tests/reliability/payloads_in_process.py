"""Has the whole application answer malformed payloads, one after the other, and says what it saw as JSON.

    python -m reliability.payloads_in_process CLIENT SEED COUNT FOLDER

Run by ``never_in_the_way``. The first half is answered with the settings as they are, the second with every policy on.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from own_servers import settings
from repositories import make_repository

from upbeat.adapters.hook_entry.answer import answer_payload
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import Application, build_application
from upbeat.core.policies import POLICIES_BY_NAME

from .hook_answers import fault_of, is_noise
from .malformed import payloads

STUCK_SECONDS = 120
MOST_SHOWN = 5


class Counting:
    """A journal that counts what is appended to it."""

    def __init__(self, journal: Any) -> None:
        self._journal = journal
        self.appended: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        with self._journal.transaction() as transaction:
            yield CountingTransaction(transaction, self.appended)


class CountingTransaction:
    """One transaction of a ``Counting``."""

    def __init__(self, transaction: Any, appended: list[str]) -> None:
        self._transaction = transaction
        self._appended = appended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transaction, name)

    def append(self, record: Any, *more: Any) -> Any:
        self._appended.append(record.event)
        return self._transaction.append(record, *more)


def main(client: str, seed: int, count: int, folder: Path) -> dict[str, Any]:
    repo = make_repository(folder / "repo")
    seen: Counter[str] = Counter()
    faults: list[str] = []
    slowest = 0.0
    for half, home in ((count // 2, folder / "plain"), (count - count // 2, folder / "all")):
        if home.name == "all":
            settings(home, f"[policies]\non = {json.dumps(sorted(POLICIES_BY_NAME))}\n")
        application = build_application(read_environment({"HOME": str(home)}))
        journal = Counting(application.runtime.journal)
        application = replace(application, runtime=replace(application.runtime, journal=journal))
        for payload in payloads(client, seed, half, str(repo)):
            journal.appended.clear()
            faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
            started = time.perf_counter()
            output, fault = _answered(client, payload, application)
            slowest = max(slowest, time.perf_counter() - started)
            fault = fault or fault_of(client, payload, output)
            if not journal.appended and not is_noise(client, payload):
                fault = fault or "left no record"
            if "internal_error" in journal.appended:
                fault = fault or "could not be evaluated"
            seen["answered"] += bool(output)
            seen["unreadable"] += "invalid_payload" in journal.appended
            if fault:
                faults.append(f"{fault}: {payload[:200]!r}")
        seen["stored wrongly"] += not application.runtime.journal.verify().is_intact
    faulthandler.cancel_dump_traceback_later()
    return {
        "count": count,
        "answered": seen["answered"],
        "unreadable": seen["unreadable"],
        "faults": len(faults) + seen["stored wrongly"],
        "shown": faults[:MOST_SHOWN],
        "slowest": slowest,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _answered(client: str, payload: bytes, application: Application) -> tuple[bytes, str]:
    """The output, or what was raised."""
    try:
        return answer_payload(client, payload, application), ""
    except BaseException as error:  # a promise: nothing is raised, whatever came in
        return b"", f"raised {type(error).__name__}: {error}"


if __name__ == "__main__":
    _, client_name, seed_text, count_text, folder_name = sys.argv
    print(json.dumps(main(client_name, int(seed_text), int(count_text), Path(folder_name))))
