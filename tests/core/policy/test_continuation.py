"""The continuation state in the notes of a policy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from upbeat.core.policy.continuation import ContinuationState, load_continuation, store_continuation

NUMBERS = some.integers(min_value=0, max_value=10**9)
STATES = some.builds(
    ContinuationState,
    continuations=NUMBERS,
    continuations_since_prompt=NUMBERS,
    turns_without_progress=NUMBERS,
    consecutive_failures=NUMBERS,
    last_continued_at=some.floats(min_value=0, max_value=10**10),
    progress_digest=some.text(max_size=16),
    is_paused=some.booleans(),
    is_stopped=some.booleans(),
)


@given(STATES)
def test_a_stored_state_is_loaded(drive: ContinuationState) -> None:
    """A stored state is loaded again, and other notes stay."""
    notes = store_continuation(("task open #1 x", "continuation {}"), drive)

    assert (drive, "task open #1 x") == (load_continuation(notes), notes[-1])


@given(some.text(max_size=60))
def test_an_invalid_note(text: str) -> None:
    """An invalid note never raises, and invalid fields are ignored."""
    assert isinstance(load_continuation((f"continuation {text}",)), ContinuationState)
    assert ContinuationState(continuations_since_prompt=2) == load_continuation(
        ('continuation {"continuations_since_prompt":2,"continuations":"x","other":1,"is_stopped":1}',)
    )
