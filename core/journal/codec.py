"""Records and states as they are stored: plain JSON without secrets, bounded, and chained by hashes.

Invariant: whatever is written can be read again. What a newer version has added is left alone when it is read; a state
that cannot be read is a ``ValueError``, never half a state. Texts are redacted before they are cut, so that no half of
a secret is left, and every cut leaves a mark that says how much is gone. The facts of a record, from which the state of
a session is folded, are cut last, and none is lost.

Each record's hash covers the hash before it and the record's own text, so what was written cannot be changed, removed
or put in between unnoticed. Records removed from the end are noticed by the sessions, which remember their last one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import Any

from upbeat.core import lazy_re as re
from upbeat.core.journal.decode import decode_as
from upbeat.core.journal.legacy import LEGACY_STATE_MARK, upgrade_record, upgrade_state
from upbeat.core.journal.record import ChainBreak, Record
from upbeat.core.json_fields import mappings_of
from upbeat.core.lazy_dataclass import dataclass, fields, is_dataclass
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.workflow import facts as fact_types
from upbeat.core.workflow.facts import Fact
from upbeat.core.workflow.state import SessionState

GENESIS = "0" * 64
"""The hash before the first record of all."""

MAX_TEXT_CHARS = 4000
"""Characters of one text."""
MAX_RECORD_BYTES = 64 * 1024
"""Bytes of one record, in UTF-8."""
MAX_IDENTIFIER_CHARS = 200
"""Characters of an identifier."""
MAX_DEPTH = 16
MAX_ITEMS = 1000

FACTS_FIELD = "facts"
EFFECTS_FIELD = "effects"
"""What upbeat did, in its own words: secrets are redacted, but nothing is filtered as an imitation of upbeat."""
IDENTIFIER_FIELDS = ("at", "event", "client", "session_id", "agent_id")

_MAX_SCANNED_CHARS = 32 * 1024
"""Characters of a text that are examined. What is cut there may be half a secret, so its end goes, too."""
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
"""Longest text whose sanitized form is cached: records are full of the same names and sentences."""


FACT_KINDS = {
    fact: re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    for name, fact in vars(fact_types).items()
    if isinstance(fact, type) and issubclass(fact, Fact) and fact is not Fact
}
"""The kind under which each type of fact is stored."""
_FACT_TYPES = {kind: fact for fact, kind in FACT_KINDS.items()}


def encode_record(record: Record) -> dict[str, Any]:
    """Return what is stored of ``record``."""
    values = {column.name: getattr(record, column.name) for column in fields(record)}
    return make_storable(values | {FACTS_FIELD: _facts_to_json(record.facts)})


def decode_facts(body: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return the facts of a stored record, without those of a kind that only newer versions know.

    Raises:
        ValueError: A fact that this version knows has another form.
    """
    facts = mappings_of(upgrade_record(body), FACTS_FIELD)
    known = [(kind, fact) for fact in facts if (kind := str(fact.get("kind"))) in _FACT_TYPES]
    return tuple(decode_as(_FACT_TYPES[kind], fact) for kind, fact in known)


def is_stored_verbatim(facts: tuple[Fact, ...], body: Mapping[str, Any]) -> bool:
    """Return whether nothing had to be removed from ``facts`` to store them in ``body``."""
    return _facts_to_json(facts) == body.get(FACTS_FIELD)


def _facts_to_json(facts: Iterable[Fact]) -> list[dict[str, Any]]:
    return [{"kind": FACT_KINDS[type(fact)], **to_json_value(fact)} for fact in facts]


def encode_state(state: SessionState) -> str:
    """Return ``state`` as JSON. Its texts are those of stored records, so they are clean already."""
    return canonical_json(to_json_value(state))


def make_state_storable(state: SessionState) -> SessionState:
    """Return ``state`` with its texts redacted and cut as those of records are."""
    return decode_as(SessionState, make_storable({FACTS_FIELD: [state]})[FACTS_FIELD][0])


@lru_cache(maxsize=4)
def decode_state(text: str) -> SessionState:
    """Return the state that ``encode_state``, of this version or an older one, has written as ``text``.

    Raises:
        ValueError: It is no state.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    return decode_as(SessionState, upgrade_state(value) if LEGACY_STATE_MARK in text else value)


# Hashes


@dataclass(frozen=True, slots=True)
class Link:
    """One record as it is stored: ``text`` is canonical JSON, the hashes are hexadecimal SHA-256."""

    seq: int
    text: str
    previous: str
    digest: str


def canonical_json(body: Mapping[str, Any]) -> str:
    """Return the only JSON text that stands for ``body``: sorted keys, no spaces, no needless escapes.

    Raises:
        ValueError: It contains a number that JSON does not have.
    """
    return json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def compute_digest(previous: str, text: str) -> str:
    """Return the hash of a record whose canonical JSON is ``text``; ``previous`` is the hash of the one before it."""
    return hashlib.sha256(f"{previous}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def find_first_break(links: Iterable[Link], previous: str) -> ChainBreak | None:
    """Return the first of ``links``, in order, that does not follow ``previous`` and those before it."""
    for link in links:
        if link.previous != previous:
            return ChainBreak(link.seq, "does not follow the record before it: one was taken out, put in or changed")
        if compute_digest(link.previous, link.text) != link.digest:
            return ChainBreak(link.seq, "was changed after it was written")
        previous = link.digest
    return None


# Redaction and size limits


@dataclass(frozen=True, slots=True)
class SizeLimit:
    """How much is kept: characters of a text, items of a list or mapping (None: all)."""

    max_chars: int
    max_items: int | None


SIZE_LIMITS = (SizeLimit(1000, 100), SizeLimit(250, 30), SizeLimit(60, 10))
"""Tried one after the other while a record is too large."""


def make_storable(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record as they may be stored; doing it twice changes nothing more."""
    clean_body: dict[str, Any] = {}
    for name, value in body.items():
        if name in IDENTIFIER_FIELDS:
            clean_body[name] = make_text_storable(str(value), MAX_IDENTIFIER_CHARS)
        else:
            is_facts = name == FACTS_FIELD
            json_value = to_json_value(value, max_items=None if is_facts else MAX_ITEMS)
            clean_body[str(name)] = _storable_value(json_value, pairs=not is_facts, is_own=name == EFFECTS_FIELD)
    fitted = clean_body
    for limit in SIZE_LIMITS:
        if _size_in_bytes(fitted) <= MAX_RECORD_BYTES:
            return fitted
        fitted = {
            name: value if name == FACTS_FIELD else _truncate_value(value, limit) for name, value in clean_body.items()
        }
    if _size_in_bytes(fitted) > MAX_RECORD_BYTES:
        fitted = {name: _empty_field(name, value) for name, value in clean_body.items()}
    for limit in SIZE_LIMITS:
        if _size_in_bytes(fitted) <= MAX_RECORD_BYTES:
            break
        fitted[FACTS_FIELD] = _truncate_value(clean_body.get(FACTS_FIELD, []), SizeLimit(limit.max_chars, None))
    return fitted


def make_text_storable(text: str, max_chars: int = MAX_TEXT_CHARS, *, is_own: bool = False) -> str:
    """Return ``text`` sanitized (upbeat's own: redacted), and cut to ``max_chars`` characters."""
    if _TRIVIALLY_SAFE.fullmatch(text):
        return text
    if len(text) <= _MAX_SCANNED_CHARS:
        clean = (_clean_short_text if len(text) <= _MAX_CACHED_CHARS else _clean_text)(text, is_own)
        return clean if len(clean) <= max_chars else _cut_and_mark(clean, max_chars, 0)
    kept = _clean_text(text[:_MAX_SCANNED_CHARS], is_own)[:-_SECRET_MARGIN]
    return _cut_and_mark(kept, max_chars, len(text) - _MAX_SCANNED_CHARS + _SECRET_MARGIN)


def _clean_text(text: str, is_own: bool) -> str:
    return redact(strip_controls(text)).text if is_own else sanitize_text(text).text


_clean_short_text = lru_cache(maxsize=2048)(_clean_text)


def truncate_with_mark(text: str, max_chars: int) -> str:
    """Return ``text`` if it has at most ``max_chars`` characters; else its beginning with a mark, in that many."""
    return text if len(text) <= max_chars else _cut_and_mark(text, max_chars, 0)


def original_length(text: str) -> int:
    """Return how many characters ``text`` had before it was cut, according to its mark."""
    mark = _TRUNCATION_MARK.search(text[-_MAX_MARK_CHARS:])
    return len(text) - len(mark[0]) + int(mark[1]) if mark else len(text)


def to_json_value(value: Any, depth: int = 0, max_items: int | None = None) -> Any:
    """Return any ``value`` as JSON; what JSON has no form for becomes text.

    Of a list or mapping, ``max_items`` are kept if given; the last of them is a mark if some are gone.
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
        return {part.name: to_json_value(getattr(value, part.name), depth + 1, max_items) for part in fields(value)}
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
    """Return at most ``max_items`` of ``values``. A list of mappings gets no mark, which would not be one."""
    if max_items is None or len(values) <= max_items:
        return values
    if isinstance(values[0], Mapping) or is_dataclass(values[0]):
        return values[:max_items]
    return [*values[: max_items - 1], f"… {len(values) - max_items + 1} more"]


def _limit_mapping(values: Mapping[Any, Any], max_items: int | None) -> Mapping[Any, Any]:
    if max_items is None or len(values) <= max_items:
        return values
    return dict(islice(values.items(), max_items - 1)) | {"…": f"{len(values) - max_items + 1} more"}


def _storable_value(value: Any, *, pairs: bool, is_own: bool = False) -> Any:
    """Return a JSON value with its texts sanitized and cut. ``pairs``: a name also tells that its value is a secret."""
    if isinstance(value, str):
        return make_text_storable(value, is_own=is_own)
    if isinstance(value, dict):
        return {
            make_text_storable(key): _redact_pair(key, inner)
            if pairs and isinstance(inner, str) and _SECRET_KEY_NAME.search(key) and not inner.startswith("<redacted:")
            else _storable_value(inner, pairs=pairs, is_own=is_own)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_storable_value(inner, pairs=pairs, is_own=is_own) for inner in value]
    return value


def _redact_pair(key: str, value: str) -> str:
    """Return the text ``value`` of a key whose name suggests a secret, redacted if it is one."""
    redactions = redact(f'"{key[:MAX_IDENTIFIER_CHARS]}": "{value[:_MAX_SCANNED_CHARS]}"').redactions
    return f"<redacted:{redactions[0][0]}>" if redactions else make_text_storable(value)


def _truncate_value(value: Any, limit: SizeLimit) -> Any:
    """Return a sanitized value with its texts and lists cut."""
    if isinstance(value, str):
        return truncate_with_mark(value, limit.max_chars)
    if isinstance(value, dict):
        kept = _limit_mapping(value, limit.max_items)
        return {truncate_with_mark(key, limit.max_chars): _truncate_value(inner, limit) for key, inner in kept.items()}
    if isinstance(value, list):
        return [_truncate_value(inner, limit) for inner in _limit_items(value, limit.max_items)]
    return value


def _empty_field(name: str, value: Any) -> Any:
    """Return the empty value of a field that is still too large, with a mark if it can have one."""
    if name == FACTS_FIELD or not isinstance(value, dict | list) or not value:
        return value
    return {"…": f"{len(value)} more"} if isinstance(value, dict) else []


def _cut_and_mark(text: str, max_chars: int, missing_chars: int) -> str:
    """Return the beginning of ``text`` with a mark, in ``max_chars`` characters; ``missing_chars`` are gone already."""
    room = max(max_chars - len(f" … [{len(text) + missing_chars} more characters]"), 0)
    kept = _PARTIAL_REDACTION.sub("", text[:room]).rstrip()
    return f"{kept} … [{len(text) + missing_chars - len(kept)} more characters]"


def _size_in_bytes(body: Mapping[str, Any]) -> int:
    return len(canonical_json(body).encode("utf-8", "replace"))
