from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from fakes.polyglot import code_of, make_polyglot

from upbeat.adapters.code.codebase import ParseCache, ScannedCode
from upbeat.adapters.code.tree import SourceCache
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_polyglot(tmp_path)


def test_files_are_code_with_tests_last(root: Path) -> None:
    """Sources come first and tests after them; what is no code is not there."""
    files = code_of(root).files()

    assert "tests/test_upload.py" == files[-1]
    assert {"shop/store.py", "native/list.h"} <= set(files)
    assert ".env" not in files


def test_files_with_gives_whole_words_and_definitions_first(root: Path) -> None:
    """A part of a word is no hit, and the file that seems to define the word comes first."""
    code = code_of(root)

    assert ("shop/upload.py", "shop/app.py", "tests/test_upload.py") == code.files_with("receive")
    assert () == code.files_with("receiv")


def test_named_finds_stems_and_folders(root: Path) -> None:
    """A file goes by its name without extension, and by its folder."""
    code = code_of(root)

    assert (("native/list.c", "native/list.h"), 2) == (code.named("list"), len(code.named("worker")))


def test_holding_looks_for_text(root: Path) -> None:
    """The case of letters does not matter; nothing holds blanks alone."""
    code = code_of(root)

    assert (("shop/store.py",), ()) == (code.holding("the NAME must not"), code.holding("  "))


def test_secrets_and_links_stay_closed(root: Path) -> None:
    """Nothing is read by name alone: neither secrets nor what lies outside."""
    (root / "link.py").symlink_to("/etc/hostname")
    code = code_of(root)

    assert ([], None, [], None) == (
        code.lines(".env"),
        code.parsed(".env"),
        code.lines("link.py"),
        code.parsed("../outside.py"),
    )


def test_a_changed_file_is_parsed_again(root: Path) -> None:
    """What is kept is good as long as the file stays the same."""
    sources, parses = SourceCache(), ParseCache()

    def names() -> list[str]:
        code = ScannedCode(str(root), sources, parses, threading.Event(), 30)
        parsed = code.parsed("shop/app.py")
        assert parsed
        return [one.name for one in parsed.definitions]

    before = names()
    (root / "shop/app.py").write_text("def other():\n    pass\n")
    os.utime(root / "shop/app.py", (1, 1))

    assert (["main"], ["other"]) == (before, names())


def test_the_cache_is_bounded(root: Path) -> None:
    """The oldest files go when there are too many names."""
    parses = ParseCache(limit=20)
    code = ScannedCode(str(root), SourceCache(), parses, threading.Event(), 30)
    for path in code.files():
        code.parsed(path)

    assert parses.size <= 40


def test_out_of_time_nothing_more_is_read(root: Path) -> None:
    """After its time a code base answers with what it has, and says that it is late."""
    code = code_of(root, seconds=0)

    assert ((), None, True, True) == (
        code.files_with("receive"),
        code.parsed("shop/app.py"),
        code.is_late(),
        code.was_late,
    )


def test_a_cancelled_question_times_out(root: Path) -> None:
    """Every question fails as timed out once nobody waits for it."""
    cancelled = threading.Event()
    code = ScannedCode(str(root), SourceCache(), ParseCache(), cancelled, 30)
    code.files()
    cancelled.set()
    questions = (
        lambda: code.parsed("shop/app.py"),
        lambda: code.files_with("x"),
        lambda: code.holding("x"),
        lambda: code.lines("shop/app.py"),
    )
    for ask in questions:
        with pytest.raises(ToolFailure) as failure:
            ask()

        assert ErrorCode.TIMEOUT == failure.value.code
