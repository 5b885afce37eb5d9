"""What is excluded never enters the context, and what is pinned comes first."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.contract.finding import ANSWER_KIND, Finding, ToolOutput
from upbeat.core.contract.report import ToolResult, ToolRun
from upbeat.core.engine.path_choice import choose_documents, choose_findings
from upbeat.core.policy.queries import ChangedFile, TextDocument
from upbeat.core.settings import Settings
from upbeat.core.turn.fuse import fuse_findings

AT = "2026-01-01T00:00:00Z"
PATHS = st.lists(st.sampled_from(["src/a.py", "src/b.py", "legal/terms.md", "a.key", "docs/x/y.md"]), max_size=6)


def run_with(*findings: Finding, **data: Any) -> ToolRun:
    """A tool's run with these findings."""
    result = ToolResult(tool="ci_search", status="ok", started_at=AT, duration_ms=1, summary="found legal/a")
    return ToolRun(result, ToolOutput("found", findings, data))


def paths(run: ToolRun) -> list[str]:
    assert run.output
    return [item.finding.path for item in fuse_findings(("ci_search", finding) for finding in run.output.findings)]


@given(PATHS, st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_excluded_paths_are_gone_and_pinned_ones_lead(found: list[str], scores: list[float]) -> None:
    """Whatever the scores are; within each group the order stays."""
    findings = [Finding(path, score=score) for path, score in zip(found, scores, strict=False)]
    settings = Settings(context_excluded=("legal", "*.key"), context_pinned=("docs/**",))
    [run] = choose_findings((run_with(*findings),), settings)
    before, after = paths(run_with(*findings)), paths(run)

    kept = [path for path in before if path.startswith(("src", "docs"))]
    assert sorted(kept, key=lambda path: not path.startswith("docs")) == after


def test_rows_of_data_and_answers_of_own_tools() -> None:
    """A tool's data has no row of an excluded file; an answer without a file stays."""
    answer = Finding("", kind=ANSWER_KIND, title="from a server")
    rows = {"rows": [{"file": "legal/a"}, {"path": "b", "below": [{"file_path": "legal/c"}]}], "word": "legal"}
    [run] = choose_findings((run_with(answer, **rows),), Settings(context_excluded=("legal",)))

    assert run.output
    assert (answer,) == run.output.findings
    assert "found (excluded)" == run.result.summary == run.output.summary
    assert {"rows": [{"path": "b", "below": []}], "word": "legal"} == run.output.data


def test_without_globs_nothing_changes() -> None:
    """The usual case costs nothing."""
    runs = (run_with(Finding("a.py")),)

    assert runs is choose_findings(runs, Settings())


def test_documents_for_policies() -> None:
    """A policy is told of no excluded document; changed files are no documents, and guards need them."""
    settings = Settings(context_excluded=("private",))
    hidden, shown = TextDocument("private/AGENTS.md", "x"), TextDocument("AGENTS.md", "y")

    assert (shown,) == choose_documents((hidden, shown), settings)
    assert choose_documents(hidden, settings) is None
    assert shown == choose_documents(shown, settings)
    assert (ChangedFile("private/a"),) == choose_documents((ChangedFile("private/a"),), settings)
