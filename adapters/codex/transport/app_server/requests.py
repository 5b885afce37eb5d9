"""Requests of ``codex app-server`` and the responses to them. Invariant: every request gets a response.

The user decides on an ``ApprovalRequest``; without a user it is declined. Any other question is answered so that the
turn continues without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from upbeat.adapters.codex.transport.app_server.connection import RpcRequest
from upbeat.adapters.codex.transport.base import ApprovalDecision, ApprovalKind, ApprovalRequest, FileDiff
from upbeat.adapters.codex.transport.json_lines import JsonObject
from upbeat.core.json_fields import mapping_of, mappings_of, text_of, texts_of

MAX_DETAIL_CHARS = 2_000
"""Characters of a tool's parameters that are shown."""

_FALLBACK_DECISIONS = (ApprovalDecision.DECLINE, ApprovalDecision.CANCEL)


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A request that the user can decide on; ``responses`` has the protocol's response for each decision."""

    request: ApprovalRequest
    responses: Mapping[ApprovalDecision, JsonObject]

    def response_for(self, decision: ApprovalDecision) -> JsonObject:
        """Return the response for ``decision``; one that is not offered means no."""
        return self.responses.get(decision, self.responses[ApprovalDecision.DECLINE])


def pending_approval_from(request: RpcRequest, diffs: tuple[FileDiff, ...] = ()) -> PendingApproval | None:
    """Parse ``request``; None if it is not supported. ``diffs`` are those of the item that it names, if known."""
    reader = _PARSERS.get(request.method)
    return reader(request.fields, diffs) if reader else None


def item_id_of(request: RpcRequest) -> str:
    """Return the item that ``request`` is about, or an empty string."""
    return text_of(request.fields, "itemId")


def _command_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    host = text_of(mapping_of(fields, "networkApprovalContext"), "host")
    rule = tuple(texts_of(fields, "proposedExecpolicyAmendment"))
    offered = fields.get("availableDecisions")
    names = {  # a decision that carries data is an object with its name as the only key
        str(next(iter(decision), "")) if isinstance(decision, dict) else str(decision)
        for decision in (offered if isinstance(offered, list) else [])
    }
    answers: dict[ApprovalDecision, JsonObject] = {ApprovalDecision.ACCEPT: {"decision": "accept"}}
    if "acceptForSession" in names:
        answers[ApprovalDecision.ACCEPT_SESSION] = {"decision": "acceptForSession"}
    if rule and "acceptWithExecpolicyAmendment" in names:
        amended = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": list(rule)}}
        answers[ApprovalDecision.ACCEPT_RULE] = {"decision": amended}
    answers |= {ApprovalDecision.DECLINE: {"decision": "decline"}, ApprovalDecision.CANCEL: {"decision": "cancel"}}
    approval = ApprovalRequest(
        ApprovalKind.NETWORK if host else ApprovalKind.COMMAND,
        host or text_of(fields, "command"),
        cwd=text_of(fields, "cwd"),
        reason=text_of(fields, "reason"),
        choices=tuple(answers),
        allowed_prefix=rule if ApprovalDecision.ACCEPT_RULE in answers else (),
    )
    return PendingApproval(approval, answers)


def _file_approval(fields: JsonObject, diffs: tuple[FileDiff, ...]) -> PendingApproval:
    answers: dict[ApprovalDecision, JsonObject] = {
        ApprovalDecision.ACCEPT: {"decision": "accept"},
        ApprovalDecision.ACCEPT_SESSION: {"decision": "acceptForSession"},
        ApprovalDecision.DECLINE: {"decision": "decline"},
        ApprovalDecision.CANCEL: {"decision": "cancel"},
    }
    paths = ", ".join(change.path for change in diffs)
    what = paths or text_of(fields, "grantRoot")
    reason = text_of(fields, "reason")
    return PendingApproval(ApprovalRequest(ApprovalKind.FILES, what, "", reason, diffs, tuple(answers)), answers)


def _permissions_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    wanted = mapping_of(fields, "permissions")
    granted = {name: value for name, value in wanted.items() if value is not None}
    none: JsonObject = {"permissions": {}}
    answers: dict[ApprovalDecision, JsonObject] = {
        ApprovalDecision.ACCEPT: {"permissions": granted, "scope": "turn"},
        ApprovalDecision.ACCEPT_SESSION: {"permissions": granted, "scope": "session"},
        ApprovalDecision.DECLINE: none,
        ApprovalDecision.CANCEL: none,
    }
    what, cwd, reason = _display_value(granted), text_of(fields, "cwd"), text_of(fields, "reason")
    return PendingApproval(ApprovalRequest(ApprovalKind.PERMISSIONS, what, cwd, reason, (), tuple(answers)), answers)


def _elicitation_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    """Parse a server's wish for a yes (an empty form, as in Codex's own question before a tool call) or for text."""
    declined: dict[ApprovalDecision, JsonObject] = {
        ApprovalDecision.DECLINE: {"action": "decline"},
        ApprovalDecision.CANCEL: {"action": "cancel"},
    }
    message, server = text_of(fields, "message"), text_of(fields, "serverName")
    schema = mapping_of(fields, "requestedSchema")
    if text_of(fields, "mode") != "form" or schema.get("properties"):
        return PendingApproval(
            ApprovalRequest(ApprovalKind.INPUT, message, reason=server, choices=_FALLBACK_DECISIONS), declined
        )
    about = mapping_of(fields, "_meta")
    yes: JsonObject = {"action": "accept", "content": {}}
    answers: dict[ApprovalDecision, JsonObject] = {ApprovalDecision.ACCEPT: yes}
    if "session" in texts_of(about, "persist"):
        answers[ApprovalDecision.ACCEPT_SESSION] = {**yes, "_meta": {"persist": "session"}}
    answers |= declined
    parameters = mapping_of(about, "tool_params")
    reason = _display_value(parameters) if parameters else text_of(about, "tool_description")
    return PendingApproval(ApprovalRequest(ApprovalKind.TOOL, message, reason=reason, choices=tuple(answers)), answers)


def _input_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    questions = "\n".join(text_of(question, "question") for question in mappings_of(fields, "questions"))
    return _declined_input(questions, {"answers": {}})


def _tool_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    """Refuse a tool that the client would have to provide; codex-auto provides none."""
    text = {"type": "inputText", "text": "codex-auto has no such tool"}
    return _declined_input(text_of(fields, "tool"), {"success": False, "contentItems": [text]})


def _declined_input(subject: str, response: JsonObject) -> PendingApproval:
    """Return a request for text, which gets ``response`` whatever the decision is."""
    request = ApprovalRequest(ApprovalKind.INPUT, subject, choices=_FALLBACK_DECISIONS)
    return PendingApproval(request, dict.fromkeys(_FALLBACK_DECISIONS, response))


_PARSERS: dict[str, Callable[[JsonObject, tuple[FileDiff, ...]], PendingApproval]] = {
    "item/commandExecution/requestApproval": _command_approval,
    "item/fileChange/requestApproval": _file_approval,
    "item/permissions/requestApproval": _permissions_approval,
    "mcpServer/elicitation/request": _elicitation_approval,
    "item/tool/requestUserInput": _input_approval,
    "item/tool/call": _tool_approval,
}


def _display_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:MAX_DETAIL_CHARS]
