"""Flag comments that restate the code or narrate the change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import FILE_CHANGING_KINDS, FileEdit, ToolFinished
from upbeat.core.package_data import load_toml
from upbeat.core.policy.comments import Comment, find_comments
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult

MAX_LISTED_COMMENTS = 5

_MAX_EXCERPT_CHARS = 80
_MAX_SCANNED_CHARS = 300

_WORDS = load_toml(__package__, "comment_words.toml")
_EXEMPT = re.compile(_WORDS["exempt"], re.IGNORECASE | re.VERBOSE)
_CHANGE_NARRATION = re.compile(_WORDS["change_narration"], re.IGNORECASE | re.VERBOSE)
_WORD = re.compile(r"[A-Za-z]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CODE_WORD = re.compile(r"[A-Za-z_]\w*")
_CALLED_NAME = re.compile(r"(?:\b|_)(?:([a-z]+)|(?<=_)([A-Z][a-z]+))\w*\(")
"""The first word of a called name, usually a verb; a capitalized name is a class."""
_DEFINITION = re.compile(
    r"(?:export |default |pub(?:\(\w+\))? |public |private |protected |static |inline |async |const |type |typedef |#)*"
    r"(?:def|class|func|fn|function|struct|enum|interface|trait|impl|void|define)\b"
    r"|(?!if|for|while|switch|else|return|with|match)[\w*]++ [\w *]*+\([^;=]*+$"
)
"""The beginning of a definition: a comment above it is documentation."""
_STOP_WORDS = frozenset(_WORDS["stop_words"].split())
_ACTIONS: Mapping[str, str] = _WORDS["actions"]
_MAX_WORDS = 7


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    if event.has_failed or event.was_interrupted:
        return NO_RESULT
    for change in event.call.edits[:20]:
        if comments := tuple(_redundant_comments(change)):
            return PolicyResult(
                (InjectContext(_format_comments(change.path, comments, context)),),
                f"{len(comments)} redundant comments",
                mentioned_paths=(change.path,),
            )
    return NO_RESULT


def _redundant_comments(change: FileEdit) -> Iterator[tuple[Comment, str]]:
    """Yield each redundant comment that the change adds, and why it is redundant."""
    comments = find_comments(change.path, change.new_text)
    old_texts = {comment.text for comment in find_comments(change.path, change.old_text)} if comments else set()
    for comment in comments:
        if comment.text in old_texts or _EXEMPT.match(comment.text):
            continue
        if _CHANGE_NARRATION.search(comment.text[:_MAX_SCANNED_CHARS]):
            yield comment, "narrates_reason"
        elif comment.line_count == 1 and restates_code(comment.text, comment.adjacent_code):
            yield comment, "restates_reason"


def restates_code(comment: str, code: str) -> bool:
    """Return whether ``comment`` only restates ``code``: it begins with the action and uses only names of the code.

    A heading, or the name of what follows, does not.
    """
    is_prose = " " in comment and comment.isascii() and not any(sign in comment for sign in "`=()[]?;:|")
    if not code or not is_prose or len(comment) > _MAX_SCANNED_CHARS or _DEFINITION.match(code[:_MAX_SCANNED_CHARS]):
        return False
    words = [word for word in map(str.lower, _WORD.findall(comment)) if word not in _STOP_WORDS]
    if not 2 <= len(words) <= _MAX_WORDS:
        return False
    code = code[:_MAX_SCANNED_CHARS]
    signs = {sign for sign in _ACTIONS if (sign in _CODE_WORD.findall(code) if sign.isalpha() else sign in code)}
    actions = {_stem(word) for sign in signs for word in _ACTIONS[sign].split()}
    called = {_stem((low or high).lower()) for low, high in _CALLED_NAME.findall(code)}
    names = {_stem(part.lower()) for part in _PARTS.findall(code)}
    first, *others = (_stem(word) for word in words)
    return (
        first in actions | called and all(stem in names | actions for stem in others) and not names.isdisjoint(others)
    )


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _format_comments(path: str, comments_with_reason: tuple[tuple[Comment, str], ...], context: PolicyContext) -> str:
    shown = [
        context.text(
            "one", line=comment.line, text=" ".join(comment.text.split())[:_MAX_EXCERPT_CHARS], why=context.text(why)
        )
        for comment, why in comments_with_reason[:MAX_LISTED_COMMENTS]
    ]
    if len(comments_with_reason) > MAX_LISTED_COMMENTS:
        shown.append(context.text("more", count=len(comments_with_reason) - MAX_LISTED_COMMENTS))
    return context.text("text", path=path.removeprefix(f"{context.root}/")[:200], list="; ".join(shown))


POLICY = Policy(
    name="flag-redundant-comments",
    handlers={ToolFinished: Handler(_on_tool_finished, tools=FILE_CHANGING_KINDS)},
    effects=(InjectContext,),
    rank=70,
)
