"""With RE2 and without it the same secrets are found, in any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted.formats import templates
from planted.generator import cases

from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.secrets import scan as secret_scan
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretFormat
from upbeat.core.sanitize.secrets.scan import LITERAL_SCANNER, SecretScanner, choose_scanner, load_re2_scanner

PIECES = [
    *(
        "password",
        "credentials ",
        "token",
        "api_key",
        "pw",
        "pass",
        "DB_PASS",
        "secret",
        "=",
        ": ",
        " ",
        "\n",
        '"',
        "'",
        "\\",
        "，",
        "：",
    ),
    *(
        "密码",
        "是",
        "hunter2",
        "s3cr3t99x",
        "a8f5f167f44f4964",
        "abcdefgh12345678",
        "K\u212aey",
        "İ",
        "é",
        "value",
        "is ",
    ),
    *("ghp_" + "a1B2" * 9, "AKIA" + "IOSFODNN7EXAMPLE", "eyJ", "eyJhbGciOiJIUzI1NiJ9.", "sk-", "a" * 32, ".", "-us12"),
    *("Bearer ", "basic ", "://", "u:", "@h", "--", "-u ", "%41", "\\u0041", "&quot;", "cGFzc3dvcmQ9aHVudGVyMjI="),
    *("+ ", "> ", "access", "key", "_", "-----BEGIN PRIVATE " + "KEY-----", "A1b2" * 16),
]


@pytest.fixture(scope="module")
def linear() -> SecretScanner:
    scan = load_re2_scanner()
    assert scan is not None, "google-re2 is a dependency"
    return scan


def test_both_find_the_same_in_planted_texts(linear: SecretScanner) -> None:
    """What is planted is found alike."""
    texts = [strip_controls(case.text) for case in cases(7, 1500)]

    assert [] == [text for text in texts if redact(text, scanner=linear) != redact(text, scanner=LITERAL_SCANNER)]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=16).map("".join))
def test_both_find_the_same_in_any_text(text: str) -> None:
    """What hypothesis puts together is redacted alike."""
    assert redact(text, scanner=LITERAL_SCANNER) == redact(text, scanner=load_re2_scanner())


@pytest.mark.parametrize("rule", SECRET_FORMATS, ids=lambda rule: f"{rule.kind} {rule.literal}")
def test_an_opener_is_in_what_its_rule_finds(rule: SecretFormat, linear: SecretScanner) -> None:
    """RE2 names every rule whose literal stands where its rule would look."""
    rest = re.sub(r"\{(\d+)[^}]*\}", r"{\1}", rule.suffix)

    assert re.compile(rule.prefilter_pattern) is not None
    assert not re.search(r"\(\?[!<=]", rule.prefilter_pattern)
    assert not re.search(r"[*+?]|\{\d+,\d*\}", re.sub(r"\[[^\]]*\]|\\.", "", rule.prefilter_pattern)), rest


def test_a_short_text_loads_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt in a process of its own does not pay for loading RE2."""
    secret_scan.load_re2_scanner.cache_clear()

    assert LITERAL_SCANNER is choose_scanner("a" * 200)
    assert LITERAL_SCANNER is not choose_scanner("a" * 10_000)
    assert LITERAL_SCANNER is not choose_scanner("a" * 200)


def test_without_re2_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where google-re2 is not installed, each literal is searched for."""

    def missing(self: object) -> None:
        raise ImportError("no re2")

    monkeypatch.setattr(secret_scan.Re2Scanner, "__init__", missing)
    secret_scan.load_re2_scanner.cache_clear()
    try:
        assert LITERAL_SCANNER is choose_scanner("a" * 10_000)
        assert "x <redacted:github-token>" == redact("x ghp_" + "a1B2" * 9 + "\n" * 0).text
    finally:
        secret_scan.load_re2_scanner.cache_clear()


def test_the_generator_has_more_formats_than_promised() -> None:
    """150 formats are promised."""
    assert len(set(templates())) >= 150
    assert len({rule.kind for rule in SECRET_FORMATS}) >= 150
