"""Workflows, stages and agents as values.

A workflow is an ordered list of groups; the stages of one group may run in parallel. A stage may occur more than once:
its second occurrence has the key ``TEST:2``. Invariant: no workflow, stage or agent is known by name here.
"""

from __future__ import annotations

from collections.abc import Mapping

from upbeat.core.lazy_dataclass import dataclass, field
from upbeat.core.workflow.state import StepVerdict

StageGroups = tuple[tuple[str, ...], ...]

SPEC_MODE, VERIFY_MODE = "spec", "verify"
"""Modes of a step: specify the behavior, or verify it."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One kind of work. ``repairs`` maps a negative verdict to the stages that run before a retry."""

    key: str
    agent: str
    verdicts: tuple[StepVerdict, ...] = (StepVerdict.PASS,)
    repairs: Mapping[StepVerdict, StageGroups] = field(default_factory=dict)
    max_attempts: int = 3
    """Failed attempts allowed in one workflow."""
    continues_on_failure: bool = False
    """The workflow continues after the last attempt; otherwise, the user is asked."""
    spec_before: str = ""
    """Before the first occurrence of this stage, the mode is spec; after it, verify."""
    needs_agent: bool = False
    """It is a second pair of eyes: where the client has subagents, only one of them can end it. Not in mode spec."""
    splits_into_subtasks: bool = False
    """Where the feature's tasks have development phases, each sub-task is a delegation of its own."""
    required_evidence: str = ""
    """What a pass needs: a command of that kind (tests, build) that exited with code 0, or changes: that the subagent
    has read what changed."""
    text: Mapping[str, str] = field(default_factory=dict)
    """Language -> the task, in one sentence."""


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent of a stage. ``access`` is read, write or all; ``model`` is strong, standard or fast."""

    name: str
    access: str = "all"
    model: str = "standard"
    skills: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow. ``groups`` contains unique step keys, with ``:2`` and so on for repeated stages."""

    name: str
    groups: StageGroups
    files: tuple[str, ...] = ()
    """Files of its feature folder: tasks, bdd."""
    text: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    """The file and line of its definition."""

    @property
    def step_keys(self) -> tuple[str, ...]:
        return tuple(key for group in self.groups for key in group)


@dataclass(frozen=True, slots=True)
class Registry:
    """All workflows, stages and agents, by name."""

    workflows: Mapping[str, Workflow]
    stages: Mapping[str, Stage]
    agents: Mapping[str, Agent]

    def find_stage(self, key: str) -> Stage:
        """Return the stage of a run; one without attributes if it has since been removed from the workflow files."""
        return self.stages.get(key, Stage(key, ""))

    def stages_of(self, agent: str) -> tuple[str, ...]:
        """Return the stages that ``agent`` runs."""
        return tuple(stage.key for stage in self.stages.values() if stage.agent == agent)


def stage_of_step_key(step_key: str) -> str:
    """Return the stage of a step key: TEST for ``TEST:2``, DEV for the repair ``DEV#1``."""
    return step_key.partition(":")[0].partition("#")[0]


def localized_text(text: Mapping[str, str], language: str) -> str:
    """Return the text in ``language``, else in English, else in any language."""
    return text.get(language) or text.get("en") or next(iter(text.values()), "")


def mode_of_step(workflow: Workflow, step_key: str, stages: Mapping[str, Stage]) -> str:
    """Return ``spec`` or ``verify`` for a step of a stage with modes; empty for all others."""
    stage = stages.get(stage_of_step_key(step_key))
    if stage is None or not stage.spec_before:
        return ""
    in_order, index = [stage_of_step_key(key) for key in workflow.step_keys], workflow.step_keys.index(step_key)
    return SPEC_MODE if stage.spec_before in in_order and in_order.index(stage.spec_before) >= index else VERIFY_MODE
