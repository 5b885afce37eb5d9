"""Ask about comments that repeat the code or narrate the change (comment-checker of oh-my-opencode)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..contract.effect import Inject
from ..contract.event import CHANGES_FILES, Change, ToolFinished
from .comment_lines import Comment, comments
from .policy import SILENT, Policy, View, Word, Words

MAX_SHOWN = 5
"""Comments that are named; of more, only how many."""

_LONGEST_SHOWN = 80
_LONGEST_READ = 300

_EXEMPT = re.compile(
    r"""\s*(?: [!:#/*=<>~-] | @ | \+build | go: | noqa | type: | pragma | pylint | flake8 | mypy | ruff | pyright | fmt:
      | isort | nosec | eslint | prettier | jshint | jslint | istanbul | c8 | v8 | ts- | tslint | biome | webpack
      | nolint | lint | noinspection | region | endregion | clang- | coverage | cspell | spell | swiftlint | rustfmt
      | clippy | safety | todo | fixme | xxx | hack | note | warning | important | nb\b | see\b | spdx | copyright
      | licen[cs]e | \(c\) | https?: | given\b | when\b | then\b | and\b | but\b | arrange\b | act\b | assert\b
      | expect\b | e\.g | i\.e | coding[:=] | vim: | -\*- )""",
    re.IGNORECASE | re.VERBOSE,
)
"""Orders to tools, licences, work that is left, pointers, and the words of scenarios."""

_DOES = "uses|calls|returns|handles|takes|accepts|supports|includes|requires|checks|throws|raises|passes"
_DO = "use|call|return|handle|take|accept|support|include|require|check|throw|raise|pass"
_NARRATES = re.compile(
    rf"""^\s*(?: (?:new|newly\ added|added|changed|updated|modified|fixed|bug\ ?fix|hot\ ?fix|removed|deleted)
          \s*(?:[:!]|\W*$)
      | (?:was|previously|formerly|old)\s*:\s*\S
      | (?:changed|updated|modified|switched|converted|migrated|refactored|renamed)\ (?:from|to)\b
      | (?:newly\ )?added\ (?:for|per|as\ requested|by\ request|in\ response)\b
      | (?:removed|deleted)\ (?:the\ )?(?:old|unused|duplicate|previous|redundant)\b
      | (?:新增|修改|修复|修復|更新|删除|刪除|移除|重构|重構|优化|優化|改进|改進)(?:[:：]|了|\s*$)
      | (?:已|现|現|现在|現在)?(?:修改|更改|变更|變更|更新|调整|調整)?(?:为|為|成)使用 )
      | \bnow\ (?:{_DOES})\b | \bwe\ now\ (?:{_DO})\b | \binstead\ of\ the\ (?:old|previous|former)\b
      | \b(?:changed|switched|refactored|migrated)\ from\ .{{1,60}}\ to\b
      | (?:修改|更改|变更|變更)(?:为|為|成) | (?:从|從|由).{{1,20}}改(?:为|為|成)
      | \bas\ (?:you\ )?requested\b | \bper\ (?:(?:your|the)\ (?:code\ )?(?:review|request)|(?:review\ )?feedback)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What is of interest while the change is made, and belongs into the message of its commit."""

_WORD = re.compile(r"[A-Za-z]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CODE_WORD = re.compile(r"[A-Za-z_]\w*")
_CALLED = re.compile(r"(?:\b|_)(?:([a-z]+)|(?<=_)([A-Z][a-z]+))\w*\(")
"""The first word of the name of what is called, which is a verb mostly; a name in capitals is that of a thing."""
_DEFINES = re.compile(
    r"(?:export |default |pub(?:\(\w+\))? |public |private |protected |static |inline |async |const |type |typedef |#)*"
    r"(?:def|class|func|fn|function|struct|enum|interface|trait|impl|void|define)\b"
    r"|(?!if|for|while|switch|else|return|with|match)[\w*]++ [\w *]*+\([^;=]*+$"
)
"""What begins a definition: the comment above it is its documentation."""
_FILLER = frozenset(
    [
        *(
            "a",
            "an",
            "the",
            "this",
            "that",
            "these",
            "those",
            "our",
            "its",
            "it",
            "we",
            "us",
            "new",
            "current",
            "given",
        ),
        *("to", "of", "for", "in", "on", "at", "by", "as", "with", "from", "into", "and", "is", "are", "be", "all"),
    ]
)
_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "=": ("set", "assign", "initialize", "init", "initialise", "create", "define", "store", "save", "declare"),
    "+=": ("increment", "add", "increase", "append"),
    "-=": ("decrement", "subtract", "decrease"),
    "++": ("increment", "increase"),
    "--": ("decrement", "decrease"),
    "(": ("call", "invoke", "run", "execute"),
    "return": ("return", "returns"),
    "for": ("loop", "iterate", "over", "through"),
    "if": ("check", "if", "whether"),
    "import": ("import", "imports"),
    "print": ("print", "output", "display", "log"),
    "class": ("class", "define"),
    "def": ("function", "method", "define"),
    "func": ("function", "method", "define"),
    "function": ("function", "method", "define"),
    "raise": ("raise", "throw", "error"),
    "throw": ("throw", "raise", "error"),
    "==": ("equal", "equals"),
    "None": ("none", "null"),
    "null": ("null", "none"),
}
"""What a sign or word in code does, in words that say no more than it."""

_MOST_WORDS = 7

_TEXT = Words(
    "Needless comments in what you have just written to {path}: {list}. A comment says why, not what the code says or "
    "what has changed. Delete each, or say in a word why it stays; those that stood there before may stay.",
    "刚写入 {path} 的内容里有多余的注释：{list}。注释应说明原因，而不是复述代码或叙述改动。"
    "请逐条删除，或简要说明保留的理由；原来就有的可以不动。",
)
_ONE = Words("line {line} “{text}” ({why})", "第 {line} 行“{text}”（{why}）")
_REPEATS = Words("repeats the code", "复述代码")
_TELLS = Words("narrates the change", "叙述改动")
_MORE = Words("and {count} more", "以及另外 {count} 条")


def _finished(event: ToolFinished, view: View) -> Word:
    if event.failed or event.interrupted or event.call.act not in CHANGES_FILES:
        return SILENT
    for change in event.call.changes[:20]:
        if found := tuple(_needless(change)):
            names = (change.path,)
            return Word((Inject(_said(change.path, found, view)),), f"{len(found)} needless comments", names=names)
    return SILENT


def _needless(change: Change) -> Iterator[tuple[Comment, Words]]:
    """The comments that the change puts in and that say nothing of their own, and what is wrong with each."""
    found = comments(change.path, change.text)
    before = {one.text for one in comments(change.path, change.before)} if found and change.before else frozenset()
    for one in found:
        if one.text in before or _EXEMPT.match(one.text):
            continue
        if _NARRATES.search(one.text[:_LONGEST_READ]):
            yield one, _TELLS
        elif one.lines == 1 and repeats(one.text, one.code):
            yield one, _REPEATS


def repeats(comment: str, code: str) -> bool:
    """Whether ``comment`` says in words what ``code`` does: it begins with what is done, to names that stand there.

    A heading, or the name of what is below, is none of these.
    """
    is_prose = " " in comment and comment.isascii() and not any(sign in comment for sign in "`=()[]?;:|")
    if not code or not is_prose or len(comment) > _LONGEST_READ or _DEFINES.match(code[:_LONGEST_READ]):
        return False
    words = [word for word in map(str.lower, _WORD.findall(comment)) if word not in _FILLER]
    if not 2 <= len(words) <= _MOST_WORDS:
        return False
    code = code[:_LONGEST_READ]
    signs = {sign for sign in _ACTIONS if (sign in _CODE_WORD.findall(code) if sign.isalpha() else sign in code)}
    does = {_stem(word) for sign in signs for word in _ACTIONS[sign]}
    called = {_stem((low or high).lower()) for low, high in _CALLED.findall(code)}
    names = {_stem(part.lower()) for part in _PARTS.findall(code)}
    first, *others = (_stem(word) for word in words)
    return first in does | called and all(stem in names | does for stem in others) and not names.isdisjoint(others)


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _said(path: str, found: tuple[tuple[Comment, Words], ...], view: View) -> str:
    language = view.language
    shown = [
        _ONE.of(language).format(
            line=comment.line, text=" ".join(comment.text.split())[:_LONGEST_SHOWN], why=why.of(language)
        )
        for comment, why in found[:MAX_SHOWN]
    ]
    if len(found) > MAX_SHOWN:
        shown.append(_MORE.of(language).format(count=len(found) - MAX_SHOWN))
    return _TEXT.of(language).format(path=path.removeprefix(f"{view.root}/")[:200], list="; ".join(shown))


POLICY = Policy(
    name="question-needless-comments",
    original="comment-checker",
    number=30,
    what=Words(
        "After an edit it names comments that repeat the line below them or narrate the change, and asks to justify or "
        "delete them.",
        "修改文件后，指出复述代码或叙述改动的注释，要求说明理由或删除。",
    ),
    why=Words(
        "Such comments are noise for every later reader, and soon untrue.",
        "这类注释对以后的读者只是噪音，而且很快就会过时。",
    ),
    silent=Words(
        "for documentation, licences, orders to tools, work that is left, scenario words, comments that stood there "
        "before, and endings of files that it does not know",
        "文档注释、许可声明、工具指令、待办、场景用语、原有注释，以及不认识的文件类型",
    ),
    on={ToolFinished: _finished},
    rank=70,
)
