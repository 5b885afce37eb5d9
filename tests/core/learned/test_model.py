"""The confidence of habits: confirmed, contradicted, and over time."""

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


def observed(observation: HabitObservation, times: int, now: float = 0.0) -> tuple[Habit, ...]:
    return update_habits((), [observation] * times, now)


def test_first_observation() -> None:
    """A habit that was observed once has the initial confidence."""
    expected = Habit(
        habit_id_of(FIX), FIX.type, "pytest fails", "run uv run pytest", "tests", 0.3, 1, first_seen=5.0, last_seen=5.0
    )

    assert (expected,) == observed(FIX, 1, 5.0)


@pytest.mark.parametrize(
    ("observations", "confidence", "count"),
    [
        ([FIX], 0.3, 1),
        ([FIX, FIX], 0.35, 2),
        ([FIX] * 9, 0.7, 9),
        ([FIX] * 40, 1.0, 40),
    ],
)
def test_confidence(observations: list[HabitObservation], confidence: float, count: int) -> None:
    """Each observation raises the confidence up to 1."""
    (habit,) = update_habits((), observations, 0.0)

    assert (confidence, count) == (habit.confidence, habit.count)


def test_nothing_is_learned_without_observations() -> None:
    """Without observations there are no habits."""
    assert () == update_habits((), (), 0.0)


@pytest.mark.parametrize(
    ("observations", "confidence", "count"), [([QUICK, QUICK, DEBUG], 0.25, 2), ([QUICK] * 40 + [DEBUG], 0.9, 40)]
)
def test_contradicted_habits(observations: list[HabitObservation], confidence: float, count: int) -> None:
    """Each contradiction lowers the confidence."""
    by_id = {habit.id: habit for habit in update_habits((), observations, 0.0)}
    habit = by_id[habit_id_of(QUICK)]

    assert (confidence, count) == (habit.confidence, habit.count)


@pytest.mark.parametrize("observations", [[QUICK, DEBUG, DEBUG], [QUICK, DEBUG, DEBUG, DEBUG]])
def test_contradicted_habits_are_forgotten(observations: list[HabitObservation]) -> None:
    """A habit that was contradicted too often is not kept."""
    assert [habit_id_of(DEBUG)] == [habit.id for habit in update_habits((), observations, 0.0)]


@pytest.mark.parametrize(
    ("weeks", "confidence"), [(0.0, 0.7), (0.99, 0.7), (1.0, 0.68), (2.5, 0.66), (25.0, 0.2), (-3.0, 0.7)]
)
def test_decay(weeks: float, confidence: float) -> None:
    """Each whole week without an observation lowers the confidence; a clock that goes backwards does not."""
    (habit,) = decay_habits(observed(FIX, 9), weeks * WEEK_SECONDS)

    assert confidence == habit.confidence


def test_old_habits_are_forgotten() -> None:
    """A habit that was not observed for long is forgotten."""
    known = observed(FIX, 9)

    assert () == decay_habits(known, 26 * WEEK_SECONDS)
    assert () == update_habits(known, [], 26 * WEEK_SECONDS)


def test_decay_does_not_depend_on_updates() -> None:
    """The confidence at a time does not depend on how often it was stored before."""
    known = observed(FIX, 9)
    for week in range(5):
        known = update_habits(known, [], week * WEEK_SECONDS)

    assert decay_habits(observed(FIX, 9), 5 * WEEK_SECONDS) == decay_habits(known, 5 * WEEK_SECONDS)


def test_exclusive_actions_contradict_each_other() -> None:
    """An observation contradicts other actions of its trigger only in exclusive types."""
    other = replace(FIX, action="change the code and run it again")
    routed = update_habits((), [QUICK] * 3 + [DEBUG], 0.0)
    fixed = update_habits((), [FIX] * 3 + [other], 0.0)

    assert {"workflow quick": 0.3, "workflow debug": 0.3} == {habit.action: habit.confidence for habit in routed}
    assert [0.4, 0.3] == [habit.confidence for habit in fixed]


def test_reliable_habits_are_promoted() -> None:
    """A reliable habit applies, and is one of the user's habits while it is reliable."""
    sure, unsure = observed(FIX, 9), observed(QUICK, 8)
    everywhere = promote_habits((), (*sure, *unsure), 0.0)

    assert sure == reliable_habits((*sure, *unsure), 0.0) == everywhere
    assert () == promote_habits(everywhere, (), WEEK_SECONDS)


def test_promotion_keeps_the_most_confident() -> None:
    """The user has at most 50 habits, each as last observed."""
    many = tuple(
        replace(observed(replace(FIX, tag=str(i)), 9)[0], confidence=round(0.7 + i / 1000, 3)) for i in range(60)
    )
    later = replace(observed(FIX, 10)[0], last_seen=9.0)

    assert [round(0.759 - i / 1000, 3) for i in range(MAX_GLOBAL_HABITS)] == [
        habit.confidence for habit in promote_habits((), many, 0.0)
    ]
    assert (
        (later,) == promote_habits(observed(FIX, 9), (later,), 9.0) == promote_habits((later,), observed(FIX, 9), 9.0)
    )


@pytest.mark.parametrize(
    ("count", "expected"),
    [(4, ()), (5, (AutomationSuggestion("tests", 5, "skill"),)), (8, (AutomationSuggestion("tests", 8, "agent"),))],
)
def test_suggest_automations(count: int, expected: tuple[AutomationSuggestion, ...]) -> None:
    """Five habits with one tag justify a skill, eight an agent."""
    assert expected == suggest_automations(
        update_habits((), [replace(FIX, trigger=str(i)) for i in range(count)], 0.0), 0.0
    )


def test_remove_habit() -> None:
    """A habit is removed by its id."""
    known = update_habits((), [FIX, QUICK], 0.0)

    assert observed(QUICK, 1) == remove_habit(known, habit_id_of(FIX))
    assert known == remove_habit(known, "no such id")


OBSERVATIONS = st.builds(
    HabitObservation,
    st.sampled_from(HabitType),
    st.sampled_from("abc"),
    st.sampled_from(["x", "y", "\ud800"]),
    st.sampled_from(["", "t", "u"]),
)


@given(st.lists(st.tuples(st.lists(OBSERVATIONS, max_size=5), st.floats(0, 1e9)), max_size=12))
def test_bounds(history: list[tuple[list[HabitObservation], float]]) -> None:
    """After any history confidences are within their bounds, and no habit occurs twice."""
    known: tuple[Habit, ...] = ()
    for observations, now in history:
        known = update_habits(known, observations, now)
        for habit in (*known, *decay_habits(known, now), *promote_habits((), known, now)):
            assert 0.0 <= habit.confidence <= 1.0
            assert habit.first_seen <= habit.last_seen
            assert habit.count >= 1
        assert all(habit.confidence >= 0.2 for habit in decay_habits(known, now))
        assert len({habit.id for habit in known}) == len(known)


@given(st.integers(0, 60), st.floats(0, 100), st.floats(0, 100))
def test_confidence_only_decays(times: int, first: float, later: float) -> None:
    """The longer a habit is not observed, the lower its confidence."""
    known = observed(FIX, times)
    early, late = sorted((first, later))

    assert sum(habit.confidence for habit in decay_habits(known, late * WEEK_SECONDS)) <= sum(
        habit.confidence for habit in decay_habits(known, early * WEEK_SECONDS)
    )


def test_the_number_of_habits_is_bounded() -> None:
    """Of too many habits the least confident are dropped."""
    observations = [replace(FIX, trigger=str(i)) for i in range(MAX_PROJECT_HABITS + 20)]

    assert MAX_PROJECT_HABITS == len(update_habits((), observations, 0.0))
