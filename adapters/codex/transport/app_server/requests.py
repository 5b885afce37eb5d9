"""Requests of ``codex app-server`` and the responses to them. Invariant: every request gets a response.

The user decides on an ``ApprovalRequest``; without a user it is declined. Any other question is answered so that the
turn continues without it. Every field of a request is in the ``ApprovalRequest``, but for those that only identify it
or repeat another one. Where the fields do not say exactly what would run, there is no response that means yes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from upbeat.adapters.codex.tools import split_quoted_line, starts_shell
from upbeat.adapters.codex.transport.app_server.connection import RpcRequest
from upbeat.adapters.codex.transport.base import (
    ApprovalDecision,
    ApprovalKind,
    ApprovalProblem,
    ApprovalRequest,
    FileDiff,
    PendingCall,
)
from upbeat.adapters.codex.transport.json_lines import JsonObject
from upbeat.adapters.hooks.codec import SHELL_TOOL
from upbeat.core.json_fields import mapping_of, mappings_of, text_of, texts_of
from upbeat.core.sanitize.exact import decodes_to_what_runs, exact_json

_FALLBACK_DECISIONS = (ApprovalDecision.DECLINE, ApprovalDecision.CANCEL)

_IDENTIFIERS = {"threadId", "turnId", "itemId", "startedAtMs", "approvalId", "availableDecisions", "commandActions"}
"""Fields that say nothing about what would run; ``commandActions`` are guesses from the command."""

_REPEATED_META = {"codex_approval_kind", "persist", "tool_params_display"}
_USUAL = ("environmentId", "local")
"""The field that names this machine."""

_EMPTY_FORM = {"type": "object", "properties": {}}
_CHANGE_KINDS = ("add", "update", "delete")


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
    return _without_blind_yes(reader(request.fields, diffs)) if reader else None


def item_id_of(request: RpcRequest) -> str:
    """Return the item that ``request`` is about, or an empty string."""
    return text_of(request.fields, "itemId")


def _without_blind_yes(pending: PendingApproval) -> PendingApproval:
    """Return ``pending`` with no yes if its texts do not decode to what would run."""
    request = pending.request
    if request.kind is ApprovalKind.INPUT:
        return pending
    texts = [text for text in _texts(request) if text]
    is_exact = bool(request.subject.strip()) and all(map(decodes_to_what_runs, texts))
    empty = ApprovalProblem.NOT_EXACT if request.subject.strip() else ApprovalProblem.EMPTY
    problem = request.problem or (None if is_exact else empty)
    if problem is None:
        return pending
    answers = {decision: pending.responses[decision] for decision in _FALLBACK_DECISIONS}
    return PendingApproval(replace(request, problem=problem, choices=tuple(answers), allowed_prefix=()), answers)


def _texts(request: ApprovalRequest) -> Iterator[str]:
    yield from (request.subject, request.cwd, request.reason, request.program, *request.allowed_prefix)
    for name, value in request.details:
        yield from (name, value)
    for change in request.diffs:
        yield from (change.path, change.new_path, change.diff.strip())


def _details(fields: JsonObject, shown: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return what ``fields`` say beside ``shown``, as JSON by name; fields of a newer Codex are among them."""
    left = ((name, value) for name, value in fields.items() if name not in shown and name not in _IDENTIFIERS)
    return tuple((name, exact_json(value)) for name, value in left if value is not None and (name, value) != _USUAL)


def _text_fields(fields: JsonObject, *names: str) -> set[str]:
    """Return those of ``names`` that are texts, and are shown as such."""
    return {name for name in names if isinstance(fields.get(name), str)}


def _offered_decisions(fields: JsonObject) -> set[str]:
    """Return the names of the decisions that Codex takes; one that carries data is an object with its name as key."""
    offered = fields.get("availableDecisions")
    return {
        str(next(iter(decision), "")) if isinstance(decision, dict) else str(decision)
        for decision in (offered if isinstance(offered, list) else [])
    }


def _command_answers(fields: JsonObject, rule: tuple[str, ...]) -> dict[ApprovalDecision, JsonObject]:
    names = _offered_decisions(fields)
    answers: dict[ApprovalDecision, JsonObject] = {}
    if "accept" in names or not names:
        answers[ApprovalDecision.ACCEPT] = {"decision": "accept"}
    if "acceptForSession" in names:
        answers[ApprovalDecision.ACCEPT_SESSION] = {"decision": "acceptForSession"}
    if rule and "acceptWithExecpolicyAmendment" in names:
        amended = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": list(rule)}}
        answers[ApprovalDecision.ACCEPT_RULE] = {"decision": amended}
    return answers | {
        ApprovalDecision.DECLINE: {"decision": "decline"},
        ApprovalDecision.CANCEL: {"decision": "cancel"},
    }


def _command_approval(fields: JsonObject, _changes: tuple[FileDiff, ...]) -> PendingApproval:
    network = fields.get("networkApprovalContext")
    line, proposed = text_of(fields, "command"), fields.get("proposedExecpolicyAmendment")
    rule = tuple(texts_of(fields, "proposedExecpolicyAmendment"))
    if list(rule) != proposed:  # the answer would carry another rule
        rule = ()
    answers = _command_answers(fields, rule)
    words = split_quoted_line(line)
    program = f"{words[0]} {words[1]}" if starts_shell(words) else ""
    script = words[2] if program else line
    is_network = network is not None
    problem = ApprovalProblem.NOT_EXACT if line and not words and not is_network else None
    if fields.get("kind", "command") != "command":
        problem = ApprovalProblem.UNKNOWN_KIND
    shown = _text_fields(fields, "cwd", "reason") | {"kind", "proposedExecpolicyAmendment"}
    approval = ApprovalRequest(
        ApprovalKind.NETWORK if is_network else ApprovalKind.COMMAND,
        text_of(mapping_of(fields, "networkApprovalContext"), "host") if is_network else script,
        cwd=text_of(fields, "cwd"),
        reason=text_of(fields, "reason"),
        choices=tuple(answers),
        allowed_prefix=rule if ApprovalDecision.ACCEPT_RULE in answers else (),
        program="" if is_network else program,
        details=_details(fields, shown | (set() if is_network else _text_fields(fields, "command"))),
        problem=problem,
        call=_call(fields, SHELL_TOOL, {"command": script}),
    )
    return PendingApproval(approval, answers)


def _file_approval(fields: JsonObject, diffs: tuple[FileDiff, ...]) -> PendingApproval:
    answers: dict[ApprovalDecision, JsonObject] = {
        ApprovalDecision.ACCEPT: {"decision": "accept"},
        ApprovalDecision.ACCEPT_SESSION: {"decision": "acceptForSession"},
        ApprovalDecision.DECLINE: {"decision": "decline"},
        ApprovalDecision.CANCEL: {"decision": "cancel"},
    }
    problem = None if diffs else ApprovalProblem.UNKNOWN_ITEM
    if not all(change.kind in _CHANGE_KINDS for change in diffs):
        problem = ApprovalProblem.UNKNOWN_KIND
    if not all(change.path and (change.diff or change.new_path or change.kind != "update") for change in diffs):
        problem = ApprovalProblem.EMPTY
    changes = [{"path": change.path, "kind": change.kind, "diff": change.diff} for change in diffs]
    approval = ApprovalRequest(
        ApprovalKind.FILES,
        ", ".join(change.path for change in diffs),
        "",
        text_of(fields, "reason"),
        diffs,
        tuple(answers),
        details=_details(fields, _text_fields(fields, "reason")),
        problem=problem,
        call=_call(fields, "apply_patch", {"changes": changes}),
    )
    return PendingApproval(approval, answers)


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
    approval = ApprovalRequest(
        ApprovalKind.PERMISSIONS,
        exact_json(granted) if granted else "",
        text_of(fields, "cwd"),
        text_of(fields, "reason"),
        (),
        tuple(answers),
        details=_details(fields, _text_fields(fields, "cwd", "reason") | {"permissions"}),
        call=_call(fields, "request_permissions", {"permissions": granted}),
    )
    return PendingApproval(approval, answers)


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
    shown = _text_fields(fields, "message") | {"mode"} | ({"_meta"} if isinstance(fields.get("_meta"), dict) else set())
    details = _details(fields, shown | ({"requestedSchema"} if schema == _EMPTY_FORM else set()))
    tool, is_call = text_of(about, "tool_name"), text_of(about, "codex_approval_kind") == "mcp_tool_call"
    approval = ApprovalRequest(
        ApprovalKind.TOOL,
        message,
        choices=tuple(answers),
        details=details + _details(about, _REPEATED_META),
        call=_call(fields, f"mcp__{server}__{tool}", mapping_of(about, "tool_params")) if is_call and tool else None,
    )
    return PendingApproval(approval, answers)


def _call(fields: JsonObject, tool: str, given: Mapping[str, object]) -> PendingCall:
    return PendingCall(text_of(fields, "itemId"), text_of(fields, "threadId"), tool, given)


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
