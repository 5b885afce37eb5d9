"""The tables of verdict phrases: written for folded text, and each pattern one that can be compiled."""

from __future__ import annotations

import re

import pytest

from upbeat.core.texts import verdict_phrases as phrases
from upbeat.core.workflow.wording import fold_all

FRAGMENTS = ("TESTS", "NUMBER", "_STATE")
TABLES = {
    name: value
    for name, value in vars(phrases).items()
    if name.isupper() and isinstance(value, str) and name not in FRAGMENTS
}
TABLES |= {f"GOOD {family}": table for family, table in phrases.GOOD.items()}
TABLES |= {f"BAD {family}": table for family, table in phrases.BAD.items()}
TABLES |= {f"SAID {word}": table for word, table in phrases.SAID_OF_ANY.items()}
PATTERNS = [(name, pattern) for name, table in TABLES.items() for pattern in phrases.patterns(table)]


@pytest.mark.parametrize(("name", "pattern"), PATTERNS)
def test_pattern(name: str, pattern: str) -> None:
    """Each pattern compiles, matches no empty text, and is in lower case and simplified characters."""
    found = re.compile(pattern)

    assert not found.search("")
    assert fold_all(re.sub(r"\\[A-Z]|[：，；！。]", "", pattern)) == re.sub(r"\\[A-Z]|[：，；！。]", "", pattern)


def test_lines_are_joined_and_split() -> None:
    """A line that begins with a bar goes on with the one before; two spaces part two patterns."""
    assert ("a|b c", "d", "e f") == phrases.patterns("\n    a\n        |b c\n    d  e f\n")
