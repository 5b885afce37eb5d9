"""Begin a turn in the way that its first word asks for (keyword-detector)."""

from __future__ import annotations

import re

from ..contract.effect import Inject
from ..contract.event import Origin, PromptSubmitted
from ..turn.mask import PASTED, Voice, mask
from .policy import SILENT, Policy, View, Word, Words

_FIRST = 400
"""Characters of a prompt that are read."""

_ALL = Words(
    "The user asks for the whole of it (`ulw`). Make a list of all that was asked, in your own list of tasks. Hand "
    "what can be done apart to agents, at the same time. Leave nothing out and no stub behind; check each part by "
    "running it, and say at the end what was checked and how. Ask only what the user alone can decide.",
    "用户要求全部做完（`ulw`）。请把所有要求写进你的任务列表；能独立完成的部分同时交给代理。不要遗漏，"
    "也不要留下占位代码；每一部分都要实际运行检查，最后说明检查了什么、如何检查。只问只有用户才能决定的事。",
)
_SEARCH = Words(
    "The user asks to search first. Look broadly before you answer: several words for the same thing, the code, its "
    "tests, its documentation and its history; in parallel where that can be. Name what you found with file and "
    "line, and say where you looked in vain. Change nothing in this turn unless it is asked for.",
    "用户要求先搜索。回答前请广泛查找：同一事物的多种说法，代码、测试、文档和历史，能并行就并行。"
    "列出发现的文件与行号，并说明哪里没有找到。除非另有要求，本轮不要修改。",
)
_ANALYSE = Words(
    "The user asks to analyse first. Before any edit read what is concerned, say what happens now and why, name the "
    "ways to go with what each one costs, and choose one with a reason. What you did not check is a guess: call it "
    "one.",
    "用户要求先分析。修改之前请先阅读相关内容，说明现状及原因，列出可选方案及代价，并给出有理由的选择。"
    "未经检查的都是猜测，请注明。",
)
_ALL_PREFIX = re.compile(r"\s*(?:ulw(?=\s)|(?:ulw|ultrawork)\s?[:：])", re.IGNORECASE)
_PREFIXES: tuple[tuple[str, re.Pattern[str], Words], ...] = (
    ("ulw", _ALL_PREFIX, _ALL),
    ("search", re.compile(r"\s*(?:search|搜索|搜尋|搜寻)\s?[:：]", re.IGNORECASE), _SEARCH),
    ("analyze", re.compile(r"\s*(?:analy[sz]e|深入|分析)\s?[:：]", re.IGNORECASE), _ANALYSE),
)
_NOT_SAID = (*PASTED, Voice.INLINE, Voice.QUOTE)


def _prompt(event: PromptSubmitted, view: View) -> Word:
    if event.origin not in (Origin.USER, Origin.SUBAGENT):
        return SILENT
    head = event.prompt[:_FIRST]
    found = next(((name, words) for name, pattern, words in _PREFIXES if pattern.match(head)), None)
    if found is None or (event.origin is Origin.SUBAGENT and found[0] != "ulw") or _is_shown(head):
        return SILENT
    return Word((Inject(found[1].of(view.language)),), f"the prompt begins with {found[0]}")


def _is_shown(head: str) -> bool:
    """Whether the prompt begins with something that its user has pasted or quotes."""
    begins = len(head) - len(head.lstrip())
    return any(span.voice in _NOT_SAID and span.start <= begins < span.end for span in mask(head).spans)


POLICY = Policy(
    name="act-on-keywords",
    original="keyword-detector",
    number=29,
    what=Words(
        "A prompt that begins with `ulw `, `search:` or `analyze:` (or the same in Chinese) gets a few lines on how to "
        "go about it: all of it with checks, a broad search first, or an analysis before any edit.",
        "以 `ulw `、`search:`／搜索： 或 `analyze:`／分析：／深入： 开头的提示会附上几行做法："
        "全部做完并检查、先广泛搜索，或先分析再修改。",
    ),
    why=Words(
        "A way to work that one asks for often should take one word.",
        "常用的做法应当只需一个词。",
    ),
    silent=Words(
        "when the word stands anywhere but at the very beginning, in code, quotes or pasted text; in subagents for "
        "all but `ulw`",
        "关键词不在最开头，或位于代码、引号、粘贴内容中；子代理中除 `ulw` 之外",
    ),
    on={PromptSubmitted: _prompt},
    rank=40,
)
