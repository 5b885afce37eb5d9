"""What ``upbeat doctor`` says to people, in English and in Chinese. Law: every sentence stands here.

In a reason ``{detail}`` is what and where, ``{name}`` the client, ``{word}`` what ``upbeat install`` calls it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .findings import Guard, Reason

Pair = tuple[str, str]
"""What is the case, and the way out."""


@dataclass(frozen=True, slots=True)
class Texts:
    """One language. Fields in braces are filled in."""

    guards: Mapping[Guard, str]
    reasons: Mapping[Reason, Pair]
    own_ways: Mapping[tuple[Reason, str], str]
    """The way out where one client has another one than the rest, by ``word``."""
    armed: str
    not_armed: str
    all_armed: str
    some_not: str
    nothing: str
    not_here: str
    not_installed: str
    proof_canary: str
    proof_session: str
    proof_own: str
    proof_alike: str
    seconds_ago: str
    minutes_ago: str
    hours_ago: str
    days_ago: str
    installation: str
    way: str
    as_above: str
    installed: str
    compiled: str
    sound: str
    local: str
    journal: str
    failures: str
    unanswered: str
    unanswered_way: str
    policies_off: str
    will_start: str
    review: str
    review_how: str

    def of(self, reason: Reason, word: str) -> Pair:
        """The sentence for ``reason`` and its way out, where ``upbeat install`` calls the client ``word``."""
        sentence, way = self.reasons[reason]
        return sentence, self.own_ways.get((reason, word), way)


def told_of(reason: Reason, detail: str, name: str, word: str, texts: Texts) -> Pair:
    """The sentence and the way out with all fields filled in."""
    sentence, way_out = texts.of(reason, word)
    fields = {"detail": detail, "name": name, "word": word}
    return sentence.format(**fields), way_out.format(**fields)


EN = Texts(
    guards={
        Guard.START: "tells a new session what was",
        Guard.TURNS: "prepares prompts",
        Guard.CALLS: "stops skipped stages and destructive commands",
        Guard.ANSWERS: "meets failures and counts evidence",
        Guard.AGENTS: "gives agents their stage",
        Guard.END: "keeps a turn going until it is done",
    },
    reasons={
        Reason.UNPROVEN: (
            "nothing has been seen of it since its hooks are as they are",
            "upbeat doctor --probe, or work a turn in {name} and ask again",
        ),
        Reason.DID_NOT_FIRE: (
            "the canary in {name} did what this guard meets, and no hook of it came",
            "upbeat install {word}, start {name} anew, and look again",
        ),
        Reason.NOT_REFUSED: (
            "the canary's destructive command was not stopped by upbeat",
            "see that stop-destructive-commands is not in policies.off, then upbeat install {word}",
        ),
        Reason.CANARY_FAILED: ("the canary came to nothing: {detail}", "see that {name} works by itself, then again"),
        Reason.SILENT: (
            "session {detail} went on without it: its other hooks came, these did not",
            "upbeat doctor --probe tells whether that is still so",
        ),
        Reason.UNSEEN_SESSION: (
            "session {detail} of {name} left nothing in the journal (hooks off for it?)",
            "upbeat doctor --probe tells whether that is still so",
        ),
        Reason.NOT_SWITCHED_ON: ("{name} does not know the plugin: {detail}", "upbeat install {word}"),
        Reason.PLUGIN_DISABLED: ("the plugin is switched off: {detail}", "take that out, or switch it on there"),
        Reason.PLUGIN_GONE: ("the plugin is not where {name} looks for it: {detail}", "upbeat install {word}"),
        Reason.PROGRAM_GONE: ("the hooks start what is not there: {detail}", "upbeat install {word}"),
        Reason.HOOKS_CHANGED: ("the plugin's hooks are not as upbeat wrote them: {detail}", "upbeat install {word}"),
        Reason.HOOKS_DISABLED: ("all hooks are switched off: {detail}", "take that out, or set it to let hooks run"),
        Reason.MANAGED_HOOKS_ONLY: (
            "only hooks of the administrator may run: {detail}",
            "ask your administrator to let the plugin upbeat@upbeat run",
        ),
        Reason.HOOK_OFF: ("the hook is switched off in {name}: {detail}", "switch it on there: /hooks"),
        Reason.UNTRUSTED: (
            "{name} has not been told to trust the hook: {detail}",
            "run codex, enter /hooks, read them, and trust them; upbeat never does that for you",
        ),
        Reason.TRUST_CHANGED: (
            "the hook has changed since you trusted it: {detail}",
            "run codex, enter /hooks, read what is new, and trust it if upbeat install has written it",
        ),
        Reason.SERVER_OFF: ("{name} does not start upbeat's server: {detail}", "switch it on there: /mcp"),
        Reason.SERVER_NOT_CONNECTED: ("upbeat's server does not answer: {detail}", "upbeat install {word}"),
        Reason.CLIENT_TOO_OLD: ("{name} is older than what upbeat was tried with: {detail}", "update {name}"),
        Reason.CLIENT_BROKEN: ("{name} could not be asked: {detail}", "see that {name} works by itself, then again"),
        Reason.TWICE: ("upbeat's hooks are there twice: {detail}", "take one of them out"),
        Reason.IN_THE_WAY: (
            "another plugin prepares and continues turns, too: {detail}",
            "switch it off in {name}: with both, turns are prepared and sent on twice",
        ),
        Reason.SWITCHED_OFF: ("upbeat is switched off: {detail}", "take that out"),
        Reason.PLAN_MODE: ("upbeat only plans what it would look up: {detail}", "take that out"),
        Reason.NO_BYTE_CODE: (
            "no byte code for {detail} modules, and it cannot be written: each start takes seconds",
            "python -m compileall on upbeat's environment, as who may write there",
        ),
        Reason.AFFECTED_SQLITE: (
            "SQLite {detail} can damage a file that several processes write, so nothing is kept",
            "install apsw>=3.51.3 with its own SQLite into upbeat's environment",
        ),
        Reason.NETWORK_FILE_SYSTEM: (
            "the journal is on a network file system, where locks may not hold: {detail}",
            "set XDG_STATE_HOME to a folder on a disk of this machine",
        ),
        Reason.JOURNAL_UNUSABLE: (
            "the journal cannot be used, so sessions are forgotten: {detail}",
            "mend that, or move the file away",
        ),
    },
    own_ways={
        (Reason.CLIENT_TOO_OLD, "claude"): "update Claude Code, or upbeat install claude --route command",
    },
    armed="ARMED",
    not_armed="NOT ARMED",
    all_armed="ARMED: every guard of {clients}.",
    some_not="NOT ARMED: {count} of {total} guards ({clients}).",
    nothing="Nothing to arm: no client on PATH has upbeat. upbeat install claude, or upbeat install codex.",
    not_here="not on PATH",
    not_installed="without upbeat; upbeat install {word}",
    proof_canary="the canary of just now",
    proof_session="seen {ago}, session {session}",
    proof_own="by itself; needs no hook",
    proof_alike="its hooks are there like those that fired; no agent was started",
    seconds_ago="{count} s ago",
    minutes_ago="{count} min ago",
    hours_ago="{count} h ago",
    days_ago="{count} days ago",
    installation="this installation",
    way="-> {way}",
    as_above="the rest as above",
    installed="{version}, {python}",
    compiled="there, or written at first use ({modules} modules)",
    sound="{version}",
    local="a disk of this machine ({path})",
    journal="{records} records",
    failures="{count} events could not be stored; the last one: {last}",
    unanswered="{count} events of the last {days} days upbeat itself failed at; the last one: {last}",
    unanswered_way="upbeat log --json has their traceback: please report it",
    policies_off="switched off by you: {names}",
    will_start="upbeat: the canary starts {commands}, once each, in an empty temporary repository. Its model is a stub"
    " on 127.0.0.1, so nothing is billed; its other traffic is sent to the stub, too, and refused. Your own hooks and"
    " MCP servers start with it. Its session stays in upbeat's journal.",
    review="Open Codex now, to review its hooks with /hooks? [y/N] ",
    review_how="codex, then /hooks",
)

ZH = Texts(
    guards={
        Guard.START: "新会话开始时告知之前的情况",
        Guard.TURNS: "准备提示",
        Guard.CALLS: "阻止跳过阶段和破坏性命令",
        Guard.ANSWERS: "处理失败并统计证据",
        Guard.AGENTS: "给代理分配阶段",
        Guard.END: "让回合继续直到完成",
    },
    reasons={
        Reason.UNPROVEN: (
            "自钩子成为现在这样以来，还没有见到它工作",
            "运行 upbeat doctor --probe，或在 {name} 里完成一个回合后再看",
        ),
        Reason.DID_NOT_FIRE: (
            "{name} 里的探测做了此守卫应处理的事，但没有收到它的钩子",
            "运行 upbeat install {word}，重新启动 {name}，再看一次",
        ),
        Reason.NOT_REFUSED: (
            "探测的破坏性命令没有被 upbeat 阻止",
            "确认 policies.off 里没有 stop-destructive-commands，然后运行 upbeat install {word}",
        ),
        Reason.CANARY_FAILED: ("探测没有结果：{detail}", "确认 {name} 本身可用，然后重试"),
        Reason.SILENT: (
            "会话 {detail} 没有用到它：其他钩子到了，这些没有",
            "upbeat doctor --probe 可以查明现在是否仍然如此",
        ),
        Reason.UNSEEN_SESSION: (
            "{name} 的会话 {detail} 没有在日志里留下任何记录（它的钩子关闭了？）",
            "upbeat doctor --probe 可以查明现在是否仍然如此",
        ),
        Reason.NOT_SWITCHED_ON: ("{name} 不知道这个插件：{detail}", "upbeat install {word}"),
        Reason.PLUGIN_DISABLED: ("插件已关闭：{detail}", "去掉它，或在那里打开"),
        Reason.PLUGIN_GONE: ("插件不在 {name} 查找的位置：{detail}", "upbeat install {word}"),
        Reason.PROGRAM_GONE: ("钩子要启动的程序不存在：{detail}", "upbeat install {word}"),
        Reason.HOOKS_CHANGED: ("插件的钩子与 upbeat 写入的不同：{detail}", "upbeat install {word}"),
        Reason.HOOKS_DISABLED: ("所有钩子都已关闭：{detail}", "去掉它，或改为允许钩子"),
        Reason.MANAGED_HOOKS_ONLY: ("只允许管理员的钩子：{detail}", "请管理员允许插件 upbeat@upbeat"),
        Reason.HOOK_OFF: ("该钩子在 {name} 里已关闭：{detail}", "在那里打开：/hooks"),
        Reason.UNTRUSTED: (
            "{name} 还没有被告知信任该钩子：{detail}",
            "运行 codex，输入 /hooks，阅读后信任；upbeat 从不代替你这样做",
        ),
        Reason.TRUST_CHANGED: (
            "该钩子在你信任之后有变化：{detail}",
            "运行 codex，输入 /hooks，阅读变化；如果是 upbeat install 写入的就信任",
        ),
        Reason.SERVER_OFF: ("{name} 不启动 upbeat 的服务器：{detail}", "在那里打开：/mcp"),
        Reason.SERVER_NOT_CONNECTED: ("upbeat 的服务器没有应答：{detail}", "upbeat install {word}"),
        Reason.CLIENT_TOO_OLD: ("{name} 比 upbeat 试过的版本旧：{detail}", "更新 {name}"),
        Reason.CLIENT_BROKEN: ("无法询问 {name}：{detail}", "确认 {name} 本身可用，然后重试"),
        Reason.TWICE: ("upbeat 的钩子有两份：{detail}", "去掉其中一份"),
        Reason.IN_THE_WAY: ("另一个插件也在准备和延续回合：{detail}", "在 {name} 里关闭它：两者并存时回合会被处理两次"),
        Reason.SWITCHED_OFF: ("upbeat 已关闭：{detail}", "去掉它"),
        Reason.PLAN_MODE: ("upbeat 只列出会查什么：{detail}", "去掉它"),
        Reason.NO_BYTE_CODE: (
            "{detail} 个模块没有字节码，也无法写入：每次启动都要几秒",
            "由有写权限的用户在 upbeat 的环境里运行 python -m compileall",
        ),
        Reason.AFFECTED_SQLITE: (
            "SQLite {detail} 在多个进程写入时可能损坏文件，因此什么都不保存",
            "在 upbeat 的环境里安装自带 SQLite 的 apsw>=3.51.3",
        ),
        Reason.NETWORK_FILE_SYSTEM: (
            "日志在网络文件系统上，锁可能不可靠：{detail}",
            "把 XDG_STATE_HOME 设为本机磁盘上的目录",
        ),
        Reason.JOURNAL_UNUSABLE: ("日志无法使用，会话不会被记住：{detail}", "修复它，或把文件移走"),
    },
    own_ways={
        (Reason.CLIENT_TOO_OLD, "claude"): "更新 Claude Code，或运行 upbeat install claude --route command",
    },
    armed="ARMED",
    not_armed="NOT ARMED",
    all_armed="ARMED：{clients} 的所有守卫都在工作。",
    some_not="NOT ARMED：{total} 个守卫中有 {count} 个没有工作（{clients}）。",
    nothing="没有可检查的：PATH 上没有装有 upbeat 的客户端。运行 upbeat install claude 或 upbeat install codex。",
    not_here="不在 PATH 上",
    not_installed="没有安装 upbeat；upbeat install {word}",
    proof_canary="刚才的探测",
    proof_session="{ago}见到，会话 {session}",
    proof_own="自身完成，不需要钩子",
    proof_alike="它的钩子与已触发的一样；没有启动过代理",
    seconds_ago="{count} 秒前",
    minutes_ago="{count} 分钟前",
    hours_ago="{count} 小时前",
    days_ago="{count} 天前",
    installation="本机的安装",
    way="-> {way}",
    as_above="其余同上",
    installed="{version}，{python}",
    compiled="已有，或在首次使用时写入（{modules} 个模块）",
    sound="{version}",
    local="本机磁盘（{path}）",
    journal="{records} 条记录",
    failures="{count} 个事件没能保存；最后一个：{last}",
    unanswered="最近 {days} 天有 {count} 个事件 upbeat 自身出错；最后一个：{last}",
    unanswered_way="upbeat log --json 里有它们的回溯：请报告",
    policies_off="由你关闭：{names}",
    will_start="upbeat：探测将在空的临时仓库里各启动一次 {commands}。它的模型是 127.0.0.1 上的替身，不会产生费用；"
    "其余流量也会发给替身并被拒绝。你自己的钩子和 MCP 服务器会随之启动。它的会话会留在 upbeat 的日志里。",
    review="现在打开 Codex，用 /hooks 审查它的钩子吗？[y/N] ",
    review_how="codex，然后 /hooks",
)

TEXTS = {"en": EN, "zh": ZH}
