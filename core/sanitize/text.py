"""Sanitize text from tools, files and models.

Invariant: the order is a security property. Invisible characters go first, so that they cannot hide a secret; secrets
go before anything is truncated, so that no half of one remains; instructions go last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.injection import filter_injection, may_contain_injection
from upbeat.core.sanitize.redact import may_contain_secrets, redact

_MIN_BATCH_SIZE = 8
"""The number of texts above which checking them together is faster."""


@dataclass(frozen=True, slots=True)
class SanitizedText:
    """A sanitized text.

    ``redactions`` are kinds of secrets with their counts, sorted by kind; ``filtered_count`` is the number of segments
    that addressed the model.
    """

    text: str
    redactions: tuple[tuple[str, int], ...] = ()
    filtered_count: int = 0


def sanitize_text(text: str, *, preserve_lines: bool = False) -> SanitizedText:
    """Strip controls, redact secrets and filter injections; idempotent.

    With ``preserve_lines``, for numbered lines, every line feed stays and none is added.
    """
    redacted = redact(strip_controls(text, preserve_lines=preserve_lines), preserve_lines=preserve_lines)
    filtered = filter_injection(redacted.text)
    return SanitizedText(filtered.text, redacted.redactions, filtered.filtered_count)


def find_clean_texts(texts: Sequence[str]) -> Iterator[str]:
    """Yield those of ``texts`` that ``sanitize_text`` certainly leaves unchanged; may miss some."""
    together = "\n".join(texts)
    if (
        strip_controls(together) == together
        and not may_contain_secrets(together)
        and not may_contain_injection(together)
    ):
        yield from texts
    elif len(texts) > _MIN_BATCH_SIZE:
        middle = len(texts) // 2
        yield from find_clean_texts(texts[:middle])
        yield from find_clean_texts(texts[middle:])
