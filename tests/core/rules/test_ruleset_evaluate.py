"""Rules as part of handling one event."""

from __future__ import annotations

from dataclasses import replace

from fakes.context import repo_context
from fakes.rules import FakeRules
from fakes.runtime import FakeWorld, fake_world
from policy_play import HERE, call, shell, starting

from upbeat.core.contract.effect import Deny, Explanation, InjectContext, NotifyUser
from upbeat.core.contract.event import PromptSubmitted, SessionStarted, ToolKind
from upbeat.core.engine.handle import handle_event
from upbeat.core.rules.formats import markdown
from upbeat.core.rules.rule import Owner, Rule, RuleSet
from upbeat.core.settings import Activation


def rule(name: str, front: str) -> Rule:
    return markdown.parse_rule_file(
        f"---\n{front}\n---\nWords.", name, f".upbeat/rules/{name}.md", Owner.PROJECT
    ).rules[0]


NO_LS = rule("no-ls", "event: before-tool\ntool: shell\npattern: ls\naction: deny")
ONCE = rule("once", "event: before-tool\ntool: read\naction: inject\nonce: true")
ALWAYS = rule("always", "event: before-tool\naction: inject")
PROMPT = rule("prompt", "event: prompt\naction: inject")
READ = starting(call("Read", ToolKind.READ, ("/repo/a",)))


def world_with(*rules: Rule, **book: tuple[str, ...]) -> FakeWorld:
    world = fake_world()
    world.rules = FakeRules(RuleSet(rules, **book))
    return world


def test_a_denial_is_recorded_with_its_place() -> None:
    """The record of a denied call names the rule, the reason and its location."""
    world = world_with(NO_LS)
    decision = handle_event(starting(shell("ls -l")), world.runtime)
    [record] = world.journal.records

    assert (Deny("Not allowed by the rule no-ls: Words."),) == decision.effects
    assert Explanation("rule no-ls", "Deny", "command: ls -l", {}, ".upbeat/rules/no-ls.md:2") == record.explanations[0]


def test_once_in_a_session_and_again_after_a_compaction() -> None:
    """A rule with ``once`` is shown again after a compaction."""
    world = world_with(ONCE)
    said = [handle_event(event, world.runtime).effects for event in (READ, READ, SessionStarted(HERE, "compact"), READ)]

    assert [1, 0, 0, 1] == [sum(isinstance(effect, InjectContext) for effect in effects) for effects in said]


def test_a_dropped_text_is_shown_later() -> None:
    """A rule with ``once`` that was dropped for the budget is shown later."""
    world = fake_world(repo_context(inject_max_chars_turn=30))
    world.rules = FakeRules(RuleSet((replace(ONCE, text="x" * 40),)))
    narrow = handle_event(READ, world.runtime).effects
    world.context_resolver.context = repo_context()

    assert ((), 1, ()) == (
        narrow,
        len(handle_event(READ, world.runtime).effects),
        handle_event(READ, world.runtime).effects,
    )


def test_a_prompt_has_room_for_its_rules() -> None:
    """A rule injects text at a prompt."""
    effects = handle_event(PromptSubmitted(HERE, "hello"), world_with(PROMPT).runtime).effects

    assert InjectContext("Rule prompt: Words.") in effects


def test_switched_off() -> None:
    """Rules are not evaluated where upbeat is off."""
    world = fake_world(repo_context(enabled=Activation.OFF))
    world.rules = FakeRules(RuleSet((NO_LS,)))

    assert () == handle_event(starting(shell("ls")), world.runtime).effects


def test_problems_are_reported_at_the_start() -> None:
    """Mistakes and untrusted files are reported at the start of a session, some by name and the rest by number."""
    files = tuple(f"{number}.md" for number in range(7))
    world = world_with(problems=("r.md:1: event is needed",), untrusted=files)
    [told] = handle_event(SessionStarted(HERE, "startup"), world.runtime).effects

    assert (
        NotifyUser(
            "upbeat: r.md:1: event is needed\nrules that you have not trusted may only tighten (`upbeat trust`): "
            "0.md, 1.md, 2.md, 3.md, 4.md and 2 more"
        )
        == told
    )


def test_the_holdout_covers_rules() -> None:
    """The holdout withholds injected text and keeps denials."""
    world = fake_world(repo_context(inject_holdout_percent=50))  # the clock's nonce draws 43 of 100
    world.rules = FakeRules(RuleSet((NO_LS, ALWAYS)))

    assert (Deny("Not allowed by the rule no-ls: Words."),) == handle_event(
        starting(shell("ls")), world.runtime
    ).effects
    assert ("rule always", "dropped", "InjectContext: held out") in [
        (said.component, said.decision, said.reason) for said in world.journal.records[0].explanations
    ]
