"""What stands in one note of a policy that sends turns on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from upbeat.core.policies.drive import Drive, noted, of_notes

NUMBERS = some.integers(min_value=0, max_value=10**9)
DRIVES = some.builds(
    Drive,
    total=NUMBERS,
    sent=NUMBERS,
    stale=NUMBERS,
    errors=NUMBERS,
    at=some.floats(min_value=0, max_value=10**10),
    mark=some.text(max_size=16),
    is_held=some.booleans(),
    is_over=some.booleans(),
)


@given(DRIVES)
def test_a_drive_comes_back(drive: Drive) -> None:
    """What is noted is read again, and other notes stay."""
    notes = noted(("task open #1 x", "drive {}"), drive)

    assert (drive, "task open #1 x") == (of_notes(notes), notes[-1])


@given(some.text(max_size=60))
def test_a_broken_note_is_a_new_drive(text: str) -> None:
    """Whatever stands in the note, nothing raises, and what does not fit is left out."""
    assert isinstance(of_notes((f"drive {text}",)), Drive)
    assert Drive(sent=2) == of_notes(('drive {"sent":2,"total":"x","other":1,"is_over":1}',))
