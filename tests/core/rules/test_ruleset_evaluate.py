"""Rules in the whole of an event: heard beside workflow and policies, recorded, once, and never the turn's end."""

from __future__ import annotations

from dataclasses import replace

from fakes.context import repo_context
from fakes.rules import FakeRules
from fakes.runtime import FakeWorld, fake_world
from policy_play import HERE, call, shell, starting

from upbeat.core.contract.effect import Deny, InjectContext, NotifyUser
from upbeat.core.contract.event import PromptSubmitted, SessionStarted, ToolKind
from upbeat.core.engine.handle import handle_event
from upbeat.core.rules.formats import markdown
from upbeat.core.rules.rule import Owner, Rule
from upbeat.core.rules.ruleset import RuleSet
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
    """The call is denied; the record says which rule did it, why, and where it is written."""
    world = world_with(NO_LS)
    decision = handle_event(starting(shell("ls -l")), world.runtime)
    [record] = world.journal.records

    assert (Deny("Not allowed by the rule no-ls: Words."),) == decision.effects
    assert ("rule no-ls", "Deny", "command: ls -l", ".upbeat/rules/no-ls.md:2") == (
        record.explanations[0].component,
        record.explanations[0].decision,
        record.explanations[0].reason,
        record.explanations[0].config_location,
    )


def test_once_in_a_session_and_again_after_a_compaction() -> None:
    """What was said once is said again when the model has forgotten it."""
    world = world_with(ONCE)
    said = [handle_event(event, world.runtime).effects for event in (READ, READ, SessionStarted(HERE, "compact"), READ)]

    assert [1, 0, 0, 1] == [sum(isinstance(effect, InjectContext) for effect in effects) for effects in said]


def test_what_had_no_room_comes_again() -> None:
    """What is to be said once and was left out is not taken for said."""
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
    """What a rule injects stands beside what was found for the prompt."""
    effects = handle_event(PromptSubmitted(HERE, "hello"), world_with(PROMPT).runtime).effects

    assert InjectContext("Rule prompt: Words.") in effects


def test_switched_off() -> None:
    """Where upbeat is off, so are the rules."""
    world = fake_world(repo_context(enabled=Activation.OFF))
    world.rules = FakeRules(RuleSet((NO_LS,)))

    assert () == handle_event(starting(shell("ls")), world.runtime).effects


def test_what_is_wrong_is_told_at_the_start() -> None:
    """Mistakes in rule files, and files that wait for trust, are told once: some by name, the others by number."""
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


def test_hold_out_is_for_rules_too() -> None:
    """What a rule injects is held out with everything else, and what it denies is not."""
    world = fake_world(repo_context(inject_holdout_percent=50))  # the clock's nonce draws 43 of 100
    world.rules = FakeRules(RuleSet((NO_LS, ALWAYS)))

    assert (Deny("Not allowed by the rule no-ls: Words."),) == handle_event(
        starting(shell("ls")), world.runtime
    ).effects
    assert ("rule always", "dropped", "InjectContext: held out") in [
        (said.component, said.decision, said.reason) for said in world.journal.records[0].explanations
    ]
