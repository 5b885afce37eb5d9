"""How a rule, or a policy, is asked about the past.

Law: only what is pure in its event can be asked; a policy that looks things up or remembers is refused, with why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..contract.effect import Effect
from ..contract.event import Event
from ..policies.judge import judge
from ..policies.policy import Policy, View, no_looks
from .apply import apply
from .backtest import Judge, NotPure, RuleFailed
from .rule import Owner, Rule, Verdict


def of_policy(policy: Policy, language: str) -> Judge:
    """The policy as one asks it about the past.

    Raises:
        NotPure: it has to look things up; and while it is asked, when it notes something for later events.
    """
    if policy.looks is not no_looks:
        raise NotPure(
            f"the policy {policy.name} looks at files and the like as they were at that moment; the past cannot tell"
        )

    def asked(event: Event, root: str, at: float) -> tuple[Effect, ...]:
        effects: tuple[Effect, ...] = ()
        for opinion in judge(event, View(at=at, language=language, root=root), (policy,)):
            if opinion.failure:
                raise RuleFailed(opinion.failure)
            if opinion.word.notes is not None:
                raise NotPure(
                    f"the policy {policy.name} remembers what it has said, which would have changed the past; "
                    "only one that looks at one event alone can be tried on it"
                )
            effects += opinion.word.effects
        return effects

    return asked


def of_rules(rules: Iterable[Rule], language: str) -> Judge:
    """Rules of one file as one asks them about the past: as their user's own, and switched on."""
    own = tuple(replace(rule, owner=Owner.USER, is_enabled=True) for rule in rules)

    def asked(event: Event, root: str, _at: float) -> tuple[Effect, ...]:
        outcomes = [apply(rule, event, root, language=language) for rule in own]
        effects = tuple(outcome.effect for outcome in outcomes if outcome.effect)
        if not effects and any(outcome.verdict is Verdict.UNKNOWN for outcome in outcomes):
            raise RuleFailed("; ".join(outcome.because for outcome in outcomes if outcome.because))
        return effects

    return asked
