"""Records and states of schema version 2 under the present names."""

from __future__ import annotations

from typing import get_args

import pytest

from upbeat.core.contract.effect import Effect
from upbeat.core.engine.handle import EFFECT_KINDS
from upbeat.core.journal.codec import FACT_KINDS
from upbeat.core.journal.legacy import upgrade_event_name, upgrade_record, upgrade_state
from upbeat.core.package_data import load_toml
from upbeat.core.policies import POLICIES

NAMES = load_toml("upbeat.core.journal", "legacy_names.toml")


def test_every_new_name_exists() -> None:
    """What an old name maps to is a fact, an effect or a policy of this version."""
    assert set(NAMES["facts"].values()) <= set(FACT_KINDS.values())
    assert set(NAMES["effects"].values()) <= {EFFECT_KINDS[kind] for kind in get_args(Effect)}
    assert set(NAMES["policies"].values()) <= {policy.name for policy in POLICIES}


def test_a_present_record_is_returned_unchanged() -> None:
    """A record of this version passes through as the same object."""
    body = {"event": "ToolStarting", "event_fields": {"act": "x"}, "explanations": []}

    assert body is upgrade_record(body)


@pytest.mark.parametrize(("old", "new"), [("Delegating", "SubagentRequested"), ("ToolStarting", "ToolStarting")])
def test_event_names(old: str, new: str) -> None:
    """An event that was renamed has its new name, any other its own."""
    assert new == upgrade_event_name(old)


def test_a_dropped_effect() -> None:
    """An explanation of a dropped effect names the policy, the effect and the reason as this version does."""
    said = {"part": "policy greet", "decided": "left out", "because": "Inject: somebody was first; Ask: held out"}

    [explanation] = upgrade_record({"said": [said]})["explanations"]

    assert {
        "component": "policy announce-startup",
        "decision": "dropped",
        "reason": "InjectContext: duplicate; RequestApproval: held out",
    } == explanation


def test_a_policys_continuation_state() -> None:
    """The fields inside a note are renamed, too; a note that cannot be read stays."""
    notes = ['drive {"total":2,"is_held":true}', "drive {", "goal 1"]

    state = upgrade_state({"notebook": [{"policy": "finish-todo-list", "notes": notes, "stays": True}]})

    expected = ['continuation {"continuations":2,"is_paused":true}', "drive {", "goal 1"]
    page = {"policy": "enforce-todo-completion", "notes": expected, "survives_compaction": True}
    assert {"policy_notes": [page]} == state


def test_spoilt_parts_are_left_alone() -> None:
    """Values of another form are kept for whoever shows them."""
    assert {"explanations": "x", "event": "", "facts": [3]} == upgrade_record({"said": "x", "facts": [3]})
