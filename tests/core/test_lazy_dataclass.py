"""A lazy dataclass behaves as the standard one, to callers and to the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core import lazy_dataclass
from upbeat.core.lazy_dataclass import MISSING, dataclass, field, fields, is_dataclass, replace


def define(decorator: Any, make_field: Any) -> Any:
    """Return the same class by either library."""

    @decorator(frozen=True, slots=True)
    class Point:
        """A point."""

        x: int
        y: float = 0.0
        names: list[str] = make_field(default_factory=list)
        raw: Any = make_field(default=None, compare=False, repr=False)
        origin: ClassVar[int] = 0

        @property
        def total(self) -> float:
            return self.x + self.y

    return Point


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: float = 0.0
    raw: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Named(Point):
    name: str = "p"


@dataclass(slots=True)
class Counter:
    count: int = 0
    seen: list[str] = field(default_factory=list)


LAZY, STANDARD = define(dataclass, field), define(dataclasses.dataclass, dataclasses.field)
ARGUMENTS = st.tuples(st.integers(0, 3), st.floats(0, 3), st.lists(st.text(max_size=2), max_size=2), st.integers())


@given(ARGUMENTS, ARGUMENTS)
def test_values_are_made_compared_and_shown_as_standard_ones(some: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    """Equality leaves out what is not compared, and the text what is not shown."""
    lazy, standard = (LAZY(*some), LAZY(*other)), (STANDARD(*some), STANDARD(*other))

    assert (lazy[0] == lazy[1]) == (standard[0] == standard[1])
    assert repr(lazy[0]) == repr(standard[0])
    assert lazy[0].total == standard[0].total
    assert replace(lazy[0], x=9) == dataclasses.replace(lazy[0], x=9) == LAZY(9, *some[1:])
    assert dataclasses.asdict(lazy[0]) == dataclasses.asdict(standard[0])
    assert lazy[0] != standard[0]


@pytest.mark.parametrize("arguments", [((), {}), ((1, 2, [], 4, 5), {}), ((1,), {"x": 2}), ((1,), {"z": 2})])
def test_wrong_arguments_are_refused(arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    """Both libraries refuse the same calls, with the name of the class."""
    for kind in (LAZY, STANDARD):
        with pytest.raises(TypeError, match="Point"):
            kind(*arguments[0], **arguments[1])


def test_a_frozen_value_does_not_change() -> None:
    """The error is the standard one; a value can be hashed, copied, pickled and matched."""
    point = Point(1, 2.0)
    with pytest.raises(dataclasses.FrozenInstanceError, match="frozen"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x

    assert {point} == {Point(1, 2.0, "not compared")}
    assert point == copy.deepcopy(point) == pickle.loads(pickle.dumps(point))
    assert not hasattr(point, "__dict__")
    match point:
        case Point(x, y):
            assert (1, 2.0) == (x, y)


def test_a_value_that_is_not_frozen_changes() -> None:
    """Defaults are made for each value."""
    first, second = Counter(), Counter()
    first.count += 1
    first.seen.append("a")

    assert (1, ["a"], 0, []) == (first.count, first.seen, second.count, second.seen)
    with pytest.raises(TypeError, match="unhashable"):
        hash(first)


def test_a_subclass_has_the_fields_of_its_base_first() -> None:
    """Defaults are inherited; values of different classes are not equal."""
    assert ["x", "y", "raw", "name"] == [part.name for part in fields(Named)]
    assert (1, 0.0, "p") == (Named(1).x, Named(1).y, Named(1).name)
    assert Named(1) != Point(1)


def test_the_standard_library_knows_it() -> None:
    """Fields, signature and ``is_dataclass`` are those of an equal standard class."""
    named = ("name", "default", "repr", "compare")
    lazy, standard = dataclasses.fields(LAZY), dataclasses.fields(STANDARD)

    assert [[getattr(f, n) for n in named] for f in standard] == [[getattr(f, n) for n in named] for f in lazy]
    assert list(inspect.signature(STANDARD).parameters) == list(inspect.signature(LAZY).parameters)
    assert dataclasses.is_dataclass(LAZY)
    assert [True, True, False] == [is_dataclass(LAZY(1)), is_dataclass(STANDARD), is_dataclass(5)]
    assert MISSING is fields(LAZY)[0].default
    assert dataclasses.fields(STANDARD) == fields(STANDARD)
    assert STANDARD(2) == lazy_dataclass.replace(STANDARD(1), x=2)


def test_the_standard_form_is_made_once() -> None:
    """The standard library's own functions find the same fields each time: making them costs a millisecond."""

    @lazy_dataclass.dataclass(frozen=True, slots=True)
    class Point:
        x: int = 0

    assert Point(1) == dataclasses.replace(Point(), x=1)
    assert dataclasses.fields(Point)[0] is dataclasses.fields(Point)[0]
