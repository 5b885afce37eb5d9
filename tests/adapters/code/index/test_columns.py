"""Columns and text are decoded as they were encoded, and damaged bytes are rejected."""

from __future__ import annotations

from array import array
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.index.columns import decode_columns, encode_columns, pack_numbers, pack_steps

NUMBERS = st.lists(st.integers(0, 255) | st.integers(0, 0xFFFFFFFF), max_size=20)


@given(st.lists(NUMBERS, max_size=4), st.lists(st.integers(-0x8000, 0x7FFF)), st.text(st.characters(), max_size=30))
def test_columns_are_decoded_as_they_were_encoded(columns: list[list[int]], steps: list[int], text: str) -> None:
    """Numbers of any size, negative ones in a type that the caller chose, and any text come back."""
    body = encode_columns([*map(pack_numbers, columns), array("h", steps)], text)
    decoded, decoded_text = decode_columns(body, len(columns) + 1)

    assert ([*columns, steps], text) == ([column.tolist() for column in decoded], decoded_text)


@given(NUMBERS.filter(lambda numbers: max(numbers, default=0) < 1 << 31))
def test_steps_add_up_to_the_numbers(numbers: list[int]) -> None:
    """The sums of the steps are the numbers."""
    assert numbers == list(accumulate(pack_steps(numbers)))


@pytest.mark.parametrize(("greatest", "kind"), [(0, "B"), (255, "B"), (256, "H"), (65_535, "H"), (65_536, "I")])
def test_numbers_take_the_narrowest_type(greatest: int, kind: str) -> None:
    """One, two or four bytes, whatever the greatest number needs."""
    assert kind == pack_numbers([0, greatest]).typecode


@given(st.data())
def test_damaged_columns_are_rejected(data: st.DataObject) -> None:
    """One wrong byte, a missing end and another number of columns are errors."""
    body = encode_columns([pack_numbers([1, 2, 3])], "text")
    index = data.draw(st.integers(0, len(body) - 1))
    wrong = bytearray(body)
    wrong[index] ^= data.draw(st.integers(1, 255))

    for damaged, number in ((bytes(wrong), 1), (body[:index], 1), (body, 2), (body, 9)):
        with pytest.raises(ValueError, match=r"damaged|do not match"):
            decode_columns(damaged, number)
