"""The proposals of all rules for one event."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

from policy_play import HERE, IN_AGENT, IN_CODEX, ROOT, call, shell, starting

from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.contract.effect import Deny, Explanation, InjectContext, Proposal
from upbeat.core.contract.event import FileEdit, PromptSubmitted, ToolKind
from upbeat.core.engine.merge import ContextBudget, merge_proposals
from upbeat.core.rules.formats import markdown
from upbeat.core.rules.rule import Owner, Rule
from upbeat.core.rules.ruleset import RANK, applicable_rules, evaluate_rules
from upbeat.core.sanitize.truncate import TextLimit

LS = starting(shell("ls"))


def rule(name: str, front: str, owner: Owner = Owner.USER) -> Rule:
    return markdown.parse_rule_file(f"---\n{front}\n---\nWords.", name, f"{name}.md", owner).rules[0]


NO_LS = rule("no-ls", "description: x\nevent: before-tool\ntool: shell\npattern: ls\naction: deny")
SAY = rule("say", "event: before-tool\naction: inject\nonce: true")
OTHER = rule("other", "event: prompt\naction: inject")


def test_proposals() -> None:
    """A proposal has the name of its rule, what matched, and its file and line."""
    answer = evaluate_rules((NO_LS, SAY, OTHER), LS, ROOT, (), "en")

    assert (
        Proposal(
            "rule no-ls",
            (Deny("Not allowed by the rule no-ls: Words."),),
            RANK,
            (Explanation("rule no-ls", "Deny", "command: ls", {}, "no-ls.md:2"),),
        ),
        Proposal(
            "rule say",
            (InjectContext("Rule say: Words."),),
            RANK,
            (Explanation("rule say", "InjectContext", "every before-tool", {}, "say.md:2"),),
        ),
    ) == answer.proposals


def test_once() -> None:
    """A rule with ``once`` is marked per agent and not repeated."""
    first = evaluate_rules((SAY,), LS, ROOT, ("older.md",), "en")
    again = evaluate_rules((SAY,), LS, ROOT, ("older.md", "say.md"), "en")
    in_agent = evaluate_rules((SAY,), starting(shell("ls"), IN_AGENT), ROOT, ("say.md",), "en")

    assert ((("rule say", "say.md"),), (), (), (("rule say", "agent-1 say.md"),)) == (
        first.once_marks,
        again.once_marks,
        again.proposals,
        in_agent.once_marks,
    )


def test_unknown_and_untrusted_rules_are_explained() -> None:
    """Rules that cannot be evaluated or are untrusted are explained."""
    line = starting(shell("eval $X"))
    closed = rule("closed", "event: before-tool\ntool: shell\npattern: rm\naction: deny\nfail: closed")
    untrusted = rule("untrusted", "event: before-tool\naction: inject", Owner.UNTRUSTED)
    answer = evaluate_rules((NO_LS, closed, untrusted), line, ROOT, (), "en")

    assert [
        ("rule no-ls", "could not evaluate", 0),
        ("rule closed", "could not evaluate", 1),
        ("rule untrusted", "not trusted", 0),
    ] == [(proposal.part, proposal.explanations[0].decision, len(proposal.effects)) for proposal in answer.proposals]


def test_applicable_rules() -> None:
    """Only rules for the event, the client and the tool apply."""
    codex = rule("codex", "event: before-tool\nclients: codex-cli\naction: deny")
    every = (NO_LS, SAY, OTHER, codex)

    assert [(NO_LS, SAY), (OTHER,), (SAY, codex)] == [
        applicable_rules(every, event, "auto", UNKNOWN_CLIENT)
        for event in (LS, PromptSubmitted(HERE, "x"), starting(call("Read", ToolKind.READ), IN_CODEX))
    ]


def test_foreign_rules() -> None:
    """The setting decides in which clients foreign rules apply."""
    lent = replace(rule("lent", "event: before-tool\naction: deny"), is_foreign=True)
    there = starting(shell("ls"), IN_CODEX)

    assert [(0, 0), (0, 1), (1, 1)] == [
        (
            len(applicable_rules((lent,), LS, how, ClientTraits(runs_hookify=True))),
            len(applicable_rules((lent,), there, how, UNKNOWN_CLIENT)),
        )
        for how in ("off", "auto", "all")
    ]


def test_untrusted_rules_leave_time_for_the_users_own() -> None:
    """Slow rules of a hostile repository end as not evaluated; the user's own rules are evaluated."""
    slow = "event: before-tool\ntool: write\npattern: '(a|b)*a(a|b){{150}}{n}'\naction: deny"
    untrusted = tuple(rule(f"s{n}", slow.format(n=n), Owner.UNTRUSTED) for n in range(200))
    own = rule("own", "event: before-tool\ntool: write\npattern: needle\naction: deny")
    text = "".join("ab"[n * n % 7 % 2] for n in range(200_000)) + "needle"
    event = starting(call("Write", ToolKind.WRITE, ("/repo/a",), (FileEdit("/repo/a", text),)))
    before = process_time()
    answer = evaluate_rules((*untrusted, own), event, ROOT, (), "en")

    assert process_time() - before < 5
    assert ("rule own", "Deny") == (answer.proposals[-1].part, answer.proposals[-1].explanations[0].decision)
    assert {"could not evaluate"} == {proposal.explanations[0].decision for proposal in answer.proposals[:-1]}
    assert len(answer.proposals) > 150


def test_a_denial_wins() -> None:
    """A denial wins over other effects, and injected text counts against the budget."""
    answer = evaluate_rules((NO_LS, SAY), LS, ROOT, (), "en")
    merged = merge_proposals(answer.proposals, ContextBudget(TextLimit(10_000), turn_chars=5))

    assert ((Deny("Not allowed by the rule no-ls: Words."),), True) == (
        merged.effects,
        "budget" in merged.explanations[-1].reason,
    )
