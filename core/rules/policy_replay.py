"""Replay a policy with the answers to what the past cannot tell that make it do the most, or the least.

The history has neither the files of its time nor the workflows, so each question is given several answers. Notes are
kept for each session, as the policy kept them. Invariant: pure, and memory is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Any

from upbeat.core.contract.effect import Effect, NotifyUser
from upbeat.core.contract.event import Event
from upbeat.core.policy import queries as world
from upbeat.core.policy.changed_files import MAX_QUERIED_FILES
from upbeat.core.policy.definition import Policy, PolicyContext
from upbeat.core.policy.evaluate import PolicyOutcome, collect_queries, evaluate_policies
from upbeat.core.policy.own_controls import mentions_control, names_control
from upbeat.core.rules.backtest import BacktestReport, RuleEvaluationError, strength_of
from upbeat.core.rules.formats.guidance import ALL_FILES, Guidance
from upbeat.core.workflow.state import PolicyNotes, SessionState, StepStatus, WorkflowRun, WorkflowStep

MAX_ANSWERS = 16
"""Combinations of answers that are tried for one event."""
MAX_SESSIONS = 1000
"""Sessions whose notes are kept; the oldest are dropped first."""
WORKFLOW = "Workflow"
"""The unknown of whether a workflow was running."""

_DOCUMENT = world.TextDocument("recorded.md", "text")
_RUN = WorkflowRun(
    "replay",
    "standard",
    (WorkflowStep("PLAN", "PLAN", 0, status=StepStatus.ACTIVE), WorkflowStep("DEV", "DEV", 1)),
    feature="replay",
)


class _Script:
    """Every script of the past, with one text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self, _path: str) -> str:
        return self._text


def _possible_controls(query: world.OwnControlsQuery) -> tuple[str, ...]:
    """Return what may have been a control: by its name, any script, and a folder outside of the working directory."""
    trees = (tree for tree in query.trees if tree.startswith(("/", "~", "$", ".")) or names_control(tree))
    return (
        *filter(names_control, query.paths),
        *trees,
        *filter(mentions_control, query.texts),
        *query.scripts,
    )


_ANSWERS: Mapping[type[Any], Callable[[Any], tuple[Any, ...]]] = {
    world.FilesAboveQuery: lambda query: ((), (world.TextDocument(query.names[0], "text"),)),
    world.ExistingPathsQuery: lambda query: (frozenset(), frozenset(query.paths)),
    world.ContextUsageQuery: lambda _: (None, world.ContextUsage(1, 200_000), world.ContextUsage(199_000, 200_000)),
    world.ChangedFilesQuery: lambda _: (
        (),
        tuple(world.ChangedFile(f"changed-{number}", 1, 1) for number in range(MAX_QUERIED_FILES)),
    ),
    world.FolderFilesQuery: lambda _: ((), (_DOCUMENT,)),
    world.GuidanceQuery: lambda _: ((), (Guidance("rule.md", "/rule.md", ALL_FILES, "text", "digest"),)),
    world.FeaturesQuery: lambda _: (world.FeaturesByStatus(),),
    world.ScriptFilesQuery: lambda _: (_Script(""), _Script("rm -rf ~/\n")),
    world.PromptFileQuery: lambda _: (None, _DOCUMENT),
    world.OwnControlsQuery: lambda query: (None, _possible_controls(query)),
    world.OwnReportQuery: lambda _: (None, "text"),
    world.IsNewUserQuery: lambda _: (False, True),
}


class PolicyReplay:
    """A ``BacktestEvaluator`` of one policy; with ``does_most``, every unknown is answered so that it does the most.

    The answers are chosen event by event, so both ends are bounds and need not have happened together.
    """

    def __init__(self, policy: Policy, language: str, *, does_most: bool) -> None:
        self._policy, self._language = policy, language
        self._pick: Callable[..., tuple[int, PolicyOutcome]] = max if does_most else min
        self._notes: dict[int, tuple[str, ...]] = {}
        self._seen: set[type[Event]] = set()
        self.unknowns: set[str] = set()
        """What the past could not tell and what made a difference: names of queries, or ``WORKFLOW``."""
        self.evaluations = 1
        """How often the last event was evaluated."""

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """The events that the policy handles and that the history did not have."""
        return tuple(sorted(each.__name__ for each in self._policy.handlers if each not in self._seen))

    def __call__(self, event: Event, root: str, at: float) -> tuple[Effect, ...]:
        if type(event) not in self._policy.handlers:
            return ()
        self._seen.add(type(event))
        session = hash(event.source.session_id)
        notes = self._notes.pop(session, ())
        outcomes, failures = self._outcomes(event, root, at, notes)
        self.evaluations = len(outcomes) + len(failures)
        if not outcomes:
            raise RuleEvaluationError(failures[0])
        _, outcome = self._pick(outcomes, key=lambda rated: rated[0])
        kept = notes if outcome.result.notes is None else outcome.result.notes
        if kept:
            self._notes[session] = kept
            if len(self._notes) > MAX_SESSIONS:
                del self._notes[next(iter(self._notes))]
        return _effects(outcome)

    def _outcomes(
        self, event: Event, root: str, at: float, notes: tuple[str, ...]
    ) -> tuple[list[tuple[int, PolicyOutcome]], list[str]]:
        """Return every outcome that the past allows, with its strength, and why others failed."""
        rated: list[tuple[int, PolicyOutcome]] = []
        failures: list[str] = []
        ends: list[frozenset[int]] = []
        for state in self._states(root, notes):
            strengths = set()
            asked = collect_queries(event, state, (self._policy,))
            for answers in _answers(asked):
                context = PolicyContext(state, now=at, language=self._language, root=root, query_results=answers)
                outcome = next(iter(evaluate_policies(event, context, (self._policy,))), PolicyOutcome(self._policy))
                if outcome.failure:
                    failures.append(outcome.failure)
                    continue
                strength = strength_of(_effects(outcome))
                strengths.add(strength)
                rated.append((strength, outcome))
            if len(strengths) > 1:
                self.unknowns |= {type(query).__name__ for query in asked if len(_ANSWERS[type(query)](query)) > 1}
            ends.append(frozenset(strengths))
        if len(set(ends)) > 1:
            self.unknowns.add(WORKFLOW)
        return rated, failures

    def _states(self, root: str, notes: tuple[str, ...]) -> Iterator[SessionState]:
        pages = (PolicyNotes(self._policy.name, notes),) if notes else ()
        for run in (None, _RUN):
            yield SessionState(root=root, run=run, policy_notes=pages)


def _answers(asked: tuple[world.Query, ...]) -> Iterator[dict[world.Query, Any]]:
    for chosen in islice(product(*(_ANSWERS[type(query)](query) for query in asked)), MAX_ANSWERS):
        yield {query: answer for query, answer in zip(asked, chosen, strict=True) if answer is not None}


def _effects(outcome: PolicyOutcome) -> tuple[Effect, ...]:
    """Return the effects; what it would do on the machine counts as a message."""
    result = outcome.result
    return result.effects or ((NotifyUser(result.reason),) if result.side_effects else ())


def bounded_report(most: BacktestReport, least: BacktestReport, replay: PolicyReplay) -> BacktestReport:
    """Return the report of the worst answers, with the counts of the best ones where they differ."""
    differs = most.decided != least.decided
    return replace(
        most,
        at_least=least.decided if differs else None,
        unknowns=tuple(sorted(replay.unknowns)),
        unrecorded=replay.unrecorded,
    )
