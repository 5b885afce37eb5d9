"""The session file of earlier versions: read where it can be understood, and never followed out of the repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes.codex.conversation import FIRST, SECOND

from upbeat.adapters.codex.transport.base import TokenUsage
from upbeat.adapters.codex_auto.sessions.session import Session
from upbeat.adapters.codex_auto.sessions.store import read_session_file


def write(root: Path, data: bytes) -> None:
    (root / ".upbeat").mkdir()
    (root / ".upbeat/codex-session.json").write_bytes(data)


def test_named_and_former_sessions_are_read(tmp_path: Path) -> None:
    """Entries without a thread id are left out: Codex would start a new thread for them."""
    counts = {"input_tokens": 3, "cached_input_tokens": 2, "output_tokens": 1}
    entry = {"thread_id": FIRST, "created_at": "a", "updated_at": "b", "cwd": "/", "usage": counts, "title": "t"}
    named = {"default": entry, "x": {"thread_id": "last"}, "y": 7, "z": None}
    document = {"schema_version": "1.7", "sessions": named, "former": [{"thread_id": SECOND}, {}]}
    write(tmp_path, json.dumps(document).encode())

    assert (
        ("default", Session(FIRST, "a", "b", "/", TokenUsage(3, 2, 1), "", "t")),
        ("", Session(SECOND, "", "", "")),
    ) == read_session_file(str(tmp_path))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b"[]", "no 'sessions' in it"),
        (b'{"sessions": []}', "no 'sessions' in it"),
        (b" " * (1 << 20) + b"{}", "more than 1048576 bytes"),
    ],
)
def test_a_damaged_file_is_an_error(tmp_path: Path, data: bytes, problem: str) -> None:
    """The text says why."""
    write(tmp_path, data)

    with pytest.raises(ValueError, match=problem):
        read_session_file(str(tmp_path))


@pytest.mark.parametrize("linked", [".upbeat", ".upbeat/codex-session.json"])
def test_links_out_of_the_repository_are_not_followed(tmp_path: Path, linked: str) -> None:
    """A cloned repository cannot make codex-auto read elsewhere."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    write(outside, json.dumps({"sessions": {"default": {"thread_id": FIRST}}}).encode())
    (root / linked).parent.mkdir(parents=True)
    (root / linked).symlink_to(outside / linked)

    assert () == read_session_file(str(root))
