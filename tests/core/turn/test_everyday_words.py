"""Requests in ordinary words: one word of the craft with work done to it is enough, everyday things are not."""

from __future__ import annotations

import pytest

from upbeat.core.turn.intent import read
from upbeat.core.turn.reading import Intent

ABOUT_CODE = [
    "The checkout total is off by one cent for some orders",
    "where does the runner enforce the deadline?",
    "why is startup so slow?",
    "add retries to the uploader",
    "make the login page faster",
    "the build is broken on CI",
    "what does this repo do?",
    "how is the session persisted?",
    "write tests for the cart",
    "we should cache this",
    "can you look at the last commit and tell me what changed",
    "run the tests",
    "登录失败了帮我看看",
    "为什么启动这么慢",
    "加一个导出按钮",
    "這個按鈕沒反應",
    "please handle the empty list case",
    "delete the old migration",
    "the dark mode toggle doesn't persist",
    "summarize the architecture",
    "上传文件时报 500",
    "接口返回慢怎么优化",
    "how does authentication work here?",
    "which file handles payments?",
    "users are getting logged out randomly",
    "add a --verbose flag",
    "support pagination in the list endpoint",
    "change the default port to 8080",
    "upgrade to pydantic 2",
    "修一下那个报错",
    "支持分页",
    "默认端口改成 8080",
    "支付逻辑在哪个文件",
    "幫我把這段邏輯抽成共用的方法",
    "新增一個匯出功能",
]

SILENT = [
    "how do I make pasta?",
    "写一首诗",
    "明天天气怎么样",
    "explain quantum physics",
    "deadline for my taxes?",
    "what's the capital of France",
    "thanks!",
    "continue",
    "it still fails",
    "recommend a movie for tonight",
    "翻译成英文：我爱你",
    "帮我写一封请假邮件",
    "你是谁",
    "what time is it in Tokyo",
    "tell me a joke about programmers",
    "who won the world cup in 2018",
    "plan a trip to Japan for me",
    "How should I ask my boss for a raise?",
    "推荐一部电影",
    "今晚吃什么",
    "怎么哄女朋友开心",
    "what is the meaning of life",
    "幫我想一個生日禮物",
    "good morning",
    "write a short story about a lonely robot",
    "make a list of baby names",
    "change my flight to Tuesday",
    "I need a table for two at 7pm",
    "set an alarm for six",
    "add milk and eggs to my shopping list",
    "remove red wine stains from a carpet",
    "help me plan a birthday party for my daughter",
    "compare the iPhone and the Pixel for me",
    "fix my sleep schedule",
    "improve my English pronunciation",
    "how do I fix a leaking tap",
    "my car won't start",
    "the printer in the office is broken",
    "write a thank you note to my teacher",
    "create a workout plan for beginners",
    "update me on the news",
    "show me a picture of a cat",
    "explain the French revolution",
    "summarize the book Sapiens",
    "how can I get better at chess",
    "handle a difficult conversation with my manager",
    "delete my facebook account, how?",
    "what should I set as a goal for this year",
    "find cheap flights to Rome",
    "search for a good sushi place nearby",
    "book a table for tomorrow evening",
    "make me laugh",
    "draw a cat in ASCII",
    "run me through how to change a tire",
    "I missed the deadline for my application to college",
    "the default on my mortgage worries me",
    "which port should the cruise ship leave from",
    "帮我订一张去上海的机票",
    "把这段话改得更有礼貌一点",
    "写一段自我介绍",
    "给我推荐几本书",
    "怎么修自行车链条",
    "我家的水管漏了怎么办",
    "做一个减肥计划",
    "改一下我的简历",
    "帮我想个公司名字",
    "今天股市为什么跌",
    "解释一下相对论",
    "我失眠了怎么办",
    "讲个笑话",
    "如何提高英语口语",
    "幫我規劃一趟京都旅行",
    "冰箱壞了怎麼辦",
    "寫一張生日卡片",
    "把會議改到明天下午三點",
    "加我微信",
    "删除微信聊天记录还能恢复吗",
    "设置闹钟到六点",
    "更新一下你的知识",
    "hello there",
    "who are you",
    "ok",
    "yes, go ahead",
    "please continue with the next step",
    "great work!",
    "好的，继续",
    "可以",
    "谢谢",
    "你好",
]

MISSED = [
    "把超时改成30秒",
    "跑一下测试",
    "why do we need two queues?",
    "用户会随机掉线，查一下原因",
    "為什麼這裡會是空值",
]
"""About code, though no word says so; only the repository could tell."""


def test_says_nothing_for() -> None:
    """What people ask of anybody is not about code, whatever verbs it has."""
    assert dict.fromkeys(SILENT, Intent.NONE) == {prompt: read(prompt).intent for prompt in SILENT}


@pytest.mark.parametrize("prompt", ABOUT_CODE)
def test_looks_for(prompt: str) -> None:
    """What people ask of a coding agent in few and ordinary words is about code."""
    assert Intent.NONE is not read(prompt).intent


@pytest.mark.parametrize("prompt", MISSED)
@pytest.mark.xfail(strict=True, reason="needs to know the repository's own words")
def test_missed(prompt: str) -> None:
    """These are about code, and are not seen to be."""
    assert Intent.NONE is not read(prompt).intent
