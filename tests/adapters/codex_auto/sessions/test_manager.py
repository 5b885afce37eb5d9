"""The sessions of a repository: each has one codex-auto, and none is replaced silently."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fakes.codex.conversation import (
    ENGLISH,
    FIRST,
    NEIGHBOR,
    SECOND,
    THIRD,
    save_session,
    store_of,
    threads_by_name,
)

from upbeat.adapters.codex_auto.sessions.manager import SessionManager, SessionSummary, title_of
from upbeat.adapters.codex_auto.sessions.session import Lease, Session, process_start_time

TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOW = "2026-01-02T03:04:05.000Z"


def sessions(root: Path, name: str = "default", **how: Any) -> SessionManager:
    return SessionManager(store_of(root), name, ENGLISH, lambda: TIME, **how)


def opened(root: Path, name: str = "default", **how: Any) -> SessionManager:
    manager = sessions(root, name, **how)
    manager.open()
    return manager


def hold(root: Path, name: str = "default", holder: Lease = NEIGHBOR, thread_id: str = "") -> None:
    session = Session(thread_id, "then", "2026", "/", root=str(root)) if thread_id else None
    store_of(root, holder).claim(name, session, int(TIME.timestamp()))


def test_the_stored_session_is_resumed(tmp_path: Path) -> None:
    """A free session is resumed without a notice."""
    stored = save_session(tmp_path)
    manager = opened(tmp_path)

    assert (stored, "default", [], [], "") == (
        manager.current,
        manager.name,
        manager.notices,
        manager.problems,
        manager.claim(),
    )


def test_a_reserved_name_is_not_taken(tmp_path: Path) -> None:
    """A name is taken as soon as a process reserves it, before its first thread."""
    hold(tmp_path)
    hold(tmp_path, "default-2", Lease(1, process_start_time(1), os.uname().nodename))

    assert "default-3" == opened(tmp_path).name


def test_a_name_that_the_user_chose_is_not_replaced(tmp_path: Path) -> None:
    """Once it is free, the next turn resumes it as the other process left it."""
    save_session(tmp_path, name="mine")
    hold(tmp_path, "mine")
    manager = opened(tmp_path, "mine", is_named=True)
    was_ours, first = manager.is_ours, manager.claim()
    hold(tmp_path, "mine", thread_id=SECOND)
    free(tmp_path)

    assert (f"process {NEIGHBOR.pid}", "mine", False) == (first, manager.name, was_ours)
    assert "Close it there before you send prompts here" in manager.notices[0]
    assert ("", SECOND) == (manager.claim(), manager.current and manager.current.thread_id)


def test_a_copied_repository_has_its_own_session(tmp_path: Path) -> None:
    """Two folders with one thread would overwrite each other."""
    original, copy = tmp_path / "original", tmp_path / "copy"
    for root in (original, copy):
        git_marker(root)
    save_session(original)

    assert (None, "default", []) == ((manager := opened(copy)).current, manager.name, manager.notices)


def test_a_moved_repository_continues_its_session(tmp_path: Path) -> None:
    """The user is told once if the former folder is gone."""
    old, new = tmp_path / "old", tmp_path / "new"
    git_marker(old)
    stored = save_session(old)
    store_of(old)._file.folder.parent.rename(tmp_path / "new-state")
    old.rename(new)
    manager = opened(new)
    manager.close()

    assert (stored, [f"session default was started in {old} and continues here"]) == (manager.current, manager.notices)
    assert [] == opened(new).notices


def git_marker(root: Path) -> None:
    """A file of a repository that keeps its time when the folder is moved or copied."""
    (root / ".git").mkdir(parents=True)
    (root / ".git/description").write_text("")
    os.utime(root / ".git/description", ns=(1, 1))


def test_the_session_file_of_an_earlier_version_is_imported_once(tmp_path: Path) -> None:
    """Its sessions are found, and later changes of the file are ignored."""
    path = session_file(tmp_path, {"default": FIRST}, [SECOND])
    manager = opened(tmp_path)
    manager.start_new_thread()
    manager.close()
    path.write_text("{")

    assert {"": [SECOND, FIRST]} == threads_by_name(store_of(tmp_path))
    assert ([], None) == ((again := opened(tmp_path)).problems, again.current)


def test_a_session_file_of_a_copied_repository_is_not_imported(tmp_path: Path) -> None:
    """The file belongs to the folder that it names while that exists."""
    session_file(tmp_path, {"default": FIRST}, [], {"root": str(tmp_path.parent)})

    assert opened(tmp_path).current is None


def session_file(root: Path, named: dict[str, str], former: list[str], more: dict[str, str] | None = None) -> Path:
    document = {
        "schema_version": "1.0",
        "sessions": {name: {"thread_id": thread_id, **(more or {})} for name, thread_id in named.items()},
        "former": [{"thread_id": thread_id} for thread_id in former],
    }
    path = root / ".upbeat/codex-session.json"
    path.parent.mkdir()
    path.write_text(json.dumps(document))
    return path


def test_peeking_writes_nothing(tmp_path: Path) -> None:
    """A dry run only reads the session, also from a file of an earlier version."""
    session_file(tmp_path, {"default": FIRST}, [])
    manager = sessions(tmp_path)
    manager.peek()

    assert manager.current
    assert (FIRST, False) == (manager.current.thread_id, tmp_path.with_name(f"{tmp_path.name}-state").exists())


def test_new_keeps_the_former_thread(tmp_path: Path) -> None:
    """/new takes the name, and the former thread stays in the list."""
    save_session(tmp_path, title="first words")
    manager = opened(tmp_path)
    manager.start_new_thread()
    manager.record_thread(SECOND, "/", "hello there\nsecond line")

    assert [
        SessionSummary(SECOND, "default", NOW, "hello there", is_current=True),
        SessionSummary(FIRST, "", "2026", "first words"),
    ] == list(manager.list_sessions())


def test_new_leaves_a_session_in_use_alone(tmp_path: Path) -> None:
    """/new in a session of another codex-auto starts one next to it."""
    stored = save_session(tmp_path, name="mine")
    hold(tmp_path, "mine")
    manager = opened(tmp_path, "mine", is_named=True)
    manager.start_new_thread()

    assert ("mine-2", "") == (manager.name, manager.claim())
    assert {"mine": [stored.thread_id]} == threads_by_name(store_of(tmp_path))


def test_the_list_has_all_sessions_and_their_holders(tmp_path: Path) -> None:
    """The latest is first; threads that only Codex knows are listed once, without secrets."""
    save_session(tmp_path, FIRST, "a", "2026-01-01")
    save_session(tmp_path, SECOND, "b", "2026-01-03")
    hold(tmp_path, "b")
    elsewhere = [
        SessionSummary(FIRST, updated_at="2026-01-09"),
        SessionSummary(THIRD, updated_at="2026-01-02", title="use ghp_" + "a1B2" * 9 + " there\n\x1b[31mred"),
    ]
    listed = opened(tmp_path, "a").list_sessions(elsewhere)

    assert [
        SessionSummary(SECOND, "b", "2026-01-03", holder=f"process {NEIGHBOR.pid}"),
        SessionSummary(THIRD, "", "2026-01-02", "use <redacted:github-token> there"),
        SessionSummary(FIRST, "a", "2026-01-01", is_current=True),
    ] == list(listed)


@pytest.mark.parametrize("choice", ["b", "1", SECOND, SECOND.upper(), SECOND[:13]])
def test_a_session_is_selected_by_number_name_or_id(tmp_path: Path, choice: str) -> None:
    """The former session is free, and the next turn continues the selected one."""
    save_session(tmp_path, FIRST, "a", "2026-01-01")
    chosen = save_session(tmp_path, SECOND, "b", "2026-01-03")
    manager = opened(tmp_path, "a")
    manager.list_sessions()

    assert f"continuing session b, {SECOND}" == manager.switch(choice)
    assert (chosen, "b", "") == (manager.current, manager.name, manager.claim())


@pytest.mark.parametrize("choice", ["c", "0", "7", "01a1", FIRST[:8], "--last"])
def test_an_unknown_or_ambiguous_choice_is_refused(tmp_path: Path, choice: str) -> None:
    """An unknown name, a number off the list and an ambiguous id select nothing."""
    stored = save_session(tmp_path, FIRST, "a")
    save_session(tmp_path, SECOND, "b")
    manager = opened(tmp_path, "a")

    assert f"no session '{choice}' here; /resume lists them" == manager.switch(choice)
    assert (stored, "a") == (manager.current, manager.name)


def test_a_thread_without_a_name_takes_the_current_one(tmp_path: Path) -> None:
    """The former thread stays in the list without a name."""
    save_session(tmp_path)
    manager = opened(tmp_path)
    message = manager.switch(THIRD)

    assert f"continuing session default, {THIRD}" == message
    assert {"default": [THIRD], "": [FIRST]} == threads_by_name(store_of(tmp_path))


def test_a_session_that_another_process_holds_is_not_resumed(tmp_path: Path) -> None:
    """The current session stays."""
    stored = save_session(tmp_path, FIRST, "a")
    save_session(tmp_path, SECOND, "b")
    hold(tmp_path, "b")
    manager = opened(tmp_path, "a")

    assert f"session b is open in another codex-auto (process {NEIGHBOR.pid})" in manager.switch("b")
    assert (stored, "a", "") == (manager.current, manager.name, manager.claim())


def test_a_fork_has_its_own_name(tmp_path: Path) -> None:
    """The origin keeps its name and its thread, and is free."""
    save_session(tmp_path, title="first words")
    manager = opened(tmp_path)
    message = manager.switch_to_fork(SECOND)

    assert "this is now session default-2, a copy of default; /resume default returns to the original" == message
    assert {"default": [FIRST], "default-2": [SECOND]} == threads_by_name(store_of(tmp_path))
    assert ["first words"] * 2 == [summary.title for summary in manager.list_sessions()]
    assert "continuing session default" in manager.switch("default")


@pytest.mark.parametrize(
    ("name", "repo", "always", "command"),
    [
        ("default", None, False, "codex-auto"),
        ("default", None, True, "codex-auto --session default"),
        ("店", "a b", False, "codex-auto --repo 'a b' --session 店"),
    ],
)
def test_the_resume_command(tmp_path: Path, name: str, repo: str | None, always: bool, command: str) -> None:
    """The command continues the session later."""
    expected = command.replace("店", "'店'")

    assert expected == sessions(tmp_path, name).resume_command(repo, is_always_named=always)


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("", ""),
        ("\n  fix\tit  now \nmore", "fix it now"),
        ("x" * 100, "x" * 59 + "…"),
        ("店" * 40, "店" * 29 + "…"),
        ("\x1b[31mred", "red"),
    ],
)
def test_titles_are_the_first_words(prompt: str, title: str) -> None:
    """A title is one harmless line of at most sixty columns."""
    assert title == title_of(prompt)


def test_without_a_repository_nothing_is_stored(tmp_path: Path) -> None:
    """No file is read or written."""
    manager = SessionManager(None, "default", ENGLISH, lambda: TIME)
    manager.open()
    manager.record_thread(FIRST, "/", "x")
    manager.start_new_thread()
    manager.close()

    assert ([], "", ()) == (os.listdir(tmp_path), manager.claim(), manager.list_sessions())


def free(root: Path) -> None:
    store = store_of(root, NEIGHBOR)
    store._is_holding = True
    store.release()
