"""Tool results made fit to be shown: cleaned of controls, secrets and instructions, sensitive places left out.

Law: nothing that a tool said reaches a report, a model or a log before it went through here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..contract.finding import ANSWER, Finding
from ..contract.report import Redaction, ToolError
from ..ports import Run
from .clean import Cleaned, clean, spotless
from .exclude import is_sensitive
from .plan import relative_to
from .truncate import Cap, fit

MAX_ANSWER = Cap(3000)
"""How much of the text of a user's own tool goes into a turn: the code shall have its share."""

_BARE = (int, float)
"""Values without a text in them."""


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A run whose texts are clean, and how many passages looked like instructions."""

    run: Run
    filtered: int


def scrub(run: Run, known: dict[str, Cleaned] | None = None) -> Scrubbed:
    """``run`` with every text cleaned; findings in sensitive or outside paths are gone.

    ``known`` has texts that were cleaned before, as the same names are in many results; it grows.
    """
    washer = _Washer({} if known is None else known)
    result = run.result
    washer.look_over(_names_in(run))
    error = result.error
    if error:
        error = ToolError(code=error.code, message=washer.line(error.message))
    summary = washer.line(result.summary)
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
    return _Washer({}).value(value)


def _may_show(finding: Finding) -> bool:
    if finding.kind == ANSWER:
        return True
    path = finding.path
    return bool(relative_to(path, "/")) and not path.startswith("/") and not is_sensitive(path)


def _names_in(run: Run) -> Iterator[str]:
    """The short texts of ``run``: all but source lines."""
    yield run.result.summary
    for finding in run.output.findings if run.output else ():
        yield from (finding.path, finding.title, finding.symbol, finding.kind, finding.why, finding.claim)
        yield from (one.symbol for one in finding.more)
    yield from _strings(run.output.data if run.output else None)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif value is None or isinstance(value, _BARE):
        return
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _strings(inner)


class _Washer:
    """Cleans texts and counts what it took out."""

    def __init__(self, known: dict[str, Cleaned]) -> None:
        self.redactions: Counter[str] = Counter()
        self.filtered = 0
        self.cut = False
        self._known = known

    def look_over(self, texts: Iterable[str]) -> None:
        """Find out together which of ``texts`` are clean: most are, and one by one it takes twice as long."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update((text, Cleaned(text)) for text in spotless(new))

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
        if value is None or isinstance(value, _BARE):
            return value
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(inner) for key, inner in value.items()}
        if isinstance(value, Sequence):
            return [self.value(inner) for inner in value]
        return value
