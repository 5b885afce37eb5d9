"""The message catalogue is complete in both languages."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import tomli

from upbeat.core import messages
from upbeat.core.messages.catalogue import load_messages

FOLDER = Path(messages.__file__).parent
SECTIONS = sorted(path.stem for path in (FOLDER / "en").glob("*.toml"))


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a TOML table with its dotted key."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield from ((f"{prefix}{key}", text) for text in ([value] if isinstance(value, str) else value))


def entries(language: str, section: str) -> list[tuple[str, str]]:
    return list(flat(tomli.loads((FOLDER / language / f"{section}.toml").read_text(encoding="utf-8"))))


def placeholders(text: str) -> list[str]:
    return sorted({name for _, name, _, _ in string.Formatter().parse(text) if name is not None})


def test_both_languages_have_the_same_sections() -> None:
    """A section that exists in English exists in Chinese."""
    assert SECTIONS == sorted(path.stem for path in (FOLDER / "zh").glob("*.toml"))


@pytest.mark.parametrize("section", SECTIONS)
def test_both_languages_say_the_same_things(section: str) -> None:
    """Both files of a section have the same keys, and each message has the same placeholders."""
    english, chinese = (
        [(key, placeholders(text)) for key, text in entries(language, section)] for language in ("en", "zh")
    )

    assert english == chinese


def test_a_missing_key_is_an_error() -> None:
    """A key that no file has raises at once, so that a typo never reaches a user."""
    with pytest.raises(KeyError):
        load_messages(SECTIONS[0], "en")["no_such_key"]
