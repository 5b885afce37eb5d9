"""Many voices, one decision: what precedence promises for any voices in any order, and why something is left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.effect import (
    Ask,
    Deny,
    Effect,
    Inject,
    KeepGoing,
    PutBefore,
    RewriteInput,
    RewriteOutput,
    Said,
    Stop,
    TellUser,
)
from upbeat.core.merge import DUPLICATE, HELD_OUT, NO_ROOM, OVER_BUDGET, Merged, Room, Voice, merge
from upbeat.core.turn.truncate import Cap, Unit, measure

WIDE = Room(Cap(10**6))
TEXTS = st.sampled_from(["", " \n", "a", "b", "a longer text", "文字", "😀" * 7])
FIELDS = st.dictionaries(st.sampled_from(["command", "path"]), st.integers(0, 2), max_size=2)
EFFECTS = st.one_of(
    *(st.builds(kind, TEXTS) for kind in (Inject, Inject, TellUser, Deny, Ask, PutBefore, RewriteOutput)),
    *(st.builds(kind, TEXTS) for kind in (KeepGoing, Stop)),
    st.builds(RewriteInput, TEXTS, FIELDS),
)
VOICES = st.lists(
    st.builds(
        Voice,
        st.sampled_from(["workflow", "turn", "policy a", "policy b", "rule a"]),
        st.lists(EFFECTS, max_size=3).map(tuple),
        st.integers(0, 3),
        st.just(()),
        st.booleans(),
        st.booleans(),
    ),
    max_size=5,
    unique_by=lambda voice: (voice.rank, voice.part),
)
ROOMS = st.builds(
    Room, st.builds(Cap, st.integers(0, 40), st.sampled_from(Unit)), st.integers(0, 30), st.integers(0, 30)
)


def kinds(merged: Merged) -> Counter[str]:
    """How many effects of each kind."""
    return Counter(type(effect).__name__ for effect in merged.effects)


def spoken(voices: list[Voice]) -> list[tuple[Voice, Effect]]:
    """Every effect that says anything, with its voice."""
    return [(voice, effect) for voice in voices for effect in voice.effects if effect.text.strip()]


@given(VOICES, ROOMS, st.randoms(use_true_random=False))
def test_the_order_of_voices_does_not_matter(voices: list[Voice], room: Room, chance: Any) -> None:
    """The same voices in any order make the same decision."""
    other = list(voices)
    chance.shuffle(other)

    assert merge(voices, room) == merge(other, room)


@given(VOICES, ROOMS)
def test_precedence_holds(voices: list[Voice], room: Room) -> None:
    """Deny beats ask beats rewriting, and stop beats going on, whatever their ranks."""
    wanted = {type(effect) for _voice, effect in spoken(voices)}
    found = {type(effect) for effect in merge(voices, room).effects}
    beaten = {Deny: {Ask, RewriteInput, PutBefore}, Ask: {RewriteInput}, Stop: {KeepGoing}}

    assert [(over, found & beaten[over]) for over in beaten if over in wanted] == [
        (over, set()) for over in beaten if over in wanted
    ]
    assert {Deny, Stop} & wanted == {Deny, Stop} & found


@given(VOICES, ROOMS)
def test_one_voice_where_one_is_all_there_can_be(voices: list[Voice], room: Room) -> None:
    """A turn is sent on, let go and an output rewritten once at most; a field of an input, too."""
    merged = merge(voices, room)
    fields = [name for effect in merged.effects if isinstance(effect, RewriteInput) for name in effect.fields]

    assert [] == [kind for kind in ("KeepGoing", "Stop", "RewriteOutput") if kinds(merged)[kind] > 1]
    assert sorted(set(fields)) == sorted(fields)


@given(VOICES, ROOMS)
def test_never_over_the_room(voices: list[Voice], room: Room) -> None:
    """All context stays inside the client's cap; that of policies and rules inside what is left of the budgets."""
    merged = merge(voices, room)
    injects = [effect.text for effect in merged.effects if isinstance(effect, Inject)]

    assert sum(measure(text, room.cap.unit) + 1 for text in injects) <= room.cap.limit
    assert merged.spent <= min(room.turn, room.session)
    if all(voice.is_budgeted for voice in voices):
        assert merged.spent == sum(map(len, injects))


@given(VOICES, ROOMS)
def test_every_effect_goes_in_or_is_said_to_be_left_out(voices: list[Voice], room: Room) -> None:
    """Nothing disappears silently: each effect that says anything is in the decision, or in the record with why not."""
    merged = merge(voices, room)
    lost = Counter(
        (said.part, why.split(":")[0])
        for said in merged.said
        for why in said.because.split("; ")
        if said.decided == "left out" and why.count(": ") == 1
    )
    kept = Counter((part, type(effect).__name__) for part, effect in zip(merged.parts, merged.effects, strict=True))

    assert Counter((voice.part, type(effect).__name__) for voice, effect in spoken(voices)) == kept + lost


@given(VOICES, ROOMS)
def test_nothing_is_made_up(voices: list[Voice], room: Room) -> None:
    """An effect of the decision is one of its voice, unchanged but for fields that another has rewritten first."""
    merged = merge(voices, room)
    known = [(voice.part, type(effect), effect.text) for voice, effect in spoken(voices)]

    assert [] == [
        (part, effect)
        for part, effect in zip(merged.parts, merged.effects, strict=True)
        if (part, type(effect), effect.text) not in known
    ]


@given(VOICES)
def test_what_is_withheld_is_context_alone(voices: list[Voice]) -> None:
    """With all voices withheld no context is left, and whatever else they say is what it would have been."""
    everything = [replace(voice, is_withheld=True) for voice in voices]
    nobody = [replace(voice, is_withheld=False) for voice in voices]
    without = [effect for effect in merge(nobody, WIDE).effects if not isinstance(effect, Inject)]

    assert without == list(merge(everything, WIDE).effects)


LEFT_OUT: dict[str, tuple[tuple[Voice, ...], Room, str]] = {
    "no room in the client's cap": ((Voice("a", (Inject("abc"),)),), Room(Cap(3)), f"Inject: {NO_ROOM}"),
    "the turn's budget": ((Voice("a", (Inject("abc"),)),), Room(Cap(99), turn=2), f"Inject: {OVER_BUDGET}"),
    "the session's budget": ((Voice("a", (Inject("abc"),)),), Room(Cap(99), session=2), f"Inject: {OVER_BUDGET}"),
    "held out": ((Voice("a", (Inject("abc"),), is_withheld=True),), WIDE, f"Inject: {HELD_OUT}"),
    "said already": ((Voice("a", (Inject("abc"), Inject("abc"))),), WIDE, f"Inject: {DUPLICATE}"),
    "overruled": ((Voice("a", (Ask("abc"), Deny("no"))),), WIDE, "Ask: overruled by Deny"),
    "a field was rewritten before": (
        (Voice("a", (RewriteInput("x", {"p": 1}), RewriteInput("x", {"p": 2, "q": 3}))),),
        WIDE,
        f"RewriteInput: p: {DUPLICATE}",
    ),
}


@pytest.mark.parametrize(("voices", "room", "because"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_why_something_is_left_out(voices: tuple[Voice, ...], room: Room, because: str) -> None:
    """The record says which part's effect is left out, and why."""
    assert (Said("a", "left out", because),) == merge(voices, room).said


FITS = [
    ("as large as the cap with its line end", Room(Cap(4)), (Inject("abc"),)),
    ("as large as the budget", Room(Cap(99), turn=3, session=3), (Inject("abc"),)),
    ("a cap of bytes holds a third of the signs", Room(Cap(4, Unit.UTF8)), (Inject("文"),)),
]


@pytest.mark.parametrize(("room", "effects"), [row[1:] for row in FITS], ids=[row[0] for row in FITS])
def test_what_just_fits(room: Room, effects: tuple[Effect, ...]) -> None:
    """The bounds themselves are inside."""
    assert effects == merge([Voice("a", effects)], room).effects


def test_a_small_text_goes_in_where_a_large_one_had_no_room() -> None:
    """What has no room is left out whole, and those after it are still heard."""
    merged = merge([Voice("a", (Inject("x" * 50),), 1), Voice("b", (Inject("y"),), 2)], Room(Cap(10)))

    assert ((Inject("y"),), ("b",), 1) == (merged.effects, merged.parts, merged.spent)


def test_what_is_put_before_a_prompt_stands_beside_a_question() -> None:
    """A person who says yes to a delegation says yes to it with what the workflow puts before it."""
    merged = merge([Voice("workflow", (PutBefore("brief"),), 0), Voice("rule r", (Ask("really?"),))], WIDE)

    assert (PutBefore("brief"), Ask("really?")) == merged.effects


def test_two_rules_of_one_name() -> None:
    """A user's and a project's rule of one name make the same decision in any order."""
    voices = [
        Voice("rule r", (Inject(text),), said=(Said("rule r", "Inject", configured_at=place),))
        for text, place in (("b", "1"), ("a", "2"), ("a", "3"))
    ]

    assert 1 == len({repr(merge(order, WIDE)) for order in permutations(voices)})


def test_equal_rewrites_of_different_fields_both_count() -> None:
    """Two parts that say the same and change different fields do not stand in each other's way."""
    voices = [Voice("a", (RewriteInput("shorter", {"p": 1}),)), Voice("b", (RewriteInput("shorter", {"q": 2}),))]

    assert (RewriteInput("shorter", {"p": 1}), RewriteInput("shorter", {"q": 2})) == merge(voices, WIDE).effects


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_an_empty_text_is_nothing(text: str) -> None:
    """Context without words is not put before a model, takes no budget and leaves no word in the record."""
    assert Merged() == merge([Voice("a", (Inject(text), TellUser(text)))], WIDE)
