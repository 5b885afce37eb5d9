"""What ``upbeat backtest`` says to people, in English and in Chinese.

Law: every sentence stands here. Names of rules, clients and outcomes are the same in both languages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .backtest import Count, Decided, Example, Report


@dataclass(frozen=True, slots=True)
class Texts:
    """One language. Fields in braces are filled in."""

    head: str
    looked_at: str
    none: str
    silent: str
    decided: dict[Decided, str]
    outcomes: str
    false_blocks: str
    no_false_blocks: str
    examples: str
    example: str
    outcome: str
    took: str
    errors: str
    unread: str
    stopped: dict[str, str]


EN = Texts(
    head="{rule}, held against the last {days} days",
    looked_at="  looked at: {sessions} sessions, {calls} calls, {prompts} prompts, {turn_ends} ends of turns"
    " ({first} to {last})",
    none="  nothing was found: neither the journal nor a client's own record has a call of this time",
    silent="  it would have said nothing",
    decided={
        Decided.BLOCKED: "  would have blocked {all}",
        Decided.ASKED: "  would have asked about {all}",
        Decided.CHANGED: "  would have changed {all}",
        Decided.SENT_ON: "  would have sent on {all}",
        Decided.TOLD: "  would have spoken at {all}",
    },
    outcomes="{succeeded} had succeeded, {failed} failed, {denied} were denied, {unknown} unknown",
    false_blocks="  {count} of the blocked calls had succeeded: look whether the rule is meant for them",
    no_false_blocks="  none of the blocked calls is known to have succeeded",
    examples="  examples:",
    example="    {at}  {project}  {client}  {decided}{outcome}",
    outcome=", {outcome}",
    took="  took {median} ms at an event (median), {p95} ms at the slowest twentieth",
    errors="  could not be evaluated at {count} events",
    unread="  {count} files could not be read whole",
    stopped={
        "time": "  not everything was looked at: the time was up; the latest came first",
        "interrupt": "  not everything was looked at: interrupted; the latest came first",
    },
)

ZH = Texts(
    head="{rule}：用最近 {days} 天的历史回放",
    looked_at="  已查看：{sessions} 个会话，{calls} 次调用，{prompts} 条提示，{turn_ends} 次回合结束"
    "（{first} 至 {last}）",
    none="  没有找到任何内容：日志和客户端自己的记录里都没有这段时间的调用",
    silent="  它不会说任何话",
    decided={
        Decided.BLOCKED: "  会阻止 {all} 次",
        Decided.ASKED: "  会询问 {all} 次",
        Decided.CHANGED: "  会改动 {all} 次",
        Decided.SENT_ON: "  会让 {all} 个回合继续",
        Decided.TOLD: "  会发言 {all} 次",
    },
    outcomes="其中 {succeeded} 次当时成功，{failed} 次失败，{denied} 次被拒绝，{unknown} 次未知",
    false_blocks="  被阻止的调用中有 {count} 次当时成功了：请检查规则是否真的针对它们",
    no_false_blocks="  被阻止的调用中没有一次已知是成功的",
    examples="  例子：",
    example="    {at}  {project}  {client}  {decided}{outcome}",
    outcome="，{outcome}",
    took="  每个事件耗时 {median} 毫秒（中位数），最慢的二十分之一为 {p95} 毫秒",
    errors="  在 {count} 个事件上无法判断",
    unread="  {count} 个文件未能完整读取",
    stopped={
        "time": "  没有看完：时间到了；最近的先看",
        "interrupt": "  没有看完：被中断；最近的先看",
    },
)

TEXTS = {"en": EN, "zh": ZH}


def lines(report: Report, texts: Texts) -> Iterator[str]:
    """``report`` for people, a line each."""
    yield texts.head.format(rule=report.rule, days=report.days)
    yield from _looked_at(report, texts)
    for decided in Decided:
        if count := report.decided.get(decided):
            yield _counted(texts.decided[decided], count, texts)
    if report.decided.get(Decided.BLOCKED):
        false = report.false_blocks
        yield texts.false_blocks.format(count=f"{false:,}") if false else texts.no_false_blocks
    if report.examples:
        yield texts.examples
        for example in report.examples:
            yield _example(example, texts)
            yield f"      {example.what}"
    if report.calls:
        yield texts.took.format(median=_short(report.milliseconds.median), p95=_short(report.milliseconds.p95))
    if report.errors:
        yield texts.errors.format(count=f"{report.errors:,}")
    if report.unread:
        yield texts.unread.format(count=f"{report.unread:,}")
    if report.stopped:
        yield texts.stopped[report.stopped]


def _looked_at(report: Report, texts: Texts) -> Iterator[str]:
    counts = {name: f"{getattr(report, name):,}" for name in ("sessions", "calls", "prompts", "turn_ends")}
    if not report.sessions:
        yield texts.none
        return
    yield texts.looked_at.format(**counts, first=report.first[:10], last=report.last[:10])
    if not report.decided:
        yield texts.silent


def _counted(text: str, count: Count, texts: Texts) -> str:
    told = text.format(all=f"{count.all:,}")
    known = {name: f"{getattr(count, name):,}" for name in ("succeeded", "failed", "denied", "unknown")}
    return f"{told}: {texts.outcomes.format(**known)}" if set(known.values()) != {"0"} else told


def _example(example: Example, texts: Texts) -> str:
    outcome = texts.outcome.format(outcome=example.outcome.value) if example.outcome else ""
    return texts.example.format(
        at=example.at[:16].replace("T", " "),
        project=example.project,
        client=example.client,
        decided=example.decided.value,
        outcome=outcome,
    )


def _short(milliseconds: float) -> str:
    return f"{milliseconds:.3f}".rstrip("0").rstrip(".")
