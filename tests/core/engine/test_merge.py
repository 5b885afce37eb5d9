"""Merging: what precedence guarantees for any proposals in any order, and why an effect is dropped."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.effect import (
    AnswerPrompt,
    ContinueTurn,
    Deny,
    Effect,
    EndTurn,
    Explanation,
    InjectContext,
    NotifyUser,
    PrependPrompt,
    Proposal,
    RequestApproval,
    RewriteInput,
    RewriteOutput,
)
from upbeat.core.engine.merge import (
    DUPLICATE,
    HELD_OUT,
    OVER_BUDGET,
    OVER_CAP,
    ContextBudget,
    MergeResult,
    merge_proposals,
)
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit, measure_text

WIDE = ContextBudget(TextLimit(10**6))
TEXTS = st.sampled_from(["", " \n", "a", "b", "a longer text", "文字", "😀" * 7])
FIELDS = st.dictionaries(st.sampled_from(["command", "path"]), st.integers(0, 2), max_size=2)
EFFECTS = st.one_of(
    *(
        st.builds(kind, TEXTS)
        for kind in (InjectContext, InjectContext, NotifyUser, Deny, RequestApproval, PrependPrompt, RewriteOutput)
    ),
    *(st.builds(kind, TEXTS) for kind in (ContinueTurn, EndTurn)),
    st.builds(RewriteInput, TEXTS, FIELDS),
)
PROPOSALS = st.lists(
    st.builds(
        Proposal,
        st.sampled_from(["workflow", "turn", "policy a", "policy b", "rule a"]),
        st.lists(EFFECTS, max_size=3).map(tuple),
        st.integers(0, 3),
        st.just(()),
        st.booleans(),
        st.booleans(),
    ),
    max_size=5,
    unique_by=lambda proposal: (proposal.rank, proposal.part),
)
ROOMS = st.builds(
    ContextBudget,
    st.builds(TextLimit, st.integers(0, 40), st.sampled_from(LengthUnit)),
    st.integers(0, 30),
    st.integers(0, 30),
)


def kinds(merged: MergeResult) -> Counter[str]:
    """Return the number of effects of each kind."""
    return Counter(type(effect).__name__ for effect in merged.effects)


def visible_effects(proposals: list[Proposal]) -> list[tuple[Proposal, Effect]]:
    """Return every effect that has a text, with its proposal."""
    return [(proposal, effect) for proposal in proposals for effect in proposal.effects if effect.text.strip()]


@given(PROPOSALS, ROOMS, st.randoms(use_true_random=False))
def test_the_order_of_proposals_does_not_matter(proposals: list[Proposal], room: ContextBudget, chance: Any) -> None:
    """The same proposals in any order make the same decision."""
    other = list(proposals)
    chance.shuffle(other)

    assert merge_proposals(proposals, room) == merge_proposals(other, room)


@given(PROPOSALS, ROOMS)
def test_precedence_holds(proposals: list[Proposal], room: ContextBudget) -> None:
    """Deny overrules ask, ask overrules rewriting, and ending overrules continuing, whatever their ranks."""
    wanted = {type(effect) for _proposal, effect in visible_effects(proposals)}
    found = {type(effect) for effect in merge_proposals(proposals, room).effects}
    beaten = {
        Deny: {RequestApproval, RewriteInput, PrependPrompt},
        RequestApproval: {RewriteInput},
        EndTurn: {ContinueTurn},
    }

    assert [(over, found & beaten[over]) for over in beaten if over in wanted] == [
        (over, set()) for over in beaten if over in wanted
    ]
    assert {Deny, EndTurn} & wanted == {Deny, EndTurn} & found


@given(PROPOSALS, ROOMS)
def test_single_effects_occur_once(proposals: list[Proposal], room: ContextBudget) -> None:
    """A turn is continued or ended and an output rewritten at most once; so is a field of an input."""
    merged = merge_proposals(proposals, room)
    fields = [name for effect in merged.effects if isinstance(effect, RewriteInput) for name in effect.fields]

    assert [] == [kind for kind in ("ContinueTurn", "Stop", "RewriteOutput") if kinds(merged)[kind] > 1]
    assert sorted(set(fields)) == sorted(fields)


@given(PROPOSALS, ROOMS)
def test_the_budget_is_never_exceeded(proposals: list[Proposal], room: ContextBudget) -> None:
    """All context stays within the client's cap; that of policies and rules within the budgets."""
    merged = merge_proposals(proposals, room)
    injects = [effect.text for effect in merged.effects if isinstance(effect, InjectContext)]

    assert sum(measure_text(text, room.client_cap.unit) + 1 for text in injects) <= room.client_cap.max_length
    assert merged.spent_chars <= min(room.turn_chars, room.session_chars)
    if all(proposal.is_budgeted for proposal in proposals):
        assert merged.spent_chars == sum(map(len, injects))


@given(PROPOSALS, ROOMS)
def test_every_effect_is_admitted_or_recorded_as_dropped(proposals: list[Proposal], room: ContextBudget) -> None:
    """Each effect with a text is in the decision, or in the record with the reason why it is not."""
    merged = merge_proposals(proposals, room)
    lost = Counter(
        (explanation.component, reason.split(":")[0])
        for explanation in merged.explanations
        for reason in explanation.reason.split("; ")
        if explanation.decision == "dropped" and reason.count(": ") == 1
    )
    kept = Counter((part, type(effect).__name__) for part, effect in zip(merged.parts, merged.effects, strict=True))

    assert (
        Counter((proposal.part, type(effect).__name__) for proposal, effect in visible_effects(proposals))
        == kept + lost
    )


@given(PROPOSALS, ROOMS)
def test_effects_are_those_of_proposals(proposals: list[Proposal], room: ContextBudget) -> None:
    """An effect of the decision is one of its proposal, without fields that another has rewritten first."""
    merged = merge_proposals(proposals, room)
    known = [(proposal.part, type(effect), effect.text) for proposal, effect in visible_effects(proposals)]

    assert [] == [
        (part, effect)
        for part, effect in zip(merged.parts, merged.effects, strict=True)
        if (part, type(effect), effect.text) not in known
    ]


@given(PROPOSALS)
def test_only_context_is_held_out(proposals: list[Proposal]) -> None:
    """If all proposals are held out, no context is left, and all other effects are unchanged."""
    everything = [replace(proposal, is_held_out=True) for proposal in proposals]
    nobody = [replace(proposal, is_held_out=False) for proposal in proposals]
    without = [effect for effect in merge_proposals(nobody, WIDE).effects if not isinstance(effect, InjectContext)]

    assert without == list(merge_proposals(everything, WIDE).effects)


ABC = InjectContext("abc")
TWO_PATHS = (RewriteInput("x", {"p": 1}), RewriteInput("x", {"p": 2, "q": 3}))
DROPPED: dict[str, tuple[Proposal, ContextBudget, str]] = {
    "over the client's cap": (Proposal("a", (ABC,)), ContextBudget(TextLimit(3)), f"InjectContext: {OVER_CAP}"),
    "the turn's budget": (
        Proposal("a", (ABC,)),
        ContextBudget(TextLimit(99), turn_chars=2),
        f"InjectContext: {OVER_BUDGET}",
    ),
    "the session's budget": (
        Proposal("a", (ABC,)),
        ContextBudget(TextLimit(99), session_chars=2),
        f"InjectContext: {OVER_BUDGET}",
    ),
    "held out": (Proposal("a", (ABC,), is_held_out=True), WIDE, f"InjectContext: {HELD_OUT}"),
    "a duplicate": (Proposal("a", (ABC, ABC)), WIDE, f"InjectContext: {DUPLICATE}"),
    "overruled": (Proposal("a", (RequestApproval("abc"), Deny("no"))), WIDE, "RequestApproval: overruled by Deny"),
    "a field was rewritten before": (Proposal("a", TWO_PATHS), WIDE, f"RewriteInput: p: {DUPLICATE}"),
}


@pytest.mark.parametrize(("proposal", "room", "reason"), DROPPED.values(), ids=DROPPED)
def test_the_reason_of_a_dropped_effect(proposal: Proposal, room: ContextBudget, reason: str) -> None:
    """The record says which part's effect is dropped, and why."""
    assert (Explanation("a", "dropped", reason),) == merge_proposals([proposal], room).explanations


FITS = {
    "as large as the cap with its line end": (ContextBudget(TextLimit(4)), ABC),
    "as large as the budget": (ContextBudget(TextLimit(99), turn_chars=3, session_chars=3), ABC),
    "a cap of bytes holds a third of the characters": (
        ContextBudget(TextLimit(4, LengthUnit.UTF8)),
        InjectContext("文"),
    ),
}


@pytest.mark.parametrize(("room", "effect"), FITS.values(), ids=FITS)
def test_bounds_are_inclusive(room: ContextBudget, effect: Effect) -> None:
    """Context of exactly the size of a bound is injected."""
    assert (effect,) == merge_proposals([Proposal("a", (effect,))], room).effects


def test_a_small_text_fits_after_a_dropped_one() -> None:
    """Context that does not fit is dropped whole, and later context is still admitted."""
    merged = merge_proposals(
        [Proposal("a", (InjectContext("x" * 50),), 1), Proposal("b", (InjectContext("y"),), 2)],
        ContextBudget(TextLimit(10)),
    )

    assert ((InjectContext("y"),), ("b",), 1) == (merged.effects, merged.parts, merged.spent_chars)


def test_a_prepended_prompt_goes_with_a_request_for_approval() -> None:
    """A user who approves a delegation approves it with the prompt that the workflow prepends."""
    merged = merge_proposals(
        [Proposal("workflow", (PrependPrompt("brief"),), 0), Proposal("rule r", (RequestApproval("really?"),))], WIDE
    )

    assert (PrependPrompt("brief"), RequestApproval("really?")) == merged.effects


def test_two_rules_of_one_name() -> None:
    """A user's and a project's rule of one name make the same decision in any order."""
    proposals = [
        Proposal(
            "rule r",
            (InjectContext(text),),
            explanations=(Explanation("rule r", "InjectContext", config_location=place),),
        )
        for text, place in (("b", "1"), ("a", "2"), ("a", "3"))
    ]

    assert 1 == len({repr(merge_proposals(order, WIDE)) for order in permutations(proposals)})


def test_rewrites_of_different_fields_are_both_admitted() -> None:
    """Two rewrites with equal texts and different fields are both admitted."""
    proposals = [
        Proposal("a", (RewriteInput("shorter", {"p": 1}),)),
        Proposal("b", (RewriteInput("shorter", {"q": 2}),)),
    ]

    assert (RewriteInput("shorter", {"p": 1}), RewriteInput("shorter", {"q": 2})) == merge_proposals(
        proposals, WIDE
    ).effects


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_effects_without_text_are_ignored(text: str) -> None:
    """An effect with an empty text is neither admitted nor recorded."""
    assert MergeResult() == merge_proposals([Proposal("a", (InjectContext(text), NotifyUser(text)))], WIDE)


def test_an_answered_prompt_gets_no_context() -> None:
    """What is answered without the model gets no context, and the part may inject it another time."""
    proposals = [Proposal("policy a", (AnswerPrompt("yes"),)), Proposal("policy b", (InjectContext("x"),))]
    merged = merge_proposals(proposals, WIDE)

    assert (AnswerPrompt("yes"),) == merged.effects
    assert {"policy b"} == merged.dropped_parts
