"""Asks the policies that are on. Law: the fault of one policy costs that policy's word, and is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ..contract.event import Event
from ..workflow.state import SessionState
from .look import Look
from .policy import SILENT, Policy, View, Word

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one policy says to one event. ``failure`` is what went wrong in it."""

    policy: Policy
    word: Word
    failure: str = ""


def in_force(policies: Iterable[Policy], on: Iterable[str], off: Iterable[str]) -> tuple[Policy, ...]:
    """Those that are on: by default or by name in ``on``, and not by name in ``off``."""
    wanted, unwanted = frozenset(on), frozenset(off)
    return tuple(one for one in policies if (one.is_on or one.name in wanted) and one.name not in unwanted)


def looks(event: Event, state: SessionState, policies: Iterable[Policy]) -> tuple[Look, ...]:
    """What the policies want to know of the world before they are asked, each thing once."""
    asked = (one for one in policies if type(event) in one.on)
    wanted = (_guarded(partial(one.looks, event, state)) for one in asked)
    return tuple(dict.fromkeys(look for found in wanted if not isinstance(found, _Failure) for look in found))


def judge(event: Event, view: View, policies: Iterable[Policy]) -> tuple[Opinion, ...]:
    """What the policies say to ``event``; those that say nothing at all are left out."""
    return tuple(_opinions(event, view, policies))


def _opinions(event: Event, view: View, policies: Iterable[Policy]) -> Iterator[Opinion]:
    for policy in policies:
        rule = policy.on.get(type(event))
        if rule is None:
            continue
        own = replace(view, notes=view.state.notes(policy.name))
        word = _guarded(partial(rule, event, own))
        if isinstance(word, _Failure):
            yield Opinion(policy, SILENT, word.text)
        elif word != SILENT:
            yield Opinion(policy, word)


@dataclass(frozen=True, slots=True)
class _Failure:
    """What went wrong in a policy."""

    text: str


def _guarded(ask: Callable[[], T]) -> T | _Failure:
    """The answer of a policy. The boundary of policies: the fault of one costs no other's word."""
    try:
        return ask()
    except Exception as error:
        return _Failure(f"{type(error).__name__}: {error}"[:200])
