"""Which subagents are told about notes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_CODEX, ROOT, asked, call, queried, said_by, shell, silent, starting, view_of

from upbeat.core.contract.effect import InjectContext, PrependPrompt
from upbeat.core.contract.event import Event, SubagentRequested, SubagentStarted, ToolKind
from upbeat.core.policies.share_notes_with_subagents import NOTES_PATH, POLICY
from upbeat.core.policy.queries import ExistingPathsQuery
from upbeat.core.workflow.state import PolicyNotes, SessionState, WorkflowRun

OF_PROJECT = f"{ROOT}/{NOTES_PATH}"
OF_FEATURE = f"{ROOT}/specs/features/in-progress/retries/notes.md"
IDLE = SessionState(root=ROOT)
BUSY = SessionState(root=ROOT, run=WorkflowRun("r", "standard", (), feature="retries"))
SENT = SubagentRequested(HERE, call("Agent", ToolKind.DELEGATE), "Explore", "look")
SEALED = SubagentRequested(IN_CODEX, call("collaborationspawn_agent", ToolKind.DELEGATE), "", "", is_prompt_hidden=True)
STARTED = SubagentStarted(IN_CODEX, "a1", "default")
IDLE_LOOK, BUSY_LOOK = ExistingPathsQuery((OF_PROJECT,)), ExistingPathsQuery((OF_FEATURE, OF_PROJECT))
Found = dict[ExistingPathsQuery, frozenset[str]]

SAYS_NOTHING: dict[str, tuple[Event, SessionState, Found]] = {
    "no notes": (SENT, IDLE, {IDLE_LOOK: frozenset()}),
    "no notes of the feature either": (SENT, BUSY, {BUSY_LOOK: frozenset()}),
    "nobody could look": (SENT, IDLE, {}),
    "a root that nobody knows": (SENT, SessionState(), {IDLE_LOOK: frozenset({OF_PROJECT})}),
    "a hidden prompt": (SEALED, IDLE, {IDLE_LOOK: frozenset({OF_PROJECT})}),
    "an agent that was told": (STARTED, IDLE, {IDLE_LOOK: frozenset({OF_PROJECT})}),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda case: said_by(POLICY, case[0], state=case[1], found=case[2]))


@pytest.mark.parametrize(
    ("state", "found", "paths"),
    [
        (IDLE, {IDLE_LOOK: frozenset({OF_PROJECT})}, f"`{NOTES_PATH}`"),
        (BUSY, {BUSY_LOOK: frozenset({OF_PROJECT})}, f"`{NOTES_PATH}`"),
        (BUSY, {BUSY_LOOK: frozenset({OF_PROJECT, OF_FEATURE})}, f"retries/notes.md`, `{NOTES_PATH}`"),
    ],
)
@pytest.mark.parametrize(("language", "words"), [("en", "read-only"), ("zh", "只读")])
def test_says(state: SessionState, found: Found, paths: str, language: str, words: str) -> None:
    """A subagent is told which note files exist, in both languages."""
    [effect] = said_by(POLICY, SENT, language, state=state, found=found)

    assert isinstance(effect, PrependPrompt)
    assert paths in effect.text
    assert words in effect.text


def test_a_hidden_prompt() -> None:
    """A subagent whose prompt is hidden is told when it starts."""
    found = {IDLE_LOOK: frozenset({OF_PROJECT})}
    sealed = asked(POLICY, SEALED, view_of(POLICY, found=found, state=IDLE))
    started = asked(POLICY, STARTED, view_of(POLICY, sealed.notes or (), found, state=IDLE))

    assert ((), ("hidden",)) == (sealed.effects, sealed.notes)
    assert ([InjectContext], ()) == ([type(one) for one in started.effects], started.notes)


def test_looks() -> None:
    """Files are looked for when a subagent is requested, and at its start if its prompt was hidden."""
    hidden = replace(BUSY, policy_notes=(PolicyNotes(POLICY.name, ("hidden",)),))

    assert (BUSY_LOOK,) == queried(POLICY, SENT, BUSY) == queried(POLICY, STARTED, hidden)
    assert () == queried(POLICY, STARTED, BUSY)
    assert () == queried(POLICY, starting(shell("ls")), BUSY) == queried(POLICY, SENT, replace(BUSY, root=""))
