"""One turn: a prompt and a runtime go in, a report comes out.

``prepare`` and ``conclude`` are pure; ``prepare_turn`` runs the planned tools between them. Nothing here knows a
client's field names, a file or a clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.contract.codes import ErrorCode, LimitCode
from upbeat.core.contract.event import EventSource
from upbeat.core.contract.report import Client, Limit, PlannedTool, ToolError, ToolResult, ToolRun, TurnReport
from upbeat.core.engine.ports import (
    Clock,
    CodeIndex,
    ContextResolver,
    Journal,
    LearnedHabits,
    RepoContext,
    RuleLoader,
    ToolRunner,
    Transcripts,
    WorkflowLoader,
    Workspace,
    WorldQueries,
)
from upbeat.core.prompt.analysis import Intent, PromptAnalysis
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.inline import sanitize_inline
from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.text import SanitizedText
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit
from upbeat.core.settings import Activation, ExecutionMode, SessionMode, Settings
from upbeat.core.turn import report
from upbeat.core.turn.deduplicate import omit_shown_excerpts
from upbeat.core.turn.fuse import fuse_findings
from upbeat.core.turn.plan import EMPTY_PLAN, TOOL_TIMEOUTS_MS, PlanResult, clamp_arguments, plan_tools
from upbeat.core.turn.render import render_context
from upbeat.core.turn.report import ReportStamp
from upbeat.core.turn.results import sanitize_run

NO_CAP = TextLimit(10**9, LengthUnit.CHARS)
EMPTY_ANALYSIS = PromptAnalysis(Intent.NONE)

_SESSION_ID = re.compile(r"[\w.:-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One turn to prepare. ``cap`` is the client's limit; the settings have their own."""

    source: EventSource
    prompt: str
    event_name: str = "cli"
    repo_root: str | None = None
    is_plan: bool = False
    cap: TextLimit = NO_CAP
    codex_command: str | None = None
    max_ms: int | None = None
    """The client's own patience in milliseconds, where it is shorter than the settings' budget may be."""
    limits: tuple[Limit, ...] = ()
    """What the caller had to give up before it asked, such as a session that is gone."""
    shown_excerpts: frozenset[str] = frozenset()
    """The excerpts that the session has been shown (``Item.excerpt``)."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The world, as the core needs it. Put together in ``adapters/wiring.py``, or of fakes in tests."""

    context_resolver: ContextResolver
    runner: ToolRunner
    clock: Clock
    journal: Journal
    workspace: Workspace
    transcripts: Transcripts
    workflow_loader: WorkflowLoader
    learned_habits: LearnedHabits
    world: WorldQueries
    rule_loader: RuleLoader
    language: str = "en"
    client_traits: Mapping[str, ClientTraits] = field(default_factory=dict)
    """By client name; a client that is missing has the traits of ``UNKNOWN_CLIENT``."""
    index: CodeIndex | None = None
    """What lives as long as the process; a process for one turn has none to keep."""


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A turn before its tools ran. ``prompt`` is the request's, without secrets: nothing else is read or shown."""

    request: TurnRequest
    repo_context: RepoContext
    prompt: str
    analysis: PromptAnalysis
    planned: PlanResult
    is_plan: bool

    @property
    def has_tools(self) -> bool:
        return not self.is_plan and bool(self.planned.plan.tools)


def prepare_turn(request: TurnRequest, runtime: Runtime, repo_context: RepoContext | None = None) -> TurnReport:
    """Return the report for one turn: plan it, run the planned tools within the budget, conclude.

    ``repo_context`` is the repository context of the request, for a caller that has resolved it already.
    """
    started = runtime.clock.monotonic()
    repo_context = repo_context or runtime.context_resolver.resolve(
        request.source, request.repo_root, is_plan=request.is_plan
    )
    client = runtime.client_traits.get(request.source.client, UNKNOWN_CLIENT)
    prepared = plan_turn(request, repo_context, client)
    runs: tuple[ToolRun, ...] = ()
    if prepared.has_tools:
        budget = prepared.planned.plan.budget
        deadline = started + budget.wall_ms / 1000
        tools = tuple(prepared.planned.plan.tools)
        runs = _skipped_runs(repo_context, tools, runtime.clock) or runtime.runner.run(
            tools, repo_context.repository, deadline, budget.max_concurrency
        )
    if prepared.is_plan:
        return conclude_turn(prepared, runs, report.PLAN_MODE_STAMP)
    return conclude_turn(prepared, runs, ReportStamp(runtime.clock.now(), runtime.clock.nonce(), is_plan_mode=False))


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """One tool call by itself: the contract's result, what was limited, and the framed text for a model."""

    result: ToolResult
    framed_text: str
    limits: tuple[Limit, ...]

    @property
    def model_text(self) -> str:
        """The text for a model: the framed output, the error, or the summary."""
        error = self.result.error
        return (
            f"{error.code}: {sanitize_inline(error.message)}"
            if error
            else self.framed_text or sanitize_inline(self.result.summary)
        )


def call_tool(
    name: str, arguments: Mapping[str, Any], source: EventSource, repo_root: str | None, runtime: Runtime
) -> ToolCallResult:
    """Run one requested tool with the same limits and sanitization as a planned one."""
    repo_context = runtime.context_resolver.resolve(source, repo_root, is_plan=False)
    args, limits = clamp_arguments(name, arguments)
    timeout = TOOL_TIMEOUTS_MS.get(name, repo_context.settings.budget_wall_ms)
    tool = PlannedTool(tool=name, tier=0, reason="asked for", args=args, timeout_ms=timeout)
    deadline = runtime.clock.monotonic() + timeout / 1000
    runs = _skipped_runs(repo_context, (tool,), runtime.clock) or runtime.runner.run(
        (tool,), repo_context.repository, deadline, 1
    )
    sanitized = sanitize_run(runs[0])
    findings = sanitized.run.output.findings if sanitized.run.output else ()
    cap = _tighten_cap(NO_CAP, repo_context.settings)
    rendered = render_context(fuse_findings((name, finding) for finding in findings), runtime.clock.nonce(), cap)
    if sanitized.filtered_count:
        limits = (*limits, Limit.of(LimitCode.INJECTION_FILTERED))
    return ToolCallResult(sanitized.run.result, rendered.text, limits)


def plan_turn(request: TurnRequest, repo_context: RepoContext, client: ClientTraits = UNKNOWN_CLIENT) -> PreparedTurn:
    """What to look up for the request; nothing while the configuration is wrong or switched off."""
    settings = repo_context.settings
    is_plan = request.is_plan or settings.mode is ExecutionMode.PLAN
    prompt = redact(strip_controls(request.prompt)).text
    command = request.codex_command or _turn_command(request.source, settings, client)
    stop = _blocking_limits(repo_context)
    if stop:
        empty = EMPTY_PLAN.model_copy(update={"planned_codex_command": command})
        return PreparedTurn(request, repo_context, prompt, EMPTY_ANALYSIS, PlanResult(empty, stop), is_plan)
    reading = analyze_prompt(prompt)
    planned = _clamp_wall_time(plan_tools(reading, settings, repo_context.repository.root, command), request.max_ms)
    return PreparedTurn(request, repo_context, prompt, reading, planned, is_plan)


def conclude_turn(prepared: PreparedTurn, runs: tuple[ToolRun, ...], moment: ReportStamp) -> TurnReport:
    """The report of a turn whose tools have run."""
    request, repo_context = prepared.request, prepared.repo_context
    planned_tools = {tool.tool for tool in prepared.planned.plan.tools}
    unplanned_tools = [run.result.tool for run in runs if run.result.tool not in planned_tools]
    known: dict[str, SanitizedText] = {}
    sanitized = [sanitize_run(run, known) for run in runs if run.result.tool in planned_tools]
    results = [one.run.result for one in sanitized]
    findings = [(one.run.result.tool, f) for one in sanitized if one.run.output for f in one.run.output.findings]
    fused = omit_shown_excerpts(fuse_findings(findings), request.shown_excerpts)
    rendered = render_context(fused, moment.nonce, _tighten_cap(request.cap, repo_context.settings))
    limits = [*request.limits, *repo_context.limits, *prepared.planned.limits, *report.limits_from_results(results)]
    if unplanned_tools:
        limits.append(Limit.of(LimitCode.SINGLE_ENTRY, ", ".join(unplanned_tools)))
    if any(one.filtered_count for one in sanitized):
        limits.append(Limit.of(LimitCode.INJECTION_FILTERED))
    if rendered.is_truncated:
        limits.append(Limit.of(LimitCode.BUDGET_EXCEEDED, "characters"))
    if any(item.has_conflict for item in rendered.items):
        limits.append(Limit.of(LimitCode.CONFLICT))
    if prepared.is_plan and repo_context.repository.problem:
        limits.append(Limit.of(LimitCode.REPO_UNREADABLE))
    if repo_context.settings.legacy:
        limits.append(Limit.of(LimitCode.LEGACY_MODE))
    return report.assemble_report(
        run_id=report.make_run_id(moment, request.prompt, repo_context.repository.identity, prepared.planned.plan),
        stamp=moment,
        client=_report_client(request.source, request.event_name),
        inputs=report.build_inputs(
            prepared.analysis,
            prepared.prompt,
            repo_context.repository.display_path,
            repo_context.repository.root_source,
        ),
        plan=prepared.planned.plan,
        results=results,
        rendered=rendered,
        limits=limits,
        is_legacy=repo_context.settings.legacy,
    )


def _blocking_limits(repo_context: RepoContext) -> tuple[Limit, ...]:
    if repo_context.problems:
        return configuration_limits(repo_context)
    if repo_context.settings.enabled is Activation.OFF:
        origin = repo_context.settings.origins.get("enabled", "the configuration")
        return (Limit.of(LimitCode.SWITCHED_OFF, origin=origin),)
    return ()


def configuration_limits(repo_context: RepoContext) -> tuple[Limit, ...]:
    return tuple(Limit.of(LimitCode.CONFIG_INVALID, problem) for problem in repo_context.problems)


def _skipped_runs(repo_context: RepoContext, tools: tuple[PlannedTool, ...], clock: Clock) -> tuple[ToolRun, ...]:
    """The runs when there is nothing to read: each tool skipped, for the same reason."""
    problem = repo_context.repository.problem
    if not problem:
        return ()
    error = ToolError(code=ErrorCode.REPO_ROOT, message=problem)
    at = report.format_timestamp(clock.now())
    return tuple(
        ToolRun(ToolResult(tool=tool.tool, status="skipped", started_at=at, duration_ms=0, error=error))
        for tool in tools
    )


def _clamp_wall_time(planned: PlanResult, max_ms: int | None) -> PlanResult:
    """``planned`` with its wall clock brought under the client's patience."""
    budget = planned.plan.budget
    if max_ms is None or budget.wall_ms <= max_ms:
        return planned
    tight = planned.plan.model_copy(update={"budget": budget.model_copy(update={"wall_ms": max_ms})})
    limit = Limit.of(LimitCode.CLAMPED, name="budget.wall_ms", value=max_ms)
    return PlanResult(tight, (*planned.limits, limit))


def _tighten_cap(cap: TextLimit, settings: Settings) -> TextLimit:
    """The client's cap with the settings' limit in it; a character never measures less than one unit."""
    return replace(cap, max_length=min(cap.max_length, settings.budget_max_injected_chars))


def _turn_command(source: EventSource, settings: Settings, client: ClientTraits) -> str | None:
    """Return the command line that would run the planned turn in its client."""
    resumes = _SESSION_ID.fullmatch(source.session_id) and settings.codex_session_mode is SessionMode.RESUME
    command = client.resume_command.format(session_id=source.session_id) if resumes else client.turn_command
    return command or None


def _report_client(source: EventSource, event_name: str) -> Client:
    return Client(
        name=source.client, event=strip_controls(event_name), session_id=strip_controls(source.session_id) or None
    )
