"""Tool results made fit to be shown: cleaned of controls, secrets and instructions, sensitive places left out.

Law: nothing that a tool said reaches a report, a model or a log before it went through here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..contract.finding import ANSWER, Finding
from ..contract.report import Redaction, ToolError
from ..ports import Run
from .clean import Cleaned, clean
from .exclude import is_sensitive
from .plan import relative_to
from .truncate import Cap, fit

MAX_ANSWER = Cap(3000)
"""How much of the text of a user's own tool goes into a turn: the code shall have its share."""


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A run whose texts are clean, and how many passages looked like instructions."""

    run: Run
    filtered: int


def scrub(run: Run) -> Scrubbed:
    """``run`` with every text cleaned; findings in sensitive or outside paths are gone."""
    washer = _Washer()
    result = run.result
    error = result.error
    if error:
        error = ToolError(code=error.code, message=washer.text(error.message))
    summary = washer.text(result.summary)
    output = run.output
    if output:
        findings = tuple(washer.finding(finding) for finding in output.findings if _may_show(finding))
        output = replace(output, summary=summary, findings=findings, data=washer.value(output.data))
    redactions = [Redaction(kind=kind, count=count) for kind, count in sorted(washer.redactions.items())]
    result = result.model_copy(
        update={
            "summary": summary,
            "data": output.data if output else None,
            "error": error,
            "redactions": redactions,
            "truncated": result.truncated or washer.cut,
        }
    )
    return Scrubbed(Run(result, output), washer.filtered)


def scrub_value(value: Any) -> Any:
    """A JSON value with every string in it cleaned; for logs."""
    return _Washer().value(value)


def _may_show(finding: Finding) -> bool:
    if finding.kind == ANSWER:
        return True
    path = finding.path
    return bool(relative_to(path, "/")) and not path.startswith("/") and not is_sensitive(path)


class _Washer:
    """Cleans texts and counts what it took out."""

    def __init__(self) -> None:
        self.redactions: Counter[str] = Counter()
        self.filtered = 0
        self.cut = False
        self._known: dict[str, Cleaned] = {}
        """A result says the same names over and over; it is forgotten with the result."""

    def text(self, text: str) -> str:
        cleaned = self._known.get(text)
        if cleaned is None:
            cleaned = self._known[text] = clean(text)
        return self._counted(cleaned)

    def source(self, text: str) -> str:
        """The lines of a file: each stays where it is, because they get their numbers afterwards."""
        return self._counted(clean(text, keeps_lines=True))

    def _counted(self, cleaned: Cleaned) -> str:
        self.redactions.update(dict(cleaned.redactions))
        self.filtered += cleaned.filtered
        return cleaned.text

    def line(self, text: str) -> str:
        """One line: a name with a newline in it must not start a line of its own."""
        return " ".join(self.text(text).split("\n"))

    def finding(self, finding: Finding) -> Finding:
        if finding.kind == ANSWER:
            text, cut = fit(self.text(finding.text), MAX_ANSWER)
            self.cut = self.cut or cut
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
            more=tuple(replace(one, symbol=self.line(one.symbol), text=self.source(one.text)) for one in finding.more),
        )

    def value(self, value: Any) -> Any:
        """A JSON value with every string cleaned, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(inner) for key, inner in value.items()}
        if isinstance(value, Sequence):
            return [self.value(inner) for inner in value]
        return value
