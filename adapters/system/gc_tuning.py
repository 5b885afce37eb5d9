"""Tune garbage collection for long-lived processes: collect seldom, and not what was loaded at the start.

Invariant: only reference cycles wait for a collection, and at most ``YOUNG_THRESHOLD`` objects of them.
"""

from __future__ import annotations

import gc

YOUNG_THRESHOLD = 200_000
"""New objects before a collection: more than one turn allocates, so that a turn is not interrupted."""

OLDER_THRESHOLD = 20
"""Collections before older objects are collected too."""


def tune_garbage_collection() -> None:
    """Exclude the present objects from collections, and collect new ones less often than Python does."""
    gc.freeze()
    gc.set_threshold(YOUNG_THRESHOLD, OLDER_THRESHOLD, OLDER_THRESHOLD)
