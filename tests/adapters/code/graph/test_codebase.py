"""A code base answers from the files, in time, and without credentials."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from fakes.polyglot import code_of, make_polyglot

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.graph.codebase import CodeBase, ParseCache
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_polyglot(tmp_path)


def test_files_are_code_with_tests_last(root: Path) -> None:
    """Sources come before tests; files that are not code are left out."""
    files = code_of(root).files

    assert "tests/test_upload.py" == files[-1]
    assert {"shop/store.py", "native/list.h"} <= set(files)
    assert ".env" not in files


def test_files_mentioning_a_word_begin_with_its_definition(root: Path) -> None:
    """Only whole words count, and the file that seems to define the word is first."""
    code = code_of(root)

    assert ("shop/upload.py", "shop/app.py", "tests/test_upload.py") == code.files_mentioning("receive")
    assert () == code.files_mentioning("receiv")


def test_files_have_the_names_of_their_folders_too(root: Path) -> None:
    """A file is found by its name without extension, and by the name of its folder."""
    code = code_of(root)

    assert ["native/list.c", "native/list.h"] == code.files_by_name["list"]
    assert 2 == len(code.files_by_name["worker"])


def test_files_containing_a_text(root: Path) -> None:
    """Case does not matter; a blank text is in no file."""
    code = code_of(root)

    assert (("shop/store.py",), ()) == (code.files_containing("the NAME must not"), code.files_containing("  "))


def test_secrets_and_links_are_not_read(root: Path) -> None:
    """A credential file, a link and a path outside of the root cannot be read by their names."""
    (root / "link.py").symlink_to("/etc/hostname")
    code = code_of(root)

    assert ([], None, [], None) == (
        code.read_lines(".env"),
        code.parsed_file(".env"),
        code.read_lines("link.py"),
        code.parsed_file("../outside.py"),
    )


def test_a_changed_file_is_parsed_again(root: Path) -> None:
    """A cached parse is used as long as the file stays the same."""
    sources, parses = SourceCache(), ParseCache(1000)

    def names() -> list[str]:
        code = CodeBase(str(root), sources, parses, threading.Event(), 30)
        parsed = code.parsed_file("shop/app.py")
        assert parsed
        return [definition.name for definition in parsed.definitions]

    before = names()
    (root / "shop/app.py").write_text("def other():\n    pass\n")
    os.utime(root / "shop/app.py", (1, 1))

    assert (["main"], ["other"]) == (before, names())


def test_the_cache_is_bounded(root: Path) -> None:
    """The least recently used files are evicted when there are too many names."""
    parses = ParseCache(20)
    code = CodeBase(str(root), SourceCache(), parses, threading.Event(), 30)
    for path in code.files:
        code.parsed_file(path)

    assert 0 < parses.size <= 20


def test_nothing_is_read_after_the_deadline(root: Path) -> None:
    """After the deadline a code base answers with what it has, and says that time is up."""
    code = code_of(root, seconds=0)

    assert ((), None, True) == (
        code.files_mentioning("receive"),
        code.parsed_file("shop/app.py"),
        code.is_past_deadline(),
    )


def test_a_cancelled_call_times_out(root: Path) -> None:
    """Every method fails with a timeout once the call is cancelled."""
    cancelled = threading.Event()
    code = CodeBase(str(root), SourceCache(), ParseCache(1000), cancelled, 30)
    assert code.files
    cancelled.set()
    methods = (
        lambda: code.parsed_file("shop/app.py"),
        lambda: code.files_mentioning("x"),
        lambda: code.files_containing("x"),
        lambda: code.read_lines("shop/app.py"),
    )
    for method in methods:
        with pytest.raises(ToolFailure) as failure:
            method()

        assert ErrorCode.TIMEOUT == failure.value.code
