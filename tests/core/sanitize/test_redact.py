"""Secrets are redacted as a whole; code that names them stays."""

from __future__ import annotations

import re
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from case_files import read_cases, read_groups
from hypothesis import given
from hypothesis import strategies as st
from planted.formats import PARTS, fill_in, pieces

from upbeat.core.sanitize.redact import MAX_SECRETS, RedactedText, find_secrets, redact
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS
from upbeat.core.sanitize.secrets.scan import ScannedText

HERE = Path(__file__).parent
HARMLESS = ["", *(fill_in(text) for (text,) in read_cases(HERE / "redact_harmless.txt"))]
CASES = {
    group: {fill_in(text): fill_in(expected) for text, expected in rows}
    for group, rows in read_groups(HERE / "redact_cases.tsv").items()
}
FORMATS = CASES.pop("format")
ALNUM = PARTS["ALNUM"]
KEY = "AKIA" + "IOSFODNN7EXAMPLE"


def test_leaves_harmless_text_unchanged() -> None:
    """Code, prose, hashes, public keys, placeholders, and escapes without a secret stay unchanged."""
    assert {text: RedactedText(text) for text in HARMLESS} == {text: redact(text) for text in HARMLESS}


@pytest.mark.parametrize(
    "around", ["{}", "x = '{}'", "see {}.", "\\n{}\\n", "a%3D{}&b=1", '{{"v":\\u0022{}"}}', "://{}@h/x"]
)
def test_redacts_formats(around: str) -> None:
    """A secret with a published format is redacted in any context, after an escape or not."""
    expected = {
        secret: RedactedText(around.format(f"<redacted:{kind}>"), ((kind, 1),)) for secret, kind in FORMATS.items()
    }

    assert expected == {secret: redact(around.format(secret)) for secret in FORMATS}


@pytest.mark.parametrize("group", CASES)
def test_redacts(group: str) -> None:
    """A secret is redacted as a whole and counted by its kind, whatever shows it; the text around it stays."""
    kinds = {text: Counter(re.findall("<redacted:(.*?)>", expected)) for text, expected in CASES[group].items()}
    expected = {text: RedactedText(CASES[group][text], tuple(sorted(kinds[text].items()))) for text in kinds}

    assert expected == {text: redact(text) for text in kinds}


def test_counts_by_kind() -> None:
    """Redactions are counted by kind and sorted."""
    text = f"token=a1b2c3d4e5\nghp_{ALNUM}\nghp_{ALNUM}\npassword='hunter2'"

    assert (("github-token", 2), ("password", 1), ("token", 1)) == redact(text).redactions


def test_overlapping_secrets_are_one() -> None:
    """A secret covers what any finder takes for a part of it, named by its published format; adjacent ones are two."""
    private_key = "\n".join(PARTS[name] for name in ("BEGIN", "LINE", "END"))
    text = f"password = 'x-{KEY}!' {private_key}{private_key}"
    spans = find_secrets(ScannedText(text, None))

    assert [("aws-access-key", f"x-{KEY}!"), *[("private-key", private_key)] * 2] == [
        (span.kind, text[span.start : span.end]) for span in spans
    ]


def test_line_ends_are_kept_for_numbers() -> None:
    """A secret over three lines leaves two line ends where lines are numbered."""
    text = f"a\nghp_{ALNUM[:12]}\n{ALNUM[12:24]}\n{ALNUM[24:]}\nb"

    assert "a\n<redacted:github-token>\n\n\nb" == redact(text, preserve_lines=True).text


def test_a_text_full_of_secrets_is_redacted_whole() -> None:
    """A text with more secrets than can be judged in time is redacted as a whole."""
    text = "\n".join(f"ghp_{number:036}" for number in range(MAX_SECRETS + 1))

    assert RedactedText("<redacted:secrets>", (("secrets", 1),)) == redact(text)
    assert "<redacted:secrets>" + "\n" * MAX_SECRETS == redact(text, preserve_lines=True).text


PIECES = pieces("redact")


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=14).map("".join))
def test_is_idempotent(text: str) -> None:
    """Redacted text stays as it is."""
    once = redact(text)

    assert RedactedText(once.text) == redact(once.text)


def test_a_turn_takes_little_time() -> None:
    """Twelve thousand characters of code take less than 30 ms of one core (2 as measured)."""
    code = (
        "def login(user, password):\n    token = self.tokens.get(user)  # sk-1, AKIA\n    return token == password\n\n"
    )
    text = code * (12_000 // len(code))
    start = time.process_time()
    redact(text)

    assert time.process_time() - start < 0.03


def test_formats_are_long() -> None:
    """No format is short enough to be written by chance."""
    parse = import_module("re._parser").parse

    assert [] == [
        rule for rule in SECRET_FORMATS if parse(rule.pattern.pattern).getwidth()[0] + rule.prefix_length < 15
    ]
