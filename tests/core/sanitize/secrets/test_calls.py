"""Literals at the place of a password among the arguments of a function are found."""

from __future__ import annotations

import pytest

from upbeat.core.sanitize.redact import redact

VALUE = "Quartz!" + "tunnel_19"


@pytest.mark.parametrize(
    "code",
    [
        'new NetworkCredential("anna", "{}")',
        'DriverManager.getConnection("jdbc:postgresql://db/x", "anna", "{}")',
        "$pdo = new PDO('mysql:host=h', 'anna', '{}');",
        "hmac.new(b'{}', body, hashlib.sha256)",
        "jwt.sign(payload, '{}')",
        "requests.get(url, auth=('anna', '{}'))",
    ],
)
def test_finds_arguments(code: str) -> None:
    """The literal is gone."""
    assert VALUE not in redact(code.replace("{}", VALUE)).text


@pytest.mark.parametrize(
    "code",
    ["jwt.sign(payload, key)", "login('anna', request)", "new PDO(dsn, user, password)", "auth=('user', 'pass')"],
)
def test_leaves_names_and_words(code: str) -> None:
    """Variables and placeholders stay."""
    assert redact(code).text == code
