"""Armored private keys."""

from __future__ import annotations

import pytest

from upbeat.core.sanitize.secrets.key_blocks import find_private_keys
from upbeat.core.sanitize.secrets.span import merge_spans

BEGIN, END = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
LINE = "MIIEowIBAAKCAQEAvR1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x"


@pytest.mark.parametrize(
    "key", [f"{BEGIN}\n{LINE}\n{END}", f"{BEGIN}\n{LINE}", f"{LINE}\n{END}"], ids=["complete", "no end", "no beginning"]
)
def test_a_key_is_one_span(key: str) -> None:
    """A key is found as a whole, even without its first or its last line."""
    text = f"x y\n{key}\n\nx y"
    spans = merge_spans(find_private_keys(text))

    assert [key] == [text[span.start : span.end] for span in spans]


def test_code_that_names_a_key_is_none() -> None:
    """The delimiter alone, and public keys, are no secrets."""
    assert [] == list(find_private_keys(f'if "{BEGIN}" in text:\n    pass'))
    assert [] == list(find_private_keys(f"-----BEGIN PUBLIC KEY-----\n{LINE}\n-----END PUBLIC KEY-----"))
