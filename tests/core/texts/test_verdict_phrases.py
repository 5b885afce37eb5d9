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


@pytest.mark.parametrize("name", TABLES)
def test_patterns(name: str) -> None:
    """Each pattern compiles, matches no empty text, and is in lower case and simplified characters."""
    patterns = phrases.patterns(TABLES[name])
    bare = [re.sub(r"\\[A-Z]|[：，；！。]", "", pattern) for pattern in patterns]

    assert patterns
    assert [] == [pattern for pattern in patterns if re.compile(pattern).search("")]
    assert bare == [fold_all(pattern) for pattern in bare]


def test_lines_are_joined_and_split() -> None:
    """A line that begins with a bar goes on with the one before; two spaces part two patterns."""
    assert ("a|b c", "d", "e f") == phrases.patterns("\n    a\n        |b c\n    d  e f\n")
