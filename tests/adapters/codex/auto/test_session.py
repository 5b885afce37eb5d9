"""The session file: replaced whole or not at all, and never a reason to lose somebody's data."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from upbeat.adapters.codex.auto.session import (
    MAX_SESSIONS,
    Loaded,
    Session,
    SessionFile,
    Stored,
    is_session_name,
    is_thread_id,
)
from upbeat.adapters.codex.auto.transport import Usage

THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
OTHER = "01a1fbb9-0000-7d63-9e7f-2b9d3fbd401a"
SESSION = Session(THREAD, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "/here 店", Usage(3, 2, 1))


def write(root: Path, text: str) -> Path:
    path = root / ".upbeat" / "codex-session.json"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    """A saved session comes back as it was, for its own name only."""
    assert SessionFile(str(tmp_path)).save(SESSION) == ""

    assert Loaded(SESSION) == SessionFile(str(tmp_path)).load()
    assert Loaded() == SessionFile(str(tmp_path), "other").load()


def test_the_file_is_private_and_stays_out_of_commits(tmp_path: Path) -> None:
    """Only the owner reads the file, git passes it over, and no draft is left."""
    SessionFile(str(tmp_path)).save(SESSION)

    assert {"codex-session.json", ".gitignore"} == set(os.listdir(tmp_path / ".upbeat"))
    assert (tmp_path / ".upbeat/codex-session.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / ".upbeat/.gitignore").read_text().split() == ["*", "!auto-tools.toml"]


def test_an_ignore_file_of_the_project_is_kept(tmp_path: Path) -> None:
    """Somebody's own ``.gitignore`` is not touched."""
    write(tmp_path, '{"schema_version": "1.0", "sessions": {}}')
    (tmp_path / ".upbeat/.gitignore").write_text("mine\n")
    SessionFile(str(tmp_path)).save(SESSION)

    assert (tmp_path / ".upbeat/.gitignore").read_text() == "mine\n"


def test_what_others_wrote_is_kept(tmp_path: Path) -> None:
    """Other entries, and fields of a later 1.x, survive a save and a forget."""
    theirs = {"schema_version": "1.7", "later": [1], "sessions": {"theirs": {"thread_id": OTHER, "note": "x"}}}
    path = write(tmp_path, json.dumps(theirs))
    SessionFile(str(tmp_path), "mine").save(SESSION)
    saved = json.loads(path.read_text())
    SessionFile(str(tmp_path), "mine").forget()
    forgotten = json.loads(path.read_text())

    assert (theirs["later"], theirs["sessions"]["theirs"]) == (saved["later"], saved["sessions"]["theirs"])
    assert THREAD == saved["sessions"]["mine"]["thread_id"]
    assert theirs | {"schema_version": "1.0", "former": [saved["sessions"]["mine"]]} == forgotten


def test_a_thread_that_loses_its_name_is_kept(tmp_path: Path) -> None:
    """Neither a new thread under the same name nor forgetting loses an id; taken up again, it is former no more."""
    file = SessionFile(str(tmp_path))
    other = replace(SESSION, thread_id=OTHER)
    file.save(SESSION)
    file.save(other)
    replaced = file.stored()
    file.forget()
    forgotten = file.stored()
    file.save(SESSION)

    assert Stored({"default": other}, (SESSION,), frozenset({"default"})) == replaced
    assert Stored({}, (other, SESSION)) == forgotten
    assert Stored({"default": SESSION}, (other,), frozenset({"default"})) == file.stored()


def test_the_least_used_of_too_many_names_goes(tmp_path: Path) -> None:
    """A folder full of scripts does not make the file grow for ever; the thread stays known without its name."""
    old = {"thread_id": OTHER, "updated_at": "2020"}
    names = {f"s{number}": {"thread_id": THREAD, "updated_at": "2025"} for number in range(MAX_SESSIONS - 1)}
    write(tmp_path, json.dumps({"schema_version": "1.0", "sessions": {"old": old, **names}}))
    SessionFile(str(tmp_path), "new").save(replace(SESSION, updated_at="2010"))
    stored = SessionFile(str(tmp_path)).stored()

    assert ({"new", *names}, [OTHER]) == (set(stored.named), [session.thread_id for session in stored.former])


def test_the_oldest_of_too_long_entries_go(tmp_path: Path) -> None:
    """Long paths do not make the file larger than what is read: the next codex-auto would take it for damaged."""
    former = [{**asdict(SESSION), "thread_id": f"{number:08}{OTHER[8:]}", "cwd": "/x" * 2000} for number in range(300)]
    write(tmp_path, json.dumps({"schema_version": "1.0", "sessions": {}, "former": former[:200]}))
    file = SessionFile(str(tmp_path))
    problems = [file.save(replace(SESSION, thread_id=one["thread_id"], cwd=one["cwd"])) for one in former[200:]]
    stored = file.stored()

    assert ([""] * 100, "", former[-1]["thread_id"]) == (
        problems,
        file.load().problem,
        stored.named["default"].thread_id,
    )
    assert [one["thread_id"] for one in former[-2:-100:-1]] == [one.thread_id for one in stored.former[:98]]


def test_an_entry_that_no_file_could_hold_is_a_problem(tmp_path: Path) -> None:
    """It is not written, and what was there stays."""
    file = SessionFile(str(tmp_path))
    file.save(SESSION)
    problem = file.save(replace(SESSION, title="x" * (1 << 20)))

    assert "would have more than 1048576 bytes" in problem
    assert SESSION == file.load().session


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("\udcff", "not JSON"),
        ("[" * 200_000, "not JSON"),
        ("[]", "no 'sessions' in it"),
        ('{"sessions": []}', "no 'sessions' in it"),
        ('{"schema_version": "2.0", "sessions": {}}', "schema version '2.0'"),
        (" " * (1 << 20) + "{}", "more than 1048576 bytes"),
    ],
)
def test_a_damaged_file_is_named_and_set_aside(tmp_path: Path, text: str, problem: str) -> None:
    """What cannot be understood is not resumed from, and not overwritten."""
    path = write(tmp_path, "")
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    file = SessionFile(str(tmp_path))
    loaded = file.load()

    assert Loaded(None, f".upbeat/codex-session.json is damaged ({problem})", True) == loaded
    assert file.set_aside("NOW") == ""
    assert (tmp_path / ".upbeat/codex-session.json.broken-NOW").read_bytes() == text.encode("utf-8", "surrogateescape")
    assert Loaded() == file.load()


def test_a_file_damaged_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """Between loading and saving another program may spoil the file; its bytes are kept."""
    path = write(tmp_path, "spoilt")

    assert SessionFile(str(tmp_path)).save(SESSION) == ""
    assert path.with_name("codex-session.json.broken-meanwhile").read_text() == "spoilt"
    assert Loaded(SESSION) == SessionFile(str(tmp_path)).load()


@pytest.mark.parametrize("entry", [None, 7, {}, {"thread_id": "last"}, {"thread_id": THREAD[:-1]}, {"thread_id": ""}])
def test_an_entry_without_a_thread_id_is_said_so(tmp_path: Path, entry: object) -> None:
    """AC-002: an id that is no UUID would start a new thread silently, so it never reaches Codex."""
    write(tmp_path, json.dumps({"schema_version": "1.0", "sessions": {"default": entry}}))

    assert (
        Loaded(problem=".upbeat/codex-session.json has no thread id of Codex for 'default'")
        == SessionFile(str(tmp_path)).load()
    )


def test_loading_writes_nothing(tmp_path: Path) -> None:
    """AC-003: looking for a session leaves no folder behind, nor does forgetting one that is not there."""
    SessionFile(str(tmp_path)).load()

    assert SessionFile(str(tmp_path)).forget() == ""
    assert [] == os.listdir(tmp_path)


def test_a_folder_that_cannot_be_is_a_problem_not_an_error(tmp_path: Path) -> None:
    """Where ``.upbeat`` is a file, saving and loading say so."""
    (tmp_path / ".upbeat").write_text("")
    file = SessionFile(str(tmp_path))

    assert file.save(SESSION) == f"{tmp_path}/.upbeat/codex-session.json cannot be written (Not a directory)"
    assert file.load().problem == f"{tmp_path}/.upbeat/codex-session.json cannot be read (Not a directory)"


@pytest.mark.parametrize("linked", [".upbeat", ".upbeat/codex-session.json"])
def test_links_out_of_the_repository_are_not_followed(tmp_path: Path, linked: str) -> None:
    """A cloned repository cannot make codex-auto read or write elsewhere."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    SessionFile(str(outside)).save(SESSION)
    before = (outside / ".upbeat/codex-session.json").read_bytes()
    (root / linked).parent.mkdir(parents=True)
    (root / linked).symlink_to(outside / linked)
    file = SessionFile(str(root))

    assert file.load().session is None
    file.save(Session(OTHER, "", "", ""))
    assert before == (outside / ".upbeat/codex-session.json").read_bytes()


def test_two_writers_lose_no_entry(tmp_path: Path) -> None:
    """Sessions of one repository that are saved at the same time are all there afterwards."""
    names = [f"s{number}" for number in range(4)]

    def save(name: str) -> None:
        for _ in range(10):
            SessionFile(str(tmp_path), name).save(SESSION)

    threads = [threading.Thread(target=save, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [Loaded(SESSION)] * 4 == [SessionFile(str(tmp_path), name).load() for name in names]


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
