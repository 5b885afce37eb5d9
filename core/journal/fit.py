"""What may be stored of a record: plain JSON without secrets and controls, no text and no record without end.

Law: redact before cutting, so that no half of a secret is left; every cut leaves a mark that says how much is gone.
What a session's state is folded from (``facts``) is cut last, and never loses a fact.
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

from ..turn.clean import clean
from ..turn.redact import redact
from .chain import canonical

MAX_TEXT = 4000
"""Characters of one text."""
MAX_BODY = 64 * 1024
"""Bytes of one record, in UTF-8."""
MAX_NAME = 200
"""Characters of an identifier."""
MAX_DEPTH = 16
MAX_ITEMS = 1000

FACTS = "facts"
NAMES = ("at", "event", "client", "session_id", "agent_id")

_RAW = 32 * 1024
"""Characters of a text that are looked at. What is cut there may be half a secret, so its end goes, too."""
_HALF_SECRET = 4096
_HARMLESS = re.compile(r"[\w.-]{0,15}", re.ASCII)
"""Too short for any secret that has a form."""
_TELLING = re.compile(r"(?i)pass|pwd|secret|token|key|auth|credential|cookie|密|口令|令牌|私")
_MARK = re.compile(r" … \[(\d{1,18}) more characters\]$")
_LONGEST_MARK = 60
_TORN_MARK = re.compile(r"<[a-z:-]{0,40}$")
_LONGEST_INT = 63
_AS_IS = frozenset({str, bool, type(None)})
_SHORT = 200
"""Characters of a text that is remembered clean: records are full of the same names and sentences."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How much is kept: characters of a text, items of a list or mapping (None: all)."""

    text: int
    items: int | None


TIGHTER = (Measure(1000, 100), Measure(250, 30), Measure(60, 10))
"""Tried one after the other while a record is too large."""


def fit(body: Mapping[str, Any]) -> dict[str, Any]:
    """A record's fields as they may be stored; fitting twice changes nothing more."""
    clean_body = {str(name): _fit_field(str(name), value) for name, value in body.items()}
    fitted = clean_body
    for measure in TIGHTER:
        if _bytes(fitted) <= MAX_BODY:
            return fitted
        fitted = {name: value if name == FACTS else _cut(value, measure) for name, value in clean_body.items()}
    if _bytes(fitted) > MAX_BODY:
        fitted = {name: _emptied(name, value) for name, value in clean_body.items()}
    for measure in TIGHTER:
        if _bytes(fitted) <= MAX_BODY:
            break
        fitted[FACTS] = _cut(clean_body.get(FACTS, []), Measure(measure.text, None))
    return fitted


def fit_text(text: str, most: int = MAX_TEXT) -> str:
    """``text`` cleaned, and cut to ``most`` characters."""
    if _HARMLESS.fullmatch(text):
        return text
    if len(text) <= _SHORT:
        return cut(_clean_short(text), most)
    if len(text) <= _RAW:
        return cut(clean(text).text, most)
    kept = clean(text[:_RAW]).text[:-_HALF_SECRET]
    return _marked(kept, most, len(text) - _RAW + _HALF_SECRET)


@lru_cache(maxsize=2048)
def _clean_short(text: str) -> str:
    return clean(text).text


def cut(text: str, most: int) -> str:
    """``text`` if it has at most ``most`` characters; else its beginning, with a mark, no longer than that."""
    return text if len(text) <= most else _marked(text, most, 0)


def whole_length(text: str) -> int:
    """Characters that ``text`` had before it was cut, as far as its mark tells."""
    found = _MARK.search(text[-_LONGEST_MARK:])
    return len(text) - len(found[0]) + int(found[1]) if found else len(text)


def plain(value: Any, depth: int = 0, most: int | None = None) -> Any:
    """``value`` as JSON has it, whatever it is; what JSON has no form for becomes text.

    Of a list or mapping ``most`` items are kept, if given, the last of them a mark when some are gone.
    """
    if type(value) in _AS_IS:
        return value
    if isinstance(value, Enum):
        return plain(value.value, depth, most)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return value if value.bit_length() <= _LONGEST_INT else f"a whole number of {value.bit_length()} bits"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{len(value)} bytes"
    if depth >= MAX_DEPTH:
        return "…"
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name), depth + 1, most) for one in fields(value)}
    if isinstance(value, Mapping):
        kept = _some_items(value, most)
        return {str(key): plain(inner, depth + 1, most) for key, inner in kept.items()}
    if isinstance(value, Set):
        return sorted((plain(inner, depth + 1, most) for inner in value), key=str)[:most]
    if isinstance(value, Sequence):
        return [plain(inner, depth + 1, most) for inner in _some(value, most)]
    return str(value)


def _some(values: Sequence[Any], most: int | None) -> Sequence[Any]:
    """At most ``most`` of ``values``. A list of records gets no mark: it holds records only."""
    if most is None or len(values) <= most:
        return values
    if isinstance(values[0], Mapping) or is_dataclass(values[0]):
        return values[:most]
    return [*values[: most - 1], f"… {len(values) - most + 1} more"]


def _some_items(values: Mapping[Any, Any], most: int | None) -> Mapping[Any, Any]:
    if most is None or len(values) <= most:
        return values
    return dict(islice(values.items(), most - 1)) | {"…": f"{len(values) - most + 1} more"}


def _fit_field(name: str, value: Any) -> Any:
    if name in NAMES:
        return fit_text(str(value), MAX_NAME)
    if name == FACTS:
        return _clean(plain(value), pairs=False)
    return _clean(plain(value, most=MAX_ITEMS), pairs=True)


def _clean(value: Any, *, pairs: bool) -> Any:
    """A JSON value with its texts cleaned and cut. ``pairs``: a name also says that its value is a secret."""
    if isinstance(value, str):
        return fit_text(value)
    if isinstance(value, dict):
        return {fit_text(key): _clean_pair(key, inner, pairs=pairs) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner, pairs=pairs) for inner in value]
    return value


def _clean_pair(key: str, value: Any, *, pairs: bool) -> Any:
    if pairs and isinstance(value, str) and _TELLING.search(key) and not value.startswith("<redacted:"):
        found = redact(f'"{key[:MAX_NAME]}": "{value[:_RAW]}"').redactions
        if found:
            return f"<redacted:{found[0][0]}>"
    return _clean(value, pairs=pairs)


def _cut(value: Any, measure: Measure) -> Any:
    """A clean value with its texts and lists cut."""
    if isinstance(value, str):
        return cut(value, measure.text)
    if isinstance(value, dict):
        kept = _some_items(value, measure.items)
        return {cut(key, measure.text): _cut(inner, measure) for key, inner in kept.items()}
    if isinstance(value, list):
        return [_cut(inner, measure) for inner in _some(value, measure.items)]
    return value


def _emptied(name: str, value: Any) -> Any:
    """Nothing of a field that is still too large, but what kind it was and that it is gone."""
    if name == FACTS or not isinstance(value, dict | list) or not value:
        return value
    return {"…": f"{len(value)} more"} if isinstance(value, dict) else []


def _marked(text: str, most: int, gone: int) -> str:
    """The beginning of ``text`` with the mark, in ``most`` characters at most; ``gone`` more are missing already."""
    room = max(most - len(f" … [{len(text) + gone} more characters]"), 0)
    kept = _TORN_MARK.sub("", text[:room]).rstrip()
    return f"{kept} … [{len(text) + gone - len(kept)} more characters]"


def _bytes(body: Mapping[str, Any]) -> int:
    return len(canonical(body).encode("utf-8", "replace"))
