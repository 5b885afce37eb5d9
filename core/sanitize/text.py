"""Sanitize untrusted text from tools, files and models: whole, or as a value in a message of upbeat.

Invariants: the order is a security property. Invisible characters go first, so that they cannot hide a secret; secrets
go before anything is truncated, so that no half of one remains; instructions go last. ``SafeTemplate.format`` sanitizes
every string that is not ``SafeText``, so a caller that trusts a text must say so explicitly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.frame import SafeText, neutralize_frames
from upbeat.core.sanitize.injection import filter_injection, may_contain_injection
from upbeat.core.sanitize.normalize import normalize
from upbeat.core.sanitize.redact import may_contain_secrets, redact
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit

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
    filtered, filtered_count = filter_injection(redacted.text)
    return SanitizedText(filtered, redacted.redactions, filtered_count)


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


# Values in messages: on one line, bounded, without tags and fences

MAX_INLINE_LENGTH = 1000
"""The default limit, in characters."""

_MAX_INPUT_LENGTH = 32 * 1024
"""Characters of a text that are read."""
_TAG_START = re.compile(r"<(?!redacted:[a-z-]{1,40}>)(?=[a-z_?<]|\s*[/|])")
_FENCE = re.compile(r"[`~]{3,}")


@lru_cache(maxsize=512)
def sanitize_inline(text: str, max_length: int = MAX_INLINE_LENGTH) -> SafeText:
    """Return untrusted ``text`` for use inside a message; idempotent."""
    if len(text) > _MAX_INPUT_LENGTH:
        text = text[:_MAX_INPUT_LENGTH].rpartition(" ")[0]  # no half of a secret
    flat = " ".join(strip_controls(text).split())
    return SafeText(neutralize_markup(truncate_to_limit(sanitize_text(flat).text, TextLimit(max_length))[0]))


def neutralize_markup(text: str) -> str:
    """Return ``text`` with delimiters of frames, tag openings and code fences neutralized; the length stays."""
    text = neutralize_frames(text)
    if "<" in (normalized := normalize(text)):
        offsets = {match.start() for match in _TAG_START.finditer(normalized)}
        text = "".join("‹" if offset in offsets else char for offset, char in enumerate(text))
    return _FENCE.sub(lambda match: "'" * len(match[0]), text)


class SafeTemplate(SafeText):
    """A message with fields in braces; values that are not ``SafeText`` are sanitized."""

    __slots__ = ()

    def format(self, *args: object, **fields: object) -> SafeText:
        """Return the message with its fields filled in."""
        filled = {name: _sanitize_field(value) for name, value in fields.items()}
        return SafeText(str.format(self, *map(_sanitize_field, args), **filled))


def _sanitize_field(value: object) -> object:
    return sanitize_inline(value) if isinstance(value, str) and not isinstance(value, SafeText) else value
