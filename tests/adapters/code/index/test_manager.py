"""Indexes are used when they are complete, never waited for, kept current, and removed when damaged."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
from case_files import read_cases
from fakes.source_tree import FILES as SHOP
from repositories import git, make_repository, write

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.index import build, manager
from upbeat.adapters.code.index.manager import IndexLimits, IndexManager
from upbeat.adapters.code.index.store import DATABASE_FILE, repository_folder
from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.adapters.code.query.search import search_code
from upbeat.adapters.system.git.root import find_root
from upbeat.core.contract.finding import ToolOutput

WAIT = 20.0


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("template") / "shop", SHOP)


@pytest.fixture
def root(tmp_path: Path, repository: Path) -> str:
    return str(shutil.copytree(repository, tmp_path.resolve() / "shop"))


@pytest.fixture
def library(tmp_path: Path) -> IndexManager:
    return IndexManager(tmp_path / "state")


def ask(root: str, query: str, library: IndexManager | None) -> ToolOutput:
    return search_code(root, query, 10, (), (), SourceCache(), threading.Event(), 5.0, library)


def indexed(library: IndexManager, root: str) -> None:
    """Build the index in the background and wait for it."""
    library.request_update(root)
    library.wait_for_build(root, WAIT)
    assert "ready" == library.index_state(root).state


def settle(root: str) -> None:
    """Set old times for all folders and git's index, so that every change shows."""
    for path in (Path(root), Path(root, ".git", "index"), *(path for path in Path(root).rglob("*") if path.is_dir())):
        os.utime(path, (1_000_000_000, 1_000_000_000))


QUESTIONS = [question for (question,) in read_cases(Path(__file__).with_name("questions.txt"))]


def test_the_index_answers_like_the_files(root: str, library: IndexManager) -> None:
    """The same files come in the same order, with the same lines."""
    indexed(library, root)
    for query in QUESTIONS:
        scanned, answer = ask(root, query, IndexManager(None)), ask(root, query, library)

        assert ("scan", "index") == (scanned.data["mode"], answer.data["mode"])
        places = [(row.path, row.symbol, row.start_line, row.end_line, row.text) for row in scanned.findings]
        assert places == [(row.path, row.symbol, row.start_line, row.end_line, row.text) for row in answer.findings]


def test_the_first_question_is_answered_without_an_index(root: str, library: IndexManager) -> None:
    """The files answer and the summary says so; the next question uses the index."""
    first = ask(root, "exponential backoff", library)
    library.wait_for_build(root, WAIT)
    second = ask(root, "exponential backoff", library)

    assert ("scan", "index") == (first.data["mode"], second.data["mode"])
    assert first.summary.endswith("; not indexed yet")
    assert "index" not in second.summary


def test_the_next_process_uses_the_index(root: str, library: IndexManager, tmp_path: Path) -> None:
    """An index that one process built serves another one."""
    indexed(library, root)
    library.close()

    assert "index" == ask(root, "exponential backoff", IndexManager(tmp_path / "state")).data["mode"]


def test_changes_count_at_once(root: str, library: IndexManager) -> None:
    """A changed, a new and a deleted file count in the next question."""
    indexed(library, root)
    write(Path(root), {"shop/http/retry.py": "def flamingo_dance():\n    pass\n"})
    changed = ask(root, "flamingo dance", library)
    write(Path(root), {"shop/new_file.py": "def pelican_swim():\n    pass\n"})
    new = ask(root, "pelican swim", library)
    (Path(root) / "shop" / "new_file.py").unlink()
    gone = ask(root, "pelican swim", library)

    assert ["shop/http/retry.py", "shop/new_file.py"] == [changed.findings[0].path, new.findings[0].path]
    assert [] == [row for row in gone.findings if row.path == "shop/new_file.py"]
    assert {"index"} == {answer.data["mode"] for answer in (changed, new, gone)}


def test_updates_do_not_use_up_the_time_for_builds(root: str, library: IndexManager, tmp_path: Path) -> None:
    """Updates of a complete index go on when the time for builds is used up; an incomplete one is not built."""
    indexed(library, root)
    before = library._build_seconds_left
    library.request_update(root)
    library.wait_for_build(root, WAIT)
    after, library._build_seconds_left = library._build_seconds_left, 0.0
    write(Path(root), {"shop/money.py": "def compute_discount(): pass\n"})
    files = library.index_state(root).files
    library.request_update(root)
    library.wait_for_build(root, WAIT)
    spent = IndexManager(tmp_path / "other")
    spent._build_seconds_left = 0.0
    spent.request_update(root)
    spent.wait_for_build(root, WAIT)

    assert (before, files + 1) == (after, library.index_state(root).files)
    assert ("partial", 0) == (spent.index_state(root).state, spent.index_state(root).indexed)


def test_a_process_that_ends_soon_builds_nothing(root: str, tmp_path: Path) -> None:
    """Without ``can_build``, an existing index is used, and the files answer when there is none."""
    passing = IndexManager(tmp_path / "state", can_build=False)
    first = ask(root, QUESTIONS[0], passing)
    passing.wait_for_build(root, WAIT)
    indexed(IndexManager(tmp_path / "state"), root)

    assert "scan" == first.data["mode"]
    assert "index" == ask(root, QUESTIONS[0], passing).data["mode"]


def test_a_large_tree_is_checked_in_turns(root: str, library: IndexManager, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed candidates are read in any case; new files are found in the background, and the summary says so."""
    monkeypatch.setattr(manager, "MAX_EAGER_FILES", 2)
    monkeypatch.setattr(manager, "FILES_PER_CHECK", 1)
    indexed(library, root)
    library.build(root)
    write(Path(root), {"shop/http/retry.py": "# backoff\ndef flamingo_dance():\n    pass\n"})
    changed = ask(root, "flamingo dance with exponential backoff", library)
    write(Path(root), {"shop/new_file.py": "def pelican_swim():\n    pass\n"})
    behind = ask(root, "pelican swim", library)
    library.wait_for_build(root, WAIT)

    assert "flamingo_dance" in {row.symbol for row in changed.findings if row.path == "shop/http/retry.py"}
    assert behind.summary.endswith("; the index is behind the files")
    assert "shop/new_file.py" == ask(root, "pelican swim", library).findings[0].path


def test_a_damaged_index_is_rebuilt(root: str, library: IndexManager, tmp_path: Path) -> None:
    """The files answer until the index is built again."""
    indexed(library, root)
    library.close()
    folder = repository_folder(tmp_path / "state", find_root(root), root)
    path = folder / DATABASE_FILE
    data = bytearray(path.read_bytes() if path.stat().st_size > 8192 else b"")
    for companion in ("-wal", "-shm"):
        (folder / (DATABASE_FILE + companion)).unlink(missing_ok=True)
    path.write_bytes(bytes(data[:4096]) + b"\xff" * max(len(data) - 4096, 8192))
    again = IndexManager(tmp_path / "state")

    first = ask(root, "exponential backoff", again)
    again.wait_for_build(root, WAIT)
    ask(root, "exponential backoff", again)
    again.wait_for_build(root, WAIT)

    assert "shop/http/retry.py" == first.findings[0].path
    assert "index" == ask(root, "exponential backoff", again).data["mode"]


def test_a_disabled_index_is_not_built(root: str, tmp_path: Path) -> None:
    """When it is disabled or has no place, nothing is written, and no summary mentions an index."""
    off = IndexManager(tmp_path / "state", lambda: IndexLimits(is_enabled=False))

    answers = [ask(root, "exponential backoff", library) for library in (off, IndexManager(None))]
    off.request_update(root)
    off.wait_for_build(root, WAIT)

    assert {"scan"} == {answer.data["mode"] for answer in answers}
    assert not any("index" in answer.summary for answer in answers)
    assert "off" == off.index_state(root).state
    assert [] == list(tmp_path.glob(f"state/upbeat/index/*/{DATABASE_FILE}"))


def test_an_index_that_is_too_large_is_built_with_a_higher_limit(root: str, tmp_path: Path) -> None:
    """Beyond the limit the files answer; with a higher limit the index is built."""
    small = IndexManager(tmp_path / "state", lambda: IndexLimits(max_mb=0))
    ask(root, "backoff", small)
    small.wait_for_build(root, WAIT)
    wider = IndexManager(tmp_path / "state", lambda: IndexLimits(max_mb=50))

    assert "too_large" == small.index_state(root).state
    assert "scan" == ask(root, "backoff", wider).data["mode"]
    wider.wait_for_build(root, WAIT)
    assert "index" == ask(root, "backoff", wider).data["mode"]


def test_state_counts(root: str, library: IndexManager) -> None:
    """The state has the number of files, of indexed ones, and of bytes."""
    assert "none" == library.index_state(root).state
    indexed(library, root)
    state = library.index_state(root)

    assert (len(SHOP), "") == (state.files, state.problem)
    assert 0 < state.indexed <= state.files
    assert state.bytes > 4096


def test_a_check_holds_until_the_client_changes_a_file(root: str, tmp_path: Path) -> None:
    """Within the time of a check the tree is not checked again, unless the client has just changed it."""
    library = IndexManager(tmp_path / "state", can_build=False, recheck_seconds=WAIT * 10)
    settle(root)
    library.build(root)

    def is_indexed() -> bool:
        with library.open_view(root) as view:
            assert view
            return "brand_new.py" in view.table.position_by_path

    before = is_indexed()
    (Path(root) / "brand_new.py").write_text("def brand_new():\n    return 1\n")
    unchecked = is_indexed()
    library.forget_check(root)

    assert (False, False, True) == (before, unchecked, is_indexed())


def test_close_does_not_wait_for_a_late_question(root: str, library: IndexManager) -> None:
    """The manager can be closed while a question whose answer is not needed any more still reads."""
    indexed(library, root)
    reads, may_end = threading.Event(), threading.Event()

    def late() -> None:
        with library.open_view(root) as view:
            assert view
            reads.set()
            may_end.wait(WAIT)

    thread = threading.Thread(target=late)
    thread.start()
    reads.wait(WAIT)
    library.close()
    may_end.set()
    thread.join()

    assert reads.is_set()


def test_a_file_that_has_become_readable_is_found(root: str, library: IndexManager) -> None:
    """A file that was too large, or is dated 1970, is read after a change that no folder shows."""
    write(Path(root), {"shop/large.py": "#" * 600_000, "shop/old.py": "x = 1\n"})
    os.utime(f"{root}/shop/old.py", (0, 0))
    settle(root)
    indexed(library, root)
    assert not ask(root, "frobnicate_widget", library).findings

    write(Path(root), {"shop/large.py": "def frobnicate_widget(): pass\n", "shop/old.py": "def unfrobnicate(): pass\n"})

    assert "shop/large.py" == ask(root, "frobnicate_widget", library).findings[0].path
    assert "shop/old.py" == ask(root, "unfrobnicate", library).findings[0].path


def test_an_empty_tree_has_an_index(tmp_path: Path, library: IndexManager) -> None:
    """A question to a repository without files is answered from its index."""
    folder = Path(os.path.realpath(tmp_path)) / "empty"
    folder.mkdir()
    git(folder, "init", "-q")
    root = str(folder)
    indexed(library, root)

    answer = ask(root, "retry limit", library)

    assert ("index", ()) == (answer.data and answer.data["mode"], answer.findings)
    assert ("ready", "") == (library.index_state(root).state, library.index_state(root).problem)


def test_a_changed_ignore_file_causes_a_new_listing(root: str, library: IndexManager) -> None:
    """A newly ignored file is left out, though only ``.gitignore`` has changed."""
    write(Path(root), {".gitignore": "*.log\n", "shop/mine.py": "def frobnicate_widget(): pass\n"})
    settle(root)
    indexed(library, root)
    write(Path(root), {".gitignore": "mine.py\n"})
    os.utime(f"{root}/.gitignore", (1_000_000_000, 1_000_000_000))

    assert not ask(root, "frobnicate_widget", library).findings


def test_a_lone_surrogate_does_not_damage_the_index(root: str, library: IndexManager) -> None:
    """A query that cannot be encoded fails, and the index stays."""
    indexed(library, root)

    EmbeddedProvider(index_manager=library).call("ci_call_chain", {"symbol": "\ud83d"}, root, threading.Event())

    assert ("ready", "") == (library.index_state(root).state, library.index_state(root).problem)


def test_a_question_does_not_rebuild_the_index(
    root: str, tmp_path: Path, library: IndexManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index of many batches answers, new files included; it is rebuilt in the background, if at all."""
    indexed(library, root)
    library.close()
    monkeypatch.setattr(build, "MAX_BATCHES", 0)
    other = IndexManager(tmp_path / "state", can_build=False)
    ask(root, "file upload", other)
    write(Path(root), {"shop/new.py": "def frobnicate_widget(): pass\n"})

    assert "shop/new.py" == ask(root, "frobnicate_widget", other).findings[0].path


def test_a_name_that_differs_by_its_number_is_found(tmp_path: Path, library: IndexManager) -> None:
    """Of many names with different numbers, the one in the query is first, with and without an index."""
    files = {f"src/m{number:03}.py": f"def handler_{number:04}(x):\n    return x\n" for number in range(90)}
    root = str(make_repository(Path(os.path.realpath(tmp_path)) / "many", files))

    assert "src/m077.py" == ask(root, "where is handler_0077 defined", None).findings[0].path
    indexed(library, root)
    assert "src/m077.py" == ask(root, "where is handler_0077 defined", library).findings[0].path
