"""Decide which feature of ``specs/features`` a run works on, and what a session hears of the others.

==========================================  ==========================================================
the goal names a feature                    that one; one of the backlog is started
one feature is in progress                  that one, if the workflow has task files, until a new one appears
anything else                               none, until one appears or the user names one
==========================================  ==========================================================

A feature that another session is working on is never presumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from upbeat.core.contract.effect import InjectContext, NotifyUser
from upbeat.core.workflow.decision import (
    NO_DECISION,
    StartFeature,
    WorkflowDecision,
    WorkflowInputs,
    make_explanation,
)
from upbeat.core.workflow.prompts import render_open_features
from upbeat.core.workflow.registry import Workflow
from upbeat.core.workflow.state import PeerSession, WorkflowRun

FEATURE_LEASE_SECONDS = 900.0
"""A session without events for this long no longer holds its feature."""
MAX_SHOWN_FEATURES = 5

_NAME = re.compile(r"(?<![\w-])(?:specs/features/[a-z-]+/)?([a-z0-9]+(?:-[a-z0-9]+)*)(?![\w-])")
_WORD = re.compile(r"[a-z0-9]+")


def named_features(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the ``known`` features that ``text`` names; if there are none, those all of whose words it has."""
    known = tuple(known)
    written = {match[1] for match in _NAME.finditer(text)}
    words = set(_WORD.findall(text.lower()))
    # Chinese has no spaces between words.
    return tuple(name for name in known if name in written or (not name.isascii() and name in text)) or tuple(
        name for name in known if "-" in name and words.issuperset(name.split("-"))
    )


def choose_feature(goal: str, workflow: Workflow, inputs: WorkflowInputs) -> tuple[str, WorkflowDecision]:
    """Return the feature of a new run, empty for none, and what the choice brings about."""
    in_progress, messages = inputs.features_in_progress, inputs.messages
    if named := named_features(goal, in_progress):
        return named[0], NO_DECISION
    if len(waiting := named_features(goal, inputs.features_in_backlog)) == 1:
        return waiting[0], WorkflowDecision(workspace_actions=(StartFeature(waiting[0]),))
    free = [name for name in in_progress if find_holder(name, inputs) is None]
    if len(free) == len(in_progress) == 1 and (not goal or "tasks" in workflow.files):
        presumed = () if not goal else (NotifyUser(messages["feature_presumed"].format(feature=free[0])),)
        return free[0], WorkflowDecision(effects=presumed)
    if len(in_progress) > 1 and "tasks" in workflow.files:
        text = messages["feature_unclear"].format(features=", ".join(in_progress[:MAX_SHOWN_FEATURES]))
        return "", WorkflowDecision(effects=(NotifyUser(text),))
    return "", NO_DECISION


def find_new_feature(run: WorkflowRun, features: tuple[str, ...]) -> str:
    """Return the only feature created since a run began whose goal names none; empty otherwise."""
    new = [feature for feature in features if feature not in run.preexisting_features]
    is_presumed = run.feature in run.preexisting_features and not named_features(run.goal, (run.feature,))
    return new[0] if len(new) == 1 and (not run.feature or (run.goal and is_presumed)) else ""


def find_holder(feature: str, inputs: WorkflowInputs, run_id: str = "") -> PeerSession | None:
    """Return the session that is working on the feature; only one whose run is older than ``run_id``, if given."""
    for peer in inputs.peer_sessions:
        other = peer.state.run
        if other is None or other.feature != feature or (run_id and other.id >= run_id) or not other.is_running:
            continue
        is_over = peer.state.has_ended or bool(peer.state.loop.end_reason)
        if not is_over and inputs.now - peer.updated_at < FEATURE_LEASE_SECONDS:
            return peer
    return None


def tell_open_features(inputs: WorkflowInputs) -> WorkflowDecision:
    """Tell the model of a new conversation which features are in progress, with the open tasks of a lone one."""
    text = render_open_features(inputs, MAX_SHOWN_FEATURES)
    why = make_explanation("workflow", "inject", "features in progress", features=inputs.features_in_progress)
    return WorkflowDecision(effects=(InjectContext(text),), explanations=(why,)) if text else NO_DECISION


def offer_next_feature(run: WorkflowRun, inputs: WorkflowInputs) -> str:
    """Return a sentence that offers the user the feature after the one that is complete; empty for none."""
    others = (name for name in (*inputs.features_in_progress, *inputs.features_in_backlog) if name != run.feature)
    following = next(others, "") if run.feature else ""
    return inputs.messages["next_feature"].format(feature=following, workflow=run.workflow) if following else ""
