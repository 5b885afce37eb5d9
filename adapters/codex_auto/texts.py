"""The messages of codex-auto, from ``core/messages``.

They are plain templates: values reach the terminal only through ``TurnPrinter``, which strips control characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from upbeat.core.package_data import load_toml


@dataclass(frozen=True, slots=True)
class Texts:
    """The templates of one language, by key."""

    entries: Mapping[str, Any]

    def __getitem__(self, key: str) -> str:
        return str(self.entries[key])

    def group(self, name: str) -> Mapping[str, str]:
        """Return the templates of the table ``name``, such as ``failure_reasons``, by the value of their enum."""
        group: Mapping[str, str] = self.entries[name]
        return group


@cache
def load_texts(language: str) -> Texts:
    """Return the messages in Chinese for ``zh``, in English for any other ``language``."""
    return Texts(load_toml("upbeat.core.messages", f"{'zh' if language == 'zh' else 'en'}/codex_auto.toml"))
