"""Records and states as JSON, and back.

Invariant: whatever is written can be read again. What a newer version has added is left alone when it is read; a state
that cannot be read is a ``ValueError``, never half a state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, get_args

from upbeat.core.journal.chain import canonical_json
from upbeat.core.journal.fit import FACTS_FIELD, make_storable, to_json_value
from upbeat.core.journal.legacy import LEGACY_STATE_MARK, upgrade_record, upgrade_state
from upbeat.core.journal.record import Record
from upbeat.core.workflow.facts import Fact
from upbeat.core.workflow.state import SessionState

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FACT_TYPES = {str(kind.__dataclass_fields__["kind"].default): kind for kind in get_args(Fact)}
"""The facts that this version knows, by their kind."""


def encode_record(record: Record) -> dict[str, Any]:
    """What is stored of ``record``: JSON, without secrets, bounded (see ``fit``)."""
    return make_storable({one.name: getattr(record, one.name) for one in fields(record)})


def decode_facts(body: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The facts of a stored record; those of a kind that only newer versions know are left out.

    Raises:
        ValueError: a fact that this version knows has another form.
    """
    facts = upgrade_record(body).get(FACTS_FIELD)
    known = [fact for fact in facts if _fact_kind(fact) in FACT_TYPES] if isinstance(facts, list) else []
    with _shorten_validation_error():
        return tuple(_fact_adapter(_fact_kind(fact)).validate_python(fact) for fact in known)


def is_stored_verbatim(facts: tuple[Fact, ...], body: Mapping[str, Any]) -> bool:
    """Whether nothing had to be taken out of ``facts`` to store them in ``body``."""
    return bool(to_json_value(facts) == body.get(FACTS_FIELD))


def decode_record(body: Mapping[str, Any]) -> Record:
    """The record that ``body`` was made of.

    Raises:
        ValueError: it is none.
    """
    body = upgrade_record(body)
    without = {name: value for name, value in body.items() if name != FACTS_FIELD}
    with _shorten_validation_error():
        return replace(_record_adapter().validate_python(without), facts=decode_facts(body))


def encode_state(state: SessionState) -> str:
    """``state`` as JSON. Its texts are those of stored records, so they are clean already (see ``fitted``)."""
    return canonical_json(to_json_value(state))


def make_state_storable(state: SessionState) -> SessionState:
    """``state`` with its texts cleaned and cut as those of records are."""
    with _shorten_validation_error():
        return _state_adapter().validate_python(make_storable({FACTS_FIELD: [state]})[FACTS_FIELD][0])


@lru_cache(maxsize=4)
def decode_state(text: str) -> SessionState:
    """The state that ``text`` stands for.

    Raises:
        ValueError: it is none.
    """
    with _shorten_validation_error():
        if LEGACY_STATE_MARK in text:
            return _state_adapter().validate_python(upgrade_state(json.loads(text)))
        return _state_adapter().validate_json(text)


def _fact_kind(fact: object) -> str:
    return str(fact.get("kind")) if isinstance(fact, Mapping) else ""


@contextmanager
def _shorten_validation_error() -> Iterator[None]:
    """Where it does not fit and how, without what stands there."""
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        raise ValueError(f"{place}: {first['msg']}") from None


# Building an adapter takes some milliseconds, so each is built when it is needed.


@cache
def _fact_adapter(kind: str) -> TypeAdapter[Fact]:
    from pydantic import TypeAdapter

    return TypeAdapter(FACT_TYPES[kind])


@cache
def _state_adapter() -> TypeAdapter[SessionState]:
    from pydantic import TypeAdapter

    return TypeAdapter(SessionState)


@cache
def _record_adapter() -> TypeAdapter[Record]:
    from pydantic import TypeAdapter

    return TypeAdapter(Record)
