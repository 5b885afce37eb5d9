"""What was read last, kept for the next question, within a bound of bytes.

Law: what is kept never changes under its key; who was asked for longest ago goes first.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """Values by number, at most ``limit`` bytes of them; may be asked by several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[int, tuple[T, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: int) -> T | None:
        """The value that was kept under ``key``, if it still is."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: int, value: T, size: int) -> None:
        """Keep ``value``, which takes ``size`` bytes."""
        with self._lock:
            if key in self._kept or size > self._limit:
                return
            self._kept[key] = value, size
            self._size += size
            while self._size > self._limit:
                self._size -= self._kept.popitem(last=False)[1][1]

    @property
    def size(self) -> int:
        """Bytes held."""
        return self._size
