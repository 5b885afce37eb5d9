"""What the rules say together: each by its own voice, each fault its own, once where it is to be once."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

from policy_play import HERE, IN_AGENT, IN_CODEX, ROOT, call, shell, starting

from upbeat.core.contract.effect import Deny, Inject, Said
from upbeat.core.contract.event import Act, Change, PromptSubmitted
from upbeat.core.merge import Room, Voice, merge
from upbeat.core.rules import rule_file
from upbeat.core.rules.book import RANK, ask, in_force
from upbeat.core.rules.rule import Owner, Rule
from upbeat.core.turn.truncate import Cap

LS = starting(shell("ls"))


def rule(name: str, front: str, owner: Owner = Owner.USER) -> Rule:
    return rule_file.read(f"---\n{front}\n---\nWords.", name, f"{name}.md", owner).rules[0]


NO_LS = rule("no-ls", "description: x\nevent: before-tool\ntool: shell\npattern: ls\naction: deny")
SAY = rule("say", "event: before-tool\naction: inject\nonce: true")
OTHER = rule("other", "event: prompt\naction: inject")


def test_each_has_its_voice() -> None:
    """A rule that matches speaks under its name, with what matched and the file and line that say so."""
    answer = ask((NO_LS, SAY, OTHER), LS, ROOT, (), "en")

    assert (
        Voice(
            "rule no-ls",
            (Deny("Not allowed by the rule no-ls: Words."),),
            RANK,
            (Said("rule no-ls", "Deny", "command: ls", {}, "no-ls.md:2"),),
        ),
        Voice(
            "rule say",
            (Inject("Rule say: Words."),),
            RANK,
            (Said("rule say", "Inject", "every before-tool", {}, "say.md:2"),),
        ),
    ) == answer.voices


def test_once() -> None:
    """What is to be said once is noted, and not said again until the note is gone; a subagent has not heard it."""
    first = ask((SAY,), LS, ROOT, ("older.md",), "en")
    again = ask((SAY,), LS, ROOT, ("older.md", "say.md"), "en")
    in_agent = ask((SAY,), starting(shell("ls"), IN_AGENT), ROOT, ("say.md",), "en")

    assert ((("rule say", "say.md"),), (), (), (("rule say", "agent-1 say.md"),)) == (
        first.once,
        again.once,
        again.voices,
        in_agent.once,
    )


def test_the_third_outcome_is_recorded() -> None:
    """What could not be evaluated is in the record, with and without an effect; so is what waits for trust."""
    line = starting(shell("eval $X"))
    closed = rule("closed", "event: before-tool\ntool: shell\npattern: rm\naction: deny\nfail: closed")
    stranger = rule("stranger", "event: before-tool\naction: inject", Owner.STRANGER)
    answer = ask((NO_LS, closed, stranger), line, ROOT, (), "en")

    assert [
        ("rule no-ls", "could not evaluate", 0),
        ("rule closed", "could not evaluate", 1),
        ("rule stranger", "not trusted", 0),
    ] == [(voice.part, voice.said[0].decided, len(voice.effects)) for voice in answer.voices]


def test_in_force() -> None:
    """Only those that are about the event, the client and the tool are asked."""
    codex = rule("codex", "event: before-tool\nclients: codex-cli\naction: deny")
    every = (NO_LS, SAY, OTHER, codex)

    assert [(NO_LS, SAY), (OTHER,), (SAY, codex)] == [
        in_force(every, event, "codex")
        for event in (LS, PromptSubmitted(HERE, "x"), starting(call("Read", Act.READ), IN_CODEX))
    ]


def test_borrowed_rules() -> None:
    """Rules of another program count in the other client, everywhere, or nowhere, as their user says."""
    lent = replace(rule("lent", "event: before-tool\nclients: codex-cli\naction: deny"), is_borrowed=True)
    there = starting(shell("ls"), IN_CODEX)

    assert [(0, 0), (0, 1), (1, 1)] == [
        (len(in_force((lent,), LS, how)), len(in_force((lent,), there, how))) for how in ("off", "codex", "all")
    ]


def test_strangers_leave_time_to_ones_own() -> None:
    """Rules of a hostile repository that take as long as they can end as not evaluated; one's own are asked."""
    slow = "event: before-tool\ntool: write\npattern: '(a|b)*a(a|b){{150}}{n}'\naction: deny"
    strangers = tuple(rule(f"s{n}", slow.format(n=n), Owner.STRANGER) for n in range(200))
    own = rule("own", "event: before-tool\ntool: write\npattern: needle\naction: deny")
    text = "".join("ab"[n * n % 7 % 2] for n in range(200_000)) + "needle"
    event = starting(call("Write", Act.WRITE, ("/repo/a",), (Change("/repo/a", text),)))
    before = process_time()
    answer = ask((*strangers, own), event, ROOT, (), "en")

    assert process_time() - before < 5
    assert ("rule own", "Deny") == (answer.voices[-1].part, answer.voices[-1].said[0].decided)
    assert {"could not evaluate"} == {voice.said[0].decided for voice in answer.voices[:-1]}
    assert len(answer.voices) > 150


def test_a_denial_stands_over_the_rest() -> None:
    """Together with others a rule's denial is a denial, and its context counts against the budget."""
    answer = ask((NO_LS, SAY), LS, ROOT, (), "en")
    merged = merge(answer.voices, Room(Cap(10_000), turn=5))

    assert ((Deny("Not allowed by the rule no-ls: Words."),), True) == (
        merged.effects,
        "the budget" in merged.said[-1].because,
    )
