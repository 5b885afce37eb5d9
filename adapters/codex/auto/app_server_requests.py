"""What ``codex app-server`` asks for, and what it gets. Law: every request has an answer, also one nobody knows.

An ``Approval`` goes to a person; where there is none, it is declined. Whatever is no yes-or-no question is answered
in the way that lets the turn go on without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .app_server_rpc import Fields, Request
from .transport import Approval, Change, Decision, Matter

MAX_DETAIL = 2_000
"""Characters of a tool's parameters that are shown."""

_ALWAYS = (Decision.DECLINE, Decision.CANCEL)


@dataclass(frozen=True, slots=True)
class Question:
    """A request that a person can answer with a ``Decision``; ``answers`` is what each means to Codex."""

    approval: Approval
    answers: Mapping[Decision, Fields]

    def answer(self, decision: Decision) -> Fields:
        """What to send for ``decision``; what is not offered is a no."""
        return self.answers.get(decision, self.answers[Decision.DECLINE])


def question_in(request: Request, changes: tuple[Change, ...] = ()) -> Question | None:
    """The question in ``request``; None when nothing here can answer it.

    ``changes`` are those of the item that the request names, as far as they are known.
    """
    reader = _READERS.get(request.method)
    return reader(request.fields, changes) if reader else None


def item_of(request: Request) -> str:
    """The item that ``request`` is about, or empty."""
    return _text(request.fields, "itemId")


def _command(fields: Fields, _changes: tuple[Change, ...]) -> Question:
    host = _text(_inner(fields, "networkApprovalContext"), "host")
    rule = _texts(fields.get("proposedExecpolicyAmendment"))
    names = _offered(fields.get("availableDecisions"))
    answers: dict[Decision, Fields] = {Decision.ACCEPT: {"decision": "accept"}}
    if "acceptForSession" in names:
        answers[Decision.ACCEPT_SESSION] = {"decision": "acceptForSession"}
    if rule and "acceptWithExecpolicyAmendment" in names:
        amended = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": list(rule)}}
        answers[Decision.ACCEPT_RULE] = {"decision": amended}
    answers |= {Decision.DECLINE: {"decision": "decline"}, Decision.CANCEL: {"decision": "cancel"}}
    approval = Approval(
        Matter.NETWORK if host else Matter.COMMAND,
        host or _text(fields, "command"),
        cwd=_text(fields, "cwd"),
        reason=_text(fields, "reason"),
        choices=tuple(answers),
        rule=rule if Decision.ACCEPT_RULE in answers else (),
    )
    return Question(approval, answers)


def _offered(raw: Any) -> set[str]:
    """The names of decisions; one that carries data is an object with its name as the only key."""
    listed = raw if isinstance(raw, list) else []
    return {str(next(iter(one), "")) if isinstance(one, dict) else str(one) for one in listed}


def _files(fields: Fields, changes: tuple[Change, ...]) -> Question:
    answers: dict[Decision, Fields] = {
        Decision.ACCEPT: {"decision": "accept"},
        Decision.ACCEPT_SESSION: {"decision": "acceptForSession"},
        Decision.DECLINE: {"decision": "decline"},
        Decision.CANCEL: {"decision": "cancel"},
    }
    paths = ", ".join(change.path for change in changes)
    what = paths or _text(fields, "grantRoot")
    reason = _text(fields, "reason")
    return Question(Approval(Matter.FILES, what, "", reason, changes, tuple(answers)), answers)


def _permissions(fields: Fields, _changes: tuple[Change, ...]) -> Question:
    wanted = _inner(fields, "permissions")
    granted = {name: value for name, value in wanted.items() if value is not None}
    none: Fields = {"permissions": {}}
    answers: dict[Decision, Fields] = {
        Decision.ACCEPT: {"permissions": granted, "scope": "turn"},
        Decision.ACCEPT_SESSION: {"permissions": granted, "scope": "session"},
        Decision.DECLINE: none,
        Decision.CANCEL: none,
    }
    what, cwd, reason = _shown(granted), _text(fields, "cwd"), _text(fields, "reason")
    return Question(Approval(Matter.PERMISSIONS, what, cwd, reason, (), tuple(answers)), answers)


def _elicitation(fields: Fields, _changes: tuple[Change, ...]) -> Question:
    """A server wants a yes (the form is empty, as for Codex's own question before a tool call), or words."""
    declined: dict[Decision, Fields] = {Decision.DECLINE: {"action": "decline"}, Decision.CANCEL: {"action": "cancel"}}
    message, server = _text(fields, "message"), _text(fields, "serverName")
    schema = _inner(fields, "requestedSchema")
    if _text(fields, "mode") != "form" or schema.get("properties"):
        return Question(Approval(Matter.INPUT, message, reason=server, choices=_ALWAYS), declined)
    about = _inner(fields, "_meta")
    yes: Fields = {"action": "accept", "content": {}}
    answers: dict[Decision, Fields] = {Decision.ACCEPT: yes}
    if "session" in _texts(about.get("persist")):
        answers[Decision.ACCEPT_SESSION] = {**yes, "_meta": {"persist": "session"}}
    answers |= declined
    parameters = _inner(about, "tool_params")
    reason = _shown(parameters) if parameters else _text(about, "tool_description")
    return Question(Approval(Matter.TOOL, message, reason=reason, choices=tuple(answers)), answers)


def _input(fields: Fields, _changes: tuple[Change, ...]) -> Question:
    raw = fields.get("questions")
    asked = [_text(one, "question") for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    silence: Fields = {"answers": {}}
    answers = dict.fromkeys(_ALWAYS, silence)
    return Question(Approval(Matter.INPUT, "\n".join(asked), choices=_ALWAYS), answers)


def _tool(fields: Fields, _changes: tuple[Change, ...]) -> Question:
    """A tool that the client would have to have; this one has none."""
    said = {"type": "inputText", "text": "codex-auto has no such tool"}
    failed: Fields = {"success": False, "contentItems": [said]}
    return Question(Approval(Matter.INPUT, _text(fields, "tool"), choices=_ALWAYS), dict.fromkeys(_ALWAYS, failed))


_READERS: dict[str, Callable[[Fields, tuple[Change, ...]], Question]] = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _files,
    "item/permissions/requestApproval": _permissions,
    "mcpServer/elicitation/request": _elicitation,
    "item/tool/requestUserInput": _input,
    "item/tool/call": _tool,
}


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:MAX_DETAIL]


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _texts(raw: Any) -> tuple[str, ...]:
    return tuple(one for one in raw if isinstance(one, str)) if isinstance(raw, list) else ()


def _inner(fields: Fields, name: str) -> Fields:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}
