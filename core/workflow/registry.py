"""The workflows, stages and agents as values. Law: they are data; nothing here knows one of them by name.

A workflow is a list of groups in order; the stages of one group may run at the same time. The same stage may
occur more than once: its second occurrence has the key ``TEST:2``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .verdict import Verdict

Groups = tuple[tuple[str, ...], ...]

SPEC, VERIFY = "spec", "verify"
"""Modes of a step: write down what is wanted, or check whether it is so."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One kind of work. ``repairs`` says for each bad verdict which stages come before it is tried again."""

    key: str
    agent: str
    verdicts: tuple[Verdict, ...] = (Verdict.PASS,)
    repairs: Mapping[Verdict, Groups] = field(default_factory=dict)
    tries: int = 3
    """How often it may end badly in one workflow."""
    moves_on: bool = False
    """After the last try the workflow goes on; otherwise a human is asked."""
    spec_before: str = ""
    """The stage before whose first occurrence this one only writes down what is wanted: mode spec, else verify."""
    witness: str = ""
    """The kind of command (tests, build) that must have been run, with exit code 0, for a pass to be believed."""
    text: Mapping[str, str] = field(default_factory=dict)
    """Language -> what is to be done in it, one sentence."""


@dataclass(frozen=True, slots=True)
class Agent:
    """Who does a stage. ``access`` is read, write or all; ``model`` is strong, standard or fast."""

    name: str
    access: str = "all"
    model: str = "standard"
    skills: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Workflow:
    """A way to work. ``groups`` holds keys: unique, with ``:2`` and so on for repeated stages."""

    name: str
    groups: Groups
    files: tuple[str, ...] = ()
    """Files that its feature has beside the code: tasks, bdd."""
    text: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    """File and line that define it."""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for group in self.groups for key in group)


@dataclass(frozen=True, slots=True)
class Registry:
    """All there is, by name."""

    workflows: Mapping[str, Workflow]
    stages: Mapping[str, Stage]
    agents: Mapping[str, Agent]

    def stages_of(self, agent: str) -> tuple[str, ...]:
        """The stages that ``agent`` does."""
        return tuple(stage.key for stage in self.stages.values() if stage.agent == agent)


def stage_of(key: str) -> str:
    """The stage of a step's key: TEST of ``TEST:2``, DEV of the repair ``DEV#1``."""
    return key.partition(":")[0].partition("#")[0]


def mode_of(workflow: Workflow, key: str, stages: Mapping[str, Stage]) -> str:
    """``spec`` or ``verify`` for a step of a stage that has both modes; empty for all others."""
    stage = stages.get(stage_of(key))
    if stage is None or not stage.spec_before:
        return ""
    before = [stage_of(other) for other in workflow.keys[: workflow.keys.index(key)]]
    later = [stage_of(other) for other in workflow.keys[workflow.keys.index(key) :]]
    return SPEC if stage.spec_before not in before and stage.spec_before in later else VERIFY
