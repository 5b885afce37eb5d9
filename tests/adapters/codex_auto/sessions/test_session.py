"""Which texts are thread ids and session names."""

from __future__ import annotations

import pytest
from fakes.codex.conversation import FIRST as THREAD

from upbeat.adapters.codex_auto.sessions.session import is_session_name, is_thread_id


@pytest.mark.parametrize("text", [THREAD, THREAD.upper()])
def test_uuids_are_thread_ids(text: str) -> None:
    """A whole UUID, in either case, names a thread."""
    assert is_thread_id(text)


@pytest.mark.parametrize("text", ["", "last", THREAD[:-1], f"{THREAD}\n", f" {THREAD}", f"{{{THREAD}}}", "g" * 36])
def test_other_texts_are_not(text: str) -> None:
    """Names, pieces and decorated UUIDs are none: Codex would start a new thread for them."""
    assert not is_thread_id(text)


@pytest.mark.parametrize(
    ("text", "fits"), [("a.b-c_1", True), ("店", True), ("", False), ("a b", False), ("x" * 65, False)]
)
def test_session_names_are_short_words(text: str, fits: bool) -> None:
    """A name is one word of at most 64 characters."""
    assert fits == is_session_name(text)
