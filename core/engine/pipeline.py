"""Prepare one turn: a prompt and a runtime go in, a report comes out.

``plan_turn`` and ``conclude_turn`` are pure; ``prepare_turn`` runs the planned tools between them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from upbeat.core.contract.client import UNKNOWN_CLIENT, ClientTraits
from upbeat.core.contract.codes import ErrorCode, LimitCode
from upbeat.core.contract.event import EventSource
from upbeat.core.contract.report import (
    Client,
    Limit,
    PlannedTool,
    ToolError,
    ToolPlan,
    ToolResult,
    ToolRun,
    TurnReport,
)
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.engine import ports
from upbeat.core.engine.path_choice import choose_findings
from upbeat.core.engine.runtime import Runtime, TurnRequest
from upbeat.core.lazy_dataclass import replace
from upbeat.core.prompt.analysis import Intent, PromptAnalysis
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.prompt.follow_up import add_subject
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.text import SanitizedText, sanitize_inline
from upbeat.core.sanitize.truncate import TextLimit
from upbeat.core.settings import Activation, ExecutionMode, SessionMode
from upbeat.core.turn import report
from upbeat.core.turn.fuse import fuse_findings, omit_shown_excerpts
from upbeat.core.turn.plan import EMPTY_PLAN, PRIOR, TOOL_TIMEOUTS_MS, PlanResult, clamp_arguments, plan_tools
from upbeat.core.turn.render import render_context
from upbeat.core.turn.report import ReportStamp
from upbeat.core.turn.results import sanitize_run

EMPTY_ANALYSIS = PromptAnalysis(Intent.NONE)

_SESSION_ID = re.compile(r"[\w.:-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A turn before its tools ran. ``prompt`` is the request's, without secrets: nothing else is read or shown."""

    request: TurnRequest
    repo_context: ports.RepoContext
    prompt: str
    analysis: PromptAnalysis
    planned: PlanResult
    is_plan: bool


def prepare_turn(request: TurnRequest, runtime: Runtime, repo_context: ports.RepoContext | None = None) -> TurnReport:
    """Return the report for one turn: plan it, run the planned tools within the budget, conclude.

    ``repo_context`` is the repository context of the request, for a caller that has resolved it already.
    """
    started = runtime.clock.monotonic()
    repo_context = repo_context or runtime.context_resolver.resolve(
        request.source, request.repo_root, is_plan=request.is_plan
    )
    client = runtime.client_traits.get(request.source.client, UNKNOWN_CLIENT)
    prepared = plan_turn(request, repo_context, client)
    if prepared.is_plan:
        return conclude_turn(prepared, (), report.PLAN_MODE_STAMP)
    plan = prepared.planned.plan
    deadline = started + plan.budget.wall_ms / 1000
    runs = _run_plan(plan, repo_context, runtime, deadline)
    return conclude_turn(prepared, runs, ReportStamp(runtime.clock.now(), runtime.clock.nonce(), is_plan_mode=False))


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """The result of one requested tool call, its limits, and the framed text for a model."""

    result: ToolResult
    framed_text: str
    limits: tuple[Limit, ...]

    @property
    def model_text(self) -> str:
        """Return the text for a model: the framed output, the error, or the summary."""
        if error := self.result.error:
            return f"{error.code}: {sanitize_inline(error.message)}"
        return self.framed_text or sanitize_inline(self.result.summary)


def call_tool(
    name: str, arguments: Mapping[str, Any], source: EventSource, repo_root: str | None, runtime: Runtime
) -> ToolCallResult:
    """Run one requested tool with the same limits and sanitization as a planned one."""
    repo_context = runtime.context_resolver.resolve(source, repo_root, is_plan=False)
    args, limits = clamp_arguments(name, arguments)
    timeout = TOOL_TIMEOUTS_MS.get(name, repo_context.settings.budget_wall_ms)
    tool = PlannedTool(tool=name, tier=0, reason="asked for", args=args, timeout_ms=timeout)
    deadline = runtime.clock.monotonic() + timeout / 1000
    (run,) = _run_tools((tool,), repo_context, runtime, deadline, 1)
    sanitized = sanitize_run(run)
    findings = sanitized.run.output.findings if sanitized.run.output else ()
    cap = TextLimit(repo_context.settings.budget_max_injected_chars)
    fused = fuse_findings((name, finding) for finding in findings)
    rendered = render_context(fused, runtime.clock.nonce(), cap, len(findings) - len(fused), has_overview=True)
    if rendered.left_out:
        limits = (*limits, Limit.of(LimitCode.SHORTENED, rendered.left_out))
    if sanitized.filtered_count:
        limits = (*limits, Limit.of(LimitCode.INJECTION_FILTERED))
    return ToolCallResult(sanitized.run.result, rendered.text, limits)


def plan_turn(
    request: TurnRequest, repo_context: ports.RepoContext, client: ClientTraits = UNKNOWN_CLIENT
) -> PreparedTurn:
    """Plan what to look up for the request: nothing if the configuration is invalid or switched off."""
    settings, session_id = repo_context.settings, request.source.session_id
    is_plan = request.is_plan or settings.mode is ExecutionMode.PLAN
    prompt = redact(strip_controls(request.prompt)).text
    resumes = _SESSION_ID.fullmatch(session_id) and settings.codex_session_mode is SessionMode.RESUME
    turn_command = client.resume_command.format(session_id=session_id) if resumes else client.turn_command
    command = request.codex_command or turn_command or None
    blocking: tuple[Limit, ...] = ()
    if repo_context.problems:
        blocking = configuration_limits(repo_context)
    elif settings.enabled is Activation.OFF:
        origin = settings.origins.get("enabled", "the configuration")
        blocking = (Limit.of(LimitCode.SWITCHED_OFF, origin=origin),)
    if blocking:
        empty = EMPTY_PLAN.model_copy(update={"planned_codex_command": command})
        return PreparedTurn(request, repo_context, prompt, EMPTY_ANALYSIS, PlanResult(empty, blocking), is_plan)
    analysis = add_subject(prompt, analyze_prompt(prompt), request.subject)
    repository = repo_context.repository
    is_repository = repository.root_source != "no-git-root"
    planned = plan_tools(analysis, settings, repository.root, command, request.max_ms, is_repository=is_repository)
    return PreparedTurn(request, repo_context, prompt, analysis, planned, is_plan)


def conclude_turn(prepared: PreparedTurn, runs: tuple[ToolRun, ...], stamp: ReportStamp) -> TurnReport:
    """Return the report of a turn whose tools have run."""
    request, repo_context, settings = prepared.request, prepared.repo_context, prepared.repo_context.settings
    planned_tools = {tool.tool for tool in prepared.planned.plan.tools}
    unplanned_tools = [run.result.tool for run in runs if run.result.tool not in planned_tools]
    sanitized_texts: dict[str, SanitizedText] = {}
    sanitized = [sanitize_run(run, sanitized_texts) for run in runs if run.result.tool in planned_tools]
    results = [tool.run.result for tool in sanitized]
    is_silent = bool(runs) and not _has_something_to_say(prepared.planned.plan, runs)
    outputs = [] if is_silent else [tool.run for tool in sanitized if tool.run.output]
    findings = [(run.result.tool, f) for run in outputs if run.output for f in run.output.findings]
    fused = fuse_findings(findings)
    if request.shown_excerpts:
        fused = omit_shown_excerpts(fused, request.shown_excerpts)
    cap = replace(request.cap, max_length=min(request.cap.max_length, settings.budget_max_injected_chars))
    rendered = render_context(fused, stamp.nonce, cap, len(findings) - len(fused))
    limits = [*request.limits, *repo_context.limits]
    if is_silent:
        limits.append(Limit.of(LimitCode.NOTHING_TO_SAY))
    else:
        limits += (*prepared.planned.limits, *report.limits_from_results(results))
    if unplanned_tools:
        limits.append(Limit.of(LimitCode.SINGLE_ENTRY, ", ".join(unplanned_tools)))
    if any(tool.filtered_count for tool in sanitized):
        limits.append(Limit.of(LimitCode.INJECTION_FILTERED))
    if rendered.is_truncated:
        limits.append(Limit.of(LimitCode.BUDGET_EXCEEDED, "characters"))
    if rendered.left_out:
        limits.append(Limit.of(LimitCode.SHORTENED, rendered.left_out))
    if any(item.has_conflict for item in rendered.items):
        limits.append(Limit.of(LimitCode.CONFLICT))
    if prepared.is_plan and repo_context.repository.problem:
        limits.append(Limit.of(LimitCode.REPO_UNREADABLE))
    if settings.legacy:
        limits.append(Limit.of(LimitCode.LEGACY_MODE))
    return report.assemble_report(
        run_id=report.make_run_id(stamp, request.prompt, repo_context.repository.identity, prepared.planned.plan),
        stamp=stamp,
        client=Client(
            name=request.source.client,
            event=strip_controls(request.event_name),
            session_id=strip_controls(request.source.session_id) or None,
        ),
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
        is_legacy=settings.legacy,
    )


def configuration_limits(repo_context: ports.RepoContext) -> tuple[Limit, ...]:
    """Return a limit for each problem of the configuration; while there is one, nothing is looked up."""
    return tuple(Limit.of(LimitCode.CONFIG_INVALID, problem) for problem in repo_context.problems)


def _run_plan(
    plan: ToolPlan, repo_context: ports.RepoContext, runtime: Runtime, deadline: float
) -> tuple[ToolRun, ...]:
    """Run the planned tools: first those that find out whether there is anything to say, and the others if so."""
    gated = tuple(tool for tool in plan.tools if PRIOR in tool.args)
    others = tuple(tool for tool in plan.tools if PRIOR not in tool.args)
    runs = _run_tools(gated, repo_context, runtime, deadline, plan.budget.max_concurrency)
    if _has_something_to_say(plan, runs):
        runs += _run_tools(others, repo_context, runtime, deadline, plan.budget.max_concurrency)
    order = [tool.tool for tool in plan.tools]
    return tuple(sorted(runs, key=lambda run: order.index(run.result.tool)))


def _has_something_to_say(plan: ToolPlan, runs: tuple[ToolRun, ...]) -> bool:
    """Return what the gated search decided; without its answer the words decide."""
    prior = next((tool.args[PRIOR] for tool in plan.tools if PRIOR in tool.args), None)
    decisions = [bool(run.output.data["gate"]["speaks"]) for run in runs if run.output and "gate" in run.output.data]
    return prior is None or (decisions[0] if decisions else prior >= 0)


def _run_tools(
    tools: tuple[PlannedTool, ...],
    repo_context: ports.RepoContext,
    runtime: Runtime,
    deadline: float,
    max_concurrency: int,
) -> tuple[ToolRun, ...]:
    """Run ``tools``; if the repository cannot be read, all are skipped for that reason."""
    problem = repo_context.repository.problem
    if not tools or not problem:
        runs = runtime.runner.run(tools, repo_context.repository, deadline, max_concurrency) if tools else ()
        return choose_findings(runs, repo_context.settings)
    error = ToolError(code=ErrorCode.REPO_ROOT, message=problem)
    now = format_timestamp(runtime.clock.now())
    return tuple(
        ToolRun(ToolResult(tool=tool.tool, status="skipped", started_at=now, duration_ms=0, error=error))
        for tool in tools
    )
