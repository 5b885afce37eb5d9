"""With RE2 and without it the same secrets are found, in any text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted.formats import pieces
from planted.generator import cases

from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import find_secrets, redact
from upbeat.core.sanitize.secrets import scan
from upbeat.core.sanitize.secrets.formats import SecretSpan
from upbeat.core.sanitize.secrets.scan import ScannedText, choose_engine, load_re2_engine

PIECES = pieces("scan")


@pytest.fixture
def without_loaded_engine() -> Iterator[None]:
    """RE2 is not loaded yet, and what the test loads is not kept."""
    load_re2_engine.cache_clear()
    yield
    load_re2_engine.cache_clear()


def find_both_ways(text: str) -> tuple[list[SecretSpan], list[SecretSpan]]:
    """Return the secrets of ``text`` as found with RE2, and without it."""
    engine = load_re2_engine()
    assert engine is not None, "google-re2 is a dependency"
    return find_secrets(ScannedText(text, engine)), find_secrets(ScannedText(text, None))


def test_both_find_the_same_in_planted_texts() -> None:
    """With RE2 and without it, the same planted secrets are found."""
    texts = [strip_controls(case.text) for case in cases(7, 700)]
    found = {text: find_both_ways(text) for text in texts}

    assert {} == {text: both for text, both in found.items() if both[0] != both[1]}


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=16).map("".join))
def test_both_find_the_same_in_any_text(text: str) -> None:
    """With RE2 and without it, the same is found in any combination of telling words and values."""
    with_re2, without_re2 = find_both_ways(text)

    assert with_re2 == without_re2


@pytest.mark.usefixtures("without_loaded_engine")
def test_a_short_text_loads_no_engine() -> None:
    """A prompt in a process of its own does not pay for loading RE2."""
    assert choose_engine("a" * 200) is None
    assert choose_engine("a" * 10_000) is not None
    assert choose_engine("a" * 200) is not None


@pytest.mark.usefixtures("without_loaded_engine")
def test_without_re2_literals_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where google-re2 is not installed, long texts are redacted, too."""

    def missing(self: object) -> None:
        raise ImportError("no re2")

    monkeypatch.setattr(scan.Re2Engine, "__init__", missing)

    assert choose_engine("a" * 10_000) is None
    assert "x <redacted:github-token>" + " " * 10_000 == redact("x ghp_" + "a1B2" * 9 + " " * 10_000).text
