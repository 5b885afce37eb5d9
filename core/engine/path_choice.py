"""Which paths may enter the context, and which come first: ``context.excluded`` and ``context.pinned``.

Invariant: nothing of an excluded file is left in what tools found or what policies are told of the files.
"""

from __future__ import annotations

from typing import Any

from upbeat.core.contract.finding import ANSWER_KIND, Finding, ToolOutput
from upbeat.core.contract.report import ToolRun
from upbeat.core.lazy_dataclass import replace
from upbeat.core.policy.queries import TextDocument
from upbeat.core.rules.formats.guidance import Guidance
from upbeat.core.rules.globs import Globs
from upbeat.core.settings import Settings

EXCLUDED_NAME = "(excluded)"
"""Stands in a summary for the path of an excluded file."""
_PATH_KEYS = ("path", "file", "file_path")


def choose_findings(runs: tuple[ToolRun, ...], settings: Settings) -> tuple[ToolRun, ...]:
    """Return ``runs`` without findings in excluded files, and with those in pinned files before all others."""
    if not settings.context_excluded and not settings.context_pinned:
        return runs
    excluded, pinned = Globs(settings.context_excluded), Globs(settings.context_pinned)
    return tuple(_choose(run, run.output, excluded, pinned) if run.output else run for run in runs)


def choose_documents(answer: Any, settings: Settings) -> Any:
    """Return the answer to a policy's query without excluded documents."""
    if not settings.context_excluded or not isinstance(answer, tuple | TextDocument):
        return answer
    excluded = Globs(settings.context_excluded)
    if isinstance(answer, TextDocument):
        return None if excluded.match(answer.path) else answer
    kept = (each for each in answer if not (isinstance(each, TextDocument | Guidance) and excluded.match(each.path)))
    return tuple(kept)


def _choose(run: ToolRun, output: ToolOutput, excluded: Globs, pinned: Globs) -> ToolRun:
    findings = tuple(each for each in output.findings if each.kind == ANSWER_KIND or not excluded.match(each.path))
    gone = {each.path for each in output.findings} - {each.path for each in findings}
    if any(pinned.match(finding.path) for finding in findings):
        findings = tuple(_ranked(finding, is_pinned=pinned.match(finding.path)) for finding in findings)
    data = _without(output.data, excluded, gone)
    summary = run.result.summary
    for path in sorted(gone, key=len, reverse=True):
        summary = summary.replace(path, EXCLUDED_NAME)
    result = run.result.model_copy(update={"summary": summary})
    return ToolRun(result, replace(output, summary=summary, findings=findings, data=data))


def _ranked(finding: Finding, *, is_pinned: bool) -> Finding:
    """Return the finding with a score in the upper half if it is pinned; its lines are then omitted last."""
    if not is_pinned:
        return replace(finding, score=finding.score / 2)
    optional = finding.optional_score + 1 if finding.optional_score else 0.0
    return replace(finding, score=0.5 + finding.score / 2, optional_score=optional)


def _without(value: Any, excluded: Globs, gone: set[str]) -> Any:
    """Return JSON without rows of excluded files, whose paths are added to ``gone``."""
    if isinstance(value, dict):
        return {name: _without(inner, excluded, gone) for name, inner in value.items()}
    if not isinstance(value, list | tuple):
        return value
    kept = []
    for inner in value:
        names = (inner.get(key) for key in _PATH_KEYS) if isinstance(inner, dict) else ()
        hidden = {name for name in names if isinstance(name, str) and excluded.match(name)}
        gone |= hidden
        if not hidden:
            kept.append(_without(inner, excluded, gone))
    return kept
