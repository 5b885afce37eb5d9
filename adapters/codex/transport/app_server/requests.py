"""Requests of ``codex app-server`` and the responses to them. Invariant: every request gets a response.

The user decides on an ``ApprovalRequest``; without a user it is declined. Any other question is answered so that the
turn continues without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from upbeat.adapters.codex.transport.app_server.rpc import JsonObject, RpcRequest
from upbeat.adapters.codex.transport.base import ApprovalDecision, ApprovalKind, ApprovalRequest, FileDiff

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
    """The item that ``request`` is about, or empty."""
    return _string_field(request.fields, "itemId")


def _command_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    host = _string_field(_object_field(fields, "networkApprovalContext"), "host")
    rule = _string_tuple(fields.get("proposedExecpolicyAmendment"))
    names = _offered_decisions(fields.get("availableDecisions"))
    answers: dict[ApprovalDecision, JsonObject] = {ApprovalDecision.ACCEPT: {"decision": "accept"}}
    if "acceptForSession" in names:
        answers[ApprovalDecision.ACCEPT_SESSION] = {"decision": "acceptForSession"}
    if rule and "acceptWithExecpolicyAmendment" in names:
        amended = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": list(rule)}}
        answers[ApprovalDecision.ACCEPT_RULE] = {"decision": amended}
    answers |= {ApprovalDecision.DECLINE: {"decision": "decline"}, ApprovalDecision.CANCEL: {"decision": "cancel"}}
    approval = ApprovalRequest(
        ApprovalKind.NETWORK if host else ApprovalKind.COMMAND,
        host or _string_field(fields, "command"),
        cwd=_string_field(fields, "cwd"),
        reason=_string_field(fields, "reason"),
        choices=tuple(answers),
        allowed_prefix=rule if ApprovalDecision.ACCEPT_RULE in answers else (),
    )
    return PendingApproval(approval, answers)


def _offered_decisions(raw: Any) -> set[str]:
    """The names of decisions; one that carries data is an object with its name as the only key."""
    listed = raw if isinstance(raw, list) else []
    return {str(next(iter(one), "")) if isinstance(one, dict) else str(one) for one in listed}


def _file_approval(fields: JsonObject, diffs: tuple[FileDiff, ...]) -> PendingApproval:
    answers: dict[ApprovalDecision, JsonObject] = {
        ApprovalDecision.ACCEPT: {"decision": "accept"},
        ApprovalDecision.ACCEPT_SESSION: {"decision": "acceptForSession"},
        ApprovalDecision.DECLINE: {"decision": "decline"},
        ApprovalDecision.CANCEL: {"decision": "cancel"},
    }
    paths = ", ".join(change.path for change in diffs)
    what = paths or _string_field(fields, "grantRoot")
    reason = _string_field(fields, "reason")
    return PendingApproval(ApprovalRequest(ApprovalKind.FILES, what, "", reason, diffs, tuple(answers)), answers)


def _permissions_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    wanted = _object_field(fields, "permissions")
    granted = {name: value for name, value in wanted.items() if value is not None}
    none: JsonObject = {"permissions": {}}
    answers: dict[ApprovalDecision, JsonObject] = {
        ApprovalDecision.ACCEPT: {"permissions": granted, "scope": "turn"},
        ApprovalDecision.ACCEPT_SESSION: {"permissions": granted, "scope": "session"},
        ApprovalDecision.DECLINE: none,
        ApprovalDecision.CANCEL: none,
    }
    what, cwd, reason = _display_value(granted), _string_field(fields, "cwd"), _string_field(fields, "reason")
    return PendingApproval(ApprovalRequest(ApprovalKind.PERMISSIONS, what, cwd, reason, (), tuple(answers)), answers)


def _elicitation_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    """A server wants a yes (the form is empty, as for Codex's own question before a tool call), or words."""
    declined: dict[ApprovalDecision, JsonObject] = {
        ApprovalDecision.DECLINE: {"action": "decline"},
        ApprovalDecision.CANCEL: {"action": "cancel"},
    }
    message, server = _string_field(fields, "message"), _string_field(fields, "serverName")
    schema = _object_field(fields, "requestedSchema")
    if _string_field(fields, "mode") != "form" or schema.get("properties"):
        return PendingApproval(
            ApprovalRequest(ApprovalKind.INPUT, message, reason=server, choices=_FALLBACK_DECISIONS), declined
        )
    about = _object_field(fields, "_meta")
    yes: JsonObject = {"action": "accept", "content": {}}
    answers: dict[ApprovalDecision, JsonObject] = {ApprovalDecision.ACCEPT: yes}
    if "session" in _string_tuple(about.get("persist")):
        answers[ApprovalDecision.ACCEPT_SESSION] = {**yes, "_meta": {"persist": "session"}}
    answers |= declined
    parameters = _object_field(about, "tool_params")
    reason = _display_value(parameters) if parameters else _string_field(about, "tool_description")
    return PendingApproval(ApprovalRequest(ApprovalKind.TOOL, message, reason=reason, choices=tuple(answers)), answers)


def _input_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    raw = fields.get("questions")
    asked = [_string_field(one, "question") for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    silence: JsonObject = {"answers": {}}
    answers = dict.fromkeys(_FALLBACK_DECISIONS, silence)
    return PendingApproval(ApprovalRequest(ApprovalKind.INPUT, "\n".join(asked), choices=_FALLBACK_DECISIONS), answers)


def _tool_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    """A tool that the client would have to have; this one has none."""
    said = {"type": "inputText", "text": "codex-auto has no such tool"}
    failed: JsonObject = {"success": False, "contentItems": [said]}
    return PendingApproval(
        ApprovalRequest(ApprovalKind.INPUT, _string_field(fields, "tool"), choices=_FALLBACK_DECISIONS),
        dict.fromkeys(_FALLBACK_DECISIONS, failed),
    )


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


def _string_field(fields: JsonObject, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _string_tuple(raw: Any) -> tuple[str, ...]:
    return tuple(one for one in raw if isinstance(one, str)) if isinstance(raw, list) else ()


def _object_field(fields: JsonObject, name: str) -> JsonObject:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}
