"""What the app-server asks becomes a question for a person, or a refusal; never silence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.auto.app_server_requests import Question, item_of, question_in
from upbeat.adapters.codex.auto.app_server_rpc import Request
from upbeat.adapters.codex.auto.transport import Approval, Change, Decision, Matter

ALL = (Decision.ACCEPT, Decision.ACCEPT_SESSION, Decision.DECLINE, Decision.CANCEL)
COMMAND = {
    "itemId": "call_5",
    "command": "/bin/bash -lc 'touch yes.txt'",
    "cwd": "/p",
    "reason": "may I?",
    "proposedExecpolicyAmendment": ["touch", "yes.txt"],
    "availableDecisions": ["accept", {"acceptWithExecpolicyAmendment": {}}, "cancel"],
}
CHANGES = (Change("add", "/p/a", "hi\n"), Change("delete", "/p/b"))
TOOL = {
    "serverName": "mem",
    "mode": "form",
    "_meta": {"persist": ["session", "always"], "tool_params": {"x": "店"}},
    "message": "Allow?",
    "requestedSchema": {"type": "object", "properties": {}},
}
FORM = {**TOOL, "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
WANTED = {"network": {"enabled": True}, "fileSystem": None}


def ask(method: str, fields: dict[str, Any], changes: tuple[Change, ...] = ()) -> Question:
    found = question_in(Request(0, method, fields), changes)
    assert found
    return found


def test_command() -> None:
    """A person sees the command, where, and why; and can allow a rule that Codex proposes."""
    question = ask("item/commandExecution/requestApproval", COMMAND)
    choices = (Decision.ACCEPT, Decision.ACCEPT_RULE, Decision.DECLINE, Decision.CANCEL)
    command = "/bin/bash -lc 'touch yes.txt'"
    rule = ("touch", "yes.txt")
    assert Approval(Matter.COMMAND, command, "/p", "may I?", (), choices, rule) == question.approval
    amended = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch", "yes.txt"]}}
    assert ["accept", amended, "decline", "cancel"] == [question.answer(one)["decision"] for one in choices]


def test_command_without_offers() -> None:
    """What is not offered is no choice, and choosing it all the same is a no."""
    question = ask("item/commandExecution/requestApproval", {"command": "ls"})
    assert (Decision.ACCEPT, Decision.DECLINE, Decision.CANCEL) == question.approval.choices
    assert {"decision": "decline"} == question.answer(Decision.ACCEPT_RULE)


def test_network() -> None:
    """A host is asked about by its name."""
    fields = {**COMMAND, "networkApprovalContext": {"host": "example.org", "protocol": "https"}}
    approval = ask("item/commandExecution/requestApproval", fields).approval
    assert (Matter.NETWORK, "example.org") == (approval.matter, approval.what)


def test_files() -> None:
    """A change is asked about with its diff, which came before."""
    question = ask("item/fileChange/requestApproval", {"itemId": "i", "reason": None}, CHANGES)
    assert Approval(Matter.FILES, "/p/a, /p/b", "", "", CHANGES, ALL) == question.approval
    assert ["accept", "acceptForSession", "decline", "cancel"] == [question.answer(one)["decision"] for one in ALL]


def test_permissions() -> None:
    """What was asked for is granted for the turn or the session, or nothing is."""
    question = ask("item/permissions/requestApproval", {"permissions": WANTED, "cwd": "/p"})
    granted = {"network": {"enabled": True}}
    assert ('{"network": {"enabled": true}}', ALL) == (question.approval.what, question.approval.choices)
    assert {"permissions": granted, "scope": "turn"} == question.answer(Decision.ACCEPT)
    assert {"permissions": granted, "scope": "session"} == question.answer(Decision.ACCEPT_SESSION)
    assert {"permissions": {}} == question.answer(Decision.DECLINE)


def test_tool_of_a_server() -> None:
    """Codex's question before a tool call is an empty form; the parameters are shown."""
    question = ask("mcpServer/elicitation/request", TOOL)
    assert Approval(Matter.TOOL, "Allow?", "", '{"x": "店"}', (), ALL) == question.approval
    assert {"action": "accept", "content": {}} == question.answer(Decision.ACCEPT)
    assert {"action": "decline"} == question.answer(Decision.DECLINE)


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
def test_words_are_not_given(method: str, fields: dict[str, Any], answer: dict[str, Any]) -> None:
    """Where a yes is not enough, the answer lets the turn go on without."""
    question = ask(method, fields)
    assert Matter.INPUT is question.approval.matter
    assert [answer, answer] == [question.answer(one) for one in (Decision.ACCEPT, Decision.DECLINE)]


@pytest.mark.parametrize("method", ["currentTime/read", "attestation/generate", "execCommandApproval", "new/thing"])
def test_unknown_requests_are_no_question(method: str) -> None:
    """Nobody is asked what nobody here can answer."""
    assert question_in(Request(0, method, {})) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
METHODS = [
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
    "mcpServer/elicitation/request",
    "item/tool/requestUserInput",
    "item/tool/call",
]
FIELDS = sorted({*COMMAND, *TOOL, "permissions", "questions", "networkApprovalContext"})


@given(st.sampled_from(METHODS), st.dictionaries(st.sampled_from(FIELDS), JSON), st.sampled_from(list(Decision)))
def test_every_question_has_an_answer(method: str, fields: dict[str, Any], decision: Decision) -> None:
    """Whatever the fields are, every decision means something, and no is always among the choices."""
    question = ask(method, fields)
    assert question.answer(decision)
    assert Decision.DECLINE in question.approval.choices
    assert isinstance(item_of(Request(0, method, fields)), str)
