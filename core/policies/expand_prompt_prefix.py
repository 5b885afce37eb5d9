"""Expand a prefix of the prompt, such as ``ulw`` or ``search:``, into instructions."""

from __future__ import annotations

import re

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policy.definition import NO_RESULT, Handler, LocalizedText, Policy, PolicyContext, PolicyResult
from upbeat.core.prompt.quoted_spans import PASTED_KINDS, SpanKind, mask_prompt

_MAX_SCANNED_CHARS = 400

_THOROUGH = LocalizedText(
    "The user wants this done completely (`ulw`). Put everything that was asked into your todo list. Delegate "
    "independent parts to subagents in parallel. Leave nothing out and no stubs behind; verify each part by running "
    "it, and report at the end what you verified and how. Ask only what the user alone can decide.",
    "用户要求全部做完（`ulw`）。请把所有要求写进任务列表；相互独立的部分并行交给子代理。不要遗漏，也不要留下占位代码；"
    "每一部分都要实际运行验证，最后说明验证了什么、如何验证。只问只有用户才能决定的事。",
)
_SEARCH = LocalizedText(
    "The user wants a search first. Search broadly before you answer: several terms for the same thing, the code, its "
    "tests, documentation and history, in parallel where possible. Cite file and line for each result, and say where "
    "you found nothing. Change nothing in this turn unless asked to.",
    "用户要求先搜索。回答前请广泛搜索：同一事物的多种说法，代码、测试、文档和历史，尽量并行。列出结果的文件与行号，并"
    "说明哪里没有找到。除非另有要求，本轮不要修改。",
)
_ANALYSE = LocalizedText(
    "The user wants an analysis first. Before any edit, read the relevant code, explain what happens now and why, "
    "list the options with their trade-offs, and choose one with a reason. Mark what you have not verified as a "
    "guess.",
    "用户要求先分析。修改之前请先阅读相关代码，说明现状及原因，列出可选方案及取舍，并给出有理由的选择。未经验证的内容"
    "请注明是猜测。",
)
_THOROUGH_PREFIX = re.compile(r"\s*(?:ulw(?=\s)|(?:ulw|ultrawork)\s?[:：])", re.IGNORECASE)
_PREFIXES: tuple[tuple[str, re.Pattern[str], LocalizedText], ...] = (
    ("ulw", _THOROUGH_PREFIX, _THOROUGH),
    ("search", re.compile(r"\s*(?:search|搜索|搜尋|搜寻)\s?[:：]", re.IGNORECASE), _SEARCH),
    ("analyze", re.compile(r"\s*(?:analy[sz]e|深入|分析)\s?[:：]", re.IGNORECASE), _ANALYSE),
)
_ANY_PREFIX = re.compile(r"\A\s*(?:ulw|ultrawork|search|analy|搜|深入|分析)", re.IGNORECASE)
_QUOTED_KINDS = (*PASTED_KINDS, SpanKind.INLINE, SpanKind.QUOTE)


def _on_prompt_submitted(event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    head = event.prompt[:_MAX_SCANNED_CHARS]
    name, text = next(((name, text) for name, pattern, text in _PREFIXES if pattern.match(head)), ("", _SEARCH))
    if not name or (event.origin is PromptOrigin.SUBAGENT and name != "ulw"):
        return NO_RESULT
    start = len(head) - len(head.lstrip())
    if any(span.kind in _QUOTED_KINDS and span.start <= start < span.end for span in mask_prompt(head).spans):
        return NO_RESULT
    return PolicyResult((InjectContext(text.localize(context.language)),), f"the prompt begins with {name}")


POLICY = Policy(
    name="expand-prompt-prefix",
    handlers={
        PromptSubmitted: Handler(
            _on_prompt_submitted, origins=(PromptOrigin.USER, PromptOrigin.SUBAGENT), text=_ANY_PREFIX
        )
    },
    effects=(InjectContext,),
    rank=40,
)
