"""Format the report of ``upbeat stats`` as text."""

from __future__ import annotations

from collections.abc import Iterator

from upbeat.core.journal.stats import MIN_OCCASIONS, HoldoutComparison, Rate, Significance, SourceStats, StatsReport
from upbeat.core.messages.catalogue import Messages
from upbeat.core.sanitize.inline import SafeTemplate


def stats_lines(report: StatsReport, texts: Messages) -> Iterator[str]:
    """``report`` for people, a line each."""
    root = report.root or texts["everywhere"]
    if not report.first:
        yield texts["no_records"].format(root=root, days=report.days)
        return
    yield texts["head"].format(
        root=root,
        days=report.days,
        sessions=f"{report.sessions:,}",
        turns=f"{report.turns:,}",
        with_context=f"{report.turns_with_context:,}",
        first=report.first[:10],
        last=report.last[:10],
    )
    if not report.sources:
        yield texts["no_injections"]
    for one in report.sources:
        yield ""
        yield from _source_lines(one, texts)
    if report.sources:
        yield ""
        yield from _holdout_lines(report, texts)


def _source_lines(stats: SourceStats, texts: Messages) -> Iterator[str]:
    yield texts["injector"].format(
        part=stats.part,
        times=f"{stats.times:,}",
        chars=f"{stats.chars:,}",
        per_turn=f"{stats.chars_per_turn:,.0f}",
        per_session=f"{stats.chars_per_session:,.0f}",
    )
    left_out = [
        texts[why].format(count=f"{count:,}")
        for why in ("no_room", "over_budget", "duplicate", "held_out")
        if (count := getattr(stats.dropped, why))
    ]
    if left_out:
        yield texts["left_out"].format(parts=", ".join(left_out))
    if stats.opened.injected.occasions:
        calls = "" if stats.calls_to_use is None else texts["calls"].format(count=f"{stats.calls_to_use:g}")
        opened, edited = (_format_rate(one_of.injected, texts) for one_of in (stats.opened, stats.edited))
        yield texts["used"].format(opened=opened, edited=edited, calls=calls)
    elif stats.times:
        yield texts["no_named_files"]


def _holdout_lines(report: StatsReport, texts: Messages) -> Iterator[str]:
    found = report.holdout
    if found.opened.verdict is Significance.NO_HOLDOUT:
        yield texts["no_holdout"]
        return
    yield texts["compared"].format(holdout_percent=found.holdout_percent)
    for text, compared in ((texts["opened"], found.opened), (texts["edited"], found.edited)):
        yield _format_comparison(text, compared, texts)


def _format_comparison(text: SafeTemplate, comparison: HoldoutComparison, texts: Messages) -> str:
    return text.format(
        injected=_format_rate(comparison.injected, texts),
        held_out=_format_rate(comparison.held_out, texts),
        verdict=texts[comparison.verdict].format(min_occasions=MIN_OCCASIONS),
    )


def _format_rate(rate: Rate, texts: Messages) -> str:
    if not rate.occasions:
        return texts["no_rate"]
    shares = {name: getattr(rate, name) * 100 for name in ("share", "low", "high")}
    return texts["rate"].format(count=f"{rate.count:,}", occasions=f"{rate.occasions:,}", **shares)
