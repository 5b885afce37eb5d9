"""A value after a name in prose is a secret if it cannot be a word."""

from __future__ import annotations

import pytest

from upbeat.core.sanitize.redact import RedactedText, redact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("use AWS_SECRET_ACCESS_KEY wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPL3KEY ok", "use AWS_SECRET_ACCESS_KEY {key} ok"),
        ("pw: hunter2", "pw: {password}"),
        ("pw: 123456", "pw: {password}"),
        ("Pass: tr0ub4dor-3", "Pass: {password}"),
        ("passwd hunter2!", "passwd {password}!"),
        ("set the password to s3cret99x please", "set the password to {password} please"),
        ("log in with pw Zx81kk29.", "log in with pw {password}."),
        ("the token abcdef1234567890abcd is old", "the token {token} is old"),
        ("set credentials 8fd49bcda644061837d29cf3371d063a", "set credentials {secret}"),
        ("jwtSecret 837ed59dd903aee677436ce35e3f87d0 in the shell", "jwtSecret {secret} in the shell"),
    ],
)
def test_redacts_what_is_said(text: str, expected: str) -> None:
    """A blank, ``to`` or a colon is enough for what has letters and digits and is no word."""
    for kind in ("password", "token", "key", "secret"):
        expected = expected.replace(f"{{{kind}}}", f"<redacted:{kind}>")

    assert expected == redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        *("passwd x", "pass 2 of 3", "Pass: 12 of 13", "Pass: 123456 tests", "password sha256", "password field2"),
        *("pass the token to parse2d", "the token type2 is used", "a key utf8 value", "secret v2", "token bucket10"),
        *("pass: bool", "pw = get_password()", "password is required", "pass config.v2.name", "token node14.x of 20"),
        *("the password to reset", "keys to rotate1", "passes to 12345", "bypass a1b2c3d4e5"),
    ],
)
def test_says_nothing_for(text: str) -> None:
    """Words, numbers and names behind a name are left alone."""
    assert RedactedText(text) == redact(text)
