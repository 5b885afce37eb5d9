"""The index follows the content of the tree, batch by batch, with one writer; a damaged one is built again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from repositories import git, make_repository, read_tree, write

from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.index import build
from upbeat.adapters.code.index.build import UpdateResult, update_index
from upbeat.adapters.code.index.file_table import FileTable
from upbeat.adapters.code.index.manager import is_listing_current
from upbeat.adapters.code.index.store import DATABASE_FILE, IndexStore, TreeState, exclusive_writer, open_or_create

FILES = {
    "a.py": "def alpha():\n    return 1\n",
    "b/b.py": "def beta():\n    return 2\n",
    ".gitignore": "ignored.py\n",
    "ignored.py": "def hidden(): pass\n",
    ".env": "SECRET=1\n",
    "data.csv": "1,2\n",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("template") / "r", FILES)


@pytest.fixture
def root(tmp_path: Path, repository: Path) -> Path:
    root = Path(shutil.copytree(repository, tmp_path.resolve() / "r"))
    settle(root)
    return root


def settle(root: Path) -> None:
    """Set old times for all files and folders, so that every change shows."""
    for path in (root, *root.rglob("*")):
        os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "x"


@contextmanager
def open_tree(folder: Path, root: Path) -> Iterator[tuple[IndexStore, TreeState]]:
    """Yield the index in ``folder`` and the state of the tree at ``root``."""
    store = IndexStore(folder)
    try:
        tree = store.tree_state(str(root))
        assert tree
        yield store, tree
    finally:
        store.close()


def words(folder: Path, root: Path) -> set[str]:
    """All words of the documents of the tree."""
    with open_tree(folder, root) as (store, tree):
        documents = store.get_documents(entry.doc_id for entry in store.list_entries(tree.id) if entry.doc_id)
        keys = [key for (key,) in store.database.rows("SELECT key FROM posting")]
        word_by_id = store.words_of_keys(keys, ())
    return {word_by_id[number] for document in documents.values() for number in document.word_ids}


def paths(folder: Path, root: Path) -> dict[str, bool]:
    """The files of the tree, and whether each has a document."""
    with open_tree(folder, root) as (store, tree):
        return {entry.path: entry.doc_id > 0 for entry in store.list_entries(tree.id)}


def test_what_git_lists_is_indexed(root: Path, folder: Path) -> None:
    """Tracked and new files have documents; ignored ones are left out, credentials and data are not read."""
    write(root, {"new.py": "def gamma(): pass\n"})

    assert UpdateResult(True, 6, 0) == update_index(folder, str(root))
    assert {".env": False, ".gitignore": True, "a.py": True, "b/b.py": True, "data.csv": False, "new.py": True} == (
        paths(folder, root)
    )
    assert {"alpha", "beta", "gamma"} <= words(folder, root)
    assert not {"hidden", "SECRET"} & words(folder, root)


def test_a_folder_without_git_is_indexed(tmp_path: Path, folder: Path) -> None:
    """A folder without git is indexed with all its files."""
    plain = write(tmp_path.resolve() / "p", {"a.py": "def alpha(): pass\n"})

    assert update_index(folder, str(plain)).is_complete
    assert {"a.py": True} == paths(folder, plain)


def test_unchanged_files_are_not_read(root: Path, folder: Path) -> None:
    """A second update reads no file."""
    update_index(folder, str(root))

    assert UpdateResult(True) == update_index(folder, str(root))


CHANGES: dict[str, tuple[Callable[[Path], object], int, int, str, str]] = {
    "edit": (lambda root: write(root, {"a.py": "def changed(): pass\n"}), 1, 0, "changed", "alpha"),
    "new": (lambda root: write(root, {"c.py": "def added(): pass\n"}), 1, 0, "added", ""),
    "gone": (lambda root: (root / "b" / "b.py").unlink(), 1, 0, "alpha", "beta"),
    "moved": (lambda root: (root / "a.py").rename(root / "z.py"), 2, 0, "alpha", ""),
    "binary now": (lambda root: (root / "a.py").write_bytes(b"\0"), 1, 0, "beta", "alpha"),
    "a link now": (
        lambda root: ((root / "a.py").unlink(), (root / "a.py").symlink_to("/etc/passwd")),
        1,
        0,
        "",
        "root",
    ),
    "ignored now": (
        lambda root: write(root, {".gitignore": "b/\nignored.py\n"}) and git(root, "rm", "-rq", "--cached", "b"),
        1,
        1,
        "",
        "beta",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_followed(root: Path, folder: Path, name: str) -> None:
    """Only changed files are read, deleted ones are dropped, and the index equals a new one."""
    change, read, dropped, present, absent = CHANGES[name]
    update_index(folder, str(root))
    change(root)

    result = update_index(folder, str(root))

    assert (True, read, dropped) == (result.is_complete, result.files_read, result.files_dropped)
    assert {present} - {""} <= words(folder, root)
    assert absent not in words(folder, root)
    update_index(folder.parent / "new", str(root))
    assert paths(folder.parent / "new", root) == paths(folder, root)
    assert words(folder.parent / "new", root) == words(folder, root)


def test_only_named_paths_are_updated(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the changed paths are given, nothing is listed, unless one of them is unknown."""
    update_index(folder, str(root))
    write(root, {"a.py": "def changed(): pass\n", "c.py": "def added(): pass\n"})
    with monkeypatch.context() as patch:
        patch.setattr(build, "list_files", None)
        assert UpdateResult(True, 1, 0) == update_index(folder, str(root), paths=["a.py"])

    assert {"changed"} == words(folder, root) & {"changed", "alpha", "added"}
    update_index(folder, str(root), paths=["c.py"])
    assert "added" in words(folder, root)


def test_a_second_change_at_the_same_time_is_seen(root: Path, folder: Path) -> None:
    """A change right after another one is seen, even with the same size and time."""
    stamp = time.time_ns() + 1_000_000_000  # as if no time passed between the change and the look, however slow this is
    write(root, {"a.py": "def first(): pass\n"})
    os.utime(root / "a.py", ns=(stamp, stamp))
    update_index(folder, str(root))
    write(root, {"a.py": "def other(): pass\n"})
    os.utime(root / "a.py", ns=(stamp, stamp))

    update_index(folder, str(root))

    assert "other" in words(folder, root)


def test_equal_files_share_a_document(root: Path, folder: Path) -> None:
    """Content is stored once, also for a linked working tree, which has its own files."""
    write(root, {"copy.py": FILES["a.py"]})
    update_index(folder, str(root))
    git(root, "worktree", "add", "-q", "../linked", "-b", "other")
    linked = root.parent / "linked"
    write(linked, {"only.py": "def only_here(): pass\n"})
    update_index(folder, str(linked))

    assert "only_here" in words(folder, linked)
    assert "only_here" not in words(folder, root)
    store = IndexStore(folder)
    assert (4, 4) == store.count_documents()[:2]
    store.close()


def test_an_index_beyond_the_limit_is_not_complete(root: Path, folder: Path) -> None:
    """The build stops at the limit, with a problem that says so."""
    result = update_index(folder, str(root), max_bytes=1)

    assert (False, "larger than 0 MB") == (result.is_complete, result.problem)
    with open_tree(folder, root) as (_store, tree):
        assert (False, 1) == (tree.is_complete, tree.exceeded_limit)


def test_a_cancelled_build_leaves_whole_batches(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored batches stay, and the next update continues."""
    monkeypatch.setattr(build, "BATCH_FILES", 1)
    finished: list[int] = []

    class Stop:
        def is_set(self) -> bool:
            return len(finished) >= 2

    result = update_index(folder, str(root), Stop(), on_progress=lambda count, _: finished.append(count))

    assert (False, 2, "cancelled") == (result.is_complete, result.files_read, result.problem)
    assert UpdateResult(True, 3, 0) == update_index(folder, str(root))


def test_a_large_build_leaves_no_log(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of SQLite is written back after many files, so that it takes no space."""
    monkeypatch.setattr(build, "LARGE_BUILD_FILES", 1)

    assert update_index(folder, str(root)).is_complete
    assert not (folder / f"{DATABASE_FILE}-wal").stat().st_size


def test_one_writer_at_a_time(root: Path, folder: Path) -> None:
    """While another process writes, nothing is updated, and readers go on."""
    update_index(folder, str(root))
    with exclusive_writer(folder) as may_write:
        assert may_write
        assert "another process is building the index" == update_index(folder, str(root)).problem
        assert "alpha" in words(folder, root)
    assert update_index(folder, str(root)).is_complete


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("no database" * 100),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "another version": lambda path: path.write_bytes(path.read_bytes()[:60] + b"\0\0\0\x63" + path.read_bytes()[64:]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_built_again(root: Path, folder: Path, damage: str) -> None:
    """A file that is no sound index of this version is not read, and is replaced."""
    update_index(folder, str(root))
    store = IndexStore(folder)
    store.database.checkpoint()
    store.close()
    for companion in ("-wal", "-shm"):
        (folder / (DATABASE_FILE + companion)).unlink(missing_ok=True)
    DAMAGE[damage](folder / DATABASE_FILE)

    assert update_index(folder, str(root)).is_complete
    assert {"alpha", "beta"} <= words(folder, root)


def test_secrets_are_not_stored_with_code(root: Path, folder: Path) -> None:
    """A parsed file has no secret, neither in a signature nor as a name."""
    secret = "ghp_9aF3kQ7mZx2Lr8Tn5Vb1Wc6Yd4Ue0Hg3Js7K"
    write(root, {"s.py": f'TOKEN = "{secret}"\ndef f(token="{secret}"): pass\n', "s.lua": f'local t = "{secret}"\n'})
    settle(root)
    update_index(folder, str(root))

    with open_tree(folder, root) as (store, _tree):
        bodies = [zlib.decompress(body[4:], -15) for (body,) in store.database.rows("SELECT body FROM code")]
    assert [False] * 4 == [secret.encode() in body for body in bodies]


def test_only_the_owner_can_read_the_index(root: Path, folder: Path) -> None:
    """Folder and files are private."""
    update_index(folder, str(root))

    assert 0o700 == folder.stat().st_mode & 0o777
    assert {0o600} == {path.stat().st_mode & 0o777 for path in folder.iterdir()}


NEW_FILES = ["b/new.py", "src/new.py", "src/other/new.py", "empty/new.py", "empty/inner/new.py", "cache/new.py"]


@pytest.mark.parametrize("new", NEW_FILES)
def test_a_new_file_shows_by_its_folder(root: Path, folder: Path, new: str) -> None:
    """Also in a folder above a package, an empty one, and one with ignored files only."""
    write(root, {"src/package/one.py": "x", "cache/ignored.py": "x"})
    (root / "empty" / "inner").mkdir(parents=True)
    settle(root)
    update_index(folder, str(root))
    with open_tree(folder, root) as (_store, tree):
        assert is_listing_current(str(root), tree)

    write(root, {new: "x"})

    assert not is_listing_current(str(root), tree)


SCRIPTS = read_tree(Path(__file__).with_name("builders.txt"))
MANY = {f"m/f{number}.py": f"def function_{number}(x):\n    return x\n" * 20 for number in range(150)}


def run_builders(script: str, folder: Path, root: Path) -> str:
    """Return what a script of ``builders.txt`` prints, which starts and finishes builders of the index."""
    command = [sys.executable, "-c", SCRIPTS["begin"] + SCRIPTS[script], str(folder), str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def many(root: Path, folder: Path) -> Iterator[Path]:
    """Yield a repository with many files; in the end its index can be completed."""
    yield write(root, MANY)
    assert update_index(folder, str(root)).is_complete
    assert {f"function_{number}" for number in range(150)} <= words(folder, root)


def test_a_killed_builder_leaves_a_sound_index(many: Path, folder: Path) -> None:
    """A builder that is killed at any moment leaves what it has stored, and the next one goes on."""
    assert {"ok"} >= set(run_builders("killed", folder, many).split())


def test_a_full_disk_leaves_a_sound_index(many: Path, folder: Path) -> None:
    """Without room the builder fails, and what it stored is no complete index; with room the next one goes on."""
    assert ["2 False"] * 3 == run_builders("full disk", folder, many).splitlines()


def test_two_builders_at_once(many: Path, folder: Path) -> None:
    """One builds, the other one does not unless the first has finished."""
    statuses = run_builders("two", folder, many).split()

    assert "0" in statuses
    assert set(statuses) <= {"0", "1"}


def test_an_index_of_unused_documents_is_built_again(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When most documents belong to no tree any more, all are removed."""
    monkeypatch.setattr(build, "MIN_DEAD_DOCUMENTS", 2)
    update_index(folder, str(root))
    for number in range(4):
        write(root, {f"{name}.py": f"def f{number}(): pass\n" + name for name in "abcd"})
        update_index(folder, str(root))
    with exclusive_writer(folder):
        store = open_or_create(folder)
        documents, alive, _ = store.count_documents()
        store.close()

    assert documents - alive <= max(alive, 2) + 4


TABLE_CHANGES: dict[str, tuple[Callable[[Path], object], bool]] = {
    "nothing": (lambda root: None, True),
    "an edit": (lambda root: write(root, {"a.py": "def gamma_ray(): pass\n" * 3}), True),
    "the same content": (lambda root: write(root, {"a.py": "def beta():\n    return 2\n"}), True),
    "a new file": (lambda root: write(root, {"c.py": "x = 1\n"}), False),
    "a file gone": (lambda root: (root / "a.py").unlink(), False),
    "one for another": (lambda root: ((root / "a.py").unlink(), write(root, {"c.py": "x = 1\n"})), False),
}


@pytest.mark.parametrize("change", TABLE_CHANGES)
def test_a_table_is_updated(root: Path, folder: Path, change: str) -> None:
    """An updated table equals a new one; when files were added or deleted, it cannot be updated."""
    apply, is_updated = TABLE_CHANGES[change]
    update_index(folder, str(root))
    with open_tree(folder, root) as (store, tree):
        before = FileTable(store.list_entries(tree.id))
    apply(root)
    update_index(folder, str(root))
    with open_tree(folder, root) as (store, _):
        after = FileTable(store.list_entries(tree.id))
        changes = store.changed_entries(tree.id, tree.version, len(before.entries))
    updated = before.with_changes(changes) if changes is not None else None

    assert is_updated == (updated is not None)
    if updated:
        for name in ("entries", "position_by_path", "total_bytes"):
            assert getattr(after, name) == getattr(updated, name)
        assert after.role_mask([FileRole.SOURCE]) == updated.role_mask([FileRole.SOURCE])
        assert after.positions_by_doc == {doc: places for doc, places in updated.positions_by_doc.items() if places}
