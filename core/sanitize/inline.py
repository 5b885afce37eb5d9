"""Sanitize untrusted text for inline use in upbeat's own messages: one line, bounded, without tags and fences.

Invariant: ``SafeTemplate.format`` sanitizes every string that is not ``SafeText``, so a caller that trusts a text must
say so explicitly.
"""

from __future__ import annotations

import re
from functools import lru_cache

from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.frame import SafeText, neutralize_frames
from upbeat.core.sanitize.injection import filter_injection
from upbeat.core.sanitize.normalize import normalize
from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit

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
    shown = truncate_to_limit(filter_injection(redact(flat).text).text, TextLimit(max_length))[0]
    return SafeText(neutralize_markup(shown))


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
