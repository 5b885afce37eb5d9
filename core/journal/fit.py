"""What may be stored of a record: plain JSON without secrets and controls, no text and no record without end.

Invariant: redact before cutting, so that no half of a secret is left; every cut leaves a mark that says how much
is gone. What a session's state is folded from (``facts``) is cut last, and never loses a fact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import Any

from upbeat.core.journal.chain import canonical_json
from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.text import sanitize_text

MAX_TEXT_CHARS = 4000
"""Characters of one text."""
MAX_RECORD_BYTES = 64 * 1024
"""Bytes of one record, in UTF-8."""
MAX_IDENTIFIER_CHARS = 200
"""Characters of an identifier."""
MAX_DEPTH = 16
MAX_ITEMS = 1000

FACTS_FIELD = "facts"
IDENTIFIER_FIELDS = ("at", "event", "client", "session_id", "agent_id")

_MAX_SCANNED_CHARS = 32 * 1024
"""Characters of a text that are looked at. What is cut there may be half a secret, so its end goes, too."""
_SECRET_MARGIN = 4096
_TRIVIALLY_SAFE = re.compile(r"[\w.-]{0,15}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
"""Too short for any secret that has a form, or a timestamp."""
_SECRET_KEY_NAME = re.compile(r"(?i)pass|pwd|secret|token|key|auth|credential|cookie|密|口令|令牌|私")
_TRUNCATION_MARK = re.compile(r" … \[(\d{1,18}) more characters\]$")
_MAX_MARK_CHARS = 60
_PARTIAL_REDACTION = re.compile(r"<[a-z:-]{0,40}$")
_MAX_INT_BITS = 63
_JSON_SCALARS = frozenset({str, bool, type(None)})
_MAX_CACHED_CHARS = 200
"""Characters of a text that is remembered clean: records are full of the same names and sentences."""


@dataclass(frozen=True, slots=True)
class SizeLimit:
    """How much is kept: characters of a text, items of a list or mapping (None: all)."""

    max_chars: int
    max_items: int | None


SIZE_LIMITS = (SizeLimit(1000, 100), SizeLimit(250, 30), SizeLimit(60, 10))
"""Tried one after the other while a record is too large."""


def make_storable(body: Mapping[str, Any]) -> dict[str, Any]:
    """A record's fields as they may be stored; fitting twice changes nothing more."""
    clean_body: dict[str, Any] = {}
    for name, value in body.items():
        if name in IDENTIFIER_FIELDS:
            clean_body[name] = make_text_storable(str(value), MAX_IDENTIFIER_CHARS)
        else:
            is_facts = name == FACTS_FIELD
            json_value = to_json_value(value, max_items=None if is_facts else MAX_ITEMS)
            clean_body[str(name)] = _storable_value(json_value, pairs=not is_facts)
    fitted = clean_body
    for measure in SIZE_LIMITS:
        if _size_in_bytes(fitted) <= MAX_RECORD_BYTES:
            return fitted
        fitted = {
            name: value if name == FACTS_FIELD else _truncate_value(value, measure)
            for name, value in clean_body.items()
        }
    if _size_in_bytes(fitted) > MAX_RECORD_BYTES:
        fitted = {name: _empty_field(name, value) for name, value in clean_body.items()}
    for measure in SIZE_LIMITS:
        if _size_in_bytes(fitted) <= MAX_RECORD_BYTES:
            break
        fitted[FACTS_FIELD] = _truncate_value(clean_body.get(FACTS_FIELD, []), SizeLimit(measure.max_chars, None))
    return fitted


def make_text_storable(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """``text`` cleaned, and cut to ``most`` characters."""
    if _TRIVIALLY_SAFE.fullmatch(text):
        return text
    if len(text) <= _MAX_CACHED_CHARS:
        clean = _sanitize_short_text(text)
        return clean if len(clean) <= max_chars else _cut_and_mark(clean, max_chars, 0)
    if len(text) <= _MAX_SCANNED_CHARS:
        return truncate_with_mark(sanitize_text(text).text, max_chars)
    kept = sanitize_text(text[:_MAX_SCANNED_CHARS]).text[:-_SECRET_MARGIN]
    return _cut_and_mark(kept, max_chars, len(text) - _MAX_SCANNED_CHARS + _SECRET_MARGIN)


@lru_cache(maxsize=2048)
def _sanitize_short_text(text: str) -> str:
    return sanitize_text(text).text


def truncate_with_mark(text: str, max_chars: int) -> str:
    """``text`` if it has at most ``most`` characters; else its beginning, with a mark, no longer than that."""
    return text if len(text) <= max_chars else _cut_and_mark(text, max_chars, 0)


def original_length(text: str) -> int:
    """Characters that ``text`` had before it was cut, as far as its mark tells."""
    found = _TRUNCATION_MARK.search(text[-_MAX_MARK_CHARS:])
    return len(text) - len(found[0]) + int(found[1]) if found else len(text)


def to_json_value(value: Any, depth: int = 0, max_items: int | None = None) -> Any:
    """``value`` as JSON has it, whatever it is; what JSON has no form for becomes text.

    Of a list or mapping ``most`` items are kept, if given, the last of them a mark when some are gone.
    """
    if type(value) in _JSON_SCALARS:
        return value
    if isinstance(value, Enum):
        return to_json_value(value.value, depth, max_items)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return value if value.bit_length() <= _MAX_INT_BITS else f"a whole number of {value.bit_length()} bits"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{len(value)} bytes"
    if depth >= MAX_DEPTH:
        return "…"
    if is_dataclass(value):
        return {one.name: to_json_value(getattr(value, one.name), depth + 1, max_items) for one in fields(value)}
    if isinstance(value, Mapping):
        kept = value if max_items is None or len(value) <= max_items else _limit_mapping(value, max_items)
        return {str(key): to_json_value(inner, depth + 1, max_items) for key, inner in kept.items()}
    if isinstance(value, Set):
        return sorted((to_json_value(inner, depth + 1, max_items) for inner in value), key=str)[:max_items]
    if isinstance(value, Sequence):
        items = value if max_items is None or len(value) <= max_items else _limit_items(value, max_items)
        return [to_json_value(inner, depth + 1, max_items) for inner in items]
    return str(value)


def _limit_items(values: Sequence[Any], max_items: int | None) -> Sequence[Any]:
    """At most ``most`` of ``values``. A list of records gets no mark: it holds records only."""
    if max_items is None or len(values) <= max_items:
        return values
    if isinstance(values[0], Mapping) or is_dataclass(values[0]):
        return values[:max_items]
    return [*values[: max_items - 1], f"… {len(values) - max_items + 1} more"]


def _limit_mapping(values: Mapping[Any, Any], max_items: int | None) -> Mapping[Any, Any]:
    if max_items is None or len(values) <= max_items:
        return values
    return dict(islice(values.items(), max_items - 1)) | {"…": f"{len(values) - max_items + 1} more"}


def _storable_value(value: Any, *, pairs: bool) -> Any:
    """A JSON value with its texts cleaned and cut. ``pairs``: a name also says that its value is a secret."""
    if isinstance(value, str):
        return make_text_storable(value)
    if isinstance(value, dict):
        return {
            make_text_storable(key): _redact_pair(key, inner)
            if pairs and isinstance(inner, str) and _SECRET_KEY_NAME.search(key) and not inner.startswith("<redacted:")
            else _storable_value(inner, pairs=pairs)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_storable_value(inner, pairs=pairs) for inner in value]
    return value


def _redact_pair(key: str, value: str) -> str:
    """Return the text ``value`` of a key whose name suggests a secret, redacted if it is one."""
    redactions = redact(f'"{key[:MAX_IDENTIFIER_CHARS]}": "{value[:_MAX_SCANNED_CHARS]}"').redactions
    return f"<redacted:{redactions[0][0]}>" if redactions else make_text_storable(value)


def _truncate_value(value: Any, limit: SizeLimit) -> Any:
    """A clean value with its texts and lists cut."""
    if isinstance(value, str):
        return truncate_with_mark(value, limit.max_chars)
    if isinstance(value, dict):
        kept = _limit_mapping(value, limit.max_items)
        return {truncate_with_mark(key, limit.max_chars): _truncate_value(inner, limit) for key, inner in kept.items()}
    if isinstance(value, list):
        return [_truncate_value(inner, limit) for inner in _limit_items(value, limit.max_items)]
    return value


def _empty_field(name: str, value: Any) -> Any:
    """Nothing of a field that is still too large, but what kind it was and that it is gone."""
    if name == FACTS_FIELD or not isinstance(value, dict | list) or not value:
        return value
    return {"…": f"{len(value)} more"} if isinstance(value, dict) else []


def _cut_and_mark(text: str, max_chars: int, missing_chars: int) -> str:
    """The beginning of ``text`` with the mark, in ``most`` characters at most; ``gone`` more are missing already."""
    room = max(max_chars - len(f" … [{len(text) + missing_chars} more characters]"), 0)
    kept = _PARTIAL_REDACTION.sub("", text[:room]).rstrip()
    return f"{kept} … [{len(text) + missing_chars - len(kept)} more characters]"


def _size_in_bytes(body: Mapping[str, Any]) -> int:
    return len(canonical_json(body).encode("utf-8", "replace"))
