"""The events, targets and actions of rules."""

from __future__ import annotations

import pytest

from upbeat.core.rules.rule import CONFIGURABLE_TARGETS, RULE_EVENTS, Action, Rule


def test_tool_events() -> None:
    """Only the events before and after a tool are about a call."""
    assert ["before-tool", "after-tool"] == [name for name, event in RULE_EVENTS.items() if event.is_tool_event]


@pytest.mark.parametrize("event", RULE_EVENTS)
def test_targets_can_be_configured(event: str) -> None:
    """Every target of an event can be named in a rule file, and every event supports an action."""
    assert set(RULE_EVENTS[event].targets) <= set(CONFIGURABLE_TARGETS)
    assert RULE_EVENTS[event].actions


def test_each_event_type_belongs_to_one_rule_event() -> None:
    """No event is evaluated under two names."""
    types = [kind for event in RULE_EVENTS.values() for kind in event.event_types]

    assert len(types) == len(set(types))


def test_only_calls_can_be_asked_about() -> None:
    """The user is asked only before a tool runs."""
    assert ["before-tool"] == [name for name, event in RULE_EVENTS.items() if Action.ASK in event.actions]


@pytest.mark.parametrize(("file", "location"), [("rules.md", "rules.md:7"), ("", "")])
def test_location(file: str, location: str) -> None:
    """A rule is located by file and line; one without a file has no location."""
    assert location == Rule("r", "prompt", Action.TELL, "x", file, 7).location
