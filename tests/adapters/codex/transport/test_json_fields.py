"""Fields of JSON objects: a value of another type counts as missing."""

from __future__ import annotations

import pytest

from upbeat.adapters.codex.transport.json_fields import int_field, object_field, string_field


def test_a_field_of_the_expected_type_is_returned() -> None:
    """A string, an object and a number are returned unchanged."""
    fields = {"text": "a", "object": {"b": 1}, "number": 2}

    assert ("a", {"b": 1}, 2) == (
        string_field(fields, "text"),
        object_field(fields, "object"),
        int_field(fields, "number"),
    )


@pytest.mark.parametrize("value", [None, [], 1.5, True, -1])
def test_a_field_of_another_type_counts_as_missing(value: object) -> None:
    """A value of another type, a Boolean and a negative number give the empty value, as a missing field does."""
    for fields in ({}, {"field": value}):
        assert ("", {}, 0) == (
            string_field(fields, "field"),
            object_field(fields, "field"),
            int_field(fields, "field"),
        )
