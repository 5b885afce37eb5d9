"""How sure an observation is: seen again, contradicted, and with time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.learned.model import (
    MAX_GLOBAL_HABITS,
    MAX_PROJECT_HABITS,
    WEEK_SECONDS,
    AutomationSuggestion,
    Habit,
    HabitObservation,
    HabitType,
    decay_habits,
    habit_id_of,
    promote_habits,
    reliable_habits,
    remove_habit,
    suggest_automations,
    update_habits,
)

FIX = HabitObservation(HabitType.ERROR_RESOLUTIONS, "pytest fails", "run uv run pytest", "tests")
QUICK = HabitObservation(HabitType.WORKFLOW_ROUTING, "intent debug", "workflow quick", "workflow")
DEBUG = HabitObservation(HabitType.WORKFLOW_ROUTING, "intent debug", "workflow debug", "workflow")
AGAINST = replace(FIX, is_confirming=False)


def seen(sighting: HabitObservation, times: int, now: float = 0.0) -> tuple[Habit, ...]:
    return update_habits((), [sighting] * times, now)


def test_first_sighting() -> None:
    """What is seen once is known a little."""
    expected = Habit(
        habit_id_of(FIX), FIX.type, "pytest fails", "run uv run pytest", "tests", 0.3, 1, first_seen=5.0, last_seen=5.0
    )

    assert (expected,) == seen(FIX, 1, 5.0)


@pytest.mark.parametrize(
    ("sightings", "confidence", "count"),
    [
        ([FIX], 0.3, 1),
        ([FIX, FIX], 0.35, 2),
        ([FIX] * 9, 0.7, 9),
        ([FIX] * 40, 1.0, 40),
        ([FIX, FIX, AGAINST], 0.25, 2),
        ([FIX] * 40 + [AGAINST], 0.9, 40),
    ],
)
def test_confidence(sightings: list[HabitObservation], confidence: float, count: int) -> None:
    """Each time it is seen it is surer, each time it is contradicted less so, and never more than sure."""
    (one,) = update_habits((), sightings, 0.0)

    assert (confidence, count) == (one.confidence, one.count)


@pytest.mark.parametrize("sightings", [[], [AGAINST], [FIX, AGAINST, AGAINST], [FIX, AGAINST, AGAINST, AGAINST]])
def test_nothing_is_known(sightings: list[HabitObservation]) -> None:
    """What was only contradicted, or contradicted too often, is not kept."""
    assert () == update_habits((), sightings, 0.0)


@pytest.mark.parametrize(
    ("weeks", "confidence"), [(0.0, 0.7), (0.99, 0.7), (1.0, 0.68), (2.5, 0.66), (25.0, 0.2), (-3.0, 0.7)]
)
def test_time_takes_from_it(weeks: float, confidence: float) -> None:
    """Each whole week without a sighting takes a little; a clock that goes backwards takes nothing."""
    (one,) = decay_habits(seen(FIX, 9), weeks * WEEK_SECONDS)

    assert confidence == one.confidence


def test_time_forgets() -> None:
    """What was not seen for long is forgotten, and begins anew when it is seen again."""
    known = seen(FIX, 9)

    assert () == decay_habits(known, 26 * WEEK_SECONDS)
    assert () == update_habits(known, [], 26 * WEEK_SECONDS)


def test_looking_often_takes_nothing_more() -> None:
    """How sure it is at a time does not depend on how often it was stored before."""
    known = seen(FIX, 9)
    for week in range(5):
        known = update_habits(known, [], week * WEEK_SECONDS)

    assert decay_habits(seen(FIX, 9), 5 * WEEK_SECONDS) == decay_habits(known, 5 * WEEK_SECONDS)


def test_one_answer_contradicts_the_other() -> None:
    """Where a trigger has one action, what is seen contradicts the others; elsewhere not."""
    other = replace(FIX, action="change the code and run it again")
    routed = update_habits((), [QUICK] * 3 + [DEBUG], 0.0)
    fixed = update_habits((), [FIX] * 3 + [other], 0.0)

    assert {"workflow quick": 0.3, "workflow debug": 0.3} == {one.action: one.confidence for one in routed}
    assert [0.4, 0.3] == [one.confidence for one in fixed]


def test_applying_and_graduation() -> None:
    """What is sure applies, and is on the user's own list until it is sure no more."""
    sure, unsure = seen(FIX, 9), seen(QUICK, 8)
    everywhere = promote_habits((), (*sure, *unsure), 0.0)

    assert sure == reliable_habits((*sure, *unsure), 0.0) == everywhere
    assert () == promote_habits(everywhere, (), WEEK_SECONDS)


def test_graduation_keeps_the_surest() -> None:
    """The user's own list has at most 50, and the later sighting of the same thing."""
    many = tuple(replace(seen(replace(FIX, tag=str(i)), 9)[0], confidence=round(0.7 + i / 1000, 3)) for i in range(60))
    later = replace(seen(FIX, 10)[0], last_seen=9.0)

    assert [round(0.759 - i / 1000, 3) for i in range(MAX_GLOBAL_HABITS)] == [
        one.confidence for one in promote_habits((), many, 0.0)
    ]
    assert (later,) == promote_habits(seen(FIX, 9), (later,), 9.0) == promote_habits((later,), seen(FIX, 9), 9.0)


@pytest.mark.parametrize(
    ("count", "expected"),
    [(4, ()), (5, (AutomationSuggestion("tests", 5, "skill"),)), (8, (AutomationSuggestion("tests", 8, "agent"),))],
)
def test_proposals(count: int, expected: tuple[AutomationSuggestion, ...]) -> None:
    """Five observations under one tag are worth a skill, eight an agent."""
    assert expected == suggest_automations(
        update_habits((), [replace(FIX, trigger=str(i)) for i in range(count)], 0.0), 0.0
    )


def test_without() -> None:
    """A habit is removed by its id."""
    known = update_habits((), [FIX, QUICK], 0.0)

    assert seen(QUICK, 1) == remove_habit(known, habit_id_of(FIX))
    assert known == remove_habit(known, "no such id")


SIGHTINGS = st.builds(
    HabitObservation,
    st.sampled_from(HabitType),
    st.sampled_from("abc"),
    st.sampled_from(["x", "y", "\ud800"]),
    st.sampled_from(["", "t", "u"]),
    st.booleans(),
)


@given(st.lists(st.tuples(st.lists(SIGHTINGS, max_size=5), st.floats(0, 1e9)), max_size=12))
def test_bounds(history: list[tuple[list[HabitObservation], float]]) -> None:
    """Whatever is seen, in whatever order of time, confidence stays within its bounds and nothing is there twice."""
    known: tuple[Habit, ...] = ()
    for sightings, now in history:
        known = update_habits(known, sightings, now)
        for one in (*known, *decay_habits(known, now), *promote_habits((), known, now)):
            assert 0.0 <= one.confidence <= 1.0
            assert one.first_seen <= one.last_seen
            assert one.count >= 1
        assert all(one.confidence >= 0.2 for one in decay_habits(known, now))
        assert len({one.id for one in known}) == len(known)


@given(st.integers(0, 60), st.floats(0, 100), st.floats(0, 100))
def test_time_only_takes(times: int, first: float, later: float) -> None:
    """The longer nothing is seen, the less sure it is."""
    known = seen(FIX, times)
    early, late = sorted((first, later))

    assert sum(one.confidence for one in decay_habits(known, late * WEEK_SECONDS)) <= sum(
        one.confidence for one in decay_habits(known, early * WEEK_SECONDS)
    )


def test_a_project_keeps_so_many() -> None:
    """Of too many the least sure are dropped."""
    sightings = [replace(FIX, trigger=str(i)) for i in range(MAX_PROJECT_HABITS + 20)]

    assert MAX_PROJECT_HABITS == len(update_habits((), sightings, 0.0))
