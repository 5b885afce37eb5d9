"""Escaped, encoded and wrapped secrets are redacted in the original text."""

from __future__ import annotations

import base64

import pytest

from upbeat.core.sanitize.redact import MAX_SECRETS, RedactedText, redact

ALNUM = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbCdE"
KEY = "AKIA" + "IOSFODNN7EXAMPLE"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"v=%41{KEY[1:]}&b=1", "v=<redacted:aws-access-key>&b=1"),
        (f"v=%2541{KEY[1:]}&b=1", "v=<redacted:aws-access-key>&b=1"),
        ('"\\u0041' + KEY[1:] + '"', '"<redacted:aws-access-key>"'),
        ('"\\x41' + KEY[1:] + '"', '"<redacted:aws-access-key>"'),
        (f"&#65;{KEY[1:]};", "<redacted:aws-access-key>;"),
        ("%70assword%3Dhunter22%26x%3D1", "%70assword%3D<redacted:password>%26x%3D1"),
        ("{&quot;password&quot;: &quot;hunter22&quot;}", "{&quot;password&quot;: &quot;<redacted:password>&quot;}"),
        ("AccountKey=" + "aB3\\/" * 12 + "==;", "AccountKey=<redacted:azure-account-key>;"),
        (f"conf: {encoded('redis://:s3cr3tp4ss@cache:6379/0')}", "conf: <redacted:url-password>"),
        (f"conf: {encoded('password: hunter2222')} x", "conf: <redacted:password> x"),
        (f"a {encoded('key ' + KEY)}", "a <redacted:aws-access-key>"),
        (f"ghp_{ALNUM[:12]}\n{ALNUM[12:]}\nnext line", "<redacted:github-token>\nnext line"),
        (f"a = 1\nghp_{ALNUM[:12]}\n{ALNUM[12:]}", "a = 1\n<redacted:github-token>"),
        (f"run {KEY[:9]}\\\n{KEY[9:]} now", "run <redacted:aws-access-key> now"),
        (f'k = "{KEY[:9]}" +\n    "{KEY[9:]}"', 'k = "<redacted:aws-access-key>"'),
        (f"+k {KEY[:9]}\n+{KEY[9:]}\n+b", "+k <redacted:aws-access-key>\n+b"),
        (f"> k {KEY[:9]}\n> {KEY[9:]}\n> b", "> k <redacted:aws-access-key>\n> b"),
        ("redis://:a1b2c3d4\ne5f6g7h8@cache:6379", "redis://:<redacted:url-password>@cache:6379"),
    ],
)
def test_redacts_what_is_hidden(text: str, expected: str) -> None:
    """The whole hidden secret is redacted, and nothing else."""
    assert expected == redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "%41%42%43 and %20",
        "&quot;hello&quot; &amp; more",
        "\\u0041bc \\x41 \\/path\\/to",
        encoded("a sentence about nothing at all, with words"),
        "aGVsbG8gd29ybGQhIGhlbGxvIHdvcmxkIQ==",
        "import sk\nfrom ghp_module import abcdefghijklmnop\nxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "see ghp_\nabcdefghijklmnopqrstuvwxyz is a word",
        "AKIA\nIOSFODNN7EXAMPL",
        "mailto:a@b.example\nhttps://h.example\n/x@y",
        "=\n=\n",
    ],
)
def test_says_nothing_for(text: str) -> None:
    """Escapes, base64 and line ends without a secret stay unchanged."""
    assert RedactedText(text) == redact(text)


def test_what_follows_a_whole_secret_stays() -> None:
    """The line behind a secret of known length is no part of it."""
    assert "t: <redacted:github-token>\nusername" == redact(f"t: ghp_{ALNUM}\nusername").text


def test_line_ends_are_kept_for_numbers() -> None:
    """A secret over three lines leaves two line ends where lines are numbered."""
    text = f"a\nghp_{ALNUM[:12]}\n{ALNUM[12:24]}\n{ALNUM[24:]}\nb"

    assert "a\n<redacted:github-token>\n\n\nb" == redact(text, preserve_lines=True).text


def test_a_text_full_of_secrets_is_one() -> None:
    """Who has more secrets in a text than can be judged in time loses the text."""
    text = "\n".join(f"ghp_{number:036}" for number in range(MAX_SECRETS + 1))

    assert RedactedText("<redacted:secrets>", (("secrets", 1),)) == redact(text)
    assert "<redacted:secrets>" + "\n" * MAX_SECRETS == redact(text, preserve_lines=True).text
