"""Judge what Codex asks about before the user is asked, as a hook would judge it before the call.

Invariant: what the policies and rules in force deny is declined with their text; what they ask about is asked with
their text. Nothing destructive, and no control of upbeat, is allowed for longer than one call.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace

from upbeat.adapters.codex.tools import describe_call
from upbeat.adapters.codex.transport.app_server.turn import AskPerson
from upbeat.adapters.codex.transport.base import ApprovalDecision, ApprovalKind, ApprovalRequest, FileDiff, PendingCall
from upbeat.adapters.codex_auto.conversation.workflow_bridge import WorkflowBridge
from upbeat.adapters.codex_auto.view.show import Style, TurnPrinter
from upbeat.core.contract.effect import Deny, RequestApproval
from upbeat.core.contract.event import Call, FileEdit, ToolKind
from upbeat.core.destructive import ShellLocation, find_hazards, has_trigger
from upbeat.core.destructive.calls import worst_arguments
from upbeat.core.policy.own_controls import mentions_in_line

_WORST_WORDS: tuple[tuple[str, ...], ...] = (
    (),
    ("-rf", "/"),
    ("--force",),
    ("--hard", "HEAD~1"),
    ("-delete",),
    (".", "-delete"),
    ("rm", "-rf", "/"),
    ("rm -rf /",),
    ("-c", "rm -rf /"),
    ("-c", "import shutil; shutil.rmtree('/')"),
    ("push", "--force"),
    ("trust", "--yes"),
    ("upbeat trust --yes",),
    ("5", "rm", "-rf", "/"),
    ("-R", "000", "/"),
    ("-s", "0", "/etc/passwd"),
    ("/dev/zero", "/dev/sda"),
    ("/dev/sda",),
    ("reset", "--hard"),
    (".", "reset", "--hard"),
    ("x=y", "push", "-f", "origin", "main"),
    ("-c", "drop database x"),
    ("drop database x",),
)
"""What may follow the words of a rule: a rule that would also allow one of these is not offered."""

_LASTING = (ApprovalDecision.ACCEPT_SESSION, ApprovalDecision.ACCEPT_RULE)


class ApprovalJudge:
    """Implements ``AskPerson``: judges a request, and passes it on to ``ask_person`` unless it is denied."""

    def __init__(self, workflow: WorkflowBridge, ask_person: AskPerson, printer: TurnPrinter, root: str) -> None:
        self._workflow = workflow
        self._ask_person = ask_person
        self._printer = printer
        self._root = root

    def __call__(self, request: ApprovalRequest) -> ApprovalDecision:
        questions: list[str] = []
        if request.call:
            decision = self._workflow.judge_call(described_call(request, request.call), request)
            effects = decision.effects if decision else ()
            if denials := [effect.text for effect in effects if isinstance(effect, Deny)]:
                self._printer.print_line(self._printer.texts["approval_denied"], Style.BOLD)
                self._printer.print_line("\n".join(denials), Style.RED)
                return ApprovalDecision.DECLINE
            questions = [effect.text for effect in effects if isinstance(effect, RequestApproval)]
        return self._ask_person(self._limit_duration(replace(request, policy_text="\n".join(questions))))

    def _limit_duration(self, request: ApprovalRequest) -> ApprovalRequest:
        """Return ``request`` without the lasting choices that would allow too much."""
        location = ShellLocation(self._root, request.cwd)
        refused: set[ApprovalDecision] = set()
        if request.policy_text or (request.call and _is_risky(str(request.call.input.get("command", "")), location)):
            refused.update(_LASTING)
        elif _allows_too_much(request.allowed_prefix, location):
            refused.add(ApprovalDecision.ACCEPT_RULE)
        return replace(request, choices=tuple(choice for choice in request.choices if choice not in refused))


def _allows_too_much(prefix: Sequence[str], location: ShellLocation) -> bool:
    """Return whether something destructive may begin with ``prefix``, the words of a rule."""
    if not prefix or (has_trigger(prefix[0]) and (prefix[-1] == "run" or all(word[:1] == "-" for word in prefix[1:]))):
        return True
    following = (*_WORST_WORDS, *worst_arguments(tuple(prefix)))
    return any(_is_risky(shlex.join((*prefix, *words)), location) for words in following)


def _is_risky(line: str, location: ShellLocation) -> bool:
    return bool(find_hazards(line, location) or mentions_in_line(line).commands)


def described_call(request: ApprovalRequest, pending: PendingCall) -> Call:
    """Return the call that ``request`` is about, as the hook before it would describe it."""
    call = Call(pending.call_id, pending.tool, pending.input)
    if request.kind is not ApprovalKind.FILES:
        return describe_call(call, request.cwd)
    paths = dict.fromkeys(path for change in request.diffs for path in (change.path, change.new_path) if path)
    is_new = all(change.kind == "add" for change in request.diffs)
    kind = ToolKind.WRITE if is_new and request.diffs else ToolKind.EDIT
    return replace(call, kind=kind, paths=tuple(map(os.path.normpath, paths)), edits=_edits(request.diffs))


def _edits(diffs: Sequence[FileDiff]) -> tuple[FileEdit, ...]:
    edits = []
    for change in diffs:
        lines = change.diff.split("\n")
        added, removed = ("\n".join(line[1:] for line in lines if line.startswith(sign)) for sign in "+-")
        if change.kind in ("add", "delete"):
            added, removed = (change.diff, "") if change.kind == "add" else ("", change.diff)
        edits.append(FileEdit(os.path.normpath(change.path), added, removed))
        if change.new_path:
            edits.append(FileEdit(os.path.normpath(change.new_path), added, ""))
    return tuple(edits)
