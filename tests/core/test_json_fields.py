"""Fields of JSON that another program wrote."""

from __future__ import annotations

import pytest

from upbeat.core.json_fields import mapping_of, mappings_of, text_of, texts_of


def test_a_field_of_another_type_counts_as_missing() -> None:
    """A missing field and one of another type are empty; items of another type are skipped."""
    body = {"text": "a", "list": ["b", 1, {"c": 2}], "mapping": {"c": 2}}

    assert ["a", "", ""] == [text_of(body, name) for name in ("text", "list", "missing")]
    assert [{"c": 2}, {}, {}] == [mapping_of(body, name) for name in ("mapping", "list", "missing")]
    assert [["b"], [], []] == [texts_of(body, name) for name in ("list", "text", "missing")]
    assert [[{"c": 2}], [], []] == [mappings_of(body, name) for name in ("list", "mapping", "missing")]


@pytest.mark.parametrize("value", [None, [], 1.5, True, -1])
def test_no_value_of_another_type_is_taken(value: object) -> None:
    """A number, a Boolean or a list gives the empty text and object, as a missing field does."""
    for fields in ({}, {"field": value}):
        assert ("", {}) == (text_of(fields, "field"), mapping_of(fields, "field"))
