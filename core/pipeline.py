"""One turn: a prompt and a runtime go in, a report comes out.

``prepare`` and ``conclude`` are pure; ``prepare_turn`` runs the planned tools between them. Nothing here knows a
client's field names, a file or a clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .contract.codes import ErrorCode, LimitCode
from .contract.event import ClientName, Source
from .contract.report import Client, Limit, PlannedTool, ToolError, ToolResult, TurnReport
from .ports import (
    Clock,
    CodeIndex,
    Ground,
    Journal,
    Memory,
    Rules,
    Run,
    Situation,
    Surroundings,
    ToolRunner,
    Transcripts,
    Workflows,
    Workspace,
)
from .settings import Mode, SessionMode, Settings, Switch
from .turn import report
from .turn.clean import Cleaned
from .turn.fuse import fuse
from .turn.intent import read
from .turn.omit import omit_shown
from .turn.plan import EMPTY_PLAN, TIMEOUT_MS, Planned, clamp, plan
from .turn.reading import Intent, Reading
from .turn.redact import redact
from .turn.render import render
from .turn.report import Moment
from .turn.scrub import scrub
from .turn.strip import strip
from .turn.truncate import Cap, Unit
from .turn.word import word

NO_CAP = Cap(10**9, Unit.CHARS)
SILENT = Reading(Intent.NONE)

_SESSION_ID = re.compile(r"[\w.:-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One turn to prepare. ``cap`` is what the client can carry, beside the settings' own limit."""

    source: Source
    prompt: str
    occasion: str = "cli"
    repo_root: str | None = None
    plan: bool = False
    cap: Cap = NO_CAP
    codex_command: str | None = None
    most_ms: int | None = None
    """The client's own patience in milliseconds, where it is shorter than the settings' budget may be."""
    limits: tuple[Limit, ...] = ()
    """What the caller had to give up before it asked, such as a session that is gone."""
    shown: frozenset[str] = frozenset()
    """The excerpts that the session has been shown (``Item.excerpt``)."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The world, as the core needs it. Put together in ``adapters/wiring.py``, or of fakes in tests."""

    surroundings: Surroundings
    runner: ToolRunner
    clock: Clock
    journal: Journal
    workspace: Workspace
    transcripts: Transcripts
    workflows: Workflows
    memory: Memory
    ground: Ground
    rules: Rules
    language: str = "en"
    index: CodeIndex | None = None
    """What lives as long as the process; a process for one turn has none to keep."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn before its tools ran. ``prompt`` is the request's, without secrets: nothing else is read or shown."""

    request: TurnRequest
    situation: Situation
    prompt: str
    reading: Reading
    planned: Planned
    is_plan: bool

    @property
    def runs_tools(self) -> bool:
        return not self.is_plan and bool(self.planned.plan.tools)


def prepare_turn(request: TurnRequest, runtime: Runtime, found: Situation | None = None) -> TurnReport:
    """The report for one turn: prepare, run the planned tools inside the budget, conclude.

    ``found`` is the request's situation, for a caller that has it already.
    """
    started = runtime.clock.monotonic()
    situation = found or runtime.surroundings.locate(request.source, request.repo_root, plan=request.plan)
    prepared = prepare(request, situation)
    runs: tuple[Run, ...] = ()
    if prepared.runs_tools:
        budget = prepared.planned.plan.budget
        deadline = started + budget.wall_ms / 1000
        tools = tuple(prepared.planned.plan.tools)
        runs = _unreadable(situation, tools, runtime.clock) or runtime.runner.run(
            tools, situation.repository, deadline, budget.max_concurrency
        )
    if prepared.is_plan:
        return conclude(prepared, runs, report.PLANNED)
    return conclude(prepared, runs, Moment(runtime.clock.now(), runtime.clock.nonce(), is_plan=False))


@dataclass(frozen=True, slots=True)
class Called:
    """One tool call by itself: the contract's result, what was limited, and the framed text for a model."""

    result: ToolResult
    text: str
    limits: tuple[Limit, ...]

    @property
    def told(self) -> str:
        """What a model is told: the framed text, or in one word why there is none, or what was found instead."""
        error = self.result.error
        return f"{error.code}: {word(error.message)}" if error else self.text or word(self.result.summary)


def call_tool(
    name: str, arguments: Mapping[str, Any], source: Source, repo_root: str | None, runtime: Runtime
) -> Called:
    """Run one tool that somebody asked for, under the same clamps, limits and cleaning as a planned one."""
    situation = runtime.surroundings.locate(source, repo_root, plan=False)
    args, limits = clamp(name, arguments)
    timeout = TIMEOUT_MS.get(name, situation.settings.budget_wall_ms)
    tool = PlannedTool(tool=name, tier=0, reason="asked for", args=args, timeout_ms=timeout)
    deadline = runtime.clock.monotonic() + timeout / 1000
    runs = _unreadable(situation, (tool,), runtime.clock) or runtime.runner.run(
        (tool,), situation.repository, deadline, 1
    )
    scrubbed = scrub(runs[0])
    findings = scrubbed.run.output.findings if scrubbed.run.output else ()
    cap = _tighter(NO_CAP, situation.settings)
    rendered = render(fuse((name, finding) for finding in findings), runtime.clock.nonce(), cap)
    if scrubbed.filtered:
        limits = (*limits, Limit.of(LimitCode.INJECTION_FILTERED))
    return Called(scrubbed.run.result, rendered.text, limits)


def prepare(request: TurnRequest, situation: Situation) -> Prepared:
    """What to look up for the request; nothing while the configuration is wrong or switched off."""
    settings = situation.settings
    is_plan = request.plan or settings.mode is Mode.PLAN
    prompt = redact(strip(request.prompt)).text
    command = request.codex_command or _codex_command(request.source, settings)
    stop = _reason_to_stop(situation)
    if stop:
        empty = EMPTY_PLAN.model_copy(update={"planned_codex_command": command})
        return Prepared(request, situation, prompt, SILENT, Planned(empty, stop), is_plan)
    reading = read(prompt)
    planned = _within(plan(reading, settings, situation.repository.root, command), request.most_ms)
    return Prepared(request, situation, prompt, reading, planned, is_plan)


def conclude(prepared: Prepared, runs: tuple[Run, ...], moment: Moment) -> TurnReport:
    """The report of a turn whose tools have run."""
    request, situation = prepared.request, prepared.situation
    planned_tools = {tool.tool for tool in prepared.planned.plan.tools}
    strangers = [run.result.tool for run in runs if run.result.tool not in planned_tools]
    known: dict[str, Cleaned] = {}
    scrubbed = [scrub(run, known) for run in runs if run.result.tool in planned_tools]
    results = [one.run.result for one in scrubbed]
    findings = [(one.run.result.tool, f) for one in scrubbed if one.run.output for f in one.run.output.findings]
    fused = omit_shown(fuse(findings), request.shown)
    rendered = render(fused, moment.nonce, _tighter(request.cap, situation.settings))
    limits = [*request.limits, *situation.limits, *prepared.planned.limits, *report.limits_of(results)]
    if strangers:
        limits.append(Limit.of(LimitCode.SINGLE_ENTRY, ", ".join(strangers)))
    if any(one.filtered for one in scrubbed):
        limits.append(Limit.of(LimitCode.INJECTION_FILTERED))
    if rendered.truncated:
        limits.append(Limit.of(LimitCode.BUDGET_EXCEEDED, "characters"))
    if any(item.conflict for item in rendered.items):
        limits.append(Limit.of(LimitCode.CONFLICT))
    if prepared.is_plan and situation.repository.problem:
        limits.append(Limit.of(LimitCode.REPO_UNREADABLE))
    if situation.settings.legacy:
        limits.append(Limit.of(LimitCode.LEGACY_MODE))
    return report.build(
        run_id=report.run_id(moment, request.prompt, situation.repository.identity, prepared.planned.plan),
        moment=moment,
        client=_client(request.source, request.occasion),
        inputs=report.inputs(
            prepared.reading,
            prepared.prompt,
            situation.repository.shown,
            situation.repository.source,
        ),
        plan=prepared.planned.plan,
        results=results,
        rendered=rendered,
        limits=limits,
        legacy=situation.settings.legacy,
    )


def _reason_to_stop(situation: Situation) -> tuple[Limit, ...]:
    if situation.problems:
        return configuration_limits(situation)
    if situation.settings.enabled is Switch.OFF:
        origin = situation.settings.origins.get("enabled", "the configuration")
        return (Limit.of(LimitCode.SWITCHED_OFF, origin=origin),)
    return ()


def configuration_limits(situation: Situation) -> tuple[Limit, ...]:
    return tuple(Limit.of(LimitCode.CONFIG_INVALID, problem) for problem in situation.problems)


def _unreadable(situation: Situation, tools: tuple[PlannedTool, ...], clock: Clock) -> tuple[Run, ...]:
    """The runs when there is nothing to read: each tool skipped, for the same reason."""
    problem = situation.repository.problem
    if not problem:
        return ()
    error = ToolError(code=ErrorCode.REPO_ROOT, message=problem)
    at = report.timestamp(clock.now())
    return tuple(
        Run(ToolResult(tool=tool.tool, status="skipped", started_at=at, duration_ms=0, error=error)) for tool in tools
    )


def _within(planned: Planned, most_ms: int | None) -> Planned:
    """``planned`` with its wall clock brought under the client's patience."""
    budget = planned.plan.budget
    if most_ms is None or budget.wall_ms <= most_ms:
        return planned
    tight = planned.plan.model_copy(update={"budget": budget.model_copy(update={"wall_ms": most_ms})})
    limit = Limit.of(LimitCode.CLAMPED, name="budget.wall_ms", value=most_ms)
    return Planned(tight, (*planned.limits, limit))


def _tighter(cap: Cap, settings: Settings) -> Cap:
    """The client's cap with the settings' limit in it; a character never measures less than one unit."""
    return replace(cap, limit=min(cap.limit, settings.budget_max_injected_chars))


def _codex_command(source: Source, settings: Settings) -> str | None:
    if source.client is not ClientName.CODEX_CLI:
        return None
    resumes = _SESSION_ID.fullmatch(source.session_id) and settings.codex_session_mode is SessionMode.RESUME
    return f"codex exec --json resume {source.session_id} -" if resumes else "codex exec --json -"


def _client(source: Source, occasion: str) -> Client:
    return Client(name=source.client, event=strip(occasion), session_id=strip(source.session_id) or None)
