"""A new user is told three commands, once."""

from __future__ import annotations

import pytest
from policy_play import HERE, IN_AGENT, IN_CODEX, asked, said_by, silent

from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.codex.client import Codex
from upbeat.core.contract.event import SessionStarted
from upbeat.core.policies.introduce_commands import POLICY
from upbeat.core.policy.definition import MarkIntroduced, PolicyContext
from upbeat.core.policy.queries import IsNewUserQuery
from upbeat.core.workflow.state import SessionState

NEW = {IsNewUserQuery(): True}
QUIET = [SessionStarted(HERE, trigger) for trigger in ("resume", "clear", "compact", "fork")]
QUIET += [SessionStarted(HERE, "startup", is_headless=True), SessionStarted(IN_AGENT, "startup")]
test_says_nothing_for = silent(QUIET, lambda event: asked(POLICY, event, PolicyContext(query_results=NEW)).effects)


@pytest.mark.parametrize(("client", "mark"), [(ClaudeCode(), "/"), (Codex(), "$")])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_names_three_commands(client: ClaudeCode | Codex, mark: str, language: str) -> None:
    """The sentence writes them as the client does, and the user is marked."""
    event = SessionStarted(HERE if mark == "/" else IN_CODEX, "startup")
    result = asked(POLICY, event, PolicyContext(query_results=NEW, language=language, client=client.traits))
    [effect] = result.effects

    assert all(f"{mark}upbeat:{name}" in effect.text for name in ("context", "why", "auto"))
    assert (MarkIntroduced(),) == result.side_effects


def test_only_a_first_session_asks() -> None:
    """Nothing is looked up where nothing would be said; a known user is told nothing."""
    queries = POLICY.handlers[SessionStarted].queries

    assert queries
    assert [()] * len(QUIET[:5]) == [queries(event, SessionState()) for event in QUIET[:5]]
    assert (IsNewUserQuery(),) == queries(SessionStarted(HERE, "startup"), SessionState())
    assert () == said_by(POLICY, SessionStarted(HERE, "startup"))
