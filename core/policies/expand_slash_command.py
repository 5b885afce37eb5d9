"""Inject the saved prompt behind ``/name`` if the client does not expand it."""

from __future__ import annotations

import re

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import PromptFileQuery, Query, TextDocument
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.workflow.state import SessionState

MAX_BODY_CHARS = 6000
"""A longer file is only named, not injected."""

_NAME = re.compile(r"/(?:prompts:)?([A-Za-z0-9][\w-]{0,63}(?::[\w-]{1,64})?)(?=\s|$)", re.ASCII)
_PLACEHOLDER = re.compile(r"\$(ARGUMENTS|@|[1-9])(?![0-9])")
_WORD = re.compile(r""""([^"]*)"|'([^']*)'|(\S+)""")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n---[ \t]*\n", re.DOTALL)


def _parse_slash_command(event: PromptSubmitted) -> tuple[str, str] | None:
    """Return the name and the arguments; None if the prompt is not such a command."""
    match = _NAME.match(event.prompt)
    if match is None or match[1].lower().startswith("upbeat"):
        return None
    return match[1], event.prompt[match.end() :].strip()


def _queries(event: PromptSubmitted, _state: SessionState) -> tuple[Query, ...]:
    command = _parse_slash_command(event)
    return (PromptFileQuery(command[0]),) if command else ()


def _on_prompt_submitted(event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    command = _parse_slash_command(event)
    file: TextDocument | None = context.query_results.get(PromptFileQuery(command[0])) if command else None
    if command is None or file is None:
        return NO_RESULT
    name, arguments = command
    body = _fill_in(_FRONT_MATTER.sub("", file.text, count=1).strip(), arguments[:MAX_BODY_CHARS])
    if not body:
        return NO_RESULT
    template = "text" if len(body) <= MAX_BODY_CHARS else "long"
    text = context.text(
        template, name=name, path=file.path, body=SafeText(body), arguments=SafeText(arguments[:1000] or "-")
    )
    return PolicyResult((InjectContext(text),), f"/{name} is {file.path}", mentioned_paths=(file.path,))


def _fill_in(body: str, arguments: str) -> str:
    """Return ``body`` with ``$ARGUMENTS``, ``$@`` and ``$1`` to ``$9`` filled in, and ``$$`` as one dollar sign."""
    words = [match[1] or match[2] or match[3] or "" for match in _WORD.finditer(arguments)]

    def fill(match: re.Match[str]) -> str:
        if match[1] in ("ARGUMENTS", "@"):
            return arguments
        number = int(match[1])
        return words[number - 1] if number <= len(words) else ""

    parts = (_PLACEHOLDER.sub(fill, part) for part in body.split("$$"))
    return "$".join(parts)


POLICY = Policy(
    name="expand-slash-command",
    handlers={
        PromptSubmitted: Handler(_on_prompt_submitted, _queries, origins=(PromptOrigin.USER,), text=re.compile(r"\A/"))
    },
    effects=(InjectContext,),
    native_trait="expands_slash_commands",
    rank=20,
)
