"""Lines of settings files, where words without quotes are literals."""

from __future__ import annotations

import pytest

from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.secrets.settings_lines import is_settings_line


@pytest.mark.parametrize(
    "text",
    [
        "[smtp]\npassword = {}\n",
        "host = 10.1.2.3\npassword = {}\n",
        "db:\n  password: {}\n",
        "  port: 5432\n  password: {}\n",
        "  password: {}\n  url: db.internal:5432\n",
        "smtp.password={}\n",
        "Server=db1;User=shop;Password={};Timeout=3",
        "dbname=wiki user=shop password={} sslmode=require",
        "java -Dserver.password={} -jar app.jar",
    ],
)
def test_words_in_settings_are_redacted(text: str) -> None:
    """A word without quotes is a secret where the lines around it, or the form of the line, show settings."""
    assert redact(text.format("sunshine")).text == text.format("<redacted:password>")


@pytest.mark.parametrize(
    "text",
    [
        "retries = 3\npassword = derived\n",
        "class User:\n    name: str\n    password: Hashed\n",
        "interface User {\n  password: Hashed\n}\n",
        "connect(\n    user=name,\n    password=derived\n)\n",
        "Login: needed\nPassword: needed\n",
        "password: derived,\n",
        "port: 5432\n\npassword: derived\n",
    ],
)
def test_identifiers_in_code_stay(text: str) -> None:
    """A word without quotes is an identifier if a neighbor is code, or nothing shows settings."""
    assert redact(text).text == text


def test_the_line_must_end_behind_the_value() -> None:
    """An assignment that is followed by more, or stands behind something else, is no line of settings."""
    for text in ("password=sunshine)", "f(password=sunshine"):
        start = text.index("password")
        assert not is_settings_line(text, start, start + len("password=sunshine"), "=")
