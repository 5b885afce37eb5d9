"""The graph tools have the same answers from the index as from the files, and see every change."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.polyglot import code_of, make_polyglot
from repositories import git, write

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.graph.codebase import CodeBase, IndexedCodeBase, ParseCache
from upbeat.adapters.code.index import build
from upbeat.adapters.code.index import manager as library_module
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.index.store import IndexStore, repository_folder
from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.adapters.system.git.root import find_root
from upbeat.core.contract.finding import ToolOutput


@pytest.fixture
def root(tmp_path: Path) -> str:
    folder = make_polyglot(Path(os.path.realpath(tmp_path)) / "project")
    for path in folder.rglob("*.*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    return str(folder)


@pytest.fixture
def library(tmp_path: Path, root: str) -> IndexManager:
    library = IndexManager(tmp_path / "state")
    assert library.build(root).is_complete
    return library


@pytest.fixture
def code(root: str, library: IndexManager) -> Iterator[IndexedCodeBase]:
    with library.open_parsed_view(root) as view:
        assert view
        yield IndexedCodeBase(root, view, SourceCache(), ParseCache(1000), threading.Event(), 30.0)


def call(root: str, library: IndexManager | None, tool: str, **args: Any) -> ToolOutput:
    return EmbeddedProvider(index_manager=library).call(tool, args, root, threading.Event())


def refuse(*_arguments: object, **_options: object) -> CodeBase:
    raise AssertionError("the files were read")


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    *(
        ("ci_call_chain", {"symbol": name})
        for name in ("receive", "Store.put", "format", "check", "count", "list_push")
    ),
    ("ci_impact", {"symbols": ["Store._write"]}),
    ("ci_impact", {"files": ["shop/store.py"]}),
    ("ci_impact", {"files": ["native/list.h", "web/money.ts"]}),
    ("ci_bug_locate", {"errors": ["EmptyNameError: The name must not be empty"]}),
    ("ci_bug_locate", {"traces": ['File "/app/shop/upload.py", line 4, in receive']}),
    ("ci_complexity", {"files": ["shop/upload.py", "worker/check.go"]}),
    ("ci_hotspot", {}),
    ("ci_graph_rag", {"query": "why does receive put an empty name into the store"}),
]


@pytest.mark.parametrize(("tool", "args"), QUESTIONS)
def test_the_index_answers_like_the_files(
    root: str, library: IndexManager, tool: str, args: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows and the same data, but for where they come from, and no file is looked for a name."""
    scanned = call(root, IndexManager(None), tool, **args)
    monkeypatch.setattr("upbeat.adapters.code.provider.CodeBase", refuse)

    answer = call(root, library, tool, **args)

    expected = scanned.data | ({"source": "index"} if "source" in scanned.data else {})
    assert (scanned.summary, scanned.findings, expected) == (answer.summary, answer.findings, answer.data)


WORDS = [
    "receive",
    "Store",
    "put",
    "format",
    "check",
    "count",
    "scan",
    "list_push",
    "list",
    "int",
    "self",
    "nobody",
    "$",
]


@pytest.mark.parametrize("word", WORDS)
def test_words_stand_where_they_stand(root: str, code: IndexedCodeBase, word: str) -> None:
    """The files with a word are the same; those that define it are among those that seem to."""
    scanned = code_of(Path(root))

    assert set(scanned.files_mentioning(word)) == set(code.files_mentioning(word))
    assert set(code.files_defining(word)) <= set(scanned.files_defining(word))
    assert (scanned.files_by_name, scanned.files) == (code.files_by_name, code.files)


@pytest.mark.parametrize("text", ["the NAME must not", "must not be", "name must", "  ", "no such text at all"])
def test_text_is_found(root: str, code: IndexedCodeBase, text: str) -> None:
    """Whatever the case, also when no word of it is whole."""
    assert code_of(Path(root)).files_containing(text) == code.files_containing(text)


def test_an_edit_counts_at_once(root: str, library: IndexManager) -> None:
    """A new caller is there in the next answer, before it is parsed for the index."""
    before = call(root, library, "ci_call_chain", symbol="receive").data["call_chain"]
    library._checked_at.clear()
    write(Path(root), {"shop/app.py": "from shop.upload import receive\n\n\ndef brand_new():\n    receive(1)\n"})
    after = call(root, library, "ci_call_chain", symbol="receive").data["call_chain"]

    assert "shop/app.py::brand_new" not in {entry["symbol_id"] for entry in before}
    assert "shop/app.py::brand_new" in {entry["symbol_id"] for entry in after}


def test_a_file_that_changed_is_parsed_anew(root: str, code: IndexedCodeBase) -> None:
    """Even when nobody looked for changes: what is read is looked at in any case."""
    write(Path(root), {"shop/app.py": "def other():\n    pass\n"})
    parsed = code.parsed_file("shop/app.py")

    assert parsed
    assert ["other"] == [one.name for one in parsed.definitions]


def test_secrets_stay_closed(code: IndexedCodeBase) -> None:
    """A secret's file is neither parsed nor shown."""
    assert (None, []) == (code.parsed_file(".env"), code.read_lines(".env"))
    assert ".env" not in {*code.files_mentioning("receive"), *code.files_containing("hunter2 receive list")}


def test_what_is_not_parsed_is_read(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index without syntax, for which there was no room, answers by way of the files; with room it is made."""
    monkeypatch.setattr(build, "MAX_FILL_RATIO", 0.0)
    monkeypatch.setattr(library_module, "MAX_UNPARSED", 3)
    library = IndexManager(tmp_path / "other", can_build=False)
    library.build(root)
    with library.open_parsed_view(root) as view:
        assert view is None
    scanned = call(root, library, "ci_call_chain", symbol="receive")
    monkeypatch.setattr(build, "MAX_FILL_RATIO", 1.0)
    library.build(root)
    with library.open_parsed_view(root) as view:
        assert view
        assert [] == view.unparsed_docs

    assert scanned.findings == call(root, library, "ci_call_chain", symbol="receive").findings


def test_few_files_that_are_not_parsed_do_not_matter(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are parsed when they are asked for."""
    monkeypatch.setattr(build, "MAX_FILL_RATIO", 0.0)
    library = IndexManager(tmp_path / "other", can_build=False)
    library.build(root)
    with library.open_parsed_view(root) as view:
        assert view
        assert view.unparsed_docs

    expected = call(root, IndexManager(None), "ci_call_chain", symbol="receive")
    assert expected.findings == call(root, library, "ci_call_chain", symbol="receive").findings


def test_damage_costs_no_answer(root: str, library: IndexManager, tmp_path: Path) -> None:
    """What is kept of the syntax and is damaged is not believed: the files answer, and the index is made anew."""
    expected = call(root, IndexManager(None), "ci_call_chain", symbol="receive")
    store = IndexStore(repository_folder(tmp_path / "state", find_root(root), root))
    with store.transaction():
        store._database.execute("UPDATE code SET body = zeroblob(length(body))")
    store.close()

    assert expected.findings == call(root, library, "ci_call_chain", symbol="receive").findings
    library.wait_for_build(root, 20.0)
    with library.open_parsed_view(root) as view:
        assert view
        assert view.store.get_parsed(view.store.docs_defining("receive")[0])
