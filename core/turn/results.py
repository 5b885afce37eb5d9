"""Sanitize tool results: remove controls, secrets and instructions, and findings in credential files.

Invariant: no tool output reaches a report, a model or a log without passing this module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from upbeat.core.contract.finding import ANSWER_KIND, Finding
from upbeat.core.contract.report import Redaction, ToolError, ToolRun
from upbeat.core.sanitize.sensitive_files import is_credential_path
from upbeat.core.sanitize.text import SanitizedText, find_clean_texts, sanitize_text
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit
from upbeat.core.turn.plan import relative_to

ANSWER_LIMIT = TextLimit(3000)
"""The share of a user's own tool in a turn, so that code gets the rest."""


@dataclass(frozen=True, slots=True)
class SanitizedRun:
    """A run with sanitized texts, and the number of passages that looked like instructions."""

    run: ToolRun
    filtered_count: int


def sanitize_run(run: ToolRun, cache: dict[str, SanitizedText] | None = None) -> SanitizedRun:
    """Return ``run`` with every text sanitized, without findings in credential files or outside the repository.

    ``cache`` has texts that are already sanitized, because results share many names; it grows.
    """
    sanitizer = _Sanitizer({} if cache is None else cache)
    result, output = run.result, run.output
    sanitizer.precheck(_short_texts(run))
    error = result.error
    if error:
        error = ToolError(code=error.code, message=sanitizer.line(error.message))
    summary = sanitizer.line(result.summary)
    if output:
        findings = tuple(
            sanitizer.finding(finding)
            for finding in output.findings
            if finding.kind == ANSWER_KIND
            or (relative_to(finding.path, "/") and finding.path[0] != "/" and not is_credential_path(finding.path))
        )
        output = replace(output, summary=summary, findings=findings, data=sanitizer.value(output.data))
    redactions = [Redaction(kind=kind, count=count) for kind, count in sorted(sanitizer.redactions.items())]
    result = result.model_copy(
        update={
            "summary": summary,
            "data": output.data if output else None,
            "error": error,
            "redactions": redactions,
            "truncated": result.truncated or sanitizer.is_truncated,
        }
    )
    return SanitizedRun(ToolRun(result, output), sanitizer.filtered_count)


def sanitize_value(value: Any) -> Any:
    """Return a JSON value with every string sanitized, for logs."""
    return _Sanitizer({}).value(value)


def _short_texts(run: ToolRun) -> Iterator[str]:
    """Yield the short texts of ``run``: all but source lines."""
    yield run.result.summary
    for finding in run.output.findings if run.output else ():
        yield from (finding.path, finding.title, finding.symbol, finding.kind, finding.why, finding.claim)
        yield from (excerpt.symbol for excerpt in finding.more_excerpts)
    yield from _iter_strings(run.output.data if run.output else None)


def _iter_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _iter_strings(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _iter_strings(inner)


class _Sanitizer:
    """Sanitizes texts, and counts redactions and filtered passages."""

    def __init__(self, cache: dict[str, SanitizedText]) -> None:
        self.redactions: Counter[str] = Counter()
        self.filtered_count = 0
        self.is_truncated = False
        self._cache = cache

    def precheck(self, texts: Iterable[str]) -> None:
        """Find the texts that need no change together: most do not, and one by one takes twice as long."""
        new = [text for text in dict.fromkeys(texts) if text not in self._cache]
        self._cache.update((text, SanitizedText(text)) for text in find_clean_texts(new))

    def text(self, text: str) -> str:
        if text not in self._cache:
            self._cache[text] = sanitize_text(text)
        return self._count(self._cache[text])

    def source(self, text: str) -> str:
        """Sanitize lines of a file; each line stays where it is, because lines are numbered later."""
        return self._count(sanitize_text(text, preserve_lines=True))

    def _count(self, sanitized: SanitizedText) -> str:
        self.redactions.update(dict(sanitized.redactions))
        self.filtered_count += sanitized.filtered_count
        return sanitized.text

    def line(self, text: str) -> str:
        """Sanitize to one line: a name with a newline must not start a line of its own."""
        return " ".join(self.text(text).split("\n"))

    def finding(self, finding: Finding) -> Finding:
        if finding.kind == ANSWER_KIND:
            text, is_truncated = truncate_to_limit(self.text(finding.text), ANSWER_LIMIT)
            self.is_truncated = self.is_truncated or is_truncated
        else:
            text = self.source(finding.text)
        return replace(
            finding,
            path=self.line(finding.path),
            title=self.line(finding.title),
            symbol=self.line(finding.symbol),
            kind=self.line(finding.kind),
            why=self.line(finding.why),
            text=text,
            claim=self.line(finding.claim),
            more_excerpts=tuple(
                replace(excerpt, symbol=self.line(excerpt.symbol), text=self.source(excerpt.text))
                for excerpt in finding.more_excerpts
            ),
        )

    def value(self, value: Any) -> Any:
        """Sanitize every string of a JSON value, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(inner) for key, inner in value.items()}
        return [self.value(inner) for inner in value] if isinstance(value, Sequence) else value
