"""Reading files that others write: backwards, and what is new."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.system.files import tail
from upbeat.adapters.system.files.tail import Bookmark, read_lines_backwards, read_new_lines

CONTENT = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=12)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A path for a file."""
    return tmp_path / "a.jsonl"


def test_backwards(file: Path) -> None:
    """The last complete line comes first; what has no end yet is left."""
    file.write_bytes(b"one\ntwo\n\nthree\nhal")

    assert [b"three", b"", b"two", b"one"] == list(read_lines_backwards(str(file), 1000))


def test_backwards_within_its_bound(file: Path) -> None:
    """A line that begins before the bound is not given in part."""
    file.write_bytes(b"one\ntwo\nthree\n")

    assert [b"three"] == list(read_lines_backwards(str(file), 8))


def test_new_lines(file: Path) -> None:
    """Each line is given once, when it is complete."""
    mark = Bookmark()
    file.write_bytes(b"one\ntw")
    first = list(read_new_lines(str(file), mark, 1000))
    with file.open("ab") as more:
        more.write(b"o\nthree\n")

    assert [b"one"] == first
    assert [b"two", b"three"] == list(read_new_lines(str(file), mark, 1000))
    assert [] == list(read_new_lines(str(file), mark, 1000))


def test_new_lines_of_another_file(file: Path, tmp_path: Path) -> None:
    """A file that was replaced or cut is read from its beginning."""
    mark = Bookmark()
    file.write_bytes(b"one\ntwo\n")
    list(read_new_lines(str(file), mark, 1000))
    file.write_bytes(b"new\n")
    cut = list(read_new_lines(str(file), mark, 1000))
    (tmp_path / "b").write_bytes(b"one\ntwo\nthree\n")
    os.replace(tmp_path / "b", file)

    assert [b"new"] == cut
    assert [b"one", b"two", b"three"] == list(read_new_lines(str(file), mark, 1000))


def test_only_regular_files(tmp_path: Path) -> None:
    """Pipes, folders, links, names that are none and files that are not there have no lines, and nothing waits."""
    (tmp_path / "real").write_bytes(b"one\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "gone", "", "a\0b"):
        path = str(tmp_path / name)

        assert [] == list(read_lines_backwards(path, 100))
        assert [] == list(read_new_lines(path, Bookmark(), 100))


@given(CONTENT, st.integers(1, 30))
def test_both_ways_are_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, content: list[bytes], size: int
) -> None:
    """Whatever the lines and however small the pieces, both ways give all of them."""
    file = tmp_path_factory.getbasetemp() / "lines"
    file.write_bytes(b"".join(line + b"\n" for line in content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tail, "CHUNK_BYTES", size)

        assert content == list(read_new_lines(str(file), Bookmark(), 10_000))
        assert content[::-1] == list(read_lines_backwards(str(file), 10_000))
