"""What codex-auto says to people, in English and in Chinese. Law: every sentence that a person reads stands here.

Exceptions are the contract's ``[Limits]`` sentences, which are the same in every language, and what Codex says.
"""

from __future__ import annotations

from dataclasses import dataclass

from .transport import Decision, Notice, Why


@dataclass(frozen=True, slots=True)
class Texts:
    """One language. Fields in braces are filled in by the caller."""

    greeting: str
    prompt_empty: str
    prompt_not_utf8: str
    prompt_too_long: str
    stopped: str
    stopped_before: str
    resume_hint: str
    next_prompt: str
    failed: str
    why: dict[Why, str]
    no_answer: str
    no_codex: str
    usage: str
    usage_total: str
    exit_code: str
    no_exit_code: str
    more_lines: str
    files_failed: str
    tool_failed: str
    new_thread: str
    plan_on: str
    plan_off: str
    no_command: str
    interrupt_hint: str
    bye: str
    session_new: str
    holder: str
    holder_there: str
    session_beside: str
    session_held: str
    session_reclaimed: str
    session_copied: str
    session_moved: str
    session_taken: str
    session_unknown: str
    session_is_current: str
    forked: str
    fork_nothing: str
    way_exec: str
    way_app_server: str
    no_app_server: str
    compact_nothing: str
    thinks: str
    nearly_full: str
    no_room: str
    refused_history: str
    go_on_shorter: str
    go_on_elsewhere: str
    status: str
    more_lines_after: str
    not_run: str
    declined: str
    nobody_asked: str
    compacted: str
    notices: dict[Notice, str]
    asks: dict[str, str]
    """By ``Matter``."""
    asks_in: str
    asks_because: str
    asks_rule: str
    choices: dict[Decision, str]
    bar_stage: str
    bar_context: str
    bar_budget: str
    did_you_mean: str
    context_nothing: str
    context_items: str
    context_preview: str
    context_in_plan: str
    no_turn_yet: str
    why_intent: str
    why_signals: str
    why_plan: str
    why_settings: str
    why_defaults: str
    tool_ready: str
    tool_missing: str
    tool_disabled: str
    tool_tier: str
    goes_on: str
    guard_unarmed: str
    workflow_none: str
    workflow_goal: str
    workflow_next: str
    workflow_busy: str
    workflow_boxes: str
    workflow_over: str
    workflow_states: dict[str, str]
    """By ``RunStatus``, and ``ended`` for a loop that sends nothing on any more."""
    workflow_how: str
    model_with_exec: str
    model_now: str
    model_list: str
    resume_how: str
    resume_none: str
    resume_held: str
    codex_old: str
    codex_broken: str
    commands: dict[str, str]
    """What each slash command does; a word in brackets before it is the argument."""
    help: str


ENGLISH = Texts(
    greeting="codex-auto · /help lists the commands",
    prompt_empty="no prompt; pass one as an argument or on standard input",
    prompt_not_utf8="the prompt is not UTF-8 (byte {position}); nothing was sent. Convert it and try again",
    prompt_too_long="the prompt has {length} characters and Codex takes {most}; nothing was sent. "
    "Put the text into a file and name the file",
    stopped="turn stopped; the session goes on: {how}",
    stopped_before="stopped before anything was sent",
    resume_hint="{command} in this folder, or codex resume {thread}",
    next_prompt="just type on",
    failed="turn failed: {reason}",
    why={
        Why.TURN: "Codex says",
        Why.NO_ROLLOUT: "Codex does not know this session any more; /new or --new starts another",
        Why.ACTIVE_WRITER: "another program has this session open (a Codex terminal or app, or another "
        "codex-auto); close it there, or start another with /new or --session NAME. Nothing was sent",
        Why.ARCHIVED: "this session is archived; codex unarchive {thread} brings it back, "
        "/new or --new starts another. Nothing was sent",
        Why.NO_PROGRAM: "Codex could not be started",
        Why.CODEX_CONFIG: "Codex does not accept its configuration; mend the file and try again",
        Why.USAGE: "Codex does not accept a flag behind --",
        Why.NO_ENDING: "Codex ended in the middle; what you asked may be part of the session, "
        "so look before you repeat it",
        Why.SILENT: "no progress for {seconds} s, so the turn was stopped (--idle-timeout changes that); "
        "is the provider reachable? What you asked may be part of the session",
        Why.TOO_LONG: "the prompt is longer than Codex takes; nothing was sent",
        Why.REFUSED: "Codex did not take the request; nothing was sent",
        Why.GONE: "Codex does not stay up; nothing was sent. Go on with codex-auto --transport exec",
        Why.UNAUTHORIZED: "the provider does not accept the key or the login; codex login, or mend the key",
        Why.MISSING_KEY: "the provider's key is not set; export the variable that is named below, then start again",
        Why.QUOTA: "the account has used up its quota; raise it with the provider, or wait until it is renewed",
        Why.RATE_LIMIT: "too many requests to the provider; wait a little and try again",
        Why.PROVIDER: "the provider is overloaded or broken; try again later",
        Why.CUT: "the connection broke in the middle of the answer; look at what is there before you repeat the prompt",
        Why.CONTEXT_FULL: "the session no longer fits into the model; /compact makes it shorter, /new starts another",
        Why.BAD_REQUEST: "the provider does not accept the request; is the model's name right?",
        Why.UNREACHABLE: "the provider cannot be reached; is the network up, and its address right? "
        "What you asked may be part of the session",
        Why.NOT_STARTED: "Codex ended before it took the prompt; nothing was sent. codex doctor looks further",
    },
    no_answer="the turn ended without an answer of the model (a hook may have blocked the prompt)",
    no_codex="codex was not found on the search path; install it with: npm i -g @openai/codex "
    "(or name it with --codex PATH)",
    usage="tokens: {input} in ({cached} cached), {output} out · {seconds} s",
    usage_total="tokens of the whole session: {input} in ({cached} cached), {output} out · {seconds} s",
    exit_code="exit code {code}",
    no_exit_code="did not end",
    more_lines="… {count} lines before",
    files_failed="not changed",
    tool_failed="failed: {reason}",
    new_thread="the next prompt starts a new session",
    plan_on="plan mode: prompts show what would be done; nothing is sent",
    plan_off="run mode: prompts go to Codex",
    no_command="no command {word}; /help lists them. A prompt that begins with / needs a space before it",
    interrupt_hint="Ctrl-D or /quit leaves; the session stays",
    bye="go on later with: {command}",
    session_new="new session",
    holder="process {pid}",
    holder_there="process {pid} on {host}",
    session_beside="session {name} is open in another codex-auto ({holder}), so this is session {own}; "
    "once that one is closed, {command} takes it up",
    session_held="session {name} is open in another codex-auto ({holder}); nothing is sent before it is closed there. "
    "--session with another name works beside it",
    session_reclaimed="session {name} was left open by {holder}, which has ended; it is taken over",
    session_copied="session {name} belongs to {root}, of which this folder looks like a copy, so this is "
    "session {own}; {command} goes on with that one here",
    session_moved="session {name} was begun in {root}; it goes on here",
    session_taken="going on with session {name}, {thread}",
    session_unknown="no session '{choice}' here; /resume lists them",
    session_is_current="session {name} is the one you are in",
    forked="this is session {own} now, with all that was said in {name}; /resume {name} goes back",
    fork_nothing="there is nothing to fork before the first prompt",
    way_exec="codex app-server cannot be had, so codex exec is used: {reason}",
    way_app_server="connected to codex app-server",
    no_app_server="codex app-server cannot be had ({reason}); use --transport exec, or leave it out",
    thinks="this turn thinks harder (effort {effort})",
    nearly_full="the session fills {share:.0%} of the model's window; Codex summarises it before this turn",
    no_room="the session no longer fits into the model; going on with a summary in {seconds:g} s ({attempt} of {most})",
    refused_history="the provider does not take the history of this session any more ({reason})",
    go_on_shorter="The conversation was too long, and was summarised. Go on with my last request, which was: {prompt}",
    go_on_elsewhere="An earlier conversation about this broke off in the middle of the work. Look at what has been "
    "done already, then go on with this request: {prompt}",
    compact_nothing="there is nothing to compact before the first prompt, and codex exec cannot do it at all",
    status="repository {repository}\nsession    {name}: {session}\nlooking up {enabled}, {mode}\n"
    "transport  {transport}\ncommand    {command}",
    more_lines_after="… {count} more lines",
    not_run="not run",
    declined="declined; the model goes on without it",
    nobody_asked="declined, because it cannot be answered here:",
    compacted="the session so far was replaced by a summary",
    notices={
        Notice.RESTARTED: "Codex had ended and was started again; the session goes on, nothing was sent twice",
        Notice.WAITING: "another turn runs on this session; waiting for its end",
    },
    asks={
        "command": "Codex wants to run:",
        "files": "Codex wants to change:",
        "network": "Codex wants to reach this host:",
        "tool": "Codex wants to call a tool:",
        "permissions": "Codex wants these permissions:",
        "input": "a tool asks for input:",
    },
    asks_in="in",
    asks_because="because:",
    asks_rule="r allows, for good, every command that begins with: {rule}",
    choices={
        Decision.ACCEPT: "[y]es",
        Decision.ACCEPT_SESSION: "[s] yes, always in this session",
        Decision.ACCEPT_RULE: "[r] yes, as a rule",
        Decision.DECLINE: "[N]o",
        Decision.CANCEL: "[a]bort the turn",
    },
    bar_stage="stage {stage}",
    bar_context="context {used}",
    bar_budget="budget {seconds} s, {chars}",
    did_you_mean="no command {word}; did you mean {close}? A prompt that begins with / needs a space before it",
    context_nothing="nothing goes to the model beside the prompt",
    context_items="{count} places, {chars} characters, go to the model beside the prompt:",
    context_preview="what would go along with that prompt; nothing was sent",
    context_in_plan="plan mode looks nothing up; /plan switches back, then ask again",
    no_turn_yet="no turn yet; /context PROMPT shows what would go along with a prompt",
    why_intent="read as: {intent}",
    why_signals="because of",
    why_plan="looked up with",
    why_settings="settings that are not at their default",
    why_defaults="all settings are at their defaults",
    tool_ready="ready",
    tool_missing="not built in yet",
    tool_disabled="off ({origin})",
    tool_tier="off: needs CI_AUTO_TOOLS_TIER_MAX={tier}",
    goes_on="upbeat goes on: {text}",
    guard_unarmed="! without the hooks of upbeat's plugin for Codex nothing is held back (upbeat install codex):",
    workflow_none="no workflow runs in this session; /workflow start NAME GOAL begins one, /workflow list shows them",
    workflow_goal="goal       {goal}",
    workflow_next="next       {steps}",
    workflow_busy="at work    {steps}",
    workflow_boxes="tasks      {done} of {all} done",
    workflow_over="state      {state}",
    workflow_states={
        "complete": "complete",
        "failed": "over, and not all of it well",
        "needs_human": "{reason} has been tried as often as it may be and needs you; /workflow continue goes on",
        "stopped": "stopped; /workflow continue goes on",
        "handed_over": "another session goes on with it",
        "ended": "goes on only when you say so ({reason}); /workflow continue",
    },
    workflow_how="/workflow start NAME GOAL · stop · continue · list",
    model_with_exec="the exec transport takes the model at the start: codex-auto -- -m NAME",
    model_now="the next turn asks {model}",
    model_list="/model NAME takes another; Codex offers:",
    resume_how="/resume NUMBER, NAME or ID goes on with one of them",
    resume_none="no earlier session here",
    resume_held="(open in {holder})",
    codex_old="Codex {version} is older than {oldest}, so turns may fail; update: npm i -g @openai/codex@latest",
    codex_broken="Codex does not run ({reason}); install it again with: npm i -g @openai/codex@latest",
    commands={
        "new": "start a new session with the next prompt",
        "resume": "[ID] go on with an earlier session; without ID: list them",
        "fork": "go on with a copy of this session",
        "plan": "show what would be done instead of doing it; again: back",
        "context": "[PROMPT] what went along with the last turn, or would with PROMPT, and why",
        "why": "why the last turn was prepared as it was",
        "tools": "the ci_* tools, their tiers and limits",
        "workflow": "[start NAME GOAL | stop | continue | list] how far the workflow is",
        "status": "repository, session, mode, the command that runs",
        "compact": "have Codex put a summary in the place of this session so far",
        "model": "[NAME] the models that Codex offers; the next turns go to NAME",
        "quit": "leave (also Ctrl-D); the session stays",
        "help": "this",
    },
    help="""\
Enter sends · Alt-Enter or Esc Enter starts a new line · Ctrl-C stops a turn
@ and Tab complete file names · Ctrl-R searches old prompts · Ctrl-X Ctrl-E opens $EDITOR""",
)

CHINESE = Texts(
    greeting="codex-auto · 输入 /help 查看命令",
    prompt_empty="没有提示词；请作为参数传入，或从标准输入给出",
    prompt_not_utf8="提示词不是 UTF-8（第 {position} 字节）；没有发送。请转换编码后重试",
    prompt_too_long="提示词有 {length} 个字符，Codex 最多接受 {most} 个；没有发送。请把内容放进文件，再写出文件名",
    stopped="本轮已停止；会话仍可继续：{how}",
    stopped_before="已停止，什么都没有发送",
    resume_hint="在本目录运行 {command}，或 codex resume {thread}",
    next_prompt="直接继续输入",
    failed="本轮失败：{reason}",
    why={
        Why.TURN: "Codex 报告",
        Why.NO_ROLLOUT: "Codex 已找不到这个会话；用 /new 或 --new 开始新会话",
        Why.ACTIVE_WRITER: "另一个程序正打开着这个会话（Codex 终端、应用，或另一个 codex-auto）；"
        "请先在那边关闭，或用 /new、--session NAME 另开会话。没有发送",
        Why.ARCHIVED: "这个会话已归档；codex unarchive {thread} 可恢复，/new 或 --new 开始新会话。没有发送",
        Why.NO_PROGRAM: "无法启动 Codex",
        Why.CODEX_CONFIG: "Codex 不接受它的配置；请修正该文件后重试",
        Why.USAGE: "Codex 不接受 -- 之后的某个参数",
        Why.NO_ENDING: "Codex 中途退出；你的问题可能已在会话中，重发之前请先查看",
        Why.SILENT: "{seconds} 秒没有进展，已停止本轮（可用 --idle-timeout 调整）；"
        "请检查服务是否可达。你的问题可能已在会话中",
        Why.TOO_LONG: "提示词超出 Codex 的上限；没有发送",
        Why.REFUSED: "Codex 没有接受请求；没有发送",
        Why.GONE: "Codex 无法保持运行；没有发送。请改用 codex-auto --transport exec",
        Why.UNAUTHORIZED: "服务不接受密钥或登录；请运行 codex login，或修正密钥",
        Why.MISSING_KEY: "没有设置服务的密钥；请设置下面所列的环境变量后重新启动",
        Why.QUOTA: "账户额度已用完；请向服务商提高额度，或等待额度恢复",
        Why.RATE_LIMIT: "请求过于频繁；请稍候再试",
        Why.PROVIDER: "服务过载或发生故障；请稍后再试",
        Why.CUT: "回答中途连接断开；重发之前请先查看已有的内容",
        Why.CONTEXT_FULL: "会话已超出模型的上下文；/compact 可压缩，/new 开始新会话",
        Why.BAD_REQUEST: "服务不接受这个请求；请检查模型名称",
        Why.UNREACHABLE: "连不上服务；请检查网络和服务地址。你的问题可能已在会话中",
        Why.NOT_STARTED: "Codex 在接受提示词之前就退出了；没有发送。可运行 codex doctor 查看原因",
    },
    no_answer="本轮结束，但模型没有回答（提示词可能被某个 hook 拦下）",
    no_codex="在搜索路径中找不到 codex；请安装：npm i -g @openai/codex（或用 --codex PATH 指定）",
    usage="token：输入 {input}（缓存 {cached}），输出 {output} · {seconds} 秒",
    usage_total="整个会话的 token：输入 {input}（缓存 {cached}），输出 {output} · {seconds} 秒",
    exit_code="退出码 {code}",
    no_exit_code="未结束",
    more_lines="… 前面还有 {count} 行",
    files_failed="未修改",
    tool_failed="失败：{reason}",
    new_thread="下一条提示词将开始新会话",
    plan_on="计划模式：只显示会做什么，不发送",
    plan_off="运行模式：提示词会发给 Codex",
    no_command="没有命令 {word}；/help 列出全部。以 / 开头的提示词前面请加一个空格",
    interrupt_hint="Ctrl-D 或 /quit 退出；会话会保留",
    bye="以后继续：{command}",
    session_new="新会话",
    holder="进程 {pid}",
    holder_there="{host} 上的进程 {pid}",
    session_beside="会话 {name} 正由另一个 codex-auto（{holder}）使用，因此这里是会话 {own}；"
    "那边关闭后可用 {command} 接着用它",
    session_held="会话 {name} 正由另一个 codex-auto（{holder}）使用；在那边关闭之前不会发送。"
    "可用 --session 换一个名字另开会话",
    session_reclaimed="会话 {name} 由 {holder} 留下，该进程已结束；现已接管",
    session_copied="会话 {name} 属于 {root}，本目录看来是它的副本，因此这里是会话 {own}；"
    "{command} 可在这里继续那个会话",
    session_moved="会话 {name} 是在 {root} 开始的；在这里继续",
    session_taken="继续会话 {name}，{thread}",
    session_unknown="这里没有会话“{choice}”；/resume 可列出全部",
    session_is_current="现在就在会话 {name} 中",
    forked="现在是会话 {own}，包含 {name} 至今的全部内容；/resume {name} 可返回",
    fork_nothing="第一条提示词之前没有可以分叉的内容",
    way_exec="无法使用 codex app-server，改用 codex exec：{reason}",
    way_app_server="已连接 codex app-server",
    no_app_server="无法使用 codex app-server（{reason}）；请用 --transport exec，或不写这个参数",
    thinks="本轮将更深入地思考（effort {effort}）",
    nearly_full="会话已占模型窗口的 {share:.0%}；本轮之前 Codex 会先压缩",
    no_room="会话已超出模型的上下文；{seconds:g} 秒后压缩并继续，第 {attempt} 次（最多 {most} 次）",
    refused_history="提供方不再接受本会话的历史（{reason}）",
    go_on_shorter="对话过长，已压缩为摘要。请继续我的上一个请求：{prompt}",
    go_on_elsewhere="之前关于此事的对话在中途断开。请先查看已完成的部分，再继续这个请求：{prompt}",
    compact_nothing="第一条提示词之前没有可以压缩的内容；codex exec 也不支持压缩",
    status="仓库 {repository}\n会话 {name}：{session}\n查找 {enabled}，{mode}\n传输 {transport}\n命令 {command}",
    more_lines_after="… 后面还有 {count} 行",
    not_run="没有运行",
    declined="已拒绝；模型会继续",
    nobody_asked="这里无法回答，已拒绝：",
    compacted="此前的会话已压缩为摘要",
    notices={
        Notice.RESTARTED: "Codex 曾退出，已重新启动；会话继续，没有重复发送",
        Notice.WAITING: "这个会话正在进行另一轮；等待其结束",
    },
    asks={
        "command": "Codex 想运行：",
        "files": "Codex 想修改：",
        "network": "Codex 想访问这个主机：",
        "tool": "Codex 想调用工具：",
        "permissions": "Codex 想要这些权限：",
        "input": "某个工具需要输入：",
    },
    asks_in="目录",
    asks_because="原因：",
    asks_rule="r 会永久允许以此开头的所有命令：{rule}",
    choices={
        Decision.ACCEPT: "[y] 是",
        Decision.ACCEPT_SESSION: "[s] 是，本会话内不再询问",
        Decision.ACCEPT_RULE: "[r] 是，并记为规则",
        Decision.DECLINE: "[N] 否",
        Decision.CANCEL: "[a] 中止本轮",
    },
    bar_stage="阶段 {stage}",
    bar_context="上下文 {used}",
    bar_budget="预算 {seconds} 秒，{chars}",
    did_you_mean="没有命令 {word}；是不是 {close}？以 / 开头的提示词前面请加一个空格",
    context_nothing="除提示词外，没有内容发给模型",
    context_items="除提示词外，发给模型 {count} 处，共 {chars} 个字符：",
    context_preview="以上是会随该提示词发送的内容；没有发送",
    context_in_plan="计划模式不做查找；用 /plan 切回后再试",
    no_turn_yet="还没有任何一轮；/context 提示词 可查看会附带的内容",
    why_intent="理解为：{intent}",
    why_signals="依据",
    why_plan="查找方式",
    why_settings="不是默认值的设置",
    why_defaults="所有设置都是默认值",
    tool_ready="可用",
    tool_missing="尚未内置",
    tool_disabled="已关闭（{origin}）",
    tool_tier="已关闭：需要 CI_AUTO_TOOLS_TIER_MAX={tier}",
    goes_on="upbeat 继续：{text}",
    guard_unarmed="! 没有 upbeat 的 Codex 插件钩子，无法拦下任何步骤（upbeat install codex）：",
    workflow_none="本会话没有运行中的工作流；/workflow start 名称 目标 可启动，/workflow list 列出全部",
    workflow_goal="目标    {goal}",
    workflow_next="下一步  {steps}",
    workflow_busy="进行中  {steps}",
    workflow_boxes="任务    已完成 {done}/{all}",
    workflow_over="状态    {state}",
    workflow_states={
        "complete": "已完成",
        "failed": "已结束，但未全部通过",
        "needs_human": "{reason} 已用完重试次数，需要你处理；/workflow continue 可继续",
        "stopped": "已停止；/workflow continue 可继续",
        "handed_over": "由另一个会话继续",
        "ended": "不再自动继续（{reason}）；/workflow continue 可继续",
    },
    workflow_how="/workflow start 名称 目标 · stop · continue · list",
    model_with_exec="exec 传输只能在启动时指定模型：codex-auto -- -m 模型名",
    model_now="下一轮使用 {model}",
    model_list="/model 名称 可切换；Codex 提供：",
    resume_how="/resume 编号、名称或 ID 可继续其中一个",
    resume_none="这里没有以前的会话",
    resume_held="（由 {holder} 打开）",
    codex_old="Codex {version} 早于 {oldest}，可能会失败；升级：npm i -g @openai/codex@latest",
    codex_broken="Codex 无法运行（{reason}）；请重新安装：npm i -g @openai/codex@latest",
    commands={
        "new": "下一条提示词开始新会话",
        "resume": "[ID] 继续以前的会话；不带 ID 则列出",
        "fork": "在本会话的副本上继续",
        "plan": "只显示会做什么；再输入一次恢复",
        "context": "[提示词] 上一轮附带了什么、为什么；带参数则预览",
        "why": "上一轮为什么这样准备",
        "tools": "ci_* 工具及其级别和时限",
        "workflow": "[start 名称 目标 | stop | continue | list] 工作流的进度",
        "status": "仓库、会话、模式和将运行的命令",
        "compact": "让 Codex 把本会话压缩为摘要",
        "model": "[名称] Codex 提供的模型；下一轮起使用该模型",
        "quit": "退出（或 Ctrl-D）；会话会保留",
        "help": "本帮助",
    },
    help="""\
Enter 发送 · Alt-Enter 或 Esc Enter 换行 · Ctrl-C 停止本轮
@ 或 Tab 补全文件名 · Ctrl-R 搜索历史 · Ctrl-X Ctrl-E 打开 $EDITOR""",
)


def texts_in(language: str) -> Texts:
    """The texts in ``zh`` or ``en``."""
    return CHINESE if language == "zh" else ENGLISH
