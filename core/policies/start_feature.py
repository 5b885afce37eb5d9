"""Start or continue a feature of the specs by its name or part of it."""

from __future__ import annotations

import re

from upbeat.core.contract.effect import Effect, InjectContext, NotifyUser
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policy.definition import NO_RESULT, Handler, LocalizedText, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import FeaturesByStatus, FeaturesQuery, Query
from upbeat.core.workflow.decide.command import parse_other_command
from upbeat.core.workflow.specs import FEATURES_FOLDER, STATUS_FOLDERS, FeatureStatus
from upbeat.core.workflow.state import SessionState

_MAX_NAMES = 12
_TEXT = LocalizedText(
    "The user wants to start or continue the feature `{name}`. Its plan is in `{folder}`: read it first (`tasks.md` "
    "and the files next to it), summarize its status in one sentence, and work through the open checkboxes in order; "
    "check off each one when it is done and verified.{move} If the work warrants stages, start a workflow with "
    "`{name}` as its goal (upbeat's tool `workflow`, or `upbeat workflow start NAME {name}` in the shell).",
    "用户要开始或继续做特性 `{name}`。计划在 `{folder}`：请先读它（`tasks.md` 及同目录文件），用一句话说明进度，再按"
    "顺序完成未勾选的项，每项完成并验证后勾选。{move}如果值得分阶段，请以 `{name}` 为目标启动流程（upbeat 的工具 "
    "`workflow`，或在终端运行 `upbeat workflow start 流程名 {name}`）。",
)
_MOVE = LocalizedText(
    " It is in the backlog: `upbeat features start {name}` starts it and moves its folder to `{folder}`.",
    "它还在待办中：运行 `upbeat features start {name}` 开始，之后目录为 `{folder}`。",
)
_SEVERAL = LocalizedText(
    "The user wants to work on a feature; `{wanted}` matches several: {names}. Ask which one; don't start anything.",
    "用户要做一个特性，而「{wanted}」可能指：{names}。请询问是哪一个，先不要动手。",
)
_CHOOSE = LocalizedText(
    "The user wants to work on a feature but did not say which. Available: {names}. Ask which one; don't start "
    "anything.",
    "用户要做一个特性但没有说是哪一个。现有：{names}。请询问是哪一个，先不要动手。",
)
_NONE = LocalizedText(
    "upbeat: no feature `{wanted}`. Available: {names}.",
    "upbeat：没有特性「{wanted}」。现有：{names}。",
)
_EMPTY = LocalizedText(
    "upbeat: no feature is in progress or in the backlog of {folder}. `upbeat features new NAME` creates one.",
    "upbeat：{folder} 中没有进行中或待办的特性。用 `upbeat features new 名称` 新建。",
)


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
        effect: Effect = InjectContext(_start_text(matches[0], features, context.language))
        return PolicyResult(
            (effect,), f"the feature {matches[0]}", mentioned_paths=(_feature_folder(matches[0], features),)
        )
    several, none = (_SEVERAL, _NONE) if requested else (_CHOOSE, _EMPTY)
    template, names = (several, matches) if matches else (none, known)
    shown = ", ".join(f"`{name}`" for name in names[:_MAX_NAMES]) + (" …" if len(names) > _MAX_NAMES else "")
    text = template.localize(context.language).format(wanted=requested[:60], names=shown, folder=FEATURES_FOLDER)
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


def _start_text(name: str, features: FeaturesByStatus, language: str) -> str:
    move = ""
    if name not in features.in_progress:
        move = _MOVE.localize(language).format(name=name, folder=f"{STATUS_FOLDERS[FeatureStatus.IN_PROGRESS]}/{name}")
    return _TEXT.localize(language).format(name=name, folder=_feature_folder(name, features), move=move)


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
