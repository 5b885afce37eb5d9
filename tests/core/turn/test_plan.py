"""The planned tools, their arguments and their limits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from case_files import read_json_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.report import BudgetReport, PlannedTool, ToolPlan
from upbeat.core.prompt.analysis import Intent, PromptAnalysis, Targets
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.settings import Activation, Settings
from upbeat.core.tool_servers import LaunchSpec, ServerConfig, ServerTool
from upbeat.core.turn import plan

CASES = read_json_groups(Path(__file__).with_name("plan_cases.jsonl"))
PLANS = json.loads(Path(__file__).with_name("plans.json").read_text(encoding="utf-8"))
TIER2_DISABLED = "tier-2 disabled by default; set CI_AUTO_TOOLS_TIER_MAX=2 to enable"
ASKED = PromptAnalysis(Intent.DOCS, query="how does login work")
BUG = PromptAnalysis(
    Intent.DEBUG,
    targets=Targets(("src/a.py", "src/b.py"), ("login", "logout"), ("KeyError", "boom")),
    query="fix login",
)


def names(planned: plan.PlanResult) -> list[str]:
    return [tool.tool for tool in planned.plan.tools]


def args(planned: plan.PlanResult, tool: str) -> dict[str, Any]:
    return next(planned_tool.args for planned_tool in planned.plan.tools if planned_tool.tool == tool)


def texts(planned: plan.PlanResult) -> list[str]:
    return [limit.text for limit in planned.limits]


@pytest.mark.parametrize(
    ("name", "analysis", "settings"),
    [("question", ASKED, Settings()), ("bug", BUG, Settings(tier_max=2, budget_wall_ms=1000))],
)
def test_plans(name: str, analysis: PromptAnalysis, settings: Settings) -> None:
    """A question gets the tools of tier 1; with tier 2 allowed, a bug gets those of tier 2 and five more seconds."""
    expected = ToolPlan.model_validate(PLANS[name])

    assert plan.PlanResult(expected) == plan.plan_tools(analysis, settings, "/repo")


def test_a_prompt_that_is_not_about_code() -> None:
    """A prompt that is not about code gets an empty plan, which still has the Codex command."""
    planned = plan.plan_tools(PromptAnalysis(Intent.NONE, query="hello"), Settings(), "/repo", "codex exec --json -")

    assert plan.EMPTY_PLAN.model_copy(update={"planned_codex_command": "codex exec --json -"}) == planned.plan
    assert ["the prompt is not about code; nothing was looked up"] == texts(planned)
    assert (0, 0, 0, 0) == (
        plan.EMPTY_PLAN.tier_max,
        plan.EMPTY_PLAN.budget.wall_ms,
        plan.EMPTY_PLAN.budget.max_concurrency,
        plan.EMPTY_PLAN.budget.max_injected_chars,
    )


def test_activation_on_plans_for_every_prompt() -> None:
    """If activation is "on", tools are planned for a prompt that is not about code, too."""
    planned = plan.plan_tools(PromptAnalysis(Intent.NONE, query="hello"), Settings(enabled=Activation.ON), "/repo")

    assert ["ci_search"] == names(planned)
    assert [] == texts(planned)


def test_no_search_without_words() -> None:
    """A prompt without words to search for is not searched, even if activation is "on"."""
    planned = plan.plan_tools(PromptAnalysis(Intent.NONE), Settings(enabled=Activation.ON), "/repo")

    assert [] == names(planned)


@pytest.mark.parametrize(
    ("analysis", "is_needed"),
    [
        pytest.param(ASKED, False, id="a question"),
        pytest.param(PromptAnalysis(Intent.DOCS, query="impact?", allows_tier2=True), True, id="requested"),
        pytest.param(PromptAnalysis(Intent.DEBUG, query="fix it"), False, id="a bug without a target"),
        pytest.param(BUG, True, id="a bug with a target"),
        pytest.param(
            PromptAnalysis(Intent.REFACTOR, targets=Targets(symbols=("f",)), query="f"), True, id="a refactoring"
        ),
        pytest.param(PromptAnalysis(Intent.FEATURE, targets=Targets(files=("a.py",)), query="a"), True, id="a change"),
        pytest.param(
            PromptAnalysis(Intent.DOCS, targets=Targets(symbols=("f",)), query="f"), False, id="a named question"
        ),
        pytest.param(
            PromptAnalysis(Intent.NONE, targets=Targets(symbols=("f",)), query="f"), False, id="not about code"
        ),
    ],
)
def test_tier_2_is_for_changes_and_requests(analysis: PromptAnalysis, is_needed: bool) -> None:
    """Tier 2 is needed if it is requested, or if the prompt names the target of a change."""
    planned = plan.plan_tools(analysis, Settings(enabled=Activation.ON), "/repo")

    assert ([TIER2_DISABLED] if is_needed else []) == texts(planned)


def test_tier_2_without_targets() -> None:
    """Tools that need a name are not planned without one; the intent decides about bugs."""
    planned = plan.plan_tools(
        PromptAnalysis(Intent.DOCS, query="impact?", allows_tier2=True), Settings(tier_max=2), "/repo"
    )

    assert ["ci_search", "ci_hotspot"] == names(planned)


def test_tier_2_allowed_is_not_tier_2_used() -> None:
    """Tier 2 that is allowed but not needed takes no time."""
    planned = plan.plan_tools(ASKED, Settings(tier_max=2), "/repo")

    assert ["ci_search"] == names(planned)
    assert (5000, 2) == (planned.plan.budget.wall_ms, planned.plan.tier_max)


def test_disabled_tools_are_not_planned() -> None:
    """A tool that the settings name as disabled is left out."""
    planned = plan.plan_tools(ASKED, Settings(tools_disabled=("ci_search",)), "/repo")

    assert [] == names(planned)


@pytest.mark.parametrize(("symbols", "is_planned"), [((), False), (("a", "b"), True), (("a", "b", "c"), False)])
def test_the_graph_is_for_few_named_things(symbols: tuple[str, ...], is_planned: bool) -> None:
    """Callers and callees are looked up for one or two named files or symbols, which a search does not show."""
    analysis = PromptAnalysis(Intent.DOCS, targets=Targets(symbols=symbols), query="x")

    assert is_planned == ("ci_graph_rag" in names(plan.plan_tools(analysis, Settings(), "/repo")))


def test_targets_are_bounded() -> None:
    """The arguments of a tool have at most five files and five symbols."""
    many = tuple(f"f{number}.py" for number in range(9))
    analysis = PromptAnalysis(Intent.DEBUG, targets=Targets(many, many, many), query="x")
    planned = plan.plan_tools(analysis, Settings(tier_max=2), "/repo")

    assert list(many[:5]) == args(planned, "ci_search")["files"] == args(planned, "ci_search")["symbols"]
    assert list(many[:5]) == args(planned, "ci_bug_locate")["errors"] == args(planned, "ci_complexity")["files"]


def test_settings_are_in_the_plan() -> None:
    """The plan has the budget of the settings."""
    settings = Settings(budget_wall_ms=1234, budget_max_concurrency=7, budget_max_injected_chars=999)
    planned = plan.plan_tools(ASKED, settings, "/repo", "codex exec --json -")

    assert BudgetReport(wall_ms=1234, max_concurrency=7, max_injected_chars=999) == planned.plan.budget
    assert "codex exec --json -" == planned.plan.planned_codex_command


def test_paths_outside_are_dropped_with_a_limit() -> None:
    """A path that leads out of the repository is no argument; a limit names it."""
    analysis = PromptAnalysis(Intent.FEATURE, targets=Targets(("/etc/passwd", "a.py", "../b.py"), ("f",)), query="x")
    planned = plan.plan_tools(analysis, Settings(tier_max=2), "/repo")

    assert ["a.py"] == args(planned, "ci_search")["files"] == args(planned, "ci_complexity")["files"]
    assert [
        "path outside the repository; not looked at: /etc/passwd",
        "path outside the repository; not looked at: ../b.py",
    ] == texts(planned)


def test_frames_of_another_machine_need_no_limit() -> None:
    """A path outside that only a stack frame has is no argument, and nobody is told: the search finds its file."""
    targets = Targets(("/srv/a.py", "/etc/b.py"), stack_frames=("at run (/srv/a.py:3)",))

    assert (replace(targets, files=()), ("/etc/b.py",)) == plan.restrict_to_root(targets, "/repo")


def test_restrict_to_root() -> None:
    """Only the files of the targets change."""
    targets = Targets(("b.py", "/repo/a.py", "~/x"), ("f",), ("E",))

    assert (Targets(("b.py", "a.py"), ("f",), ("E",)), ("~/x",)) == plan.restrict_to_root(targets, "/repo")


@pytest.mark.parametrize(("path", "expected"), CASES["relative_to"])
def test_relative_to(path: str, expected: str) -> None:
    """A path becomes relative to the root, or empty if it leads out."""
    assert "a.py" == plan.relative_to("/repoX/a.py", "/repoX")
    assert expected == plan.relative_to(path, "/repo")
    assert expected == plan.relative_to(path, "/repo/")


@given(st.text("ab./\\~:", max_size=20))
def test_relative_to_never_leads_out(path: str) -> None:
    """The result never leads up, is never absolute, and is stable."""
    relative = plan.relative_to(path, "/a")

    assert not relative.startswith(("/", "~"))
    assert not {"..", "."} & set(relative.split("/"))
    assert relative == plan.relative_to(relative, "/a")


@pytest.mark.parametrize(("tool", "requested", "clamped", "limit_texts"), CASES["clamp"])
def test_clamp_arguments(tool: str, requested: dict[str, Any], clamped: dict[str, Any], limit_texts: list[str]) -> None:
    """A number over the tool's limit is clamped, with a limit; the provider checks everything else."""
    args, limits = plan.clamp_arguments(tool, requested)

    assert (clamped, limit_texts) == (args, [limit.text for limit in limits])


def test_planned_arguments_need_no_clamping() -> None:
    """Planned arguments are within the limits."""
    few = replace(BUG, targets=replace(BUG.targets, files=("src/a.py",), symbols=("login",)))
    planned = plan.plan_tools(few, Settings(tier_max=2), "/repo").plan.tools

    assert {tool.name for tool in plan.TOOLS if tool.tier} == {tool.tool for tool in planned}
    assert [(tool.args, ()) for tool in planned] == [plan.clamp_arguments(tool.tool, tool.args) for tool in planned]
    assert set(plan.ARGUMENT_LIMITS) <= set(plan.TOOL_TIMEOUTS_MS)


def test_a_stack_trace_is_passed_on_frame_by_frame() -> None:
    """ci_bug_locate gets the frames of a trace, and nothing of the lines between them."""
    prompt = (
        "fix this crash\n\n```\nTraceback (most recent call last):\n"
        '  File "shop/app.py", line 5, in main\n    secret_word()\n'
        '  File "shop/cart.py", line 9, in total\nKeyError: 1\n```'
    )
    planned = plan.plan_tools(analyze_prompt(prompt), Settings(tier_max=2), "/repo")

    assert ["at total (shop/cart.py:9)", "at main (shop/app.py:5)"] == args(planned, "ci_bug_locate")["traces"]
    assert not [tool.tool for tool in planned.plan.tools if "secret_word" in str(tool.args)]


DOCS = ServerConfig(
    "docs", LaunchSpec("x"), timeout_ms=700, tools=(ServerTool("search", "q", {"n": 5}), ServerTool("a.b", "text"))
)


def test_a_users_own_tools() -> None:
    """Each mapped tool follows upbeat's own and gets the query on one line, and its fixed arguments."""
    planned = plan.plan_tools(
        replace(ASKED, query="how does\nlogin work"),
        Settings(servers=(ServerConfig("idle", LaunchSpec("x")), DOCS)),
        "/repo",
    )
    why = "what your server docs knows about it"

    assert [
        PlannedTool(tool="docs.search", tier=1, reason=why, args={"n": 5, "q": "how does login work"}, timeout_ms=700),
        PlannedTool(tool="docs.a.b", tier=1, reason=why, args={"text": "how does login work"}, timeout_ms=700),
    ] == planned.plan.tools[-2:]


@pytest.mark.parametrize(
    ("analysis", "settings"),
    [
        (PromptAnalysis(Intent.NONE, query="hello"), Settings(servers=(DOCS,))),
        (PromptAnalysis(Intent.DOCS, query=""), Settings(servers=(DOCS,))),
        (ASKED, Settings(servers=(DOCS,), tools_disabled=("docs",))),
        (ASKED, Settings(servers=(DOCS,), tools_disabled=("docs.search", "docs.a.b"))),
    ],
    ids=["not about code", "no query", "server disabled", "tools disabled"],
)
def test_a_users_own_tools_are_not_planned(analysis: PromptAnalysis, settings: Settings) -> None:
    """Without a query, or when they are disabled, they are not planned."""
    assert [] == [name for name in names(plan.plan_tools(analysis, settings, "/repo")) if "." in name]
