"""What is said of the commands that bear witness, by language. ``{kind}`` is the name below, ``{command}`` one line."""

from __future__ import annotations

TOLD = "upbeat: exit "
"""The last line that ``upbeat run`` prints, before the exit code: for clients that do not tell it."""

KINDS: dict[str, dict[str, str]] = {
    "en": {"tests": "tests", "build": "build", "lint": "lint", "types": "type check"},
    "zh": {"tests": "测试", "build": "构建", "lint": "代码检查", "types": "类型检查"},
}

BECAUSE: dict[str, dict[str, str]] = {
    "en": {
        "good": "`{command}` ({kind}) ended with exit code 0 on these files",
        "unchecked": "`{command}` ({kind}) ended with exit code 0; whether files changed since could not be checked",
        "contradicted": "the last run of {kind}, `{command}`, ended with exit code {code}",
        "expired": "files have changed since `{command}` ({kind}) was run; run it again",
        "missing": "no run of {kind} was seen in this session; run them in the shell, with nothing behind that hides"
        " the exit code (no `| tail`, no `|| true`)",
        "unknown": "how `{command}` ({kind}) ended is not known; run it as `upbeat run -- COMMAND`",
    },
    "zh": {
        "good": "`{command}`（{kind}）在当前文件上以退出码 0 结束",
        "unchecked": "`{command}`（{kind}）以退出码 0 结束；无法核对之后文件是否改过",
        "contradicted": "最近一次{kind}运行 `{command}` 以退出码 {code} 结束",
        "expired": "运行 `{command}`（{kind}）之后文件有改动；请重新运行",
        "missing": "本会话中没有看到{kind}的运行；请在 shell 中直接运行，后面不要接会掩盖退出码的命令"
        "（如 `| tail`、`|| true`）",
        "unknown": "不知道 `{command}`（{kind}）如何结束；请用 `upbeat run -- 命令` 运行",
    },
}
