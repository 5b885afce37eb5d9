"""The graph tools have the same answers from the index as from the files, and see every change."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups
from fakes.polyglot import code_of, make_polyglot
from repositories import git, write

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.graph.codebase import IndexedCodeBase, ParseCache
from upbeat.adapters.code.index import build, manager
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.index.store import IndexStore, repository_folder
from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.adapters.system.git.root import find_root
from upbeat.core.contract.finding import ToolOutput


def make_project(folder: Path) -> str:
    """Return the root of a git repository whose files have not changed for long."""
    project = make_polyglot(folder.resolve() / "project")
    for path in project.rglob("*.*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Begin")
    return str(project)


def build_index(root: str, state: Path) -> IndexManager:
    library = IndexManager(state, can_build=False)
    assert library.build(root).is_complete
    return library


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, root: str) -> IndexManager:
    return build_index(root, tmp_path_factory.mktemp("state"))


@pytest.fixture
def code(root: str, library: IndexManager) -> Iterator[IndexedCodeBase]:
    with open_code(root, library) as opened:
        yield opened


@contextmanager
def open_code(root: str, library: IndexManager) -> Iterator[IndexedCodeBase]:
    with library.open_parsed_view(root) as view:
        assert view
        yield IndexedCodeBase(root, view, SourceCache(), ParseCache(1000), threading.Event(), 30.0)


def call(root: str, library: IndexManager | None, tool: str, **args: Any) -> ToolOutput:
    return EmbeddedProvider(index_manager=library).call(tool, args, root, threading.Event())


QUESTIONS = read_groups(Path(__file__).with_name("cases.tsv"))["question"]


@pytest.mark.parametrize(("tool", "args"), QUESTIONS)
def test_the_index_answers_like_the_files(
    root: str, library: IndexManager, tool: str, args: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings and data are the same, but for their source, and the files are not searched for names."""
    scanned = call(root, IndexManager(None), tool, **json.loads(args))
    monkeypatch.setattr("upbeat.adapters.code.provider.CodeBase", None)

    answer = call(root, library, tool, **json.loads(args))

    expected = scanned.data | ({"source": "index"} if "source" in scanned.data else {})
    assert (scanned.summary, scanned.findings, expected) == (answer.summary, answer.findings, answer.data)


WORDS = ["receive", "Store", "put", "format", "check", "count", "scan", "list_push", "list", "int", "nobody", "$"]
TEXTS = ["the NAME must not", "must not be", "name must", "  ", "no such text at all"]


def test_words_and_texts_are_found_in_the_same_files(root: str, code: IndexedCodeBase) -> None:
    """A text is found in any case, also when no word of it is complete; definitions are never missed."""
    scanned = code_of(Path(root))

    assert (scanned.files_by_name, scanned.files) == (code.files_by_name, code.files)
    for word in WORDS:
        assert set(scanned.files_mentioning(word)) == set(code.files_mentioning(word)), word
        assert set(code.files_defining(word)) <= set(scanned.files_defining(word)), word
        assert {path for path in code.files if code.may_define(path, word)} == set(code.files_defining(word)), word
        assert all(scanned.may_define(path, word) for path in scanned.files), word
    for text in TEXTS:
        assert scanned.files_containing(text) == code.files_containing(text), text


def test_secrets_are_not_read(code: IndexedCodeBase) -> None:
    """A credential file is neither parsed nor shown."""
    assert (None, []) == (code.parsed_file(".env"), code.read_lines(".env"))
    assert ".env" not in {*code.files_mentioning("receive"), *code.files_containing("hunter2 receive list")}


def test_an_edit_counts_at_once(tmp_path: Path) -> None:
    """A new caller is in the next answer, and a changed file is parsed again, before the index has them."""
    root = make_project(tmp_path)
    library = build_index(root, tmp_path / "state")
    with open_code(root, library) as code:
        write(Path(root), {"shop/app.py": "from shop.upload import receive\n\n\ndef brand_new():\n    receive(1)\n"})
        parsed = code.parsed_file("shop/app.py")
    library.forget_check(root)
    chain = call(root, library, "ci_call_chain", symbol="receive").data["call_chain"]

    assert parsed
    assert ["brand_new"] == [definition.name for definition in parsed.definitions]
    assert "shop/app.py::brand_new" in {entry["symbol_id"] for entry in chain}


def test_a_file_without_a_stored_parse_is_parsed_on_demand(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If only a few parses are missing, the index is used; if many are, the files answer until there is room."""
    monkeypatch.setattr(build, "MAX_FILL_RATIO", 0.0)
    library = build_index(root, tmp_path)
    scanned = call(root, IndexManager(None), "ci_call_chain", symbol="receive").findings
    with library.open_parsed_view(root) as view:
        assert view
        assert view.unparsed_docs
    assert scanned == call(root, library, "ci_call_chain", symbol="receive").findings

    monkeypatch.setattr(manager, "MAX_UNPARSED", 3)
    with library.open_parsed_view(root) as view:
        assert view is None
    assert scanned == call(root, library, "ci_call_chain", symbol="receive").findings

    monkeypatch.setattr(build, "MAX_FILL_RATIO", 1.0)
    library.build(root)
    with library.open_parsed_view(root) as view:
        assert view
        assert [] == view.unparsed_docs
    assert scanned == call(root, library, "ci_call_chain", symbol="receive").findings


def test_a_damaged_parse_is_replaced(root: str, tmp_path: Path) -> None:
    """The files answer, and the index is built again."""
    build_index(root, tmp_path)
    library = IndexManager(tmp_path)
    expected = call(root, IndexManager(None), "ci_call_chain", symbol="receive")
    store = IndexStore(repository_folder(tmp_path, find_root(root), root))
    with store.transaction():
        store.database.execute("UPDATE code SET body = zeroblob(length(body))")
    store.close()

    assert expected.findings == call(root, library, "ci_call_chain", symbol="receive").findings
    library.wait_for_build(root, 20.0)
    with library.open_parsed_view(root) as view:
        assert view
        assert view.store.get_parsed(view.store.docs_defining("receive")[0])
    library.close()
