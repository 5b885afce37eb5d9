"""Histories are stored, shared by working trees, updated, and read again when they are damaged."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import repositories
from hypothesis import given
from hypothesis import strategies as st
from repositories import git, make_repository, write

from upbeat.adapters.code.history import commit_history, git_log
from upbeat.adapters.code.history.git_log import Commit


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(Path(os.path.realpath(tmp_path)) / "r", {"a.py": "x = 1\n"})


def commit(root: Path, name: str) -> str:
    return repositories.commit(write(root, {name: "x"}), f"add {name}")


def get(root: Path, home: Path | None) -> commit_history.CommitHistory:
    history = commit_history.HistoryStore(home).get(str(root))
    assert history
    return history


def stored_histories(home: Path) -> list[Path]:
    return sorted(home.glob("upbeat/index/*/history-*.json"))


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every further call of git for commits fail."""
    monkeypatch.setattr(git_log, "read_commits", None)


def test_a_history_is_stored_for_the_next_process(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commits from disk equal those that were read from git."""
    first = get(root, tmp_path / "home")
    forbid_reading(monkeypatch)

    assert first.commits == get(root, tmp_path / "home").commits


def test_only_the_owner_can_read_it(root: Path, tmp_path: Path) -> None:
    """Folder and files are private, also when the folder was open before."""
    get(root, tmp_path / "home")
    folder = stored_histories(tmp_path / "home")[0].parent
    folder.chmod(0o755)
    commit(root, "b.py")
    get(root, tmp_path / "home")

    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_only_new_commits_are_read(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a commit the older ones come from disk; the history is the same as after reading all."""
    get(root, tmp_path / "home")
    commit(root, "b.py")
    known: list[str] = []
    real = git_log.read_commits
    monkeypatch.setattr(git_log, "read_commits", lambda *args: known.append(args[2]) or real(*args))

    grown = get(root, tmp_path / "home")

    assert [git(root, "rev-parse", "HEAD~1")] == known
    assert get(root, None).commits == grown.commits


def test_working_trees_share(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A linked working tree on the same commit uses the history of the main one."""
    first = get(root, tmp_path / "home")
    git(root, "worktree", "add", "-q", "../linked", "-b", "other")
    forbid_reading(monkeypatch)

    assert first.commits == get(root.parent / "linked", tmp_path / "home").commits


def test_a_later_history_is_not_used_for_an_earlier_commit(root: Path, tmp_path: Path) -> None:
    """After a checkout of an older commit, later ones are left out."""
    first = git(root, "rev-parse", "HEAD")
    commit(root, "later.py")
    get(root, tmp_path / "home")
    git(root, "checkout", "-q", first)

    assert [first] == [commit.id for commit in get(root, tmp_path / "home").commits]


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[:-3],
    "flipped": lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
    "extended": lambda data: data + b"x",
    "other": lambda data: b"{}" * 50,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_history_is_read_again(root: Path, tmp_path: Path, damage: str) -> None:
    """A damaged history is not used, and is replaced."""
    first = get(root, tmp_path / "home")
    path = stored_histories(tmp_path / "home")[0]
    path.write_bytes(DAMAGE[damage](path.read_bytes()))

    assert first.commits == get(root, tmp_path / "home").commits
    assert [path] == stored_histories(tmp_path / "home")
    assert commit_history.decode_commits(commit_history.load_blob(path) or b"")


def test_only_the_newest_histories_are_kept(root: Path, tmp_path: Path) -> None:
    """Old histories and unfinished files are removed."""
    for number in range(commit_history.MAX_STORED_HISTORIES + 2):
        commit(root, f"f{number}.py")
        get(root, tmp_path / "home")
        (stored_histories(tmp_path / "home")[0].parent / ".history-x.json.upbeat-1-00000000").write_bytes(b"x")
    get(root, tmp_path / "home")
    last = commit(root, "last.py")
    get(root, tmp_path / "home")

    assert any(last in path.name for path in stored_histories(tmp_path / "home"))
    assert commit_history.MAX_STORED_HISTORIES == len(stored_histories(tmp_path / "home"))
    assert not list(tmp_path.glob("home/upbeat/index/*/*.upbeat-*"))


def test_a_history_that_cannot_be_stored_is_returned(root: Path, tmp_path: Path) -> None:
    """A file in place of the folder does not matter."""
    (tmp_path / "home").write_text("a file")

    assert 1 == len(get(root, tmp_path / "home").commits)


def test_a_link_is_not_written_through(root: Path, tmp_path: Path) -> None:
    """Nothing is stored in a folder that is a link."""
    get(root, tmp_path / "home")
    folder = stored_histories(tmp_path / "home")[0].parent
    (tmp_path / "elsewhere").mkdir()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")

    assert 1 == len(get(root, tmp_path / "home").commits)
    assert [] == list((tmp_path / "elsewhere").iterdir())


def test_no_history_without_commits(tmp_path: Path) -> None:
    """A folder without git, and a repository without a commit, have none; nothing is written for them."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q")
    store = commit_history.HistoryStore(tmp_path / "home")

    assert [None, None] == [store.get(str(tmp_path / "plain")), store.get(str(tmp_path / "new"))]
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "head",
    ["ref: refs/heads/none", "ref: ../../secret", "ref: refs/../../secret", "ref: HEAD", "x", "", "ref: refs/heads/me"],
)
def test_odd_heads_are_no_commit(root: Path, head: str) -> None:
    """A HEAD that leads nowhere, outside, or back to itself has no history."""
    (root / ".git" / "refs" / "heads" / "me").write_text("ref: refs/heads/me\n")
    (root / ".git" / "HEAD").write_text(head + "\n")

    assert commit_history.HistoryStore(None).get(str(root)) is None


def test_get_cached_reads_nothing(root: Path) -> None:
    """Only a history that this process has read is returned, and only for the current commit."""
    store = commit_history.HistoryStore(None)
    before = store.get_cached(str(root))
    history = store.get(str(root))

    assert [None, history] == [before, store.get_cached(str(root))]
    commit(root, "b.py")
    assert store.get_cached(str(root)) is None


def test_concurrent_questions_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions at the same time wait for one reading."""
    store = commit_history.HistoryStore(None)
    calls: list[int] = []
    real = git_log.read_commits
    monkeypatch.setattr(git_log, "read_commits", lambda *args: calls.append(1) or real(*args))
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(store.get, [str(root)] * 5))

    assert [1] == calls


def test_path_prefix(root: Path) -> None:
    """The top of a working tree has no prefix, a folder inside has its path."""
    (root / "a" / "b").mkdir(parents=True)

    assert ["", "a/b/"] == [commit_history.path_prefix(str(root)), commit_history.path_prefix(str(root / "a" / "b"))]


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
    """Every history is decoded as it was, whatever its paths contain."""
    assert ("a" * 40, commits) == commit_history.decode_commits(commit_history.encode_commits("a" * 40, commits))


@given(
    st.binary(max_size=80)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(lambda v: json.dumps(v).encode())
)
def test_anything_else_is_no_history(data: bytes) -> None:
    """Other bytes are no history, and no error."""
    assert commit_history.decode_commits(data) is None


def test_another_version_is_no_history() -> None:
    """A history of another version is not used."""
    value = json.loads(commit_history.encode_commits("a" * 40, ()))

    assert commit_history.decode_commits(json.dumps(value | {"version": value["version"] + 1}).encode()) is None


def test_a_history_of_borrowed_objects(root: Path, tmp_path: Path) -> None:
    """Without trust in their folder there is no history, and the problem names the folder and the setting."""
    git(tmp_path, "clone", "-q", "--shared", str(root), "borrower")
    borrower = os.path.realpath(tmp_path / "borrower")
    plain = commit_history.HistoryStore(tmp_path / "home")
    trusting = commit_history.HistoryStore(tmp_path / "home", lambda: (str(root),))

    assert plain.get(borrower) is None
    assert f"objects in {root}/.git/objects; add that folder to index.object_stores" in plain.problem(borrower)
    assert "" == trusting.problem(borrower) == plain.problem(str(root)) == plain.problem(str(tmp_path))
    history = trusting.get(borrower)
    assert history
    assert 1 == len(history.commits)
