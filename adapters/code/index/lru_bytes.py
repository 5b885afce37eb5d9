"""A least-recently-used cache that is limited by bytes.

Invariant: the value of a key never changes; the least recently used value is evicted first.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class ByteLruCache(Generic[T]):
    """Values by number, at most ``max_bytes`` in total; safe to use from several threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._entries: OrderedDict[int, tuple[T, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: int) -> T | None:
        """Return the value of ``key``, if it is still cached."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: int, value: T, size: int) -> None:
        """Cache ``value``, which takes ``size`` bytes."""
        with self._lock:
            if key in self._entries or size > self._max_bytes:
                return
            self._entries[key] = value, size
            self._size += size
            while self._size > self._max_bytes:
                self._size -= self._entries.popitem(last=False)[1][1]

    @property
    def size(self) -> int:
        """Return the bytes held."""
        return self._size
