"""Histories are kept, shared by working trees, brought up to date, and read anew when they are damaged."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import git, make_repository, write

from upbeat.adapters.code.history import store as history_store
from upbeat.adapters.code.history.evidence import Commit, CommitHistory
from upbeat.adapters.code.history.store import (
    MAX_STORED_HISTORIES,
    HistoryStore,
    decode_commits,
    encode_commits,
    path_prefix,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(Path(os.path.realpath(tmp_path)) / "r", {"a.py": "x = 1\n"})


def commit(root: Path, name: str) -> str:
    write(root, {name: "x"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", f"add {name}")
    return git(root, "rev-parse", "HEAD")


def get(root: Path, home: Path | None) -> CommitHistory:
    history = HistoryStore(home).get(str(root))
    assert history
    return history


def kept(home: Path) -> list[Path]:
    return sorted(home.glob("upbeat/index/*/history-*.json"))


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, whoever asks git for commits fails."""
    monkeypatch.setattr(history_store, "read_commits", None)


def test_a_history_is_kept_for_the_next_process(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read once comes from disk, equal."""
    first = get(root, tmp_path / "home")
    forbid_reading(monkeypatch)

    assert first.commits == get(root, tmp_path / "home").commits


def test_nobody_else_can_read_it(root: Path, tmp_path: Path) -> None:
    """The folder is its owner's alone, the file too, also where the folder was open before."""
    get(root, tmp_path / "home")
    folder = kept(tmp_path / "home")[0].parent
    folder.chmod(0o755)
    commit(root, "b.py")
    get(root, tmp_path / "home")

    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_only_new_commits_are_read(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a commit the rest comes from disk; the outcome is the same as of reading all."""
    get(root, tmp_path / "home")
    commit(root, "b.py")
    asked: list[str] = []
    real = history_store.read_commits
    monkeypatch.setattr(history_store, "read_commits", lambda *args: asked.append(args[2]) or real(*args))

    grown = get(root, tmp_path / "home")

    assert [git(root, "rev-parse", "HEAD~1")] == asked
    assert get(root, None).commits == grown.commits


def test_working_trees_share(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A linked working tree on the same commit finds the history of the main one."""
    first = get(root, tmp_path / "home")
    git(root, "worktree", "add", "-q", "../linked", "-b", "other")
    forbid_reading(monkeypatch)

    assert first.commits == get(root.parent / "linked", tmp_path / "home").commits


def test_a_later_history_is_not_used_for_an_earlier_commit(root: Path, tmp_path: Path) -> None:
    """Going back leaves out what came after."""
    first = git(root, "rev-parse", "HEAD")
    commit(root, "later.py")
    get(root, tmp_path / "home")
    git(root, "checkout", "-q", first)

    assert [first] == [one.id for one in get(root, tmp_path / "home").commits]


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[:-3],
    "flipped": lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
    "other": lambda data: b"{}" * 50,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_history_is_read_anew(root: Path, tmp_path: Path, damage: str) -> None:
    """A damaged history is not used, and is replaced."""
    first = get(root, tmp_path / "home")
    path = kept(tmp_path / "home")[0]
    path.write_bytes(DAMAGE[damage](path.read_bytes()))

    assert first.commits == get(root, tmp_path / "home").commits
    assert [path] == kept(tmp_path / "home")
    assert decode_commits(history_store.storage.load_blob(path) or b"")


def test_few_histories_are_kept(root: Path, tmp_path: Path) -> None:
    """Old histories and unfinished files are removed."""
    for number in range(MAX_STORED_HISTORIES + 2):
        commit(root, f"f{number}.py")
        get(root, tmp_path / "home")
        (kept(tmp_path / "home")[0].parent / ".history-x.json.upbeat-1-00000000").write_bytes(b"x")
    get(root, tmp_path / "home")
    commit(root, "last.py")
    get(root, tmp_path / "home")

    assert MAX_STORED_HISTORIES == len(kept(tmp_path / "home"))
    assert not list(tmp_path.glob("home/upbeat/index/*/*.upbeat-*"))


def test_a_place_that_cannot_be_written_costs_nothing(root: Path, tmp_path: Path) -> None:
    """Without a place to store it the history is still returned."""
    (tmp_path / "home").write_text("a file")

    assert 1 == len(get(root, tmp_path / "home").commits)


def test_a_link_is_not_written_through(root: Path, tmp_path: Path) -> None:
    """A folder that is a link to another place is not ours."""
    get(root, tmp_path / "home")
    folder = kept(tmp_path / "home")[0].parent
    (tmp_path / "elsewhere").mkdir()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")

    assert 1 == len(get(root, tmp_path / "home").commits)
    assert [] == list((tmp_path / "elsewhere").iterdir())


def test_no_history(tmp_path: Path) -> None:
    """A folder without git, and a repository without a commit, have none; nothing is written for them."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q")
    store = HistoryStore(tmp_path / "home")

    assert [None, None] == [store.get(str(tmp_path / "plain")), store.get(str(tmp_path / "new"))]
    assert not (tmp_path / "home").exists()


def test_ready_reads_nothing(root: Path) -> None:
    """Only what this process has read is ready, and only for the present commit."""
    store = HistoryStore(None)
    before = store.get_cached(str(root))
    history = store.get(str(root))

    assert [None, history] == [before, store.get_cached(str(root))]
    commit(root, "b.py")
    assert store.get_cached(str(root)) is None


def test_two_at_once_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions that ask at the same time wait for one reading."""
    store = HistoryStore(None)
    asked: list[int] = []
    real = history_store.read_commits
    monkeypatch.setattr(history_store, "read_commits", lambda *args: asked.append(1) or real(*args))
    threads = [threading.Thread(target=store.get, args=(str(root),)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [1] == asked


def test_prefix(root: Path) -> None:
    """The top of a working tree has none, a folder inside its path."""
    (root / "a" / "b").mkdir(parents=True)

    assert ["", "a/b/"] == [path_prefix(str(root)), path_prefix(str(root / "a" / "b"))]


WORDS = st.text(st.characters(blacklist_categories=[]), max_size=6)
COMMITS = st.builds(
    Commit,
    st.text("0123456789abcdef", min_size=40, max_size=40),
    st.integers(0, 10**10),
    st.booleans(),
    st.lists(WORDS, max_size=4).map(tuple),
    st.lists(WORDS, max_size=4).map(tuple),
    st.lists(st.tuples(WORDS, WORDS), max_size=2).map(tuple),
)


@given(st.lists(COMMITS, max_size=4).map(tuple))
def test_encoded_histories_are_read_back(commits: tuple[Commit, ...]) -> None:
    """Every history comes back equal, whatever its paths hold."""
    assert ("a" * 40, commits) == decode_commits(encode_commits("a" * 40, commits))


@given(
    st.binary(max_size=80)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(lambda v: json.dumps(v).encode())
)
def test_anything_else_is_no_history(data: bytes) -> None:
    """Other bytes are refused, not failed on."""
    assert decode_commits(data) is None


def test_another_version_is_no_history() -> None:
    """What another version wrote is read anew."""
    value = json.loads(encode_commits("a" * 40, ()))

    assert decode_commits(json.dumps(value | {"version": value["version"] + 1}).encode()) is None
