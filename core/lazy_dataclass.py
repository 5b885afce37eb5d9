"""Dataclasses that cost little to define: a hook defines two hundred and makes values of twenty.

To type checkers and to callers, ``dataclass``, ``field``, ``fields`` and ``replace`` are those of the standard library,
as far as this package uses them. The standard library compiles up to six methods for each class (0.5 ms) and takes 6 ms
to import; here all classes share theirs. Invariant: the standard ``dataclasses`` treats these classes as its own.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import MISSING as MISSING
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import fields as fields
    from dataclasses import is_dataclass as is_dataclass
    from dataclasses import replace as replace
else:
    MISSING = object()
    """There is no default."""

    def field(**options: Any) -> Any:
        """Declare a field that has more than a default."""
        return Field(**options)

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
        """Return the decorator that makes a class a dataclass."""
        return lambda cls: _process(cls, frozen, slots, eq)

    def fields(value: Any) -> tuple[Any, ...]:
        """Return the fields of a dataclass or of its value, also of a standard one."""
        own = getattr(value, "__lazy_fields__", None)
        if own is not None:
            return own
        import dataclasses

        return dataclasses.fields(value)

    def is_dataclass(value: Any) -> bool:
        """Return whether ``value`` is a dataclass or the value of one."""
        kind = value if isinstance(value, type) else type(value)
        return hasattr(kind, "__lazy_fields__") or hasattr(kind, "__dataclass_fields__")

    def replace(value: Any, /, **changes: Any) -> Any:
        """Return ``value`` with some fields changed."""
        for part in fields(value):
            if part.name not in changes:
                changes[part.name] = getattr(value, part.name)
        return type(value)(**changes)


class Field:
    """A field, with those attributes of the standard one that are used here."""

    __slots__ = ("compare", "default", "default_factory", "name", "repr", "type")

    def __init__(
        self,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        repr: bool = True,  # noqa: A002 -- as the standard one
        compare: bool = True,
    ) -> None:
        self.default, self.default_factory, self.repr, self.compare = default, default_factory, repr, compare
        self.name, self.type = "", ""


def _process(cls: type, is_frozen: bool, has_slots: bool, has_eq: bool) -> type:
    """Return ``cls`` with the methods of a dataclass; with slots it is another class, as in the standard library."""
    declared = _declared_fields(cls)
    every = {part.name: part for base in reversed(cls.__mro__) for part in base.__dict__.get("__lazy_fields__", ())}
    inherited = set(every)
    every |= declared
    members: dict[str, Any] = {"__lazy_fields__": tuple(every.values()), "__init__": _init}
    shared: dict[str, Any] = {"__match_args__": tuple(every), "__repr__": _repr}
    if has_eq:
        shared |= {"__eq__": _eq}
        members |= {} if vars(cls).get("__hash__") else {"__hash__": _hash if is_frozen else None}
    if is_frozen:
        members |= {
            "__setattr__": _refuse,
            "__delattr__": _refuse,
            "__getstate__": _getstate,
            "__setstate__": _setstate,
        }
    members |= {name: value for name, value in shared.items() if name not in vars(cls)}
    members |= _STANDARD
    if has_slots:
        hidden = {*declared, "__dict__", "__weakref__"}
        own = {name: value for name, value in vars(cls).items() if name not in hidden}
        own |= members | {"__slots__": tuple(name for name in declared if name not in inherited)}
        qualified = cls.__qualname__
        cls = type(cls)(cls.__name__, cls.__bases__, own)
        cls.__qualname__ = qualified
    else:
        members |= {name: part.default for name, part in declared.items() if part.default is not MISSING}
        for name, value in members.items():
            setattr(cls, name, value)
    cls.__lazy_frozen__ = is_frozen  # type: ignore[attr-defined]
    return cls


def _declared_fields(cls: type) -> dict[str, Field]:
    """Return the fields that ``cls`` itself declares, in order."""
    declared = {}
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        if str(annotation).startswith("ClassVar"):
            continue
        default = vars(cls).get(name, MISSING)
        part = default if isinstance(default, Field) else Field(default)
        part.name, part.type = name, annotation
        declared[name] = part
    return declared


def _init(self: Any, *args: Any, **values: Any) -> None:
    cls = type(self)
    plan = _PLANS.get(cls) or _plan(cls)
    for part, value in zip(plan, args, strict=False):
        part[1](self, value)
    for name, store, default, factory in plan[len(args) :]:
        if name in values:
            store(self, values.pop(name))
        elif default is not MISSING:
            store(self, default)
        elif factory is not MISSING:
            store(self, factory())
        else:
            raise TypeError(f"{cls.__name__}() misses the argument {name!r}")
    if values or len(args) > len(plan):
        raise TypeError(f"{cls.__name__}() got too many arguments: {[*args[len(plan) :], *values]}")
    if finish := getattr(self, "__post_init__", None):
        finish()


_PLANS: dict[type, tuple[tuple[str, Any, Any, Any], ...]] = {}
"""For each class: name, function that stores the value, default, and default factory of each field."""


def _plan(cls: Any) -> tuple[tuple[str, Any, Any, Any], ...]:
    def store_function(name: str) -> Any:
        descriptor: Any = getattr(cls, name, None)
        if type(descriptor).__name__ == "member_descriptor":
            return descriptor.__set__
        return lambda self, value: object.__setattr__(self, name, value)

    plan = tuple((part.name, store_function(part.name), part.default, part.default_factory) for part in fields(cls))
    _PLANS[cls] = plan
    return plan


_GETTERS: dict[type, Any] = {}
"""For each class: the function that returns the compared fields of a value."""


def _compared(value: Any) -> Any:
    cls = type(value)
    get = _GETTERS.get(cls)
    if get is None:
        names = [part.name for part in fields(cls) if part.compare]
        _GETTERS[cls] = get = attrgetter(*names) if len(names) > 1 else lambda it: tuple(getattr(it, n) for n in names)
    return get(value)


def _eq(self: Any, other: Any) -> Any:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _repr(self: Any) -> str:
    shown = (f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, *_value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r} of {type(self).__name__}, which is frozen")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, part.name) for part in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for part, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, part.name, value)


class _Standard:
    """What the standard library keeps of a dataclass, made from an equal standard one when it is read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, _value: Any, owner: Any) -> Any:
        import dataclasses
        import inspect

        members = []
        for part in fields(owner):
            default = dataclasses.MISSING if part.default is MISSING else part.default
            factory = dataclasses.MISSING if part.default_factory is MISSING else part.default_factory
            declared: Any = {"default": default, "default_factory": factory, "repr": part.repr, "compare": part.compare}
            members.append((part.name, part.type, dataclasses.field(**declared)))
        twin = dataclasses.make_dataclass(owner.__name__, members, frozen=owner.__lazy_frozen__)
        for name in _STANDARD:  # made once: a class is asked for them at every replacement
            setattr(owner, name, inspect.signature(twin) if name == "__signature__" else vars(twin)[name])
        return getattr(owner, self._name)


_STANDARD = {name: _Standard(name) for name in ("__dataclass_fields__", "__dataclass_params__", "__signature__")}
