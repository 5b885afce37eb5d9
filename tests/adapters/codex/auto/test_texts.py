"""Both languages say the same things, with the same blanks to fill."""

from __future__ import annotations

import string
from dataclasses import fields

from upbeat.adapters.codex.auto.texts import CHINESE, ENGLISH, Texts, texts_in
from upbeat.adapters.codex.auto.transport import Decision, Matter, Notice, Why


def sentences(texts: Texts) -> dict[str, str]:
    """Every sentence by its name; of a table each line."""
    values = {field.name: getattr(texts, field.name) for field in fields(Texts)}
    tables = {
        f"{name}.{key}": text
        for name, table in values.items()
        if isinstance(table, dict)
        for key, text in table.items()
    }
    return {name: value for name, value in values.items() if isinstance(value, str)} | tables


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_sentences_have_the_same_blanks() -> None:
    """Whatever one language says the other says too, and both are filled with the same values."""
    english, chinese = sentences(ENGLISH), sentences(CHINESE)

    assert {name: blanks(text) for name, text in english.items()} == {
        name: blanks(text) for name, text in chinese.items()
    }


def test_every_failure_has_a_sentence() -> None:
    """A new way to fail is told in both languages from the start."""
    assert [set(Why), set(Why)] == [set(ENGLISH.why), set(CHINESE.why)]


def test_tables_are_whole() -> None:
    """So is every notice, question and choice."""
    tables = {Notice: ENGLISH.notices, Matter: ENGLISH.asks, Decision: ENGLISH.choices}

    assert [set(keys) for keys in tables] == [set(table) for table in tables.values()]


def test_the_language_is_chosen() -> None:
    """Chinese for zh, English for everybody else."""
    assert [CHINESE, ENGLISH] == [texts_in("zh"), texts_in("en")]
