"""What upbeat itself says about rules. Law: of a file that nobody has trusted only its name is in it."""

from __future__ import annotations

import re

from ..policies.policy import Words
from .rule import Action, Owner, Rule

UNTRUSTED_TEXT = Words(
    "A rule of this repository, {rule}, stands against this. Its text is left out: nobody has trusted that file. "
    "Go another way, or ask the person you work for, who reads it with `upbeat rules show` and trusts it with "
    "`upbeat trust`.",
    "本仓库的一条规则（{rule}）不允许这样做。该文件尚未被信任，因此不显示其内容。请换一种做法，或询问用户："
    "用户可用 `upbeat rules show` 查看、用 `upbeat trust` 信任它。",
)
UNKNOWN_TEXT = Words(
    "The rule {rule} could not be evaluated here ({why}), and it is to be safe then. Do it in a way that can be read, "
    "such as one plain command at a time, or ask the person you work for.",
    "规则 {rule} 在此无法判断（{why}），按其设置以安全为先。请改用可以读懂的方式（例如一次一条简单命令），或询问用户。",
)
UNCLEAR = Words("it cannot be said whether it matches", "无法判断是否匹配")
"""For a file that nobody has trusted: what is wrong in it may be what it wants to be read."""
_HEADINGS = {
    Action.TELL: Words("upbeat, rule {name}: ", "upbeat 规则 {name}："),
    Action.ASK: Words("Rule {name}: ", "规则 {name}："),
    Action.DENY: Words("Not allowed by the rule {name}: ", "规则 {name} 不允许："),
    Action.INJECT: Words("Rule {name}: ", "规则 {name}："),
}
_ODD = re.compile(r"[^\w./-]+", re.ASCII)
_LONGEST_NAME = 80


def shown_name(rule: Rule) -> str:
    """The rule as our own words call it. A stranger's file is called by nothing but the letters of its path."""
    if rule.owner is Owner.STRANGER:
        return _ODD.sub("_", rule.file or rule.name)[:_LONGEST_NAME]
    return f"{rule.name} ({rule.file})" if rule.file else rule.name


def heading(rule: Rule, language: str) -> str:
    """What stands before a rule's own text."""
    return _HEADINGS[rule.action].of(language).format(name=rule.name)
