"""Records and states as JSON, and back.

Law: whatever is written can be read again. What a newer version has added is left alone when it is read; a state
that cannot be read is a ``ValueError``, never half a state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from ..workflow.facts import Fact
from ..workflow.state import SessionState
from .chain import canonical
from .fit import FACTS, fit, plain
from .record import Record

if TYPE_CHECKING:
    from pydantic import TypeAdapter

KINDS = {str(kind.__dataclass_fields__["kind"].default): kind for kind in get_args(Fact)}
"""The facts that this version knows, by their kind."""


def body_of(record: Record) -> dict[str, Any]:
    """What is stored of ``record``: JSON, without secrets, bounded (see ``fit``)."""
    return fit({one.name: getattr(record, one.name) for one in fields(record)})


def facts_in(body: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The facts of a stored record; those of a kind that only newer versions know are left out.

    Raises:
        ValueError: a fact that this version knows has another form.
    """
    told = body.get(FACTS)
    known = [fact for fact in told if _kind(fact) in KINDS] if isinstance(told, list) else []
    with _told_in_short():
        return tuple(_fact_adapter(_kind(fact)).validate_python(fact) for fact in known)


def is_as_told(facts: tuple[Fact, ...], body: Mapping[str, Any]) -> bool:
    """Whether nothing had to be taken out of ``facts`` to store them in ``body``."""
    return bool(plain(facts) == body.get(FACTS))


def record_in(body: Mapping[str, Any]) -> Record:
    """The record that ``body`` was made of.

    Raises:
        ValueError: it is none.
    """
    without = {name: value for name, value in body.items() if name != FACTS}
    with _told_in_short():
        return replace(_record_adapter().validate_python(without), facts=facts_in(body))


def text_of(state: SessionState) -> str:
    """``state`` as JSON. Its texts are those of stored records, so they are clean already (see ``fitted``)."""
    return canonical(plain(state))


def fitted(state: SessionState) -> SessionState:
    """``state`` with its texts cleaned and cut as those of records are."""
    with _told_in_short():
        return _state_adapter().validate_python(fit({FACTS: [state]})[FACTS][0])


def state_in(text: str) -> SessionState:
    """The state that ``text`` stands for.

    Raises:
        ValueError: it is none.
    """
    with _told_in_short():
        return _state_adapter().validate_json(text)


def _kind(fact: object) -> str:
    return str(fact.get("kind")) if isinstance(fact, Mapping) else ""


@contextmanager
def _told_in_short() -> Iterator[None]:
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

    return TypeAdapter(KINDS[kind])


@cache
def _state_adapter() -> TypeAdapter[SessionState]:
    from pydantic import TypeAdapter

    return TypeAdapter(SessionState)


@cache
def _record_adapter() -> TypeAdapter[Record]:
    from pydantic import TypeAdapter

    return TypeAdapter(Record)
