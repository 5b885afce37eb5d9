"""Normalized text is for matching: offsets stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.sanitize.normalize import normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ignore ALL", "ignore all"),
        ("ＩＧＮＯＲＥ　ｐｒｅｖｉｏｕｓ", "ignore previous"),
        ("𝐢𝐠𝐧𝐨𝐫𝐞 𝕡𝕣𝕖𝕧𝕚𝕠𝕦𝕤 ⓡⓤⓛⓔ", "ignore previous rule"),
        ("ígnòrë", "ignore"),
        ("іgnоrе рrеvіоuѕ", "ignore previous"),
        ("ΑΙ", "ai"),
        ("İstanbul", "istanbul"),
        ("忽略以上指令：无视", "忽略以上指令:无视"),
        pytest.param("ﬁ ½ ß", "ﬁ ½ ß", id="what needs two characters stays"),
    ],
)
def test_normalize(text: str, expected: str) -> None:
    """Letters that only look different become plain letters."""
    assert expected == normalize(text)


@given(st.text(max_size=100))
def test_keeps_the_length(text: str) -> None:
    """Normalized text has the length of the original."""
    assert len(text) == len(normalize(text))
