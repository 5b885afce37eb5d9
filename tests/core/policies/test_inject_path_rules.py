"""When rules of other programs are injected for a file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import (
    HERE,
    IN_AGENT,
    IN_CODEX,
    ROOT,
    Talk,
    call,
    finished,
    queried,
    said_by,
    silent,
    starting,
    view_of,
)

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import Event, SessionStarted, ToolFinished, ToolKind
from upbeat.core.policies.inject_path_rules import MAX_RULE_CHARS, MAX_RULES, POLICY
from upbeat.core.policy.queries import GuidanceQuery
from upbeat.core.rules.formats.guidance import ALL_FILES, Guidance
from upbeat.core.rules.globs import Globs

PATH = f"{ROOT}/src/a.ts"
LOOK = GuidanceQuery((PATH,))
TYPES = Guidance(".cursor/rules/ts.mdc", "/repo/.cursor/rules/ts.mdc", Globs(("*.ts",)), "Strict types.", "d")
CLAUDES = replace(
    TYPES,
    path=".claude/rules/all.md",
    real_path="/repo/.claude/rules/all.md",
    globs=ALL_FILES,
    text="Short lines.",
    rules_folder=".claude/rules",
)
READ = finished(call("Read", ToolKind.READ, (PATH,)), "…")
EDIT = finished(call("Edit", ToolKind.EDIT, (PATH,)), "done")

SAYS_NOTHING: dict[str, tuple[Event, tuple[Guidance, ...]]] = {
    "a file without rules": (READ, ()),
    "a read that failed": (replace(READ, has_failed=True), (TYPES,)),
    "another call": (finished(call("Grep", ToolKind.SEARCH), "…"), (TYPES,)),
    "a rule that the client reads itself": (READ, (CLAUDES,)),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda case: said_by(POLICY, case[0], found={LOOK: case[1]}))


@pytest.mark.parametrize("event", [READ, EDIT, finished(call("Write", ToolKind.WRITE, (PATH,)), "done")])
def test_says(event: ToolFinished) -> None:
    """The rule is injected with its path as a project rule, in both languages."""
    text = (
        "Project rules for src/a.ts, from .cursor/rules/ts.mdc. The user has trusted them; "
        "follow them here.\nStrict types.\n(End of .cursor/rules/ts.mdc)"
    )
    [chinese] = said_by(POLICY, event, language="zh", found={LOOK: (TYPES,)})

    assert (InjectContext(text),) == said_by(POLICY, event, found={LOOK: (TYPES,)})
    assert chinese.text.startswith("本项目针对 src/a.ts 的规则")


def test_rules_that_claude_code_reads_itself() -> None:
    """Rules that Claude Code reads itself are injected in Codex; the user's own are named as such."""
    there = finished(call("apply_patch", ToolKind.EDIT, (PATH,)), "done", source=IN_CODEX)
    mine = replace(CLAUDES, path="~/.claude/rules/all.md", is_user_level=True)
    [theirs] = said_by(POLICY, there, found={LOOK: (CLAUDES,)})
    [users] = said_by(POLICY, there, found={LOOK: (mine,)})

    assert (True, True) == (
        theirs.text.startswith("Project rules for src/a.ts, from .claude/rules/all.md."),
        users.text.startswith("The user's own rules for src/a.ts, from ~/.claude/rules/all.md."),
    )


def test_once() -> None:
    """A rule is shown once, however often its files are touched; so is a copy of it, and a link to it.

    An agent that was handed work has not seen it, and is shown it once.
    """
    copy = replace(TYPES, path="web/.cursor/rules/ts.mdc", real_path="/repo/web/.cursor/rules/ts.mdc")
    link = replace(TYPES, path="b.mdc", text="Strict types, and more.")
    talk = Talk(POLICY, {LOOK: (TYPES, copy, link)})

    in_agent = replace(READ, source=IN_AGENT)

    assert [1, 0, 0, 1, 0] == [len(talk.say(event)) for event in (READ, EDIT, READ, in_agent, in_agent)]


def test_bounds() -> None:
    """A long rule is truncated with a hint at its file, and further rules follow with the next event."""
    many = tuple(
        replace(TYPES, path=f"{number}.mdc", real_path=f"/{number}", text=f"{number}" + "x" * MAX_RULE_CHARS)
        for number in range(MAX_RULES + 2)
    )
    talk = Talk(POLICY, {LOOK: many})
    first, second, third = talk.say(READ), talk.say(READ), talk.say(READ)

    assert (MAX_RULES, 2, 0) == (len(first), len(second), len(third))
    assert "… (see 0.mdc for the rest)" in first[0].text
    assert len(first[0].text) < MAX_RULE_CHARS + 300


def test_queries_only_after_a_touch() -> None:
    """Rules are queried only after a file was touched."""
    events: tuple[Event, ...] = (
        READ,
        starting(call("Read", ToolKind.READ, (PATH,))),
        SessionStarted(HERE, "startup"),
    )

    assert [(LOOK,), (), ()] == [queried(POLICY, event, view_of(POLICY).state) for event in events]
