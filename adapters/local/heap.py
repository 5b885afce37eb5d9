"""How a process that lives as long as its session looks for garbage: seldom, and not in what it loaded.

Law: what nobody refers to any more is freed at once either way; only cycles wait, and of them at most so many
objects as ``YOUNG`` says.
"""

from __future__ import annotations

import gc

YOUNG = 200_000
"""New objects after which cycles are looked for: more than a prepared turn holds at once, so that it is not held up."""

OLDER = 20
"""Such looks after which older objects are looked at too."""


def collect_rarely() -> None:
    """Leave what there is now out of every collection, and collect what comes less often than Python would."""
    gc.freeze()
    gc.set_threshold(YOUNG, OLDER, OLDER)
