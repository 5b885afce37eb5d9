"""What ``upbeat log``, ``why`` and ``status`` say to people, in English and in Chinese.

Law: every sentence stands here. Names of events, parts, stages and effects are the same in both languages, and so
is everything that is JSON.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Texts:
    """One language. Fields in braces are filled in by the caller."""

    record: str
    session: str
    repository: str
    agent: str
    about: str
    turn: str
    nobody: str
    decided: str
    because: str
    looked_at: str
    configured_at: str
    by_default: str
    took: str
    effects: str
    no_effect: str
    effect: str
    total: str
    facts: str
    nothing_yet: str
    no_record: str
    log_empty: str
    no_session: str
    no_workflow: str
    run: str
    steps: str
    loop: str
    loop_ended: str
    ended: str
    unreadable: str
    last_event: str
    journal: str
    journal_none: str
    healthy: str
    unhealthy: str
    failures: str
    damaged: str
    pruned: str
    pruned_more: str
    whole: str
    verified_pruned: str
    broken: str
    differing: str


EN = Texts(
    record="record {seq}: {event} at {at}, {client}",
    session="session {session_id}",
    repository="in {root}",
    agent="agent {agent_id}",
    about="what came in",
    turn="the turn",
    nobody="no part of upbeat had a say in it",
    decided="{part}: {decided}",
    because="because {because}",
    looked_at="looked at {inputs}",
    configured_at="configured at {configured_at}",
    by_default="built in",
    took="took {milliseconds} ms",
    effects="what was done",
    no_effect="nothing was done",
    effect="{kind}, {characters} characters",
    total="in all {milliseconds} ms, {characters} characters injected",
    facts="facts",
    nothing_yet="nothing is recorded yet; work with a client that has upbeat (upbeat install), then ask again",
    no_record="no record {seq}; upbeat log lists what there is",
    log_empty="nothing is recorded yet",
    no_session="no session in this repository yet",
    no_workflow="no workflow",
    run="{workflow} {status}",
    steps="{steps} ({done}/{all} done)",
    loop="sent on {iterations} times",
    loop_ended="loop over: {reason}",
    ended="closed",
    unreadable="its state cannot be read ({problem}), so it counts as new",
    last_event="{event} at {at}",
    journal="journal: {path}: {records} records of {sessions} sessions, {size}, since {oldest}",
    journal_none="journal: {path}: not there yet; the first event makes it",
    healthy="healthy ({mode})",
    unhealthy="NOTHING CAN BE STORED: {problem}",
    failures="{count} events could not be stored, the last: {last}; upbeat log prune begins to count anew",
    damaged="set aside as damaged: {names}; delete them when nobody wants to look at them",
    pruned="{records} records and {sessions} sessions taken out; the journal takes {size}",
    pruned_more="more is over the limits; run upbeat log prune again",
    whole="{records} records, {sessions} sessions: unchanged since they were written, each state what its records say",
    verified_pruned="{pruned} older records were pruned",
    broken="BROKEN at record {seq}: it {problem}; what comes before it can be trusted",
    differing="the state of session {session_id} is not what its records say; please report it",
)

ZH = Texts(
    record="记录 {seq}：{event}，{at}，{client}",
    session="会话 {session_id}",
    repository="位于 {root}",
    agent="代理 {agent_id}",
    about="收到的内容",
    turn="本轮",
    nobody="upbeat 的任何部分都没有参与",
    decided="{part}：{decided}",
    because="因为 {because}",
    looked_at="依据 {inputs}",
    configured_at="配置于 {configured_at}",
    by_default="内置",
    took="用时 {milliseconds} 毫秒",
    effects="做了什么",
    no_effect="什么也没做",
    effect="{kind}，{characters} 个字符",
    total="共 {milliseconds} 毫秒，注入 {characters} 个字符",
    facts="事实",
    nothing_yet="还没有记录；请先在装有 upbeat 的客户端里工作（upbeat install），再来查看",
    no_record="没有记录 {seq}；upbeat log 列出已有的记录",
    log_empty="还没有记录",
    no_session="这个仓库还没有会话",
    no_workflow="没有工作流",
    run="{workflow} {status}",
    steps="{steps}（已完成 {done}/{all}）",
    loop="已续跑 {iterations} 次",
    loop_ended="循环已结束：{reason}",
    ended="已关闭",
    unreadable="状态无法读取（{problem}），按新会话处理",
    last_event="{event}，{at}",
    journal="日志：{path}：{records} 条记录，{sessions} 个会话，{size}，始于 {oldest}",
    journal_none="日志：{path}：尚不存在；第一个事件会创建它",
    healthy="正常（{mode}）",
    unhealthy="无法写入任何内容：{problem}",
    failures="有 {count} 个事件未能写入，最后一个：{last}；upbeat log prune 会重新计数",
    damaged="已损坏并移到一旁：{names}；不再需要时可以删除",
    pruned="已删除 {records} 条记录和 {sessions} 个会话；日志占用 {size}",
    pruned_more="仍超出上限；请再次运行 upbeat log prune",
    whole="{records} 条记录，{sessions} 个会话：写入后未被改动，每个状态都与其记录一致",
    verified_pruned="更早的 {pruned} 条记录已清理",
    broken="在记录 {seq} 处断裂：{problem}；它之前的内容可信",
    differing="会话 {session_id} 的状态与其记录不一致；请报告此问题",
)

TEXTS = {"en": EN, "zh": ZH}
