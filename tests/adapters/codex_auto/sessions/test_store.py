"""The session store: one live holder for a name and for a thread, and no thread lost."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.codex.conversation import FIRST, GONE, NEIGHBOR, SECOND, save_session, store_of, threads_by_name

from upbeat.adapters.codex.transport.base import TokenUsage
from upbeat.adapters.codex_auto.sessions import store as module
from upbeat.adapters.codex_auto.sessions.session import Session
from upbeat.adapters.codex_auto.sessions.store import Claim, read_session_file

NOW = 1_767_225_600
SESSION = Session(FIRST, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "/here 店", TokenUsage(3, 2, 1))


def session(root: Path, thread_id: str = FIRST, **more: str) -> Session:
    return replace(SESSION, thread_id=thread_id, root=str(root), **more)


def test_what_is_stored_is_read(tmp_path: Path) -> None:
    """A stored session comes back unchanged, for its own name and repository only."""
    store = store_of(tmp_path)
    claim = store.claim("default", session(tmp_path), NOW)
    store.release()

    assert (Claim(session(tmp_path)), None) == (claim, store.claim("other", None, NOW).session)
    assert session(tmp_path) == store.claim("default", None, NOW).session
    assert None is store_of(tmp_path / "below").claim("default", None, NOW).session


def test_a_name_has_one_holder(tmp_path: Path) -> None:
    """The second process learns who holds it; another name is free."""
    store_of(tmp_path, NEIGHBOR).claim("a", None, NOW)

    assert replace(NEIGHBOR, renewed_at=NOW) == store_of(tmp_path).claim("a", None, NOW).holder
    assert store_of(tmp_path).claim("b", None, NOW).holder is None


def test_a_thread_has_one_holder_whatever_its_name(tmp_path: Path) -> None:
    """Two names of one thread do not make two writers."""
    store_of(tmp_path, NEIGHBOR).claim("a", session(tmp_path), NOW)

    assert store_of(tmp_path).claim("b", session(tmp_path, FIRST.upper()), NOW).holder is not None
    assert {"a": [FIRST]} == threads_by_name(store_of(tmp_path))


def test_a_process_holds_one_session(tmp_path: Path) -> None:
    """Claiming another name releases the one before; ``release`` releases all."""
    theirs = store_of(tmp_path, NEIGHBOR)
    theirs.claim("a", None, NOW)
    theirs.claim("b", None, NOW)
    held = [row.name for row in store_of(tmp_path).read(NOW)]
    theirs.release()

    assert (["b"], ()) == (held, store_of(tmp_path).read(NOW))


def test_the_lease_of_a_dead_process_is_taken_over_and_reported(tmp_path: Path) -> None:
    """The takeover is reported once."""
    store_of(tmp_path, GONE).claim("a", session(tmp_path), NOW)
    store = store_of(tmp_path)

    assert Claim(session(tmp_path), stale_holder=replace(GONE, renewed_at=NOW)) == store.claim("a", None, NOW)
    assert Claim(session(tmp_path)) == store.claim("a", None, NOW)


def test_a_name_that_a_dead_process_reserved_is_free(tmp_path: Path) -> None:
    """The name is neither listed nor kept."""
    store_of(tmp_path, GONE).claim("a", None, NOW)
    listed = store_of(tmp_path).read(NOW)
    store_of(tmp_path).claim("b", None, NOW)

    assert ((), ["b"]) == (listed, [row.name for row in store_of(tmp_path).read(NOW)])


def test_a_thread_that_loses_its_name_is_kept(tmp_path: Path) -> None:
    """Neither a new thread under the same name nor removing the name loses a thread; it can get a name again."""
    store = store_of(tmp_path)
    store.claim("default", session(tmp_path), NOW)
    store.claim("default", session(tmp_path, SECOND), NOW)
    replaced = threads_by_name(store)
    store.remove_name("default", NOW)
    unnamed = threads_by_name(store)
    store.claim("default", session(tmp_path), NOW)

    assert {"default": [SECOND], "": [FIRST]} == replaced
    assert {"": [SECOND, FIRST]} == unnamed
    assert {"default": [FIRST], "": [SECOND]} == threads_by_name(store)


def test_the_least_recently_used_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number of names the oldest thread loses its name, and beyond a number without one it is dropped."""
    monkeypatch.setattr(module, "MAX_NAMED", 2)
    monkeypatch.setattr(module, "MAX_UNNAMED", 1)
    for number in range(4):
        save_session(tmp_path, f"{number:08}{FIRST[8:]}", f"s{number}", f"202{number}")
    threads = {name: [thread_id[7] for thread_id in ids] for name, ids in threads_by_name(store_of(tmp_path)).items()}

    assert {"s3": ["3"], "s2": ["2"], "": ["1"]} == threads


def test_reading_and_releasing_write_nothing(tmp_path: Path) -> None:
    """Neither leaves a file behind where nothing is stored."""
    store_of(tmp_path).read(NOW)
    store_of(tmp_path).release()

    assert not tmp_path.with_name(f"{tmp_path.name}-state").exists()


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    """Sessions of one repository that are stored at the same time are all there afterwards."""
    names = [f"s{number}" for number in range(4)]

    def save(number: int) -> None:
        for _ in range(5):
            store_of(tmp_path).claim(names[number], session(tmp_path, f"{number:08}{FIRST[8:]}"), NOW)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(names) == set(threads_by_name(store_of(tmp_path)))


# --- the session file of earlier versions ---


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
    """The text of the error says why."""
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
