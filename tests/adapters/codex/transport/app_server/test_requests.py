"""Each request of the app-server is a question for the user or is declined; none stays without a response."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.adapters.codex.transport.app_server.connection import RpcRequest
from upbeat.adapters.codex.transport.app_server.requests import PendingApproval, item_id_of, pending_approval_from
from upbeat.adapters.codex.transport.base import ApprovalDecision, ApprovalKind, ApprovalRequest, FileDiff

ALL = (ApprovalDecision.ACCEPT, ApprovalDecision.ACCEPT_SESSION, ApprovalDecision.DECLINE, ApprovalDecision.CANCEL)
COMMAND = {
    "itemId": "call_5",
    "command": "/bin/bash -lc 'touch yes.txt'",
    "cwd": "/p",
    "reason": "may I?",
    "proposedExecpolicyAmendment": ["touch", "yes.txt"],
    "availableDecisions": ["accept", {"acceptWithExecpolicyAmendment": {}}, "cancel"],
}
CHANGES = (FileDiff("add", "/p/a", "hi\n"), FileDiff("delete", "/p/b"))
TOOL = {
    "serverName": "mem",
    "mode": "form",
    "_meta": {"persist": ["session", "always"], "tool_params": {"x": "店"}},
    "message": "Allow?",
    "requestedSchema": {"type": "object", "properties": {}},
}
FORM = {**TOOL, "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
WANTED = {"network": {"enabled": True}, "fileSystem": None}


def ask(method: str, fields: dict[str, Any], changes: tuple[FileDiff, ...] = ()) -> PendingApproval:
    approval = pending_approval_from(RpcRequest(0, method, fields), changes)
    assert approval
    return approval


def test_command() -> None:
    """The user sees the command, its shell, folder and reason, and can allow a rule that Codex proposes."""
    question = ask("item/commandExecution/requestApproval", COMMAND)
    choices = (ApprovalDecision.ACCEPT, ApprovalDecision.ACCEPT_RULE, ApprovalDecision.DECLINE, ApprovalDecision.CANCEL)
    rule, shell = ("touch", "yes.txt"), "/bin/bash -lc"
    expected = ApprovalRequest(ApprovalKind.COMMAND, "touch yes.txt", "/p", "may I?", (), choices, rule, shell)
    assert expected == question.request
    amended = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch", "yes.txt"]}}
    assert ["accept", amended, "decline", "cancel"] == [
        question.response_for(decision)["decision"] for decision in choices
    ]


def test_command_without_offered_decisions() -> None:
    """A decision that is not offered is no choice, and choosing it means no."""
    question = ask("item/commandExecution/requestApproval", {"command": "ls"})
    assert (ApprovalDecision.ACCEPT, ApprovalDecision.DECLINE, ApprovalDecision.CANCEL) == question.request.choices
    assert {"decision": "decline"} == question.response_for(ApprovalDecision.ACCEPT_RULE)


def test_network() -> None:
    """A network request is about its host."""
    fields = {**COMMAND, "networkApprovalContext": {"host": "example.org", "protocol": "https"}}
    approval = ask("item/commandExecution/requestApproval", fields).request
    assert (ApprovalKind.NETWORK, "example.org") == (approval.kind, approval.subject)


def test_files() -> None:
    """A file change is shown with the diff that came before."""
    question = ask("item/fileChange/requestApproval", {"itemId": "i", "reason": None}, CHANGES)
    assert ApprovalRequest(ApprovalKind.FILES, "/p/a, /p/b", "", "", CHANGES, ALL) == question.request
    assert ["accept", "acceptForSession", "decline", "cancel"] == [
        question.response_for(decision)["decision"] for decision in ALL
    ]


def test_permissions() -> None:
    """The requested permissions are granted for the turn or the session, or not at all."""
    question = ask("item/permissions/requestApproval", {"permissions": WANTED, "cwd": "/p"})
    granted = {"network": {"enabled": True}}
    assert (granted, ALL) == (json.loads(question.request.subject), question.request.choices)
    assert {"permissions": granted, "scope": "turn"} == question.response_for(ApprovalDecision.ACCEPT)
    assert {"permissions": granted, "scope": "session"} == question.response_for(ApprovalDecision.ACCEPT_SESSION)
    assert {"permissions": {}} == question.response_for(ApprovalDecision.DECLINE)


def test_tool_of_a_server() -> None:
    """Codex's own question before a tool call is an empty form; the parameters are shown."""
    question = ask("mcpServer/elicitation/request", TOOL)
    details = (("serverName", '"mem"'), ("tool_params", '{\n "x": "店"\n}'))
    assert ApprovalRequest(ApprovalKind.TOOL, "Allow?", choices=ALL, details=details) == question.request
    assert {"action": "accept", "content": {}} == question.response_for(ApprovalDecision.ACCEPT)
    assert {"action": "decline"} == question.response_for(ApprovalDecision.DECLINE)


@pytest.mark.parametrize(
    ("method", "fields", "answer"),
    [
        ("mcpServer/elicitation/request", FORM, {"action": "decline"}),
        ("mcpServer/elicitation/request", {**TOOL, "mode": "url"}, {"action": "decline"}),
        ("item/tool/requestUserInput", {"questions": [{"question": "which?"}]}, {"answers": {}}),
        (
            "item/tool/call",
            {"tool": "x"},
            {"success": False, "contentItems": [{"type": "inputText", "text": "codex-auto has no such tool"}]},
        ),
    ],
    ids=["form", "url", "input", "call"],
)
def test_requests_for_text_are_declined(method: str, fields: dict[str, Any], answer: dict[str, Any]) -> None:
    """Where a yes is not enough, the response lets the turn continue without it."""
    question = ask(method, fields)
    assert ApprovalKind.INPUT is question.request.kind
    assert [answer, answer] == [
        question.response_for(decision) for decision in (ApprovalDecision.ACCEPT, ApprovalDecision.DECLINE)
    ]


@pytest.mark.parametrize("method", ["currentTime/read", "attestation/generate", "execCommandApproval", "new/thing"])
def test_unknown_requests_are_not_supported(method: str) -> None:
    """An unknown request is not shown to the user."""
    assert pending_approval_from(RpcRequest(0, method, {})) is None


METHODS = [
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
    "mcpServer/elicitation/request",
    "item/tool/requestUserInput",
    "item/tool/call",
]
FIELDS = sorted({*COMMAND, *TOOL, "permissions", "questions", "networkApprovalContext"})


@given(
    st.sampled_from(METHODS), st.dictionaries(st.sampled_from(FIELDS), JSON), st.sampled_from(list(ApprovalDecision))
)
def test_every_request_has_a_response(method: str, fields: dict[str, Any], decision: ApprovalDecision) -> None:
    """Whatever the fields are, each decision has a response, and no is always a choice."""
    question = ask(method, fields)
    assert question.response_for(decision)
    assert ApprovalDecision.DECLINE in question.request.choices
    assert isinstance(item_id_of(RpcRequest(0, method, fields)), str)
