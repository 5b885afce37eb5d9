"""Names and values of records in the words of a language. Invariant: pure; any value of a record has words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from upbeat.core.messages.catalogue import load_messages

MAX_QUOTED_CHARS = 70
"""Of a prompt or a command in a sentence."""
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def in_words(names: object, language: str) -> str:
    """Return the catalogue's words for names of effects and decisions such as ``allow_end`` or ``Deny, NotifyUser``."""
    words = load_messages("journal", language).group("words")
    keys = [(name, _INNER_CAPITAL.sub("_", name).replace(" ", "_").lower()) for name in str(names).split(", ")]
    return ", ".join(words.get(key, name.replace("_", " ")) for name, key in keys)


def format_value(value: object, language: str) -> str:
    """Return a value of a record on one line: a list as ``a, b``, an object as ``name value``, a flag as yes or no."""
    if isinstance(value, bool):
        return str(load_messages("explain", language)["yes" if value else "no"])
    if isinstance(value, Mapping):
        return ", ".join(f"{to_single_line(str(name))} {format_value(each, language)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_in_parentheses(format_value(each, language)) for each in value)
    return to_single_line(str(value))


def format_time(at: str) -> str:
    """Return ``2026-01-02T03:04:05.678Z`` without T and milliseconds; other text unchanged."""
    return at[:19].replace("T", " ") + "Z" if len(at) > len("2026-01-02T03:04:05") else at


def milliseconds_text(milliseconds: Any, language: str) -> str:
    """Return a duration such as ``3.2 ms``; a value of another type as it is."""
    shown = f"{milliseconds:.1f}".removesuffix(".0") if isinstance(milliseconds, int | float) else str(milliseconds)
    return load_messages("display", language)["milliseconds"].format(count=shown)


def to_single_line(text: str) -> str:
    """Return ``text`` with every run of white space as one space."""
    return " ".join(text.split())


def _in_parentheses(text: str) -> str:
    """Return ``ci_search: ok, 26 ms`` as ``ci_search (ok, 26 ms)``: an item of a list has no comma of its own."""
    name, _, about = text.partition(": ")
    return f"{name} ({about})" if about and ", " in about else text


def name_part(part: str, language: str) -> str:
    """Return a part of upbeat in words: ``policy block-x``, ``your rule r``, ``search`` for ``turn``."""
    kind, _, name = part.partition(" ")
    words = load_messages("explain", language).group("parts")
    return words[kind].format(name=name) if kind in words else part


def quote(text: str) -> str:
    """Return the beginning of a prompt or a command on one line."""
    flat = to_single_line(text)
    return flat if len(flat) <= MAX_QUOTED_CHARS else flat[: MAX_QUOTED_CHARS - 1] + "…"
