"""Which files planning agents may write."""

from __future__ import annotations

import pytest
from policy_play import HERE, IN_AGENT, ROOT, Talk, call, shell, starting

from upbeat.core.contract.event import EventSource, SubagentStarted, ToolKind
from upbeat.core.policies.restrict_planner_writes import PLANNING_AGENTS, POLICY

OTHER_AGENT = EventSource(HERE.client, ROOT, "s", "agent-2")


def said(
    kind: str, path: str, source: EventSource = IN_AGENT, act: ToolKind = ToolKind.WRITE, language: str = "en"
) -> list[str]:
    """The denials if an agent of ``kind`` writes ``path``."""
    talk = Talk(POLICY, language=language)
    talk.say(SubagentStarted(HERE, "agent-1", kind))
    return [effect.text for effect in talk.say(starting(call("Write", act, (path,)), source))]


SAYS_NOTHING = {
    "a plan": said("upbeat:planner", f"{ROOT}/specs/features/in-progress/x/tasks.md"),
    "documentation": said("upbeat:architect", f"{ROOT}/docs/design.md"),
    "notes": said("upbeat:planner", f"{ROOT}/.upbeat/notes.md"),
    "an ending in capitals": said("upbeat:planner", f"{ROOT}/docs/A.MD"),
    "a developer": said("upbeat:developer", f"{ROOT}/src/a.py"),
    "another program's planner": said("planner", f"{ROOT}/src/a.py"),
    "the client's own": said("Plan", f"{ROOT}/src/a.py"),
    "the main agent": said("upbeat:planner", f"{ROOT}/src/a.py", HERE),
    "another agent": said("upbeat:planner", f"{ROOT}/src/a.py", OTHER_AGENT),
    "reading": said("upbeat:planner", f"{ROOT}/src/a.py", act=ToolKind.READ),
}


@pytest.mark.parametrize("words", SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_says_nothing_for(words: list[str]) -> None:
    """Says nothing for plans, for other agents, and for what changes nothing."""
    assert [] == words


@pytest.mark.parametrize("kind", sorted(PLANNING_AGENTS))
@pytest.mark.parametrize(
    "path", ["src/a.py", "docs/a.py", "README.md", "specs/x.feature", "src/specs/a.md", "../elsewhere/specs/a.md"]
)
def test_says(kind: str, path: str) -> None:
    """A planning agent may write neither other files than Markdown nor outside the plan folders."""
    place = f"{ROOT}/{path}" if not path.startswith("..") else path.replace("..", "")
    [english] = said(f"upbeat:{kind}", place)
    [chinese] = said(f"upbeat_{kind}".replace("-", "_"), place, act=ToolKind.EDIT, language="zh")

    assert f"The {kind} may not write" in english
    assert f"{kind} 只做规划" in chinese


def test_shell_commands_are_not_checked() -> None:
    """Shell commands are not checked."""
    talk = Talk(POLICY)
    talk.say(SubagentStarted(HERE, "agent-1", "upbeat:planner"))

    assert () == talk.say(starting(shell("echo x > a.py"), IN_AGENT))
