"""Expand a prefix of the prompt, such as ``ulw`` or ``search:``, into instructions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.prompt.quoted_spans import PASTED_KINDS, SpanKind, mask_prompt
from upbeat.core.workflow.decide.command import ULTRAWORK

_MAX_SCANNED_CHARS = 400

_PREFIXES: Mapping[str, re.Pattern[str]] = {
    "ulw": ULTRAWORK,
    "search": re.compile(r"\s*(?:search|搜索|搜尋|搜寻)\s?[:：]", re.IGNORECASE),
    "analyze": re.compile(r"\s*(?:analy[sz]e|深入|分析)\s?[:：]", re.IGNORECASE),
}
"""Prefixes by the key of their text."""
_ANY_PREFIX = re.compile(r"\A\s*(?:ulw|ultrawork|search|analy|搜|深入|分析)", re.IGNORECASE)
_QUOTED_KINDS = (*PASTED_KINDS, SpanKind.INLINE, SpanKind.QUOTE)


def _on_prompt_submitted(event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    head = event.prompt[:_MAX_SCANNED_CHARS]
    name = next((name for name, pattern in _PREFIXES.items() if pattern.match(head)), "")
    if not name or (event.origin is PromptOrigin.SUBAGENT and name != "ulw"):
        return NO_RESULT
    start = len(head) - len(head.lstrip())
    if any(span.kind in _QUOTED_KINDS and span.start <= start < span.end for span in mask_prompt(head).spans):
        return NO_RESULT
    return PolicyResult((InjectContext(context.text(name)),), f"the prompt begins with {name}")


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
