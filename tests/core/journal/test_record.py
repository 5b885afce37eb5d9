"""The record of one event."""

from __future__ import annotations

from dataclasses import fields

from upbeat.core.journal.codec import decode_record, encode_record
from upbeat.core.journal.record import DROPPED, DUPLICATE, HELD_OUT, OVER_BUDGET, OVER_CAP, Record


def test_drop_reasons() -> None:
    """The reasons for dropping an effect differ, and none contains the separator of reasons."""
    reasons = [HELD_OUT, OVER_CAP, OVER_BUDGET, DUPLICATE]

    assert 4 == len({*reasons} - {DROPPED})
    assert not any(";" in reason for reason in reasons)


def test_a_sparse_record_is_read_with_defaults() -> None:
    """A record of which only the time and the event were stored has the default in every other field."""
    sparse = Record("2026-01-02T03:04:05.678Z", "TurnEnding")
    body = {name: value for name, value in encode_record(sparse).items() if name in ("at", "event")}

    assert {each.name for each in fields(Record)} >= set(encode_record(sparse))
    assert sparse == decode_record(body)
