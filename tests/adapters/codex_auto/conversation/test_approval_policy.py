"""What Codex asks about is judged by the policies and rules in force before the user is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fakes.codex.conversation import FIRST, Scene, good, open_scene
from fakes.codex.rollout import ROOT

from upbeat.adapters.codex.transport.app_server.connection import RpcRequest
from upbeat.adapters.codex.transport.app_server.requests import pending_approval_from
from upbeat.adapters.codex.transport.base import ApprovalDecided, ApprovalDecision, ApprovalRequest, FileDiff
from upbeat.adapters.codex_auto.conversation.approval_policy import ApprovalJudge, described_call
from upbeat.core.contract.event import FileEdit, ToolKind
from upbeat.core.settings import Activation

YES, SESSION, RULE = ApprovalDecision.ACCEPT, ApprovalDecision.ACCEPT_SESSION, ApprovalDecision.ACCEPT_RULE
NO = ApprovalDecision.DECLINE
OFFERED = ["accept", "acceptForSession", {"acceptWithExecpolicyAmendment": {}}, "cancel"]


@dataclass
class User:
    """Says yes to everything, and remembers what was asked."""

    asked: list[ApprovalRequest] = field(default_factory=list)

    def __call__(self, request: ApprovalRequest) -> ApprovalDecision:
        self.asked.append(request)
        return YES


def request(
    method: str, fields: Mapping[str, Any], diffs: tuple[FileDiff, ...] = (), cwd: str = "/repo"
) -> ApprovalRequest:
    known = {"itemId": "call_5", "threadId": FIRST, "cwd": cwd, **fields}
    pending = pending_approval_from(RpcRequest(0, f"item/{method}/requestApproval", known), diffs)
    assert pending
    return pending.request


def command(line: str, rule: tuple[str, ...] = ("ls",), cwd: str = "/repo") -> ApprovalRequest:
    fields = {"command": line, "proposedExecpolicyAmendment": list(rule), "availableDecisions": OFFERED}
    return request("commandExecution", fields, cwd=cwd)


def judged(root: Path, asked: ApprovalRequest, **settings: Any) -> tuple[ApprovalDecision, User, Scene]:
    scene = open_scene(root, good(), **settings)
    scene.turn()
    user = User()
    judge = ApprovalJudge(scene.conversation.workflow, user, scene.printer, str(root))
    return judge(asked), user, scene


@pytest.mark.parametrize("line", ["/bin/bash -lc 'rm -rf ~'", "rm -rf /", "/tmp/evil/bash -lc 'rm -rf ~'"])
def test_a_denied_command_is_declined(tmp_path: Path, line: str) -> None:
    """The user is not asked, but told why; the record has the call and the denial."""
    decision, user, scene = judged(tmp_path, command(line))
    record = next(record for record in scene.world.journal.records if record.event == "ToolStarting")

    assert (NO, []) == (decision, user.asked)
    assert "Codex asked to do something that upbeat denies" in scene.printed
    assert ["deny"] == [effect["kind"] for effect in record.effects]
    assert record.effects[0]["text"] in scene.printed
    assert ("call_5", "Bash", "") == (
        record.event_fields["call_id"],
        record.event_fields["tool"],
        record.effects[0].get("degraded", ""),
    )


def test_a_questionable_command_is_asked_about(tmp_path: Path) -> None:
    """The question has the text of the policy, and no answer for longer than this call."""
    decision, user, scene = judged(tmp_path, command("/bin/bash -lc 'git branch -D old'"))
    [asked] = user.asked

    assert YES is decision
    assert "old" in asked.policy_text
    assert {YES, NO, ApprovalDecision.CANCEL} == set(asked.choices)
    effects = [effect for record in scene.world.journal.records for effect in record.effects]
    assert ["request_approval"] == [effect["kind"] for effect in effects if effect["kind"] != "notify_user"]


def test_a_harmless_command_is_asked_about_as_it_is(tmp_path: Path) -> None:
    """All answers that Codex offers are choices, and no policy says anything."""
    harmless = command("/bin/bash -lc 'ls -l'", ("ls",))

    assert [harmless] == judged(tmp_path, harmless)[1].asked


@pytest.mark.parametrize(
    ("line", "rule", "lasting"),
    [
        ("ls", ("ls",), {SESSION, RULE}),
        ("touch a", ("touch", "a b"), {SESSION, RULE}),
        ("npm test", ("npm", "test"), {SESSION, RULE}),
        ("rm a", ("rm",), {SESSION}),
        ("timeout 5 ls", ("timeout",), {SESSION}),
        ("timeout 5 ls", ("timeout", "5"), {SESSION}),
        ("psql -l", ("psql",), {SESSION}),
        ("psql -l", ("psql", "-d", "a"), {SESSION}),
        ("aws s3 ls", ("aws",), {SESSION}),
        ("aws s3 ls", ("aws", "s3"), {SESSION}),
        ("terraform plan", ("terraform",), {SESSION}),
        ("redis-cli get a", ("redis-cli",), {SESSION}),
        ("mongosh a", ("mongosh",), {SESSION}),
        ("mv a b", ("mv",), {SESSION}),
        ("cp a b", ("cp",), {SESSION}),
        ("tee a", ("tee",), {SESSION}),
        ("chmod 600 a", ("chmod",), {SESSION}),
        ("truncate -s 9 a", ("truncate",), {SESSION}),
        ("git -C . status", ("git", "-C"), {SESSION}),
        ("git -C . status", ("git", "-C", "."), {SESSION}),
        ("git -c x=y status", ("git", "-c"), {SESSION}),
        ("gh repo list", ("gh", "repo"), {SESSION}),
        ("npm run lint", ("npm", "run"), {SESSION}),
        ("pytest -q", ("pytest",), {SESSION, RULE}),
        ("cargo test", ("cargo", "test"), {SESSION, RULE}),
        ("git status", ("git", "status"), {SESSION, RULE}),
        ("git log -1", ("git", "log"), {SESSION, RULE}),
        ("git push", ("git", "push"), {SESSION}),
        ("git status", ("git",), {SESSION}),
        ("sudo ls", ("sudo",), {SESSION}),
        ("bash -lc ls", ("/bin/bash", "-lc"), {SESSION}),
        ("upbeat status", ("upbeat",), {SESSION}),
        ("rm -rf /", ("rm", "-rf"), set()),
        ("git stash drop", ("git", "stash"), set()),
    ],
)
@pytest.mark.parametrize("enabled", [Activation.AUTO, Activation.OFF])
def test_what_is_destructive_is_not_allowed_for_good(
    tmp_path: Path, line: str, rule: tuple[str, ...], lasting: set[ApprovalDecision], enabled: Activation
) -> None:
    """A rule that begins like something destructive is not offered, whatever the settings say."""
    user = judged(tmp_path, command(line, rule), enabled=enabled)[1]

    assert [lasting] == [{SESSION, RULE} & set(asked.choices) for asked in user.asked] or line == "rm -rf /"


def test_a_folder_counts(tmp_path: Path) -> None:
    """A command is judged where it would run."""
    asked = command("/bin/bash -lc 'rm -rf .'", cwd="/home")

    assert NO is judged(tmp_path, asked)[0]


def test_the_answer_is_recorded(tmp_path: Path) -> None:
    """The journal has the answer beside the call."""
    _decision, _user, scene = judged(tmp_path, command("ls"))
    scene.conversation.workflow.handle_event(ApprovalDecided(command("ls"), YES))
    record = scene.world.journal.records[-1]

    assert "ApprovalDecided" == record.event
    assert {"call_id": "call_5", "kind": "command", "decision": "accept"} == record.event_fields
    assert [("approval", "accept")] == [(one.component, one.decision) for one in record.explanations]


def test_a_subagent_is_named(tmp_path: Path) -> None:
    """A call on another thread belongs to the subagent that runs there."""
    asked = request("commandExecution", {"command": "ls", "threadId": ROOT})
    records = judged(tmp_path, asked)[2].world.journal.records

    assert [ROOT] == [record.agent_id for record in records if record.event == "ToolStarting"]


def test_changes_are_described_as_a_hook_would() -> None:
    """Paths, also those of moves, and what is added and removed."""
    diffs = (
        FileDiff("add", "/p/a", "one\n"),
        FileDiff("update", "/p/../b", "@@ -1 +1 @@\n-x\n+y\n", "/c"),
        FileDiff("delete", "/d", "z"),
    )
    asked = request("fileChange", {}, diffs)
    assert asked.call
    call = described_call(asked, asked.call)

    edits = (FileEdit("/p/a", "one\n", ""), FileEdit("/b", "y", "x"), FileEdit("/c", "y", ""), FileEdit("/d", "", "z"))
    assert ("apply_patch", ToolKind.EDIT) == (call.tool, call.kind)
    assert (("/p/a", "/b", "/c", "/d"), edits) == (call.paths, call.edits)
    only = request("fileChange", {}, diffs[:1])
    assert only.call
    assert ToolKind.WRITE is described_call(only, only.call).kind
