"""Which policies are evaluated, and what one of them can do to the others."""

from __future__ import annotations

from typing import Any

import pytest

from upbeat.core.contract.client import ClientTraits
from upbeat.core.contract.effect import NotifyUser
from upbeat.core.contract.event import ClientName, Event, EventSource, SessionEnded, TurnEnding
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.evaluate import PolicyOutcome, collect_queries, enabled_policies, evaluate_policies
from upbeat.core.policy.queries import ChangedFilesQuery, FeaturesQuery, Query
from upbeat.core.workflow.state import NEW_SESSION, PolicyNotes, SessionState

HERE = EventSource(ClientName.CLAUDE_CODE, "/repo", "s")
EVENT = TurnEnding(HERE, "Done.", False)


def show_notes(_event: Event, context: PolicyContext) -> PolicyResult:
    """Show the policy's notes; without notes, return nothing."""
    return PolicyResult((NotifyUser(" ".join(context.notes)),)) if context.notes else NO_RESULT


def fail(*_args: object) -> Any:
    """Raise an error."""
    raise ValueError("x" * 300)


SHOWING = {TurnEnding: Handler(show_notes)}
DEFAULT = Policy("default", SHOWING)
OPTIONAL = Policy("optional", SHOWING, is_enabled_by_default=False)
NATIVE = Policy("native", SHOWING, native_trait="shortens_output")
FAULTY = Policy("faulty", {TurnEnding: Handler(fail, fail)})


@pytest.mark.parametrize(
    ("enabled", "disabled", "client", "expected"),
    [
        ((), (), ClientTraits(), (DEFAULT, NATIVE)),
        (("optional",), (), ClientTraits(), (DEFAULT, OPTIONAL, NATIVE)),
        (("optional",), ("optional", "default"), ClientTraits(), (NATIVE,)),
        (("native",), (), ClientTraits(shortens_output=True), (DEFAULT,)),
    ],
    ids=["default", "on", "off wins", "native in the client"],
)
def test_enabled_policies(
    enabled: tuple[str, ...], disabled: tuple[str, ...], client: ClientTraits, expected: tuple[Policy, ...]
) -> None:
    """A policy is on by default or by name, unless it is off by name or native in the client."""
    assert expected == enabled_policies((DEFAULT, OPTIONAL, NATIVE), enabled, disabled, client)


def test_queries_are_collected_once() -> None:
    """Each query is asked once; a policy that fails, or does not handle the event, asks for nothing."""

    def plan(_event: Event, _state: SessionState) -> tuple[Query, ...]:
        return (ChangedFilesQuery(), FeaturesQuery(), ChangedFilesQuery())

    asking = Policy("asking", {TurnEnding: Handler(show_notes, plan)})

    assert (ChangedFilesQuery(), FeaturesQuery()) == collect_queries(EVENT, NEW_SESSION, (FAULTY, asking, asking))
    assert () == collect_queries(SessionEnded(HERE), NEW_SESSION, (FAULTY, asking))


def test_each_policy_has_its_own_notes() -> None:
    """A handler sees the notes of its policy, a failure is recorded in short, and empty results are omitted."""
    state = SessionState(policy_notes=(PolicyNotes("default", ("mine",)), PolicyNotes("other", ("theirs",))))

    assert (
        PolicyOutcome(FAULTY, NO_RESULT, f"ValueError: {'x' * 300}"[:200]),
        PolicyOutcome(DEFAULT, PolicyResult((NotifyUser("mine"),))),
    ) == evaluate_policies(EVENT, PolicyContext(state), (FAULTY, DEFAULT, OPTIONAL))
