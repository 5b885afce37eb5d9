"""Values after telling names are found in the forms of many languages, and what only looks like one stays."""

from __future__ import annotations

import pytest

from upbeat.core.sanitize.redact import redact

VALUE = "Falcon!" + "meadow+31"


@pytest.mark.parametrize(
    "text",
    [
        'public string ApiSecret { get; set; } = "{}";',
        'conn.setPassword("{}");',
        'const secret = process.env.JWT_SECRET || "{}";',
        "parser.add_argument('--password', default='{}')",
        'Dim strPassword As String = "{}"',
        "**Password:** {}",
        "storePassword '{}'",
        'variable "db_password" {{ type = string\n default = "{}" }}',
        "the admin password was changed to {} yesterday",
        "GET /cb?state=1&client_secret={}",
        '{{"name":"DB_PASSWORD","value":"{}"}}',
        'char password[] = "{}";',
        'secret := []byte("{}")',
        'password: str = Field(default="{}")',
    ],
)
def test_finds_values_in_many_forms(text: str) -> None:
    """The value is gone; the name is still there."""
    assert VALUE not in redact(text.replace("{}", VALUE).replace("{{", "{").replace("}}", "}")).text


@pytest.mark.parametrize(
    "text",
    [
        "token: RocketTokenV3;",
        '"SecretId": "arn:aws:secretsmanager:eu-west-1:112233445566:secret:prod/db-AbC12d"',
        'cache_key = "9f86d081884c7d659a2feaa0c55ad015"',
        'password = get_secret("prod/db1-password")',
        '"generate-password": "~1.7.4"',
        "**Secret:** stored in Key Vault",
    ],
)
def test_leaves_what_only_looks_like_a_value(text: str) -> None:
    """Types, names of resources, keys that identify something, calls and versions are no secrets."""
    assert redact(text).text == text


def test_strings_that_are_concatenated_are_one_value() -> None:
    """The parts on the following lines are removed, too."""
    text = 'token = "OcOxP761UPzNr" +\n  "BMTHyA5D9wN1a"'

    assert "BMTHyA5D9wN1a" not in redact(text).text
