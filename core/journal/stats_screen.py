"""What ``upbeat stats`` shows: the share of prompts with context, a row for each source, and the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from upbeat.core.journal.pass_rates import PASS_AT
from upbeat.core.journal.stats import MIN_OCCASIONS, HoldoutSummary, Rate, Significance, SourceStats, StatsReport
from upbeat.core.journal.words import name_part
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import Messages, format_count, load_messages
from upbeat.core.messages.layout import Line, Screen

INDENT = "  "


def stats_screen(report: StatsReport, screen: Screen) -> Iterator[Line]:
    """Yield the screen of ``upbeat stats``."""
    texts, language = load_messages("stats", screen.language), screen.language
    root, days = report.root or texts["everywhere"], format_count("day", report.days, language)
    if not report.first:
        yield from layout.headline(texts["no_records"].format(days=days), screen)
        yield from layout.paragraph(root, screen)
        return
    turns = format_count("turn", report.turns, language)
    head = texts["head"].format(days=days, turns=turns, with_context=f"{report.turns_with_context:,}")
    yield from layout.headline(head, screen)
    sessions = format_count("session", report.sessions, language)
    yield from layout.paragraph(layout.join([root, sessions, f"{report.first[:10]} – {report.last[:10]}"]), screen)
    yield Line("")
    if not report.sources:
        yield from layout.paragraph(texts["no_injections"], screen, INDENT)
    else:
        yield from _source_lines(report.sources, texts, screen)
    if report.stages:
        yield Line("")
        columns = (texts["stages"], texts["first_attempt"], texts["within"].format(k=PASS_AT))
        rates = [(each.stage, _short(each.pass_at_1, texts), _short(each.pass_at_3, texts)) for each in report.stages]
        yield from layout.table([columns, *rates], screen, INDENT)
    if report.sources:
        yield Line("")
        yield from _holdout_lines(report.holdout, texts, screen)


def _source_lines(sources: Sequence[SourceStats], texts: Messages, screen: Screen) -> Iterator[Line]:
    titles = texts.group("columns")
    rows = [tuple(str(titles[name]) for name in ("source", "times", "characters", "opened", "edited"))]
    for source in sources:
        named = bool(source.opened.injected.occasions)
        opened = _short(source.opened.injected, texts) if named else texts["no_named_files"] if source.times else ""
        edited = _short(source.edited.injected, texts) if named else ""
        name = name_part(source.part, screen.language)
        rows.append((name, f"{source.times:,}", f"{source.chars:,}", opened, edited))
    columns = map(_right_aligned, range(5), zip(*rows, strict=True))
    yield from layout.table([*zip(*columns, strict=True)], screen, INDENT)
    for source in sources:
        notes = [
            texts[reason].format(count=f"{count:,}")
            for reason in ("no_room", "over_budget", "duplicate", "held_out")
            if (count := getattr(source.dropped, reason))
        ]
        about = [texts["left_out"].format(parts=", ".join(notes))] if notes else []
        if source.calls_to_use is not None:
            calls = format_count("call", int(source.calls_to_use), screen.language)
            about.append(texts["calls"].format(calls=calls))
        if about:
            noted = f"{name_part(source.part, screen.language)}: {layout.join(about)}"
            yield from layout.marked(layout.QUIET, noted, screen, INDENT)


def _right_aligned(number: int, column: tuple[str, ...]) -> list[str]:
    """Return the cells of a column; numbers end at its right edge."""
    width = max(map(layout.text_width, column))
    return [" " * (width - layout.text_width(cell)) + cell if number in (1, 2) else cell for cell in column]


def _holdout_lines(holdout: HoldoutSummary, texts: Messages, screen: Screen) -> Iterator[Line]:
    """Yield whether the context helps, as far as that can be said."""
    if holdout.opened.verdict is Significance.NO_HOLDOUT:
        yield from layout.marked(layout.QUIET, texts["no_holdout"], screen)
        return
    yield from layout.paragraph(texts["compared"].format(holdout_percent=holdout.holdout_percent), screen)
    for text, comparison in ((texts["opened"], holdout.opened), (texts["edited"], holdout.edited)):
        said = text.format(
            injected=_format_rate(comparison.injected, texts),
            held_out=_format_rate(comparison.held_out, texts),
            verdict=texts[comparison.verdict].format(min_occasions=MIN_OCCASIONS),
        )
        yield from layout.paragraph(said, screen, INDENT)


def _short(rate: Rate, texts: Messages) -> str:
    if not rate.occasions:
        return texts["no_rate"]
    return texts["short_rate"].format(count=f"{rate.count:,}", occasions=f"{rate.occasions:,}", share=rate.share * 100)


def _format_rate(rate: Rate, texts: Messages) -> str:
    if not rate.occasions:
        return texts["no_rate"]
    shares = {name: getattr(rate, name) * 100 for name in ("share", "low", "high")}
    return texts["rate"].format(count=f"{rate.count:,}", occasions=f"{rate.occasions:,}", **shares)
