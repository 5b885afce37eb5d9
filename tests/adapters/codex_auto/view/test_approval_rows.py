"""What an approval displays decodes to what Codex gets to run, for every kind of request and any text."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from approval_display import ask_codex, display, read_rows
from fakes.codex.conversation import CHINESE, ENGLISH
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.adapters.codex.transport.base import ApprovalDecision, FileDiff
from upbeat.adapters.codex_auto.texts import Texts

TEXT = st.text(
    st.characters(exclude_characters="\0\ufffd", exclude_categories=("Cs",)), min_size=1, max_size=60
).filter(str.strip)
SNEAKY = st.text(st.sampled_from("\x1b]0;\x07\x90\x9c\u202e\u200b\t\r\n \\u{}$'\"a店\u05d0é"), min_size=1).filter(
    str.strip
)
ANY = st.one_of(
    TEXT, SNEAKY, st.sampled_from(["echo tidy \x1b]0; touch marked; #\x07 up", "a" * 999, "\n\n> x", " x "])
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), ANY),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ANY, inner, max_size=3)),
    max_leaves=6,
)


@given(ANY, ANY, ANY, st.sampled_from(["/bin/bash", "/tmp/evil/bash"]), st.integers(30, 120))
def test_commands(script: str, cwd: str, reason: str, program: str, columns: int) -> None:
    """A command is displayed with its program, its folder and its reason; each decodes to what Codex said."""
    line = shlex.join([program, "-lc", script])
    pending = ask_codex("item/commandExecution/requestApproval", {"command": line, "cwd": cwd, "reason": reason})
    shown = dict(read_rows(display(pending, columns)))

    run = [*shlex.split(shown["with"]), shown["$"]] if "with" in shown else shlex.split(shown["$"])
    assert [program, "-lc", script] == run
    assert (cwd, reason) == (shown["in"], shown["reason:"])
    assert ("with" in shown) == (program == "/bin/bash")
    assert ApprovalDecision.ACCEPT in pending.request.choices


@given(st.lists(ANY, min_size=1), st.integers(30, 120))
def test_rules(words: list[str], columns: int) -> None:
    """A rule is displayed as Codex stores it, and is the rule of the answer."""
    offered: list[Any] = ["accept", {"acceptWithExecpolicyAmendment": {}}]
    fields = {"command": "ls", "proposedExecpolicyAmendment": words, "availableDecisions": offered}
    pending = ask_codex("item/commandExecution/requestApproval", fields)
    [shown] = [text for mark, text in read_rows(display(pending, columns)) if mark == ">"]

    [stored] = (json.JSONDecoder().raw_decode(shown, len("prefix_rule(pattern=")),)
    answer = pending.response_for(ApprovalDecision.ACCEPT_RULE)["decision"]["acceptWithExecpolicyAmendment"]
    assert words == stored[0] == answer["execpolicy_amendment"]


@given(st.sampled_from(["add", "delete", "update"]), ANY, ANY, st.one_of(st.just(""), ANY), st.integers(30, 120))
def test_changes(kind: str, path: str, diff: str, new_path: str, columns: int) -> None:
    """Every line of every change is displayed, with the path, and with the path that it is moved to."""
    change = FileDiff(kind, path, diff, new_path if kind == "update" else "")
    pending = ask_codex("item/fileChange/requestApproval", {"itemId": "i"}, (change,))
    rows = display(pending, columns)
    texts = read_rows(rows)
    mark = {"add": "|+", "delete": "|-", "update": "|"}[kind]
    shown = "".join(f"{text}\n" for found, text in texts if found == mark)

    assert path == texts[0][1]
    assert diff == (shown.removesuffix("\n") if any(row.startswith("  (the last") for row in rows) else shown)
    assert change.new_path == next((text for found, text in texts if found == ">"), "")


@given(st.dictionaries(ANY, VALUES, min_size=1, max_size=4), ANY, st.integers(30, 120))
def test_permissions(permissions: dict[str, Any], grant_root: str, columns: int) -> None:
    """All permissions are displayed, and are those that are granted; so is every other field of the request."""
    fields = {"permissions": permissions, "somethingNew": {"root": grant_root}}
    pending = ask_codex("item/permissions/requestApproval", fields)
    granted = {name: value for name, value in permissions.items() if value is not None}
    texts = read_rows(display(pending, columns))

    assert granted == pending.response_for(ApprovalDecision.ACCEPT).get("permissions", {})
    assert (">", {"root": grant_root}) == (texts[-1][0], json.loads(texts[-1][1]))
    assert granted == (json.loads(texts[0][1]) if granted else {})
    assert bool(granted) == (ApprovalDecision.ACCEPT in pending.request.choices)


@given(st.dictionaries(ANY, VALUES, min_size=1, max_size=4), ANY, st.integers(30, 120))
def test_tools(parameters: dict[str, Any], message: str, columns: int) -> None:
    """A call of a tool is displayed with the server and all parameters."""
    about = {"codex_approval_kind": "mcp_tool_call", "tool_name": "save", "tool_params": parameters}
    fields = {"serverName": "mem", "mode": "form", "message": message, "_meta": about}
    texts = read_rows(display(ask_codex("mcpServer/elicitation/request", fields), columns))
    names = [text for mark, text in texts if mark == "#"]

    assert (">", message) == texts[0]
    assert ["serverName", "tool_name", "tool_params"] == names
    assert parameters == json.loads(texts[-1][1])


ODD = [
    ("item/commandExecution/requestApproval", {}),
    ("item/commandExecution/requestApproval", {"command": ["ls"]}),
    ("item/commandExecution/requestApproval", {"command": "<command included NUL byte>"}),
    ("item/commandExecution/requestApproval", {"command": "/bin/bash -lc 'a\0b'"}),
    ("item/commandExecution/requestApproval", {"command": "cat \ufffd"}),
    ("item/commandExecution/requestApproval", {"command": "cat '\ud800'"}),
    ("item/commandExecution/requestApproval", {"command": "ls", "cwd": "/\ufffd"}),
    ("item/commandExecution/requestApproval", {"command": "ls", "kind": "writeStdin"}),
    ("item/commandExecution/requestApproval", {"command": "ls", "networkApprovalContext": {}}),
    ("item/commandExecution/requestApproval", {"command": "ls", "additionalPermissions": {"write": ["\ud800"]}}),
    ("item/commandExecution/requestApproval", {"command": "ls", "availableDecisions": ["decline"]}),
    ("item/fileChange/requestApproval", {"itemId": "unknown"}),
    ("item/fileChange/requestApproval", {"itemId": "unknown", "grantRoot": "/"}),
    ("item/permissions/requestApproval", {"permissions": {"network": None}}),
    ("item/permissions/requestApproval", {"permissions": ["/"]}),
    ("mcpServer/elicitation/request", {"mode": "form", "message": ""}),
    ("mcpServer/elicitation/request", {"mode": "form", "message": "ok?", "_meta": {"tool_params": {"x": "\ufffd"}}}),
]


@pytest.mark.parametrize(("method", "fields"), ODD)
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_no_yes_to_what_cannot_be_displayed(method: str, fields: dict[str, Any], texts: Texts) -> None:
    """A request that is empty, of an unknown kind or not decodable takes no yes, and says why."""
    pending = ask_codex(method, fields)

    assert (ApprovalDecision.DECLINE, ApprovalDecision.CANCEL) == pending.request.choices
    assert pending.response_for(ApprovalDecision.ACCEPT) == pending.response_for(ApprovalDecision.DECLINE)
    only_no = texts["approval_only_no"].partition("{")[0]
    assert fields.get("availableDecisions") or any(row.startswith(only_no) for row in display(pending, 200, texts))


@pytest.mark.parametrize(
    "change", [FileDiff("update", "/p/a"), FileDiff("link", "/p/a", "x"), FileDiff("add", "", "x")]
)
def test_no_yes_to_an_unclear_change(change: FileDiff) -> None:
    """A change without content, path or a known kind takes no yes."""
    assert ask_codex("item/fileChange/requestApproval", {}, (change,)).request.problem


def test_a_root_that_a_yes_grants_is_said() -> None:
    """Either yes to changes with ``grantRoot`` lasts for the session, so the screen says so."""
    shown, plain = (
        " ".join(display(ask_codex("item/fileChange/requestApproval", {"itemId": "i", "grantRoot": root}), 200))
        for root in ("/", None)
    )

    assert "either yes also lets Codex write anything below grantRoot" in shown
    assert "either yes" not in plain


@given(st.dictionaries(st.sampled_from(["grantRoot", "additionalPermissions", "kindOfNew", "environmentId"]), JSON))
def test_every_field_is_displayed(fields: dict[str, Any]) -> None:
    """Whatever a request says beside what names it is displayed by name, also what only a newer Codex says."""
    pending = ask_codex("item/commandExecution/requestApproval", {"command": "ls", **fields})
    texts = read_rows(display(pending))
    shown = dict(zip((t for m, t in texts if m == "#"), (json.loads(t) for m, t in texts if m == ">"), strict=True))

    assert {name: value for name, value in fields.items() if value is not None} == shown


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_a_terminal_lacks_is_escaped(encoding: str) -> None:
    """No character becomes a question mark because the terminal has another encoding."""
    pending = ask_codex("item/commandExecution/requestApproval", {"command": "/bin/bash -lc 'echo é 店'"})
    rows = display(pending, encoding=encoding)

    assert "echo é 店" == dict(read_rows(rows))["$"]
    assert [row.encode(encoding).decode(encoding) for row in rows[1:3]] == rows[1:3]
