"""Load one section of the message catalogue in one language.

Invariant: a key that is missing raises ``KeyError`` at once; there is no fallback from one language to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from upbeat.core.package_data import load_toml
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.sanitize.text import SafeTemplate

LANGUAGES = ("en", "zh")


class Messages(Mapping[str, SafeTemplate]):
    """The templates of one section, by key; keys of a TOML table are read with ``group``."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = entries

    def __getitem__(self, key: str) -> SafeTemplate:
        return SafeTemplate(self._entries[key])

    def __iter__(self) -> Iterator[str]:
        return (key for key, value in self._entries.items() if isinstance(value, str))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def group(self, name: str) -> Messages:
        """Return the messages of the TOML table ``[name]``, such as one sentence for each reason code."""
        return Messages(self._entries[name])


@cache
def load_messages(section: str, language: str) -> Messages:
    """Return ``section`` in ``language``: Chinese for ``zh``, English for anything else.

    Raises:
        FileNotFoundError: There is no such section.
    """
    folder = "zh" if language == "zh" else "en"
    return Messages(load_toml("upbeat.core.messages", f"{folder}/{section}.toml"))


def format_count(noun: str, count: int, language: str) -> SafeText:
    """Return ``count`` with its ``noun`` (a key of ``counts.toml``), which is in the singular for one."""
    return load_messages("counts", language).group("one" if count == 1 else "many")[noun].format(count=f"{count:,}")
