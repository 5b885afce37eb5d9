"""How many planted secrets are found: the figures that the project promises, from a seeded generator."""

from __future__ import annotations

import random

import pytest
from planted.contexts import PLAIN, SEQUENCES, UNSEEN
from planted.formats import ALPHABETS, drawn, issue, leaks, templates
from planted.generator import ASSIGNMENTS, NAMES, VALUES

from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit


def test_finds_every_planted_format() -> None:
    """Of secrets with a published format all are found, in every plain context."""
    rng = random.Random("formats")
    issued = [(issue(rng, template), context) for template in templates() for context in PLAIN.values()]
    secrets = {context.format(planted.text): planted.secret for planted, context in issued}

    assert [] == [text for text, secret in secrets.items() if leaks(secret, redact(text).text)]


@pytest.mark.parametrize("name", NAMES)
def test_finds_planted_assignments(name: str) -> None:
    """Of secrets that are assigned to a telling name at least 97 % are found (98.4 % as measured over all names)."""
    rng = random.Random(name)
    cases = [(assignment, *value) for assignment in ASSIGNMENTS.values() for value in VALUES for _ in range(3)]
    leaked = []
    for assignment, alphabet, length in cases:
        secret = drawn(rng, ALPHABETS[alphabet], length)
        text = f"a = 1\n{assignment.format(name=name, value=secret)}\nb = 2"
        if leaks(secret, redact(text).text):
            leaked.append(text)

    assert len(leaked) <= len(cases) * 0.03, leaked


def test_finds_what_invisible_characters_split() -> None:
    """A secret that escapes or zero-width characters split is found."""
    rng = random.Random("split")
    leaked = []
    for template in templates():
        planted = issue(rng, template)
        cut = rng.randrange(1, len(planted.text))
        hidden = planted.text[:cut] + rng.choice(UNSEEN + SEQUENCES) + planted.text[cut:]
        text = sanitize_text(f"k = '{hidden}'").text
        if leaks(planted.secret, text):
            leaked.append(text)

    assert [] == leaked


def test_no_cut_shows_half_a_secret() -> None:
    """A text that is sanitized and then truncated at any place shows no part of a secret."""
    secret = drawn(random.Random("cut"), ALPHABETS["A"], 36)
    text = sanitize_text(f"before ghp_{secret} after").text

    assert [] == [limit for limit in range(80) if leaks(secret, truncate_to_limit(text, TextLimit(limit))[0])]


@pytest.mark.parametrize("lines", [1, 5, 26])
def test_finds_planted_private_keys(lines: int) -> None:
    """Of a private key no line is left, cut at any line, quoted, indented or in a diff."""
    rng = random.Random(lines)
    body = [drawn(rng, ALPHABETS["B"], 64) for _ in range(lines)] + [drawn(rng, ALPHABETS["B"], 30) + "=="]
    key = ["-----BEGIN PRIVATE " + "KEY-----", *body, "-----END PRIVATE " + "KEY-----"]
    leaked = []
    for mark in ("", "    ", "+", "-", "> ", "| ", "12: ", " * ", "# ", "// "):
        for first, last in ((0, len(key)), (0, len(key) - 1), (0, len(key) - 2), (1, len(key)), (0, 2)):
            text = strip_controls("\n".join(["x = 1", *(mark + line for line in key[first:last]), "y = 2"]))
            redacted = redact(text).text
            if any(leaks(line, redacted) for line in body):
                leaked.append(text)

    assert [] == leaked
