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
    """Sources come first and tests after them; what is no code is not there."""
    files = code_of(root).files

    assert "tests/test_upload.py" == files[-1]
    assert {"shop/store.py", "native/list.h"} <= set(files)
    assert ".env" not in files


def test_files_with_gives_whole_words_and_definitions_first(root: Path) -> None:
    """A part of a word is no hit, and the file that seems to define the word comes first."""
    code = code_of(root)

    assert ("shop/upload.py", "shop/app.py", "tests/test_upload.py") == code.files_mentioning("receive")
    assert () == code.files_mentioning("receiv")


def test_named_finds_stems_and_folders(root: Path) -> None:
    """A file goes by its name without extension, and by its folder."""
    code = code_of(root)

    assert ["native/list.c", "native/list.h"] == code.files_by_name["list"]
    assert 2 == len(code.files_by_name["worker"])


def test_holding_looks_for_text(root: Path) -> None:
    """The case of letters does not matter; nothing holds blanks alone."""
    code = code_of(root)

    assert (("shop/store.py",), ()) == (code.files_containing("the NAME must not"), code.files_containing("  "))


def test_secrets_and_links_stay_closed(root: Path) -> None:
    """Nothing is read by name alone: neither secrets nor what lies outside."""
    (root / "link.py").symlink_to("/etc/hostname")
    code = code_of(root)

    assert ([], None, [], None) == (
        code.read_lines(".env"),
        code.parsed_file(".env"),
        code.read_lines("link.py"),
        code.parsed_file("../outside.py"),
    )


def test_a_changed_file_is_parsed_again(root: Path) -> None:
    """What is kept is good as long as the file stays the same."""
    sources, parses = SourceCache(), ParseCache(1000)

    def names() -> list[str]:
        code = CodeBase(str(root), sources, parses, threading.Event(), 30)
        parsed = code.parsed_file("shop/app.py")
        assert parsed
        return [one.name for one in parsed.definitions]

    before = names()
    (root / "shop/app.py").write_text("def other():\n    pass\n")
    os.utime(root / "shop/app.py", (1, 1))

    assert (["main"], ["other"]) == (before, names())


def test_the_cache_is_bounded(root: Path) -> None:
    """The oldest files go when there are too many names."""
    parses = ParseCache(20)
    code = CodeBase(str(root), SourceCache(), parses, threading.Event(), 30)
    for path in code.files:
        code.parsed_file(path)

    assert 0 < parses.size <= 20


def test_out_of_time_nothing_more_is_read(root: Path) -> None:
    """After its time a code base answers with what it has, and says that it is late."""
    code = code_of(root, seconds=0)

    assert ((), None, True) == (
        code.files_mentioning("receive"),
        code.parsed_file("shop/app.py"),
        code.is_past_deadline(),
    )


def test_a_cancelled_question_times_out(root: Path) -> None:
    """Every question fails as timed out once nobody waits for it."""
    cancelled = threading.Event()
    code = CodeBase(str(root), SourceCache(), ParseCache(1000), cancelled, 30)
    assert code.files
    cancelled.set()
    questions = (
        lambda: code.parsed_file("shop/app.py"),
        lambda: code.files_mentioning("x"),
        lambda: code.files_containing("x"),
        lambda: code.read_lines("shop/app.py"),
    )
    for ask in questions:
        with pytest.raises(ToolFailure) as failure:
            ask()

        assert ErrorCode.TIMEOUT == failure.value.code
