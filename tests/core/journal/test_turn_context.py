"""``upbeat context`` shows exactly what the last turn got."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON
from pydantic import TypeAdapter

from upbeat.core.journal.record import JournalEntry
from upbeat.core.journal.turn_context import TurnContext, context_document, context_text, find_last_turn
from upbeat.core.messages.catalogue import LANGUAGES


def prompt(seq: int, text: str, *effects: dict[str, str], origin: str = "user", **body: Any) -> JournalEntry:
    fields = {"prompt": text, "origin": origin}
    return JournalEntry(
        seq, {"event": "PromptSubmitted", "event_fields": fields, "effects": [*effects], **body}, "", ""
    )


def injected(part: str, text: str) -> dict[str, str]:
    return {"kind": "inject_context", "part": part, "text": text}


BLOCK = '<upbeat-data id="a">\n1. cart.py:4\n</upbeat-data id="a">'
FOUND = {"component": "turn", "decision": "inject", "inputs": {"names": ["cart.py"]}}
GOT = prompt(
    3, "where is\nit?", injected("turn", BLOCK), injected("rule r", "Use Decimal."),
    {"kind": "notify_user", "part": "display", "text": "upbeat: 1 file"}, explanations=[FOUND], duration_ms=46.3,
)  # fmt: skip
SKIPPED = {"component": "turn", "decision": "nothing", "reason": "…"}
NOTHING = prompt(4, "thanks", explanations=[SKIPPED], turn={"limits": ["not_about_code"]})
STOP = JournalEntry(5, {"event": "TurnEnding"}, "", "")


@pytest.mark.parametrize(
    ("entries", "seq"),
    [
        ([GOT, STOP], 3),
        ([GOT, NOTHING, STOP], 4),
        ([GOT, prompt(6, "/upbeat:context"), prompt(7, "$upbeat:why")], 3),
        ([GOT, prompt(6, "<task-notification>", origin="task_notification"), prompt(7, "do", origin="subagent")], 3),
        ([STOP], None),
        ([], None),
    ],
)
def test_the_last_turn(entries: list[JournalEntry], seq: int | None) -> None:
    """It is the latest prompt that the user wrote to the agent, not one about upbeat itself."""
    entry = find_last_turn(entries)

    assert seq == (entry and entry.seq)


def test_the_text() -> None:
    """One line sums up, then each block is shown as the model got it."""
    assert f"""\
The prompt “where is it?” got {len(BLOCK) + 12} characters of context (1 file, 46 ms).

from search, {len(BLOCK)} characters:
{BLOCK}

from your rule r, 12 characters:
Use Decimal.""" == context_text(GOT, "en")
    assert context_text(GOT, "zh").startswith("提示“where is it?”得到了 ")


def test_a_turn_that_got_nothing() -> None:
    """The reason is said in place of the context."""
    assert "The prompt “thanks” got nothing: the prompt is not about code; nothing was looked up." == context_text(
        NOTHING, "en"
    )
    assert "提示“thanks”没有得到任何内容：提示与代码无关，没有查找。" == context_text(NOTHING, "zh")
    assert "The prompt “x” got nothing: nothing was found." == context_text(prompt(1, "x"), "en")


def test_the_document() -> None:
    """The document has the blocks exactly, and matches its schema."""
    document = context_document(GOT)

    assert [("turn", BLOCK), ("rule r", "Use Decimal.")] == [(b["source"], b["text"]) for b in document["blocks"]]
    assert ("1.0", 3, ["cart.py"], "") == tuple(document[name] for name in ("schema_version", "seq", "files", "reason"))
    TypeAdapter(TurnContext).validate_python(document)


@given(st.dictionaries(st.sampled_from(["event", "effects", "explanations", "event_fields", "duration_ms"]), JSON))
def test_any_record_is_shown(body: dict[str, Any]) -> None:
    """A record with values of any type is shown without an error."""
    entry = JournalEntry(9, body, "", "")

    assert all(context_text(entry, language) for language in LANGUAGES)
    assert 9 == context_document(entry)["seq"]
    assert find_last_turn([entry]) in (None, entry)
