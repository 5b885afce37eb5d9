"""What ``upbeat stats`` says to people, in English and in Chinese.

Law: every sentence stands here. Names of parts are the same in both languages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .stats import LEAST, Comparison, Injector, Rate, Report, Verdict


@dataclass(frozen=True, slots=True)
class Texts:
    """One language. Fields in braces are filled in."""

    everywhere: str
    head: str
    none: str
    nothing: str
    injector: str
    left_out: str
    no_room: str
    over_budget: str
    duplicate: str
    held_out: str
    used: str
    calls: str
    unnamed: str
    compared: str
    opened: str
    edited: str
    rate: str
    no_rate: str
    off: str
    too_few: str
    chance: str
    different: str


EN = Texts(
    everywhere="all repositories",
    head="{root}, the last {days} days: {sessions} sessions, {turns} turns, {with_context} of them with context"
    " ({first} to {last})",
    none="{root}, the last {days} days: the journal has no record of this time",
    nothing="  nothing was injected",
    injector="{part}: {times} times, {chars} characters ({per_turn} a turn, {per_session} a session)",
    left_out="  left out: {parts}",
    no_room="{count} for want of room",
    over_budget="{count} over the budget",
    duplicate="{count} said already",
    held_out="{count} held out",
    used="  a file that it named was opened in {opened}, edited in {edited}{calls}",
    calls="; after {count} calls (median)",
    unnamed="  it named no file, so its use is not known",
    compared="hold-out ({per_cent} per cent): a file that was named, or would have been, was",
    opened="  opened in {injected} with the context, in {held_out} without: {verdict}",
    edited="  edited in {injected} with the context, in {held_out} without: {verdict}",
    rate="{count} of {occasions} ({share:.0f} %, {low:.0f} to {high:.0f})",
    no_rate="0 of 0",
    off="hold-out is off: whether the context helps cannot be told from this; inject.hold_out = 10 would",
    too_few=f"too few to say anything; it takes {LEAST} of each",
    chance="the difference may be chance",
    different="the difference is more than chance",
)

ZH = Texts(
    everywhere="所有仓库",
    head="{root}，最近 {days} 天：{sessions} 个会话，{turns} 个回合，其中 {with_context} 个带有上下文"
    "（{first} 至 {last}）",
    none="{root}，最近 {days} 天：日志里没有这段时间的记录",
    nothing="  没有注入任何内容",
    injector="{part}：{times} 次，{chars} 个字符（每回合 {per_turn}，每会话 {per_session}）",
    left_out="  未注入：{parts}",
    no_room="{count} 次因空间不足",
    over_budget="{count} 次超出预算",
    duplicate="{count} 次已有人说过",
    held_out="{count} 次留作对照",
    used="  它提到的文件被打开：{opened}；被修改：{edited}{calls}",
    calls="；第 {count} 次调用时（中位数）",
    unnamed="  它没有提到文件，因此无法得知是否有用",
    compared="对照（{per_cent}%）：提到的（或本会提到的）文件",
    opened="  被打开：有上下文时 {injected}，没有时 {held_out}：{verdict}",
    edited="  被修改：有上下文时 {injected}，没有时 {held_out}：{verdict}",
    rate="{occasions} 次中的 {count} 次（{share:.0f}%，{low:.0f} 至 {high:.0f}）",
    no_rate="0 次中的 0 次",
    off="对照已关闭：由此无法判断上下文是否有帮助；可设置 inject.hold_out = 10",
    too_few=f"数量太少，无法判断；两边各需 {LEAST} 次",
    chance="差异可能出于偶然",
    different="差异超出偶然",
)

TEXTS = {"en": EN, "zh": ZH}


def lines(report: Report, texts: Texts) -> Iterator[str]:
    """``report`` for people, a line each."""
    root = report.root or texts.everywhere
    if not report.first:
        yield texts.none.format(root=root, days=report.days)
        return
    yield texts.head.format(
        root=root,
        days=report.days,
        sessions=f"{report.sessions:,}",
        turns=f"{report.turns:,}",
        with_context=f"{report.turns_with_context:,}",
        first=report.first[:10],
        last=report.last[:10],
    )
    if not report.injectors:
        yield texts.nothing
    for one in report.injectors:
        yield ""
        yield from _injector(one, texts)
    if report.injectors:
        yield ""
        yield from _hold_out(report, texts)


def _injector(one: Injector, texts: Texts) -> Iterator[str]:
    yield texts.injector.format(
        part=one.part,
        times=f"{one.times:,}",
        chars=f"{one.chars:,}",
        per_turn=f"{one.chars_per_turn:,.0f}",
        per_session=f"{one.chars_per_session:,.0f}",
    )
    left_out = [
        getattr(texts, why).format(count=f"{count:,}")
        for why in ("no_room", "over_budget", "duplicate", "held_out")
        if (count := getattr(one.left_out, why))
    ]
    if left_out:
        yield texts.left_out.format(parts=", ".join(left_out))
    if one.opened.injected.occasions:
        calls = "" if one.calls_to_use is None else texts.calls.format(count=f"{one.calls_to_use:g}")
        opened, edited = (_rate(one_of.injected, texts) for one_of in (one.opened, one.edited))
        yield texts.used.format(opened=opened, edited=edited, calls=calls)
    elif one.times:
        yield texts.unnamed


def _hold_out(report: Report, texts: Texts) -> Iterator[str]:
    found = report.hold_out
    if found.opened.verdict is Verdict.OFF:
        yield texts.off
        return
    yield texts.compared.format(per_cent=found.per_cent)
    for text, compared in ((texts.opened, found.opened), (texts.edited, found.edited)):
        yield _compared(text, compared, texts)


def _compared(text: str, compared: Comparison, texts: Texts) -> str:
    verdicts = {Verdict.TOO_FEW: texts.too_few, Verdict.CHANCE: texts.chance, Verdict.DIFFERENT: texts.different}
    return text.format(
        injected=_rate(compared.injected, texts),
        held_out=_rate(compared.held_out, texts),
        verdict=verdicts[compared.verdict],
    )


def _rate(rate: Rate, texts: Texts) -> str:
    if not rate.occasions:
        return texts.no_rate
    shares = {name: getattr(rate, name) * 100 for name in ("share", "low", "high")}
    return texts.rate.format(count=f"{rate.count:,}", occasions=f"{rate.occasions:,}", **shares)
