"""Sanitize tool results: remove controls, secrets and instructions, and findings in credential files.

Invariant: no tool output reaches a report, a model or a log without passing this module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from upbeat.core.contract.finding import ANSWER_KIND, Excerpt, Finding
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
    # Most texts need no change: to find them together takes half the time.
    short_texts = [result.summary]
    for finding in output.findings if output else ():
        short_texts += (finding.path, finding.title, finding.symbol, finding.kind, finding.why, finding.claim)
        short_texts += (excerpt.symbol for excerpt in finding.more_excerpts)
    short_texts += _iter_strings(output.data if output else None)
    new = [text for text in dict.fromkeys(short_texts) if text not in sanitizer.cache]
    sanitizer.cache.update((text, SanitizedText(text)) for text in find_clean_texts(new))
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


@dataclass(slots=True)
class _Sanitizer:
    """Sanitizes texts, and counts redactions and filtered passages."""

    cache: dict[str, SanitizedText]
    redactions: Counter[str] = field(default_factory=Counter)
    filtered_count: int = 0
    is_truncated: bool = False

    def text(self, text: str, *, is_source: bool = False) -> str:
        """Sanitize ``text``; each line of source stays where it is, because lines are numbered later."""
        if not text:
            return text
        if is_source:
            sanitized = sanitize_text(text, preserve_lines=True)
        else:
            sanitized = self.cache.get(text) or sanitize_text(text)
            self.cache[text] = sanitized
        if sanitized.redactions:
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
            text = self.text(finding.text, is_source=True)
        return replace(
            finding,
            path=self.line(finding.path),
            title=self.line(finding.title),
            symbol=self.line(finding.symbol),
            kind=self.line(finding.kind),
            why=self.line(finding.why),
            text=text,
            claim=self.line(finding.claim),
            more_excerpts=tuple(self.excerpt(excerpt) for excerpt in finding.more_excerpts),
        )

    def excerpt(self, excerpt: Excerpt) -> Excerpt:
        symbol, text = self.line(excerpt.symbol), self.text(excerpt.text, is_source=True)
        if (symbol, text) == (excerpt.symbol, excerpt.text):
            return excerpt
        return replace(excerpt, symbol=symbol, text=text)

    def value(self, value: Any) -> Any:
        """Sanitize every string of a JSON value, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(inner) for key, inner in value.items()}
        return [self.value(inner) for inner in value] if isinstance(value, Sequence) else value
