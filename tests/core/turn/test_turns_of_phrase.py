"""Denials, asides, requests for text, names that hold a verb, and consent to deep analysis."""

from __future__ import annotations

import pytest

from upbeat.core.turn.intent import read

NEGATED = [
    ("don't fix anything, just explain how the scheduler works", "docs"),
    ("no need to refactor, only fix the crash in parse()", "debug"),
    ("不要重构，只修复 login 的报错", "debug"),
    ("不要改代码，解释一下 cache 模块", "docs"),
    ("don't touch the code, what's the weather", "none"),
    ("do not refactor or rename anything in parser.py, just add a docstring to it", "docs"),
    ("don't rename, move, or split UserController; explain it", "docs"),
    ("please don't fix parser.py yet, describe what it does", "docs"),
    ("fix the crash in parse() without refactoring it", "debug"),
    ("add a retry to fetch_user instead of fixing the timeout", "feature"),
    ("别修了，先讲讲 parser.py 的思路", "docs"),
    ("不需要新增接口，把 user_service 里重复的代码抽出来就行", "refactor"),
    ("先不要優化，只要說明 render_table 為什麼這樣寫", "docs"),
    ("I don't understand how the cache module works", "docs"),
    ("I don't know why parse() fails", "debug"),
    ("users don't get the mail that notify.py sends", "debug"),  # not a request: users do not
    ("the importer in load.py doesn't skip empty rows", "debug"),  # not a request: it does not
    ("parse_date 没有实现时区转换，为什么", "debug"),  # not done, so not asked for
    ("don't touch parser.py, what's the weather", "none"),
    ("don't add tests", "none"),
    ("I'd say don't refactor app.py, explain it", "docs"),
    ("we don't rename foo_bar, move foo_baz, or split foo_qux", "none"),
    ("explain foo_bar. don't rename, move or split it. then fix foo_qux", "debug"),
    ("不要修改数据库", "none"),
]

ASIDES = [
    ('translate "fix the bug in parser.py" into French', "none"),
    ('翻译"修复登录接口的bug"成英文', "none"),
    ("What does 「修復」 mean?", "none"),
    ("What does 『函數』 mean?", "none"),
    ("what does “refactor the module” mean in German?", "none"),
    ("> fix the login endpoint\n\nlol", "none"),
    ("> fix the login endpoint\n\nwhat does load_settings do?", "docs"),
    ("explain this:\n```python\ndef fix_bug():\n    refactor()\n```", "docs"),
    ("explain what `git commit --fixup` did to parser.py", "docs"),
    ("Add a button that says 'Fix the bug' to the settings page", "feature"),
    ('add the label "broken, please fix" to the ticket form', "feature"),
    ("document https://example.com/fix-the-crash/parser.py for me", "none"),
    ("add a link to https://example.com/fix-the-crash to the README", "feature"),
    ("what does this mean?\n```\nroses are red\n```", "none"),
    ("rewrite this so that it sounds friendlier:\n```\nThe server is down, we fix the bug.\n```", "none"),
    ("explain the user's `fix` handler, don't change it", "docs"),  # apostrophes are no quotation
    ("explain what happens here:\n```\nfix(the, crash)", "docs"),  # fence without an end
    ('explain parse_line and "fix', "debug"),  # without an end it is no quotation
    ("2024-05-01 10:00:01 ERROR worker: failed to refactor\nexplain parse_log", "docs"),
]

WRITING = [
    ("write an email validator for the signup form", "feature"),
    ("add an email field to the signup form", "feature"),
    ("write an article model with a title column and a migration for it", "feature"),
    ("写一个发送邮件的函数", "feature"),
    ("translate the error messages in src/i18n/de.json into Polish", "docs"),
    ("翻译 README 里的安装说明", "docs"),
    ("translate the docs of the parser module", "docs"),
    ("把 utils.py 的注释翻译成中文", "docs"),
    ("fix the typo in README.md", "docs"),
    ("write an email to the team about the crash in parser.py", "none"),
    ("帮我写一封邮件，说明接口已经修复", "none"),
    ("翻译下面的内容：\n修复 parser.py 的 bug", "none"),
    ("summarize this article for me", "none"),
    ("translate into French: add a test to the parser module", "none"),
    ("翻译成英文：修复登录接口", "none"),
    ("帮我翻译一下这段话\n修复登录接口", "none"),
    ("translate hello, then fix parser.py", "debug"),
    ("write an email to Bob, and tell him that the parser module is broken", "none"),
    ("write an email to Bob. And fix parser.py", "debug"),
    ("translate utils.py", "docs"),
    ('translate "fix parser.py" into French, then describe it', "none"),
    ("translate the word function", "none"),
    ("translate 'a_b' into French, thanks", "none"),
    ("is this paragraph fine: we refactor the API module and fix bugs", "none"),
    ("fix parser.py. Translate this text: hello", "debug"),
    ("parse_all() is broken. No S letter at the end of it:", "debug"),
]

COMPOUNDS = [
    ("Explain how the error handler in app.py works", "docs"),
    ("where are failed logins counted in auth.py", "docs"),
    ("where is ValidationError raised?", "docs"),
    ("what does ValueError mean for parse_int()?", "debug"),
    ("add a lock to fix the race in pool.py", "debug"),
    ("加个锁来修复 pool.py 的竞态", "debug"),
    ("the fix in parser.py is hard to read", "refactor"),
    ("when the upload fails, retry it three times in uploader.py", "feature"),
    ("what happens if parse() fails", "docs"),
    ("set the timeout of fetch_user to 500", "feature"),
    ("is `legacy_mode` used?", "docs"),
    ("parser.py", "feature"),
    ("parser.py?", "docs"),
    ("how to call parse_all", "docs"),
    ("parse_all 可以并发调用吗", "docs"),
    ("KeyError", "debug"),
    ("fix typos in the parser docs", "docs"),
    ("fix the parser docs", "debug"),
    ("document the parser and add tests", "docs"),
    ("change the README", "docs"),
    ("README 更新", "docs"),
    ("change the date format, errors stay in app.py", "feature"),
    ("change the error text in app.py", "feature"),
    ("the change in app.py shows an error", "debug"),
    ("add a cache to app.py to resolve the timeout", "debug"),
    ("加个锁以修复 pool.py 的竞态", "debug"),
    ("when the upload in app.py fails it hangs", "debug"),
    ("errors in app.py", "debug"),
    ("problems with add_user? add a log line", "feature"),
    ("fix the crash, then explain load_settings", "debug"),
    ("explain load_settings and then refactor it", "refactor"),
    ("add a flag to cli.py and document it", "docs"),
]


@pytest.mark.parametrize(
    "table", [NEGATED, ASIDES, WRITING, COMPOUNDS], ids=["negated", "asides", "writing", "compounds"]
)
def test_turns_of_phrase(table: list[tuple[str, str]]) -> None:
    """read hears denials, asides, requests for text, and names that contain a verb."""
    assert dict(table) == {prompt: read(prompt).intent.value for prompt, _ in table}


DEEP = [
    "what's the impact of changing parse_config?",
    "show the call chain of load_settings",
    "who calls flush_buffer",
    "what is the blast radius if I remove old_api.py",
    "fix parse(), deep analysis allowed",
    "修改 parseDate 会影响哪些调用方",
    "画出 send_mail 的调用链",
    "重構 load_settings，允許深度分析",
    "分析 user_service 的調用鏈路和影響範圍",
]
SHALLOW = [
    "fix parse()",
    "fix parse(), no deep analysis",
    "rename foo_bar without impact on callers",
    "don't do an impact analysis, just fix parse()",
    "修复 parse()，不要分析影响范围",
    "重构 load_settings，不影响外部接口",
    'add a heading "impact" to report.py',
    "what is the impact of inflation on wages",
    "咖啡对睡眠有什么影响",
    "修复 parse()，没有影响的",
    "修复 parse()，对外无影响",
    "修复 parse()，这里没影响",
    "修复 parse()，绝不波及 load_all",
]


@pytest.mark.parametrize("prompt", DEEP)
def test_allows_depth(prompt: str) -> None:
    """read sees that deep analysis is asked for or allowed."""
    assert read(prompt).allows_depth


@pytest.mark.parametrize("prompt", SHALLOW)
def test_allows_no_depth(prompt: str) -> None:
    """read takes no denied, quoted or everyday impact for consent."""
    assert not read(prompt).allows_depth
