"""The index follows the tree: by content, whole batches, one writer, and anew when it is damaged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from repositories import git, make_repository, write

from upbeat.adapters.code.files.file_types import FileRole
from upbeat.adapters.code.index import build
from upbeat.adapters.code.index.build import UpdateResult, is_listing_current, update_index
from upbeat.adapters.code.index.file_table import FileTable
from upbeat.adapters.code.index.store import DATABASE_FILE, IndexStore, exclusive_writer, open_existing, open_or_create

FILES = {
    "a.py": "def alpha():\n    return 1\n",
    "b/b.py": "def beta():\n    return 2\n",
    ".gitignore": "ignored.py\n",
    "ignored.py": "def hidden(): pass\n",
    ".env": "SECRET=1\n",
    "data.csv": "1,2\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(Path(os.path.realpath(tmp_path)) / "r", FILES)
    for path in root.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "x"


def words(folder: Path, root: Path) -> set[str]:
    """All words of the documents of the tree."""
    store = IndexStore(folder)
    tree = store.tree_state(str(root))
    assert tree
    documents = store.get_documents(entry.doc_id for entry in store.list_entries(tree.id) if entry.doc_id)
    known = dict(store._database.rows("SELECT id, word FROM word"))
    store.close()
    return {known[number] for document in documents.values() for number in document.word_ids}


def paths(folder: Path, root: Path) -> dict[str, bool]:
    """The files of the tree, and whether each has a document."""
    store = IndexStore(folder)
    tree = store.tree_state(str(root))
    assert tree
    found = {entry.path: entry.doc_id > 0 for entry in store.list_entries(tree.id)}
    store.close()
    return found


def test_what_git_lists_is_indexed(root: Path, folder: Path) -> None:
    """Tracked and new files have documents; ignored ones are not there, secrets and data are not read."""
    write(root, {"new.py": "def gamma(): pass\n"})

    assert UpdateResult(True, 6, 0) == update_index(folder, str(root))
    assert {".env": False, ".gitignore": True, "a.py": True, "b/b.py": True, "data.csv": False, "new.py": True} == (
        paths(folder, root)
    )
    assert {"alpha", "beta", "gamma"} <= words(folder, root)
    assert not {"hidden", "SECRET"} & words(folder, root)


def test_without_git_the_tree_is_walked(tmp_path: Path, folder: Path) -> None:
    """A folder without git is indexed from what is there."""
    plain = write(Path(os.path.realpath(tmp_path)) / "p", {"a.py": "def alpha(): pass\n"})

    assert update_index(folder, str(plain)).is_complete
    assert {"a.py": True} == paths(folder, plain)


def test_nothing_changed_nothing_is_read(root: Path, folder: Path) -> None:
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
    """Only what changed is read; what is gone is dropped; the index is as one built anew would be."""
    change, read, dropped, present, absent = CHANGES[name]
    update_index(folder, str(root))
    change(root)

    done = update_index(folder, str(root))

    assert (True, read, dropped) == (done.is_complete, done.files_read, done.files_dropped)
    assert {present} - {""} <= words(folder, root)
    assert absent not in words(folder, root)
    update_index(folder.parent / "anew", str(root))
    assert paths(folder.parent / "anew", root) == paths(folder, root)
    assert words(folder.parent / "anew", root) == words(folder, root)


def test_named_paths_are_enough(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is known what changed, nothing is listed; a path that nobody knows makes it look at all."""
    update_index(folder, str(root))
    write(root, {"a.py": "def changed(): pass\n", "c.py": "def added(): pass\n"})
    with monkeypatch.context() as patch:
        patch.setattr(build, "list_files", None)
        assert UpdateResult(True, 1, 0) == update_index(folder, str(root), paths=["a.py"])

    assert {"changed"} == words(folder, root) & {"changed", "alpha", "added"}
    update_index(folder, str(root), paths=["c.py"])
    assert "added" in words(folder, root)


def test_the_same_time_hides_nothing(root: Path, folder: Path) -> None:
    """A second change right after the first is seen, even with the same size and time."""
    stamp = time.time_ns() + 1_000_000_000  # as if no time passed between the change and the look, however slow this is
    write(root, {"a.py": "def first(): pass\n"})
    os.utime(root / "a.py", ns=(stamp, stamp))
    update_index(folder, str(root))
    write(root, {"a.py": "def other(): pass\n"})
    os.utime(root / "a.py", ns=(stamp, stamp))

    update_index(folder, str(root))

    assert "other" in words(folder, root)


def test_equal_files_share_a_document(root: Path, folder: Path) -> None:
    """Content is kept once, also for a linked working tree, which has its own files."""
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


def test_a_tree_that_does_not_fit_is_no_index(root: Path, folder: Path) -> None:
    """Beyond the limit it stops, says so, and is never complete."""
    done = update_index(folder, str(root), max_bytes=1)
    store = IndexStore(folder)
    tree = store.tree_state(str(root))
    store.close()

    assert (False, "larger than 0 MB") == (done.is_complete, done.problem)
    assert tree
    assert (False, 1) == (tree.is_complete, tree.exceeded_limit)


def test_time_that_is_over_leaves_whole_batches(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored stays; the next update goes on from there."""
    monkeypatch.setattr(build, "BATCH_FILES", 1)
    seen: list[int] = []

    class Stop:
        def is_set(self) -> bool:
            return len(seen) >= 2

    done = update_index(folder, str(root), Stop(), on_progress=lambda at, _: seen.append(at))

    assert (False, 2, "cancelled") == (done.is_complete, done.files_read, done.problem)
    assert UpdateResult(True, 3, 0) == update_index(folder, str(root))


def test_one_writer_at_a_time(root: Path, folder: Path) -> None:
    """While another one writes, nothing is done; readers go on."""
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
def test_a_damaged_index_is_built_anew(root: Path, folder: Path, damage: str) -> None:
    """What is no sound index of this version is not read; an update makes one."""
    update_index(folder, str(root))
    store = IndexStore(folder)
    store._database.checkpoint()
    store.close()
    for companion in ("-wal", "-shm"):
        (folder / (DATABASE_FILE + companion)).unlink(missing_ok=True)
    DAMAGE[damage](folder / DATABASE_FILE)

    assert update_index(folder, str(root)).is_complete
    assert {"alpha", "beta"} <= words(folder, root)


def test_secrets_in_code_are_not_kept(root: Path, folder: Path) -> None:
    """What the syntax says of a file holds no secret of it: neither in a signature nor as a name."""
    secret = "ghp_9aF3kQ7mZx2Lr8Tn5Vb1Wc6Yd4Ue0Hg3Js7K"
    texts = {"s.py": f'TOKEN = "{secret}"\ndef f(token="{secret}"): pass\n', "s.lua": f'local t = "{secret}"\n'}
    write(root, texts)
    for path in texts:
        os.utime(root / path, (1_000_000_000, 1_000_000_000))

    update_index(folder, str(root))

    store = IndexStore(folder)
    bodies = [zlib.decompress(body) for (body,) in store._database.rows("SELECT body FROM code")]
    store.close()
    assert [False] * 4 == [secret.encode() in body for body in bodies]


def test_only_its_owner_can_read_it(root: Path, folder: Path) -> None:
    """Folder and files are private."""
    update_index(folder, str(root))

    assert 0o700 == folder.stat().st_mode & 0o777
    assert {0o600} == {path.stat().st_mode & 0o777 for path in folder.iterdir()}


def test_listing_changes_are_noticed(root: Path, folder: Path) -> None:
    """A file that comes or goes shows by its folder, a staged one by git's index."""

    def same() -> bool:
        store = IndexStore(folder)
        tree = store.tree_state(str(root))
        store.close()
        assert tree
        return is_listing_current(str(root), tree)

    for path in (root, root / "b", root / ".git" / "index"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    update_index(folder, str(root))
    assert same()
    write(root, {"b/new.py": "x"})
    assert not same()


@pytest.mark.parametrize(
    "new", ["src/new.py", "src/other/new.py", "empty/new.py", "empty/inner/new.py", "cache/new.py"]
)
def test_files_in_folders_without_files_are_noticed(root: Path, folder: Path, new: str) -> None:
    """A file shows by its folder too where none was before: above a package, in an empty one."""
    write(root, {"src/package/one.py": "x", "cache/ignored.py": "x"})
    (root / "empty" / "inner").mkdir(parents=True)
    for path in (root, *(path for path in root.rglob("*") if ".git" not in path.parts), root / ".git" / "index"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    update_index(folder, str(root))
    store = IndexStore(folder)
    tree = store.tree_state(str(root))
    store.close()
    assert tree
    assert is_listing_current(str(root), tree)

    write(root, {new: "x"})

    assert not is_listing_current(str(root), tree)


BUILD = """
import sys
from pathlib import Path
from upbeat.adapters.code.index import build as index_build
index_build.BATCH_FILES = 5
print("ready", flush=True)
print(index_build.update_index(Path(sys.argv[1]), sys.argv[2]).is_complete, flush=True)
"""


def start(folder: Path, root: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(BUILD), str(folder), str(root)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert "ready\n" == process.stdout.readline()
    return process


@pytest.fixture
def many(root: Path) -> Path:
    return write(root, {f"m/f{number}.py": f"def function_{number}(x):\n    return x\n" * 20 for number in range(150)})


def test_killed_builders_leave_a_sound_index(many: Path, folder: Path) -> None:
    """A builder that is killed at any moment leaves what it had stored, and the next one goes on."""
    for pause in (0.002, 0.02, 0.04, 0.06):
        process = start(folder, many)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        store = open_existing(folder)
        if store:
            assert "ok" == store._database.rows("PRAGMA integrity_check")[0][0]
            store.close()

    assert update_index(folder, str(many)).is_complete
    assert {f"function_{number}" for number in range(150)} <= words(folder, many)


FULL = """
import resource, sys
from pathlib import Path
from upbeat.adapters.code.index.build import update_index
from upbeat.adapters.system.journal.faults import StorageError

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    print(update_index(Path(sys.argv[1]), sys.argv[2]).is_complete)
except (StorageError, OSError) as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("room", [0, 20_000, 60_000])
def test_a_full_disk_leaves_a_sound_index(many: Path, folder: Path, room: int) -> None:
    """Without room the builder fails and what it stored stays whole; with room the next one goes on."""
    command = [sys.executable, "-c", FULL, str(folder), str(many), str(room)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if (folder / DATABASE_FILE).is_file() and (folder / DATABASE_FILE).stat().st_size:
        store = open_existing(folder)
        tree = store.tree_state(str(many)) if store else None
        assert not (tree and tree.is_complete)
        if store:
            store.close()

    assert answer in ("StorageError\n", "OSError\n")
    assert update_index(folder, str(many)).is_complete
    assert {f"function_{number}" for number in range(150)} <= words(folder, many)


def test_two_builders_at_once(many: Path, folder: Path) -> None:
    """One builds, the other one says that it does not; the outcome is whole."""
    both = [start(folder, many), start(folder, many)]
    answers = {process.communicate()[0] for process in both}

    assert "True\n" in answers
    assert answers <= {"True\n", "False\n"}
    assert {f"function_{number}" for number in range(150)} <= words(folder, many)


def test_a_worn_index_is_built_anew(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When most documents are of no tree any more, the index starts over."""
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


def table_of(folder: Path, root: Path) -> tuple[IndexStore, int, int]:
    store = IndexStore(folder)
    tree = store.tree_state(str(root))
    assert tree
    return store, tree.id, tree.version


KEPT_OR_NOT: dict[str, tuple[Callable[[Path], object], bool]] = {
    "nothing": (lambda root: None, True),
    "an edit": (lambda root: write(root, {"a.py": "def gamma_ray(): pass\n" * 3}), True),
    "the same content": (lambda root: write(root, {"a.py": "def beta():\n    return 2\n"}), True),
    "a new file": (lambda root: write(root, {"c.py": "x = 1\n"}), False),
    "a file gone": (lambda root: (root / "a.py").unlink(), False),
    "one for another": (lambda root: ((root / "a.py").unlink(), write(root, {"c.py": "x = 1\n"})), False),
}


@pytest.mark.parametrize("change", KEPT_OR_NOT)
def test_a_table_is_renewed(root: Path, folder: Path, change: str) -> None:
    """What is taken over from the table before equals a new one; when files come or go it is made anew."""
    update_index(folder, str(root))
    store, tree, version = table_of(folder, root)
    before = FileTable(store.list_entries(tree))
    store.close()
    work, is_renewed = KEPT_OR_NOT[change]
    work(root)
    update_index(folder, str(root))
    store, tree, _ = table_of(folder, root)
    after = FileTable(store.list_entries(tree))
    changes = store.changed_entries(tree, version, len(before.entries))
    store.close()
    renewed = before.with_changes(changes) if changes is not None else None

    assert is_renewed == (renewed is not None)
    if renewed:
        assert (after.entries, after.position_by_path, after.total_bytes) == (
            renewed.entries,
            renewed.position_by_path,
            renewed.total_bytes,
        )
        assert after.role_mask([FileRole.SOURCE]) == renewed.role_mask([FileRole.SOURCE])
        assert after.positions_by_doc == {doc: places for doc, places in renewed.positions_by_doc.items() if places}
