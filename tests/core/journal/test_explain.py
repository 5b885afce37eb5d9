"""What mattered last is explained in sentences, in both languages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import BARE, ENTRY, JSON
from pydantic import TypeAdapter

from upbeat.core.journal import explain
from upbeat.core.journal.explain import explanation_document, find_telling_entry, format_explanation
from upbeat.core.journal.record import JournalEntry
from upbeat.core.messages.catalogue import LANGUAGES


def record(event: str, seq: int = 1, *effects: str, **body: Any) -> JournalEntry:
    done = [{"kind": kind, "text": f"the text of {kind}", "part": "turn"} for kind in effects]
    return JournalEntry(seq, {"event": event, "effects": done, **body}, "", "")


def prompt(text: str, seq: int = 1, *effects: str, **body: Any) -> JournalEntry:
    return record("PromptSubmitted", seq, *effects, event_fields={"origin": "user", "prompt": text}, **body)


def shell(command: str, seq: int = 1, *effects: str) -> JournalEntry:
    return record("ToolStarting", seq, *effects, event_fields={"command": command, "tool": "Bash"}, explanations=[{}])


def turn(decision: str, reason: str = "", codes: tuple[str, ...] = (), **inputs: Any) -> dict[str, Any]:
    """The fields of a turn's record."""
    part = {"component": "turn", "decision": decision, "reason": reason, "inputs": inputs}
    return {"explanations": [part], "turn": {"limits": list(codes)}}


INJECTED = prompt(
    "where is total_price?", 2, "inject_context",
    **turn("inject", "tier-2 disabled by default; set CI_AUTO_TOOLS_TIER_MAX=2 to enable", ("tier2_disabled",),
           signals=["explicit: total_price"], names=["cart.py", "test_cart.py"], tools=["ci_search: ok, 26 ms"]),
)  # fmt: skip
DENIED = shell("rm -rf ~/", 3, "deny")
ASKED = [prompt(f"{mark}upbeat:{name}", 9) for mark in "/$" for name in ("why", "context", "status")]
RUN = [shell(line, 9) for line in ("upbeat why --last", "cd /repo && .venv/bin/upbeat log; upbeat status")]


@pytest.mark.parametrize(
    ("entries", "seq"),
    [
        ([INJECTED, *ASKED], 2),
        ([INJECTED, *RUN], 2),
        ([INJECTED, DENIED, prompt("thanks", 4, **turn("nothing"))], 3),
        ([prompt("thanks", 4, **turn("nothing")), record("TurnEnding", 5)], 4),
        ([record("TurnEnding", 5), record("TurnEnding", 6)], 6),
        ([INJECTED, shell("upbeat trust", 7, "deny"), shell("rm x && upbeat why", 8, "deny")], 8),
        ([INJECTED, shell("upbeat trust", 7, "deny"), shell("upbeat why", 8, "deny")], 7),
        (ASKED[:1], 9),
    ],
)
def test_what_mattered_last(entries: list[JournalEntry], seq: int) -> None:
    """An effect comes before a decision, and both before nothing; questions about upbeat itself do not count."""
    assert seq == getattr(find_telling_entry(entries), "seq", None)


def test_without_records_nothing_is_explained() -> None:
    """There is nothing to explain in an empty journal."""
    assert find_telling_entry([]) is None


@pytest.mark.parametrize(
    ("entry", "english", "chinese"),
    [
        (
            INJECTED,
            ["At your prompt “where is total_price?”, upbeat added 26 characters of context.",
             "  search (context injected): the prompt names total_price; the search found cart.py, test_cart.py."],
            ["收到你的提示“where is total_price?”时，upbeat 注入了 26 个字符的上下文。",
             "  搜索（注入上下文）：提示中提到 total_price；搜索找到了 cart.py, test_cart.py。"],
        ),
        (
            prompt("thanks", 4, **turn("nothing", "…", ("not_about_code",))),
            ["At your prompt “thanks”, upbeat did nothing.",
             "  search (no context): the prompt is not about code; nothing was looked up."],
            ["收到你的提示“thanks”时，upbeat 没有做任何事。", "  搜索（无上下文）：提示与代码无关，没有查找。"],
        ),
        (
            prompt("fix a.py", 4, "inject_context",
                   **turn("inject", "", ("tool_timeout",), limits=["tool timeout: ci_search"])),
            ["At your prompt “fix a.py”, upbeat added 26 characters of context.",
             ("  search (context injected): the search found something that answers it; "
             "note: a tool ran out of time: ci_search.")],
            ["收到你的提示“fix a.py”时，upbeat 注入了 26 个字符的上下文。",
             "  搜索（注入上下文）：搜索找到了相关内容；注意：工具超时: ci_search。"],
        ),
        (
            record("ToolStarting", 3, "deny", event_fields={"command": "rm -rf ~/", "tool": "Bash"}, explanations=[
                {"component": "policy x", "decision": "RequestApproval", "reason": "touches it"},
                {"component": "policy x", "decision": "dropped", "reason": "RequestApproval: overruled by Deny"},
                {"component": "policy block-interactive-commands", "decision": "Deny", "reason": "vim"}]),
            ["Before Bash ran `rm -rf ~/`, upbeat blocked the call.",
             "  policy x (approval requested): touches it.",
             "  policy x (dropped): approval requested: another decision takes precedence.",
             "  policy block-interactive-commands (denied): vim."],
            ["Bash 运行 `rm -rf ~/` 之前，upbeat 拒绝了该调用。",
             "  策略 x（请求批准）：touches it。",
             "  策略 x（已丢弃）：请求批准: 另一个决定优先。"],
        ),
        (
            ENTRY,
            ["When the turn was about to end, upbeat let the agent continue.",
             "  loop (turn continued): PLAN is not done."],
            ["回合即将结束时，upbeat 让智能体继续。", "  循环（继续回合）：PLAN is not done。"],
        ),
        (BARE, ["At the event Tea, upbeat did nothing.", "  No component made a decision."],
         ["发生事件 Tea 时，upbeat 没有做任何事。", "  没有组件做出决定。"]),
    ],
    ids=["injected", "nothing", "limited", "denied", "continued", "bare"],
)  # fmt: skip
def test_the_explanation_opens_with_the_answer(entry: JournalEntry, english: list[str], chinese: list[str]) -> None:
    """The first line says what was done, the next ones why; the reason of an injection is what was found."""
    assert english == format_explanation(entry, "en").split("\n")[: len(english)]
    assert chinese == format_explanation(entry, "zh").split("\n")[: len(chinese)]


def test_the_whole_text() -> None:
    """After the reasons come the effects, what was looked at, and the record."""
    assert """\
At your prompt “where is total_price?”, upbeat added 26 characters of context.
  search (context injected): the prompt names total_price; the search found cart.py, test_cart.py.

context injected · 26 characters · search
  its text: upbeat context 2

search: tools ci_search (ok, 26 ms)

record 2 · PromptSubmitted · 0 ms""" == format_explanation(INJECTED, "en")


def test_a_chinese_reader_is_told_what_the_policy_does() -> None:
    """The recorded reason of a policy is in English, so its description comes first."""
    part = {"component": "policy block-interactive-commands", "decision": "Deny", "reason": "vim"}
    [line] = [
        line
        for line in format_explanation(record("ToolStarting", 1, explanations=[part]), "zh").split("\n")
        if "策略" in line and line.startswith("  ")
    ]

    assert line.startswith("  策略 block-interactive-commands（拒绝）：阻止需要终端交互的命令")
    assert line.endswith("（vim）。")


def test_a_code_is_explained_by_what_the_policy_does() -> None:
    """A recorded reason that is no sentence comes after the description of the policy, in English, too."""
    part = {"component": "policy block-destructive-commands", "decision": "Deny", "reason": "delete-home: ~/"}
    line = format_explanation(record("ToolStarting", 1, explanations=[part]), "en").split("\n")[1]

    assert line.startswith("  policy block-destructive-commands (denied): Blocks commands that destroy data")
    assert line.endswith("(delete-home: ~/).")


def test_the_document() -> None:
    """The document has the summary, the reasons, and everything that is recorded; it matches its schema."""
    document = explanation_document(ENTRY)

    assert {
        "schema_version": "1.0",
        "summary": "When the turn was about to end, upbeat let the agent continue.",
        "reasons": ["loop (turn continued): PLAN is not done."],
    } == {name: document[name] for name in ("schema_version", "summary", "reasons")}
    assert 7 == document["record"]["seq"]
    assert ["PLAN is not done"] == [part["reason"] for part in document["explanations"]]
    assert [15] == [effect["characters"] for effect in document["effects"]]
    assert ["workflow_started"] == document["facts"]
    TypeAdapter(explain.Explained).validate_python(document)


def test_the_line_of_a_turn_is_no_effect_of_its_own() -> None:
    """What only shows the user that context was added is not told as a second thing."""
    line = {"kind": "notify_user", "text": "upbeat: 1 file", "part": "display"}
    shown = JournalEntry(2, {**INJECTED.body, "effects": [*INJECTED.body["effects"], line]}, "", "")

    assert format_explanation(INJECTED, "en") == format_explanation(shown, "en")


@given(
    st.dictionaries(st.sampled_from(["event", "effects", "explanations", "event_fields", "turn", "facts", "at"]), JSON)
)
def test_any_record_is_explained(body: dict[str, Any]) -> None:
    """A record with values of any type is explained without an error, as text and as a document."""
    entry = JournalEntry(9, body, "", "")

    assert all(format_explanation(entry, language) for language in LANGUAGES)
    assert 9 == explanation_document(entry)["record"]["seq"]
    assert find_telling_entry([entry]) == entry
