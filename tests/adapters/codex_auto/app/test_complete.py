"""What is completed at the prompt, and what is not."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from upbeat.adapters.codex_auto.app.complete import (
    PathFragment,
    PromptCompleter,
    RepositoryFiles,
    match_files,
    path_fragment,
    quote_path,
)

FILES = ["README.md", "docs/用户 手册.md", "src/main.py", "src/mail/send.py", "tests/test_main.py", "文档.md"]
FOLDED = [(path, path.casefold()) for path in FILES]
COMMANDS = [("plan", "switch"), ("status", "tell")]
WORKFLOWS = [("quick", "a small change"), ("single", "one change"), ("standard", "a feature")]


def completed(before: str, *, asked: bool = False) -> list[str]:
    """The texts that ``before`` becomes, one for each completion."""
    completer = PromptCompleter(COMMANDS, lambda: FOLDED, lambda: WORKFLOWS)
    event = CompleteEvent(completion_requested=asked, text_inserted=not asked)
    found = completer.get_completions(Document(before), event)
    return [before[: len(before) + one.start_position] + one.text for one in found]


@pytest.mark.parametrize(
    "before",
    ["", "hello", "a@b.example", "mail me@home", "1/", "/etc/hosts", "and/or/else", "x = a / b", "@no-such-file", "/x"],
)
def test_nothing_is_offered_for(before: str) -> None:
    """Words, addresses, absolute paths and what names no file."""
    assert [] == completed(before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("/", ["/plan", "/status"]),
        ("/st", ["/status"]),
        ("/workflow ", ["/workflow start", "/workflow stop", "/workflow continue", "/workflow list"]),
        ("/workflow st", ["/workflow start", "/workflow stop"]),
        ("/workflow start s", ["/workflow start single", "/workflow start standard"]),
        ("look at @READ", ["look at README.md"]),
        ("look at @read", ["look at README.md"]),
        ("@main", ["src/main.py", "tests/test_main.py"]),
        ("src/m", ["src/mail/send.py", "src/main.py"]),
        ("see (src/mai", ["see (src/mail/send.py", "see (src/main.py"]),
        ("看看@文", ["看看文档.md"]),
        ("@手册", ['"docs/用户 手册.md"']),
        ('@"docs/用户 手', ['"docs/用户 手册.md"']),
        ("first line\n@send", ["first line\nsrc/mail/send.py"]),
    ],
)
def test_completes(before: str, after: list[str]) -> None:
    """Commands at the start, files behind an @ or in a path; names with spaces or other scripts are quoted."""
    expected = [text.replace("文档.md", '"文档.md"') for text in after]
    assert expected == sorted(completed(before), key=expected.index)


def test_tab_completes_a_plain_word() -> None:
    """Without an @ it has to be asked for."""
    assert ([], ["README.md"]) == (completed("READ"), completed("READ", asked=True))


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("src", ["src/main.py", "src/mail/send.py"]),
        ("main", ["src/main.py", "tests/test_main.py"]),
        ("./src/main", ["src/main.py"]),
        ("MAIN.PY", ["src/main.py", "tests/test_main.py"]),
    ],
)
def test_paths_come_before_names_before_parts(part: str, found: list[str]) -> None:
    """The beginning of a path is the best match, then the beginning of a name, then anything."""
    assert found == match_files(FOLDED, part)


def test_matching_is_bounded() -> None:
    """A short word in a large tree gives as many as fit the eye."""
    many = [(f"src/{number}.py", f"src/{number}.py") for number in range(1000)]

    assert 30 == len(match_files(many, "py"))


@pytest.mark.parametrize(
    ("path", "text"),
    [("a/b-c.py", "a/b-c.py"), ("a b.py", '"a b.py"'), ("店.py", '"店.py"'), ("a'b.py", '"a\'b.py"')],
)
def test_names_are_quoted(path: str, text: str) -> None:
    """Unless they are plain ASCII without spaces."""
    assert text == quote_path(path)


@given(st.text())
def test_what_is_replaced_is_at_the_end(before: str) -> None:
    """A completion never reaches beyond what was typed."""
    wanted = path_fragment(before, is_explicit=True)

    assert wanted is None or (0 <= wanted.replaced_length <= len(before) and before.endswith(wanted.text))


def test_a_long_paste_is_no_path() -> None:
    """Only its end is looked at, so that typing behind it stays fast."""
    began = time.monotonic()
    assert PathFragment("x" * 250 + "/y", 252) == path_fragment("a" * 200_000 + " " + "x" * 250 + "/y")
    assert path_fragment("店" * 200_000) is None
    assert time.monotonic() - began < 0.1


def test_files_are_listed_in_the_background() -> None:
    """One listing at a time; names that could not be typed, or that would act on the terminal, are left out."""
    calls: list[str] = []

    def listing() -> list[str]:
        calls.append(threading.current_thread().name)
        return ["a.py", "b\x1b[2J.py", 'c".py', "d\udcff.py", "dir/"]

    files = RepositoryFiles(listing)

    assert [("a.py", "a.py")] == list(files()) == list(files())
    assert ["list-files"] == calls


def test_a_listing_that_fails_offers_nothing() -> None:
    """And does not keep the user waiting for each key."""

    def listing() -> list[str]:
        return []

    files = RepositoryFiles(listing)
    began = time.monotonic()

    assert [] == list(files())
    assert time.monotonic() - began < 1
