"""Policies and rules in a whole event: budgets, holdout, failures, notes, stable texts, inputs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.clock import FakeClock
from fakes.context import repo_context
from fakes.rules import FakeRules
from fakes.runtime import FakeWorld, fake_world
from fakes.shop import ANSWERS, CONTEXT, PROMPT
from policy_play import HERE, call, starting

from upbeat.core.contract.effect import Deny, Effect, InjectContext
from upbeat.core.contract.event import (
    Event,
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    ToolKind,
    ToolStarting,
    TurnEnding,
)
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.engine import evaluate
from upbeat.core.engine.evaluate import (
    MAX_NAMED_FILES,
    EventContext,
    loop_limits,
    rule_warnings,
)
from upbeat.core.engine.handle import handle_event
from upbeat.core.policies import POLICIES
from upbeat.core.policy.definition import Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import Query
from upbeat.core.rules.formats import markdown
from upbeat.core.rules.rule import Owner, RuleSet
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit, measure_text
from upbeat.core.settings import Settings, Toggle
from upbeat.core.workflow.decision import LoopLimits
from upbeat.core.workflow.state import SessionState

READ = starting(call("Read", ToolKind.READ, ("/repo/a.py",)))
ASK = PromptSubmitted(HERE, PROMPT)
TALK = PromptSubmitted(HERE, "thanks")
WORKFLOW = PromptSubmitted(HERE, "/upbeat:quick add retries")
PLACES = tuple(
    Finding(f"shop/part{number}.py", "def send():", "send", "function", 4, 5, 1.0, "name", "x = 1\n" * 40)
    for number in range(12)
)


def policy(
    name: str,
    *effects: Effect,
    on: type[Event] = ToolStarting,
    notes: tuple[str, ...] | None = None,
    queries: Any = None,
    **more: Any,
) -> Policy:  # type: ignore[valid-type]
    """Return a policy with the same effects at every event of a kind; its reason has its notes."""

    def say(_event: Event, view: PolicyContext) -> PolicyResult:
        return PolicyResult(effects, f"noted {','.join(view.notes) or 'nothing'}", notes)

    return Policy(name, {on: Handler(say, queries)}, **more)


def fails(_event: Event, _view: PolicyContext) -> PolicyResult:
    raise RuntimeError("a fault")


def of_event(policies: tuple[Policy, ...], event: str) -> tuple[Policy, ...]:
    return tuple(policy for policy in policies if event in (kind.__name__ for kind in policy.handlers))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace the built-in policies."""

    def replace_policies(*policies: Policy) -> None:
        monkeypatch.setattr(evaluate, "policies_handling", lambda event: of_event(policies, event))
        evaluate.policies_for.cache_clear()

    yield replace_policies
    monkeypatch.undo()
    evaluate.policies_for.cache_clear()


def injected(world: FakeWorld, event: Event, cap: TextLimit | None = None) -> list[str]:
    """Return the context that is injected at ``event``."""
    decision = handle_event(event, world.runtime, *([cap] if cap else []))
    return [effect.text for effect in decision.effects if isinstance(effect, InjectContext)]


def explained(world: FakeWorld) -> list[tuple[str, str, str]]:
    """Return the explanations of the last event."""
    return [(e.component, e.decision, e.reason) for e in world.journal.records[-1].explanations]


OVER = ("policy a", "dropped", "InjectContext: injection budget exhausted")


def test_the_budget_of_a_turn_is_hard(known: Any) -> None:
    """Between two prompts of the user no more is injected than allowed; the record says what was dropped."""
    known(policy("a", InjectContext("x" * 40)))
    world = fake_world(repo_context(inject_max_chars_turn=100))
    chars = [sum(map(len, injected(world, READ))) for _ in range(4)]

    assert [40, 40, 0, 0] == chars
    assert OVER in explained(world)


@pytest.mark.parametrize("prompt", [TALK, ASK], ids=["small talk", "a prompt that is prepared"])
def test_a_new_turn_has_its_own_budget(known: Any, prompt: PromptSubmitted) -> None:
    """The user's next prompt resets the budget of the turn, with or without context for the prompt itself."""
    known(policy("a", InjectContext("x" * 40)))
    world = fake_world(repo_context(inject_max_chars_turn=50))
    chars = [len("".join(injected(world, event))) for event in (READ, READ)]
    handle_event(prompt, world.runtime)

    assert ([40, 0], ["x" * 40]) == (chars, injected(world, READ))


def test_a_prompt_of_the_client_is_no_new_turn(known: Any) -> None:
    """A prompt that the user did not write does not reset the budget."""
    known(policy("a", InjectContext("x" * 40)))
    world = fake_world(repo_context(inject_max_chars_turn=50))
    handle_event(READ, world.runtime)
    handle_event(PromptSubmitted(HERE, "done", PromptOrigin.TASK_NOTIFICATION), world.runtime)

    assert [] == injected(world, READ)


def test_the_budget_of_a_session_is_hard(known: Any) -> None:
    """No prompt resets the budget of the session."""
    known(policy("a", InjectContext("x" * 40)))
    world = fake_world(repo_context(inject_max_chars_session=100))
    chars = []
    for _ in range(4):
        handle_event(TALK, world.runtime)
        chars.append(len("".join(injected(world, READ))))

    assert [40, 40, 0, 0] == chars
    assert 80 == world.journal.states["s"].injected_chars


def test_the_budget_is_shared_by_rank(known: Any) -> None:
    """Context is injected in the order of rank; rules come before policies."""
    known(policy("a", InjectContext("x" * 40), rank=40), policy("b", InjectContext("y" * 40), rank=35))
    world = fake_world(repo_context(inject_max_chars_turn=100))
    rule = markdown.parse_rule_file(
        "---\nevent: before-tool\naction: inject\n---\nWords.", "r", "r.md", Owner.USER
    ).rules[0]
    world.rules = FakeRules(RuleSet((rule,)))

    assert ["Rule r: Words.", "y" * 40, "x" * 40] == injected(world, READ)


def test_the_turn_and_the_workflow_are_not_budgeted(known: Any) -> None:
    """With a budget of zero the prepared turn and the workflow's text are injected."""
    known(policy("a", InjectContext("x"), on=PromptSubmitted))
    world = fake_world(repo_context(inject_max_chars_turn=0), answers=ANSWERS)

    assert [CONTEXT] == injected(world, ASK)
    assert ["workflow", "turn"] == [
        one["part"] for _ in injected(world, WORKFLOW) for one in world.journal.records[-1].effects
    ][:2]


@pytest.mark.parametrize("text", ["", "\n  "])
def test_empty_context_is_not_injected(known: Any, text: str) -> None:
    """Empty context is no effect and takes no budget."""
    known(policy("a", InjectContext(text)))
    world = fake_world()

    assert [] == injected(world, READ)
    assert (0, 0) == (
        world.journal.records[-1].injected_chars,
        world.journal.states.get("s", evaluate.SessionState()).injected_chars,
    )


def test_holdout_withholds_all_context_but_the_workflows(known: Any) -> None:
    """Context of the turn, rules and policies is withheld and recorded; the workflow's text is injected."""
    known(policy("a", InjectContext("x"), Deny("no"), on=PromptSubmitted))
    world = fake_world(repo_context(inject_holdout_percent=50), answers=ANSWERS)  # the clock's nonce draws 43 of 100
    handle_event(WORKFLOW, world.runtime)
    handle_event(SessionStarted(HERE, "compact"), world.runtime)
    parts = {
        one["part"] for record in world.journal.records for one in record.effects if one["kind"] == "inject_context"
    }
    handle_event(ASK, world.runtime)
    withheld = [part for part, _decision, reason in explained(world) if reason == "InjectContext: held out"]

    assert ({"workflow"}, ["turn", "policy a"]) == (parts, withheld)
    assert ["deny"] == [one["kind"] for one in world.journal.records[-1].effects if one["part"] == "policy a"]


def test_withheld_context_can_be_measured(known: Any) -> None:
    """The record names the files of the turn, and no lines of them count as shown."""
    known()
    world = fake_world(repo_context(inject_holdout_percent=50), answers=ANSWERS)
    handle_event(ASK, world.runtime)
    [said] = [
        one for one in world.journal.records[-1].explanations if one.component == "turn" and one.decision != "dropped"
    ]

    assert (["shop/retry.py"], ()) == (
        said.inputs["names"],
        world.journal.states.get("s", evaluate.SessionState()).shown_excerpts,
    )


def test_a_failing_policy_affects_no_other(known: Any) -> None:
    """A policy that fails is recorded by name; the others and the call are unaffected."""
    broken = Policy("broken", {ToolStarting: Handler(fails)})
    known(broken, policy("sound", InjectContext("x")))
    world = fake_world()

    assert ["x"] == injected(world, READ)
    assert [
        ("policy sound", "InjectContext", "noted nothing"),
        ("policy broken", "could not evaluate", "RuntimeError: a fault"),
    ] == sorted(explained(world), reverse=True)


def test_failing_queries_affect_no_other_policy(known: Any) -> None:
    """A policy whose queries fail is evaluated without answers."""

    def broken(_event: Event, _state: SessionState) -> tuple[Query, ...]:
        raise RuntimeError("a fault")

    known(policy("broken", InjectContext("y"), queries=broken), policy("sound", InjectContext("x")))

    assert ["y", "x"] == injected(fake_world(), READ)


def test_notes_of_dropped_context_are_not_saved(known: Any) -> None:
    """A policy whose context was dropped injects it again."""
    known(policy("a", InjectContext("x" * 40), notes=("1",)))
    world = fake_world(repo_context(inject_max_chars_turn=30))
    injected(world, READ)
    injected(world, READ)

    assert ("policy a", "InjectContext", "noted nothing") in explained(world)


def test_notes_end_with_the_conversation(known: Any) -> None:
    """After a compaction a policy has no notes, unless they survive compactions."""
    known(
        policy("a", InjectContext("x"), notes=("1",)),
        policy("b", InjectContext("y"), notes=("2",), survives_compaction=True),
    )
    world = fake_world()
    seen = []
    for event in (READ, READ, SessionStarted(HERE, "compact"), READ):
        handle_event(event, world.runtime)
        seen.append([reason for part, _decision, reason in explained(world) if part.startswith("policy")])

    assert [["noted nothing", "noted nothing"], ["noted 1", "noted 2"], [], ["noted nothing", "noted 2"]] == seen


LANGUAGES = {
    "one unit per character": ("x" * 900, LengthUnit.CHARS),
    "three bytes per character": ("文" * 900, LengthUnit.UTF8),
}


@pytest.mark.parametrize(("text", "unit"), LANGUAGES.values(), ids=LANGUAGES)
def test_a_prompt_leaves_room_for_policies(known: Any, text: str, unit: LengthUnit) -> None:
    """The turn leaves room for the context of policies, and no more, in the client's unit."""
    answers = ANSWERS | {"ci_search": ToolOutput("12 files", PLACES)}
    cap = TextLimit(4000, unit)
    known()
    [alone] = injected(fake_world(answers=answers), ASK, cap)
    known(policy("a", InjectContext(text), on=PromptSubmitted))
    turn, added = injected(fake_world(answers=answers), ASK, cap)
    both = measure_text(turn, unit) + measure_text(added, unit) + 2

    assert (text, True) == (added, both <= cap.max_length)
    assert measure_text(alone, unit) > cap.max_length - measure_text(text, unit)
    assert both > cap.max_length * 0.85


def test_policies_beyond_their_budget_take_no_room_from_the_turn(known: Any) -> None:
    """Context that exceeds its budget does not make the turn smaller."""
    cap = TextLimit(4000)
    answers = ANSWERS | {"ci_search": ToolOutput("12 files", PLACES)}
    known()
    alone = injected(fake_world(answers=answers), ASK, cap)
    known(policy("a", InjectContext("x" * 3000), on=PromptSubmitted))

    assert alone == injected(fake_world(repo_context(inject_max_chars_turn=2999), answers=answers), ASK, cap)


class LaterClock(FakeClock):
    """Another moment, another nonce."""

    def now(self) -> datetime:
        return datetime(2027, 3, 4, 5, 6, 7, tzinfo=UTC)

    def nonce(self) -> str:
        return "ba9876543210"


@contextmanager
def at(clock: FakeClock, session: str) -> Iterator[Any]:
    """Yield a function that returns what is injected at an event of ``session`` in a world with ``clock``."""
    world = fake_world(answers=ANSWERS)
    world.clock = clock
    source = replace(HERE, session_id=session)
    yield lambda event: "\n".join(injected(world, replace(event, source=source)))


def test_equal_situations_have_equal_texts(known: Any) -> None:
    """A session's start has the same bytes at any time and in any session, so that a provider's cache works.

    With a prompt, the workflow's text comes first, and the turn behind it differs only in the nonce of its frame.
    """
    known(*POLICIES)
    events = (SessionStarted(HERE, "startup"), WORKFLOW, SessionStarted(HERE, "compact"), ASK)
    with at(FakeClock(), "s-1") as first, at(LaterClock(), "another") as second:
        here = [first(event) for event in events]
        there = [second(event) for event in events]

    assert here[::2] == there[::2]
    assert [text.replace("0123456789ab", "N") for text in here] == [text.replace("ba9876543210", "N") for text in there]
    assert ["Run this", "upbeat ·"] == [text[:8] for text in here[1::2]]
    assert [1, 1] == [text.count('\n<upbeat-data id="') for text in here[1::2]]


END = TurnEnding(HERE, "Done.", False)


def context(event: Event, world: FakeWorld | None = None, *, is_enabled: bool = True) -> EventContext:
    """Return an event in a world of fakes."""
    return EventContext(event, (world or fake_world()).runtime, repo_context(), 0.0, is_enabled=is_enabled)


def test_untrusted_rules_are_named() -> None:
    """Untrusted files are named up to a limit, after the problems; if nothing is evaluated, they are not."""
    world = fake_world()
    files = tuple(f"r{number}.md" for number in range(MAX_NAMED_FILES + 2))
    world.rules = FakeRules(RuleSet(problems=("r.md:1: unknown key",), untrusted=files))
    first, second = rule_warnings(context(END, world))

    assert "r.md:1: unknown key" == first
    assert second.endswith("r0.md, r1.md, r2.md, r3.md, r4.md and 2 more")
    assert ("r.md:1: unknown key",) == rule_warnings(context(END, world, is_enabled=False))


def test_loop_limits() -> None:
    """Each limit of the loop is a setting."""
    assert LoopLimits(False, 1, 2, 3, 4, 5) == loop_limits(
        Settings(
            loop_enabled=Toggle.OFF,
            loop_max_turns=1,
            loop_max_consecutive_errors=2,
            loop_max_turns_without_progress=3,
            loop_max_minutes=4,
            loop_max_tokens=5,
        )
    )
