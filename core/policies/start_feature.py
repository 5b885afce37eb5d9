"""Start or continue a feature of the specs by its name or part of it."""

from __future__ import annotations

import re

from upbeat.core.contract.effect import Effect, InjectContext, NotifyUser
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import FeaturesByStatus, FeaturesQuery, Query
from upbeat.core.workflow.decide.command import parse_other_command
from upbeat.core.workflow.specs import FEATURES_FOLDER, STATUS_FOLDERS, FeatureStatus
from upbeat.core.workflow.state import SessionState

_MAX_NAMES = 12


def _requested_feature(event: PromptSubmitted) -> str | None:
    """Return the argument of the command; None for any other prompt."""
    name, rest = parse_other_command(event.prompt) or ("", "")
    return rest.split("\n", 1)[0].strip(" `'\"") if name == "start-feature" else None


def _queries(event: PromptSubmitted, _state: SessionState) -> tuple[Query, ...]:
    return () if _requested_feature(event) is None else (FeaturesQuery(),)


def _on_prompt_submitted(event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    requested = _requested_feature(event)
    if requested is None:
        return NO_RESULT
    features: FeaturesByStatus = context.query_results.get(FeaturesQuery(), FeaturesByStatus())
    known = (*features.in_progress, *(name for name in features.backlog if name not in features.in_progress))
    matches = _matching_features(requested, features, known)
    if len(matches) == 1:
        effect: Effect = InjectContext(_start_text(matches[0], features, context))
        return PolicyResult(
            (effect,), f"the feature {matches[0]}", mentioned_paths=(_feature_folder(matches[0], features),)
        )
    several, none = ("several", "none") if requested else ("choose", "empty")
    template, names = (several, matches) if matches else (none, known)
    shown = ", ".join(f"`{name}`" for name in names[:_MAX_NAMES]) + (" …" if len(names) > _MAX_NAMES else "")
    text = context.text(template, wanted=requested[:60], names=shown, folder=FEATURES_FOLDER)
    effect = InjectContext(text) if matches else NotifyUser(text)
    return PolicyResult((effect,), f"{len(matches)} features match")


def _matching_features(requested: str, features: FeaturesByStatus, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the features with that name or part of it; without a name those in progress, else the backlog."""
    if not requested:
        return features.in_progress or features.backlog
    name = "-".join(requested.lower().replace("_", "-").split())
    if name in known:
        return (name,)
    return tuple(feature for feature in known if name in feature)


def _start_text(name: str, features: FeaturesByStatus, context: PolicyContext) -> str:
    move = ""
    if name not in features.in_progress:
        move = context.text("move", name=name, folder=f"{STATUS_FOLDERS[FeatureStatus.IN_PROGRESS]}/{name}")
    return context.text("text", name=name, folder=_feature_folder(name, features), move=move)


def _feature_folder(name: str, features: FeaturesByStatus) -> str:
    return (
        f"{STATUS_FOLDERS[FeatureStatus.IN_PROGRESS if name in features.in_progress else FeatureStatus.BACKLOG]}/{name}"
    )


POLICY = Policy(
    name="start-feature",
    handlers={
        PromptSubmitted: Handler(
            _on_prompt_submitted,
            _queries,
            origins=(PromptOrigin.USER,),
            text=re.compile("start-feature", re.IGNORECASE),
        )
    },
    effects=(InjectContext, NotifyUser),
    rank=20,
)
