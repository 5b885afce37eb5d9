"""Every value of an enum has its sentence. That both languages match is tested with the catalogue."""

from __future__ import annotations

import pytest
from fakes.codex.conversation import CHINESE, ENGLISH

from upbeat.adapters.codex.transport.base import ApprovalDecision, ApprovalKind, FailureReason, TransportNoticeKind
from upbeat.adapters.codex_auto.texts import load_texts


@pytest.mark.parametrize(
    ("table", "enum"),
    [
        ("failure_reasons", FailureReason),
        ("transport_notices", TransportNoticeKind),
        ("approval_questions", ApprovalKind),
        ("decision_labels", ApprovalDecision),
    ],
)
def test_tables_are_complete(table: str, enum: type) -> None:
    """Each failure, notice, question and decision has a message."""
    assert set(enum) == set(ENGLISH.group(table))


def test_the_language_is_chosen() -> None:
    """Chinese for zh, English for any other language."""
    assert [CHINESE, ENGLISH] == [load_texts("zh"), load_texts("de")]
