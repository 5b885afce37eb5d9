"""Format a backtest report as text, in English or Chinese."""

from __future__ import annotations

from collections.abc import Iterator

from upbeat.core.messages.catalogue import Messages, load_messages
from upbeat.core.rules.backtest import BacktestDecision, BacktestExample, BacktestReport, CallCounts
from upbeat.core.sanitize.frame import SafeText


def format_backtest(report: BacktestReport, language: str) -> Iterator[str]:
    """Yield the lines of ``report``; its texts are redacted and on one line already."""
    messages = load_messages("backtest", language)
    yield messages["head"].format(rule=SafeText(report.rule), days=report.days)
    if report.sessions:
        counts = {name: f"{getattr(report, name):,}" for name in ("sessions", "calls", "prompts", "turn_ends")}
        yield messages["searched"].format(**counts, first=report.first[:10], last=report.last[:10])
    if not report.sessions or not report.decided:
        yield messages["no_decisions" if report.sessions else "no_history"]
    yield from _format_decisions(report, messages)
    if report.decided.get(BacktestDecision.BLOCKED):
        count_text = f"{report.false_blocks:,}"
        yield messages["false_blocks" if report.false_blocks else "no_false_blocks"].format(count=count_text)
    if report.examples:
        yield messages["examples"]
        for example in report.examples:
            yield _format_example(example, messages)
            yield f"      {example.what}"
    if report.calls:
        median, p95 = (
            f"{ms:.3f}".rstrip("0").rstrip(".") for ms in (report.milliseconds.median, report.milliseconds.p95)
        )
        yield messages["latency"].format(median=median, p95=p95)
    if report.errors:
        yield messages["errors"].format(count=f"{report.errors:,}")
    if report.unread:
        yield messages["unread_files"].format(count=f"{report.unread:,}")
    if report.stopped:
        yield messages.group("stop_reasons")[report.stopped]


def _format_decisions(report: BacktestReport, messages: Messages) -> Iterator[str]:
    """Yield what it would have done; twice if that depends on what the past cannot tell."""
    ends = {"": report.decided} if report.at_least is None else {"worst": report.decided, "best": report.at_least}
    unknowns = messages.group("unknowns")
    if report.at_least is not None:
        joint = messages["joint"]
        yield messages["unknown"].format(unknowns=joint.join(unknowns[name] for name in report.unknowns))
    for end, decided in ends.items():
        if end:
            yield messages[end]
            if not decided:
                yield messages["no_decisions"]
        for decision in BacktestDecision:
            if count := decided.get(decision):
                yield _format_counts(decision, count, messages)
    if report.unrecorded and report.sessions:
        yield messages["unrecorded"].format(events=", ".join(report.unrecorded))


def _format_counts(decision: BacktestDecision, count: CallCounts, messages: Messages) -> str:
    text = messages.group("decisions")[decision].format(all=f"{count.all:,}")
    outcomes = {name: f"{getattr(count, name):,}" for name in ("succeeded", "failed", "denied", "unknown")}
    return text if set(outcomes.values()) == {"0"} else f"{text}: {messages['outcomes'].format(**outcomes)}"


def _format_example(example: BacktestExample, messages: Messages) -> str:
    return messages["example"].format(
        at=example.at[:16].replace("T", " "),
        project=SafeText(example.project),
        client=example.client,
        decided=example.decided.value,
        outcome=messages["outcome"].format(outcome=example.outcome.value) if example.outcome else "",
    )
