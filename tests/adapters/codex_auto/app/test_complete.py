"""Completions at the prompt."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from upbeat.adapters.codex_auto.app import complete

CASES = read_groups(Path(__file__).with_name("complete_cases.tsv"))
FILES = ["README.md", "docs/用户 手册.md", "src/main.py", "src/mail/send.py", "tests/test_main.py", "文档.md"]
FOLDED = [(path, path.casefold()) for path in FILES]
COMMANDS = [("plan", "switch"), ("status", "tell")]
WORKFLOWS = [("quick", "a small change"), ("single", "one change"), ("standard", "a feature")]


def completed(before: str, *, asked: bool = False) -> list[str]:
    """The texts that ``before`` becomes, one for each completion."""
    completer = complete.PromptCompleter(COMMANDS, lambda: FOLDED, lambda: WORKFLOWS)
    event = CompleteEvent(completion_requested=asked, text_inserted=not asked)
    completions = completer.get_completions(Document(before), event)
    return [before[: len(before) + completion.start_position] + completion.text for completion in completions]


def test_nothing_is_offered() -> None:
    """Words, addresses, absolute paths and names of no file are not completed."""
    assert [] == [before for (before,) in CASES["none"] if completed(before)]


@pytest.mark.parametrize("row", CASES["offered"], ids=lambda row: row[0])
def test_completions(row: tuple[str, ...]) -> None:
    """Commands are completed at the start, files behind an @ or in a path; names that are not plain are quoted."""
    before, *after = row

    assert sorted(after) == sorted(completed(before))


def test_tab_completes_a_plain_word() -> None:
    """A plain word is completed only when Tab is pressed."""
    assert ([], ["README.md"]) == (completed("READ"), completed("READ", asked=True))


def test_paths_come_before_names_before_parts() -> None:
    """The start of a path is the best match, then the start of a name, then any part."""
    assert CASES["match"] == [(part, *complete.match_files(FOLDED, part)) for part, *_ in CASES["match"]]


def test_matching_is_bounded() -> None:
    """A short word in a large tree has a limited number of matches."""
    many = [(f"src/{number}.py", f"src/{number}.py") for number in range(1000)]

    assert 30 == len(complete.match_files(many, "py"))


def test_names_are_quoted() -> None:
    """A path is quoted unless it is plain ASCII without spaces."""
    assert CASES["quoted"] == [(path, complete.quote_path(path)) for path, _ in CASES["quoted"]]


@given(st.text())
def test_a_completion_replaces_the_end_of_the_text(before: str) -> None:
    """A completion never replaces more than what was typed."""
    wanted = complete.path_fragment(before, is_explicit=True)

    assert wanted is None or (before.endswith(wanted[0]) and wanted[0].endswith(wanted[1]))


def test_a_long_paste_is_no_path() -> None:
    """Only the end of the text is examined, so that typing after a paste stays fast."""
    began = time.monotonic()
    fragment = complete.path_fragment("a" * 200_000 + " " + "x" * 250 + "/y")
    assert fragment is not None
    assert fragment[0] == fragment[1] == "x" * 250 + "/y"
    assert complete.path_fragment("店" * 200_000) is None
    assert time.monotonic() - began < 0.1


def test_files_are_listed_in_the_background() -> None:
    """There is one listing at a time, without names that cannot be typed or that control the terminal."""
    calls: list[str] = []

    def listing() -> list[str]:
        calls.append(threading.current_thread().name)
        return ["a.py", "b\x1b[2J.py", 'c".py', "d\udcff.py", "dir/"]

    files = complete.RepositoryFiles(listing)

    assert [("a.py", "a.py")] == list(files()) == list(files())
    assert ["list-files"] == calls


def test_an_empty_listing_offers_nothing() -> None:
    """An empty listing does not delay each key."""

    def listing() -> list[str]:
        return []

    files = complete.RepositoryFiles(listing)
    began = time.monotonic()

    assert [] == list(files())
    assert time.monotonic() - began < 1
