"""All the rules that are known in one repository, and what they say together. Law: a fault costs one rule's word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..contract.effect import Said
from ..contract.event import Event
from ..merge import Voice
from .apply import apply, is_about
from .rule import EVENTS, Outcome, Owner, Rule, Verdict
from .seen import Seen

RANK = 30
"""After the workflow and the prepared turn, before the policies: what a person wrote comes before what we did."""
PAGE = "rules"
"""What was said once is noted under this name."""
UNTRUSTED = "not trusted"


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules, a sentence for everything that is wrong with their files, and the files that wait for trust."""

    rules: tuple[Rule, ...] = ()
    problems: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What the rules say to one event. ``once`` has (voice, mark) of what is not to be said again once it was heard."""

    voices: tuple[Voice, ...] = ()
    once: tuple[tuple[str, str], ...] = ()


def in_force(rules: Iterable[Rule], event: Event, borrowed: str) -> tuple[Rule, ...]:
    """Those that have anything to say of ``event``.

    ``borrowed`` says where rules of other programs count: ``off``, ``codex`` (their own client has them), ``all``.
    """
    allowed = (one for one in rules if type(event) in EVENTS[one.event].events)
    chosen = (_lent(one, borrowed) if one.is_borrowed else one for one in allowed)
    return tuple(one for one in chosen if one is not None and is_about(one, event))


def _lent(rule: Rule, borrowed: str) -> Rule | None:
    if borrowed == "off":
        return None
    return replace(rule, clients=frozenset()) if borrowed == "all" else rule


def ask(
    rules: Iterable[Rule], event: Event, root: str, noted: tuple[str, ...], language: str, *, is_held_out: bool = False
) -> Answer:
    """What ``rules`` say to ``event`` in the repository at ``root``; ``noted`` is what was noted before."""
    seen = Seen(event, root)
    voices: list[Voice] = []
    once: list[tuple[str, str]] = []
    for rule in rules:
        outcome = apply(rule, event, root, language=language, seen=seen)
        if outcome.verdict is Verdict.NO:
            continue
        if rule.once and outcome.effect is not None:
            mark = f"{event.source.agent_mark} {rule.file}".strip()  # another agent has not heard it
            if mark in noted:
                continue
            once.append((f"rule {rule.name}", mark))
        voices.append(_voice(rule, outcome, is_held_out=is_held_out))
    return Answer(tuple(voices), tuple(once))


def _voice(rule: Rule, outcome: Outcome, *, is_held_out: bool) -> Voice:
    part = f"rule {rule.name}"
    effects = () if outcome.effect is None else (outcome.effect,)
    decided = type(outcome.effect).__name__ if outcome.effect else outcome.verdict.value
    if outcome.verdict is Verdict.UNKNOWN:
        decided = outcome.verdict.value
    elif outcome.effect is None and rule.owner is Owner.STRANGER:
        decided = UNTRUSTED
    said = Said(part, decided, outcome.because, {}, rule.place)
    return Voice(part, effects, RANK, (said,), is_withheld=is_held_out)
