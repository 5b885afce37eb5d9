"""Every promise is tried on every change, less often than its page says (``just promises`` does that)."""

from __future__ import annotations

import json

import pytest
from reliability.__main__ import SEEN
from reliability.parts import PARTS
from reliability.promise import try_part


@pytest.mark.reliability
@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", PARTS)
def test_a_promise_holds(name: str) -> None:
    """Each row of a part holds, and no part is without a row."""
    rows = list(try_part(PARTS[name], is_whole=False))

    assert rows
    assert [] == [f"{seen.claim}: {seen.figure}" for seen in rows if not seen.holds]


def test_every_part_has_figures() -> None:
    """Every part stands in the page with what a run saw of it, and nothing in it was seen to be broken."""
    seen = json.loads(SEEN.read_text(encoding="utf-8")) if SEEN.exists() else {}

    assert list(PARTS) == list(seen)
    assert all(row["holds"] for part in seen.values() for row in part["rows"])
