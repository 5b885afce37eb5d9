"""Values that are secrets, and values that are not."""

from __future__ import annotations

import time

import pytest

from upbeat.core.sanitize.secrets.values import is_made_of_words, is_placeholder, is_secret

NO_PASSWORDS = [
    *("", "root", "admin", "12345", "hunte"),  # shorter than six
    *("password", "secret", "changeme", "change_me", "CHANGEME", "changeit", "required", "hidden", "username"),
    *("your-password", "your_password_here", "new-password", "password_field", "user.password", "passwordField"),
    *("DB_PASSWORD", "Passwort", "KENNWORT", "Mot de passe", "must have 8 characters", "пароль1", "密码密码密码1"),
    *("xxxxxxxx", "********", "--------", "......", "000000", "######", "????????"),
    *(
        "$PASSWORD",
        "${PASSWORD}",
        "$(cat pw.txt)",
        "{{ password }}",
        "{password}",
        "%(password)s",
        "<password>",
        "<redacted:x>",
    ),
    *("{host}-password", "env:DB_PASSWORD", "vault:secret/db#pw", "op://vault/db/pw", "%PASSWORD%", "$env:PW"),
    *("[a-z]+$", "com.example.login", "forms/login/label", "/run/secrets/db1", "./pw1.txt", "1.3.6.1.5.5", "!!!!!!!!"),
]
PASSWORDS = [
    *(
        "hunter",
        "hunter2",
        "Hunter2",
        "letmein",
        "correcthorse",
        "P@ssw0rd",
        "password1",
        "changeme1",
        "123456",
        "s3cr3t!",
    ),
    *(
        "aB3(xQ!z",
        "tr0ub4dor&3",
        "a{b}c1d2e3",
        "p<ss>w0rd123",
        "wörd".encode().hex(),
        "--dashes--1",
    ),
]
NO_TOKENS = [
    *("ab+cd+ef+gh+ijk", "aBcDeFgHi", "AbcdAbcAbc"),  # too short, or written like words
    *("", "abc1234", "a1b2c3d"),  # shorter than eight
    *(
        "refresh_token",
        "id_token",
        "bearer-token",
        "access_token_v2",
        "oauth2-client-v1",
        "sha256",
        "client12",
    ),
    *(
        "abcdefghijklmnop",
        "AuthenticationProviderFactory",
        "IDENTIFIER",
        "NEW_LINE_TOKEN",
        "[A-Za-z0-9]+",
        "a b c d e f 1 2",
    ),
    *(
        "12345678",
        "1234567890123456789",
        "2024-01-01",
        "10.0.0.1:8080",
        "proxy.example.com:3128",
        "1.3.6.1.5.5.7.3.1.1.1.1.1",
        "/api/v2/token",
        "./x/t1.json",
    ),
    *(
        "your-api-key",
        "YOUR_API_KEY_HERE",
        "example-token",
        "${TOKEN}",
        "<token>",
        "{token}",
        "xxxx-xxxx-xxxx",
        "insert key",
    ),
]
TOKENS = [
    *("ab+cd+ef+gh+ijkl", "aBcDeFgHiJ", "AbcAbcAbAb"),
    *(
        "a8f5f167f44f4964",
        "AbC123xYz789",
        "q9w8e7r6",
        "kXqPzRmWtBvNcYhJ",
        "dGVzdDp0ZXN0MTIzNDU2",
        "9f86d081-884c-7d65-9a2f-eaa0c55ad015",
    ),
    *(
        "12345678901234567890",
        "a/b+c9Zx8Yw7Vu6Ts5Rq4Po3",
        "aBcDeFgH-iJkLmNoP_qRsT",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    ),
]


def test_is_no_password() -> None:
    """Short values, words about passwords, references and templates are left alone."""
    assert [] == [value for value in NO_PASSWORDS if is_secret(value, is_user_chosen=True, is_literal=True)]


@pytest.mark.parametrize("value", PASSWORDS)
def test_is_a_password(value: str) -> None:
    """A value that a user could have chosen is a password."""
    assert is_secret(value, is_user_chosen=True, is_literal=True)


@pytest.mark.parametrize("value", NO_TOKENS)
def test_is_no_token(value: str) -> None:
    """Words, versions, paths and numbers are left alone."""
    assert not is_secret(value, is_user_chosen=False, is_literal=True)


@pytest.mark.parametrize("value", TOKENS)
def test_is_a_token(value: str) -> None:
    """What a machine could have made is a token."""
    assert is_secret(value, is_user_chosen=False, is_literal=True)


@pytest.mark.parametrize(
    "value",
    [
        *(
            "hunter",
            "get_password",
            "self.password",
            "config.db.pass1",
            "args->pw2x",
            "Foo::Bar2",
            "user?.pw1x",
            "PASSWORD_V2",
        ),
        *("snake_case_2", "@password", "&password", "*password", "!password", "str", "Optional.String", "$password"),
    ],
)
def test_is_code_without_quotes(value: str) -> None:
    """An identifier is no password unless it is quoted."""
    assert not is_secret(value, is_user_chosen=True, is_literal=False)


@pytest.mark.parametrize("value", ["hunter2", "123456", "tr0ub4dor&3", "s3cr3t!", "Passw0rd"])
def test_is_a_password_without_quotes(value: str) -> None:
    """A digit or a sign that few identifiers have shows a password."""
    assert is_secret(value, is_user_chosen=True, is_literal=False)


@pytest.mark.parametrize("value", ["12345678901234567890", "0xDEADBEEFDEADBEE", "1_000_000_000_000_000_000", "-1.5e"])
def test_is_a_number_without_quotes(value: str) -> None:
    """A number is no token unless it is quoted."""
    assert not is_secret(value, is_user_chosen=False, is_literal=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("tok3n", False),
        ("pass", True),
        ("postgres", True),
        ("hunter", False),
        ("$X", True),
        ("{x}", True),
        ("{x}-token", True),
        ("{x}-a8f5f167", False),
        ("x", True),
        ("ab", False),
        ("x1", False),
        ("todo: fill in", True),
        ("todos", False),
        ("example.org", True),
        ("example9", False),
        ("{x}hunter", False),
        ("{x}hunte", True),
        ("xx11..", False),
        ("aabbaabb", False),
        ("xxxx", True),
        ("x9", False),
    ],
)
def test_placeholders(value: str, expected: bool) -> None:
    """A placeholder is not a secret."""
    assert expected == is_placeholder(value)


def test_a_long_run_of_letters_takes_linear_time() -> None:
    """A run of letters that turns out not to be words is not split in every possible way."""
    started = time.process_time()

    assert not is_made_of_words("x" * 20_000 + "A1b")
    assert time.process_time() - started < 1
