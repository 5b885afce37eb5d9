"""Read JSON values as the dataclasses that they were written from.

Invariant: what a newer version has added is left out; everything else has its declared type, or the whole is a
``ValueError``. There is no schema to build first, as a validator would, because every hook reads one state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from upbeat.core.lazy_dataclass import MISSING, fields, is_dataclass

T = TypeVar("T")
_Union = type(int | None)
Decoder = Callable[[Any, str], Any]
"""(JSON value, place) -> value; raises ValueError."""


def decode_as(kind: type[T], value: Any) -> T:
    """Return ``value`` as ``kind``, a dataclass of scalars, enums, tuples and dataclasses.

    Raises:
        ValueError: It has another form; the text names the place and the problem, not the value.
    """
    decoded: T = _decoder(cast("Any", kind))(value, "")
    return decoded


@cache
def _decoder(kind: Any) -> Decoder:
    arguments = get_args(kind)
    if isinstance(kind, _Union):
        [inner] = (argument for argument in arguments if argument is not type(None))
        return _optional(_decoder(inner))
    if get_origin(kind) is tuple:
        return _sequence(_decoder(arguments[0]))
    if is_dataclass(kind):
        return _object(kind)
    if issubclass(kind, Enum):
        return _enum(kind)
    return _scalar(kind)


def _optional(decode: Decoder) -> Decoder:
    return lambda value, place: None if value is None else decode(value, place)


def _sequence(decode: Decoder) -> Decoder:
    def decode_all(value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _problem(place, "expected a list")
        return tuple([decode(item, f"{place}.{number}") for number, item in enumerate(value)])

    return decode_all


def _object(kind: Any) -> Decoder:
    hints = get_type_hints(kind)
    names = {part.name for part in fields(kind)}
    required = [part.name for part in fields(kind) if part.default is MISSING and part.default_factory is MISSING]

    def decode(value: Any, place: str) -> Any:
        if not isinstance(value, Mapping):
            raise _problem(place, "expected an object")
        for name in required:
            if name not in value:
                raise _problem(f"{place}.{name}", "missing")
        known = names & value.keys()
        return kind(**{name: _decoder(hints[name])(value[name], f"{place}.{name}") for name in known})

    return decode


def _enum(kind: type[Enum]) -> Decoder:
    def decode(value: Any, place: str) -> Enum:
        try:
            return kind(value)
        except ValueError:
            raise _problem(place, f"no {kind.__name__}") from None

    return decode


def _scalar(kind: type) -> Decoder:
    def decode(value: Any, place: str) -> Any:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise _problem(place, f"expected {kind.__name__}, got {type(value).__name__}")

    return decode


def _problem(place: str, problem: str) -> ValueError:
    return ValueError(f"{place.lstrip('.') or 'all of it'}: {problem}")
