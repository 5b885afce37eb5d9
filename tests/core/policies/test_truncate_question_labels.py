"""Which option labels are truncated, and how."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_play import HERE, said_by

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.core.contract.effect import Decision, RelabelOptions
from upbeat.core.contract.event import Call, ToolKind, UserQuestionRequested
from upbeat.core.policies.truncate_question_labels import MAX_LABEL_CHARS, MAX_LABELS, POLICY


def asking(*labels: str) -> UserQuestionRequested:
    return UserQuestionRequested(HERE, Call("c", "AskUserQuestion", {}, ToolKind.ASK_USER, option_labels=labels))


def cut(*labels: str, language: str = "en") -> list[str]:
    """The truncated labels."""
    effects = said_by(POLICY, asking(*labels), language)
    return [short for one in effects if isinstance(one, RelabelOptions) for short in one.new_labels.values()]


@pytest.mark.parametrize(
    "labels", [(), ("Red", "Blue"), ("",), ("x" * MAX_LABEL_CHARS,), ("红" * MAX_LABEL_CHARS, "b")]
)
def test_says_nothing_for(labels: tuple[str, ...]) -> None:
    """Labels within the limit are not changed."""
    assert [] == cut(*labels)


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (("x" * (MAX_LABEL_CHARS + 1),), ["x" * (MAX_LABEL_CHARS - 1) + "…"]),
        (("Keep the old interface and add a new one", "No"), ["Keep the old interface and…"]),
        (("y" * 50 + "1", "y" * 50 + "2"), ["y" * 29 + "…", "y" * 28 + "…2"]),
        (("保" * 40,), ["保" * 29 + "…"]),
    ],
)
def test_says(labels: tuple[str, ...], short: list[str]) -> None:
    """Longer labels are truncated at a word and stay distinct, in both languages."""
    assert short == cut(*labels) == cut(*labels, language="zh")


def test_claude_code_receives_the_labels() -> None:
    """The full label moves into the description, and the rest of the question is unchanged."""
    long = "Keep the old interface and add a new one"
    options = [{"label": long, "description": "d"}, {"label": "No", "description": "n"}]
    question = {"question": "Which?", "header": "H", "options": options, "multiSelect": False}
    payload = {"hook_event_name": "PreToolUse", "cwd": "/repo", "session_id": "s", "tool_name": "AskUserQuestion",
               "tool_input": {"questions": [question]}, "tool_use_id": "c"}  # fmt: skip
    event = CLAUDE_CODEC.decode(payload)
    answer = CLAUDE_CODEC.encode(event, Decision(said_by(POLICY, event)))

    changed = {"label": "Keep the old interface and…", "description": f"{long}. d"}
    assert {"questions": [{**question, "options": [changed, options[1]]}]} == answer["hookSpecificOutput"][
        "updatedInput"
    ]


@given(st.lists(st.text(max_size=80), max_size=MAX_LABELS, unique=True))
def test_any_labels(labels: list[str]) -> None:
    """No label is too long, and no two are equal."""
    short = cut(*labels)
    kept = [label for label in labels if len(label) <= MAX_LABEL_CHARS]

    assert all(len(one) <= MAX_LABEL_CHARS for one in short)
    assert len({*kept, *short}) == len(labels)
