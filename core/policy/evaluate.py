"""Evaluate the enabled policies. Invariant: an exception in one policy never affects the others, and is recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from upbeat.core.contract.client import ClientTraits
from upbeat.core.contract.event import Event
from upbeat.core.lazy_dataclass import dataclass, replace
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import Query
from upbeat.core.workflow.state import SessionState


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """The result of one policy for one event, or why it failed."""

    policy: Policy
    result: PolicyResult = NO_RESULT
    failure: str = ""


def enabled_policies(
    policies: Iterable[Policy], enabled: Iterable[str], disabled: Iterable[str], client: ClientTraits
) -> tuple[Policy, ...]:
    """Return the policies that are on, by default or by name, and that ``client`` does not have natively."""
    wanted, unwanted = frozenset(enabled), frozenset(disabled)
    return tuple(
        policy
        for policy in policies
        if (policy.is_enabled_by_default or policy.name in wanted)
        and policy.name not in unwanted
        and not (policy.native_trait and getattr(client, policy.native_trait))
    )


def collect_queries(event: Event, state: SessionState, policies: Iterable[Policy]) -> tuple[Query, ...]:
    """Return what the policies need to know of the world, each query once. A policy that fails asks for nothing."""
    queries: dict[Query, None] = {}
    for _policy, handler, _notes in _applicable_handlers(event, state, policies):
        if handler.queries:
            with contextlib.suppress(Exception):
                queries |= dict.fromkeys(handler.queries(event, state))
    return tuple(queries)


def evaluate_policies(event: Event, context: PolicyContext, policies: Iterable[Policy]) -> tuple[PolicyOutcome, ...]:
    """Return the results of the policies that handle ``event``; empty results are omitted."""
    outcomes: list[PolicyOutcome] = []
    for policy, handler, notes in _applicable_handlers(event, context.state, policies):
        try:
            result = handler.handle(event, replace(context, notes=notes, policy=policy.name))
        except Exception as error:  # the boundary of policies: an exception in one never affects the others
            outcomes.append(PolicyOutcome(policy, NO_RESULT, f"{type(error).__name__}: {error}"[:200]))
            continue
        if result != NO_RESULT:
            outcomes.append(PolicyOutcome(policy, result))
    return tuple(outcomes)


def _applicable_handlers(
    event: Event, state: SessionState, policies: Iterable[Policy]
) -> Iterator[tuple[Policy, Handler, tuple[str, ...]]]:
    """Yield each policy that handles ``event``, with its handler and its notes."""
    notes_by_policy = {page.policy: page.notes for page in state.policy_notes}
    for policy in policies:
        handler, notes = policy.handlers.get(type(event)), notes_by_policy.get(policy.name, ())
        if handler is not None and handler.applies_to(event, notes):
            yield policy, handler, notes
