"""The sessions of a repository: one codex-auto each, and nothing replaced in silence."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from upbeat.adapters.codex.auto.leases import Lease, Leases, started
from upbeat.adapters.codex.auto.session import Session, SessionFile
from upbeat.adapters.codex.auto.sessions import Known, Sessions, title_of
from upbeat.adapters.codex.auto.texts import ENGLISH

FIRST = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
SECOND = "01a1fbb9-0000-7d63-9e7f-2b9d3fbd401a"
THIRD = "01a1fbb9-1111-7d63-9e7f-2b9d3fbd401a"
TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOW = "2026-01-02T03:04:05.000Z"
NEIGHBOUR = Lease(os.getppid(), started(os.getppid()), os.uname().nodename)
"""Another process that lives as long as we do."""
GONE = Lease(os.getpid(), "0", os.uname().nodename)
"""Our number, but not our start."""


def sessions(root: Path, name: str = "default", **how: bool) -> Sessions:
    return Sessions(str(root), name, ENGLISH, lambda: TIME, **how)


def opened(root: Path, name: str = "default", **how: bool) -> Sessions:
    found = sessions(root, name, **how)
    found.open()
    return found


def store(folder: Path, thread_id: str = FIRST, name: str = "default", updated: str = "2026", **more: str) -> Session:
    folder.mkdir(exist_ok=True)
    more = {"root": str(folder), **more}
    session = Session(thread_id, "then", updated, "/", **more)  # type: ignore[arg-type]
    assert SessionFile(str(folder), name).save(session) == ""
    return session


def hold(root: Path, name: str = "default", holder: Lease = NEIGHBOUR, thread_id: str = "") -> None:
    Leases(str(root), holder).take(name, thread_id, int(TIME.timestamp()))


def test_the_stored_session_goes_on(tmp_path: Path) -> None:
    """Nobody else has it, nothing is wrong: nothing is said."""
    stored = store(tmp_path)
    one = opened(tmp_path)

    assert (stored, "default", [], [], "") == (one.current, one.name, one.news, one.lost, one.claim())


def test_the_second_gets_a_session_of_its_own_and_is_told(tmp_path: Path) -> None:
    """Its own name, its own thread, and the command that takes up the other."""
    store(tmp_path)
    hold(tmp_path)
    one = opened(tmp_path)
    one.begin(SECOND, "/", "hello")

    expected = (
        f"session default is open in another codex-auto (process {NEIGHBOUR.pid}), so this is session default-2; "
        "once that one is closed, codex-auto --session default takes it up"
    )
    assert [expected] == one.news
    assert (FIRST, SECOND) == tuple(
        SessionFile(str(tmp_path), name).load().session.thread_id  # type: ignore[union-attr]
        for name in ("default", "default-2")
    )


def test_the_third_does_not_take_what_the_second_is_about_to(tmp_path: Path) -> None:
    """A name is taken from the moment that somebody has it, also before its first thread."""
    hold(tmp_path)
    hold(tmp_path, "default-2", Lease(1, started(1), os.uname().nodename))

    assert "default-3" == opened(tmp_path).name


def test_a_name_that_the_person_chose_is_waited_for(tmp_path: Path) -> None:
    """No other is taken instead; when it becomes free the next turn has it, as it was left."""
    store(tmp_path, name="mine")
    hold(tmp_path, "mine")
    one = opened(tmp_path, "mine", is_named=True)
    was_ours, first = one.is_ours, one.claim()
    later = store(tmp_path, SECOND, "mine")
    Leases(str(tmp_path), NEIGHBOUR).release()

    assert (f"process {NEIGHBOUR.pid}", "mine", False) == (first, one.name, was_ours)
    assert "nothing is sent before it is closed there" in one.news[0]
    assert ("", later) == (one.claim(), one.current)


def test_the_lease_of_the_dead_is_taken_over_and_told(tmp_path: Path) -> None:
    """The session goes on, under its own name."""
    stored = store(tmp_path)
    hold(tmp_path, holder=GONE)
    one = opened(tmp_path)

    assert (stored, "default") == (one.current, one.name)
    assert [f"session default was left open by process {GONE.pid}, which has ended; it is taken over"] == one.news


def test_a_copied_repository_has_a_session_of_its_own(tmp_path: Path) -> None:
    """Two folders with one thread would write over each other; the other stays to be taken up."""
    store(tmp_path / "original")
    copy = tmp_path / "copy"
    stored = store(copy, root=str(tmp_path / "original"))
    one = opened(copy)

    assert (None, "default-2") == (one.current, one.name)
    assert f"session default belongs to {tmp_path}/original, of which this folder looks like a copy" in one.news[0]
    assert stored == SessionFile(str(copy)).load().session
    assert (stored, "default") == ((named := opened(copy, is_named=True)).current, named.name)


def test_a_moved_repository_goes_on_and_says_so(tmp_path: Path) -> None:
    """Where the folder of before is gone, this one is it."""
    stored = store(tmp_path, root="/gone")
    one = opened(tmp_path)

    assert (stored, ["session default was begun in /gone; it goes on here"]) == (one.current, one.news)


def test_closing_lets_others_in(tmp_path: Path) -> None:
    """The session is free at once."""
    opened(tmp_path).close()

    assert {} == Leases(str(tmp_path), NEIGHBOUR).living(0)


def test_looking_writes_nothing(tmp_path: Path) -> None:
    """For a plan the session is only read."""
    stored = store(tmp_path)
    before = sorted(os.listdir(tmp_path / ".upbeat"))
    one = sessions(tmp_path)
    one.look()

    assert (stored, before) == (one.current, sorted(os.listdir(tmp_path / ".upbeat")))


def test_new_keeps_the_thread_of_before(tmp_path: Path) -> None:
    """/new takes the name and leaves the thread on the list."""
    store(tmp_path, title="first words")
    one = opened(tmp_path)
    one.forget()
    one.begin(SECOND, "/", "hello there\nsecond line")

    assert [
        Known(SECOND, "default", NOW, "hello there", is_current=True),
        Known(FIRST, "", "2026", "first words"),
    ] == list(one.listed())


def test_new_leaves_a_session_that_somebody_has(tmp_path: Path) -> None:
    """/new in a session that another codex-auto has begins beside it."""
    stored = store(tmp_path, name="mine")
    hold(tmp_path, "mine")
    one = opened(tmp_path, "mine", is_named=True)
    one.forget()

    assert ("mine-2", "") == (one.name, one.claim())
    assert stored == SessionFile(str(tmp_path), "mine").load().session


def test_the_list_has_all_and_says_who_is_there(tmp_path: Path) -> None:
    """Latest first; threads that only Codex knows are on it once, without their secrets."""
    store(tmp_path, FIRST, "a", "2026-01-01")
    store(tmp_path, SECOND, "b", "2026-01-03")
    hold(tmp_path, "b", thread_id=SECOND)
    elsewhere = [
        Known(FIRST, updated_at="2026-01-09"),
        Known(THIRD, updated_at="2026-01-02", title="use ghp_" + "a1B2" * 9 + " there\n\x1b[31mred"),
    ]
    listed = opened(tmp_path, "a").listed(elsewhere)

    assert [
        Known(SECOND, "b", "2026-01-03", holder=f"process {NEIGHBOUR.pid}"),
        Known(THIRD, "", "2026-01-02", "use <redacted:github-token> there"),
        Known(FIRST, "a", "2026-01-01", is_current=True),
    ] == list(listed)


@pytest.mark.parametrize("choice", ["b", "1", SECOND, SECOND.upper(), SECOND[:13]])
def test_a_session_is_taken_up_by_number_name_or_id(tmp_path: Path, choice: str) -> None:
    """The one before is free then, and the next turn goes on with the chosen one."""
    store(tmp_path, FIRST, "a", "2026-01-01")
    chosen = store(tmp_path, SECOND, "b", "2026-01-03")
    one = opened(tmp_path, "a")
    one.listed()

    assert f"going on with session b, {SECOND}" == one.take_up(choice)
    assert (chosen, "b", "") == (one.current, one.name, one.claim())


@pytest.mark.parametrize("choice", ["c", "0", "7", "01a1", FIRST[:8], "--last"])
def test_what_is_not_there_or_not_clear_is_not_taken_up(tmp_path: Path, choice: str) -> None:
    """An unknown name, a number off the list, or an id that fits two."""
    stored = store(tmp_path, FIRST, "a")
    store(tmp_path, SECOND, "b")
    one = opened(tmp_path, "a")

    assert f"no session '{choice}' here; /resume lists them" == one.take_up(choice)
    assert (stored, "a") == (one.current, one.name)


def test_a_thread_without_a_name_takes_ours(tmp_path: Path) -> None:
    """Also one that is on no list; what was ours is on the list then."""
    store(tmp_path)
    one = opened(tmp_path)
    said = one.take_up(THIRD)
    stored = SessionFile(str(tmp_path)).stored()

    assert f"going on with session default, {THIRD}" == said
    assert ([THIRD], [FIRST]) == (
        [session.thread_id for session in stored.named.values()],
        [session.thread_id for session in stored.former],
    )


@pytest.mark.parametrize("lease", [("b", ""), ("other", SECOND)])
def test_a_session_that_somebody_has_is_not_taken_up(tmp_path: Path, lease: tuple[str, str]) -> None:
    """By its name or by its thread; we stay where we are."""
    stored = store(tmp_path, FIRST, "a")
    store(tmp_path, SECOND, "b")
    hold(tmp_path, lease[0], thread_id=lease[1])
    one = opened(tmp_path, "a")

    assert f"session b is open in another codex-auto (process {NEIGHBOUR.pid})" in one.take_up("b")
    assert (stored, "a", "") == (one.current, one.name, one.claim())


def test_a_fork_has_a_name_of_its_own(tmp_path: Path) -> None:
    """Its origin keeps its name and its thread, and is free."""
    store(tmp_path, title="first words")
    one = opened(tmp_path)
    said = one.branch(SECOND)
    stored = SessionFile(str(tmp_path)).stored().named

    assert "this is session default-2 now, with all that was said in default; /resume default goes back" == said
    assert {"default": FIRST, "default-2": SECOND} == {name: one.thread_id for name, one in stored.items()}
    assert "first words" == stored["default-2"].title
    assert "going on with session default" in one.take_up("default")


@pytest.mark.parametrize(
    ("name", "repo", "always", "command"),
    [
        ("default", None, False, "codex-auto"),
        ("default", None, True, "codex-auto --session default"),
        ("店", "a b", False, "codex-auto --repo 'a b' --session 店"),
    ],
)
def test_the_command_that_goes_on(tmp_path: Path, name: str, repo: str | None, always: bool, command: str) -> None:
    """What a person or a script runs later."""
    expected = command.replace("店", "'店'")

    assert expected == sessions(tmp_path, name).command(repo, always_named=always)


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
    """One harmless line of at most sixty columns."""
    assert title == title_of(prompt)


def test_without_a_repository_nothing_is_kept(tmp_path: Path) -> None:
    """No file is read or written."""
    one = sessions(tmp_path, is_kept=False)
    one.open()
    one.begin(FIRST, "/", "x")
    one.forget()
    one.close()

    assert ([], "", ()) == (os.listdir(tmp_path), one.claim(), one.listed())
