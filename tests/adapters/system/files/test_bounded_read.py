"""Files and folders are read within limits, and only inside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from upbeat.adapters.system.files import bounded_read


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = (tmp_path / "root").resolve()
    folder.mkdir()
    return folder


def test_content_and_text(root: Path) -> None:
    """A regular file is read whole, and its text without the byte order mark."""
    path = root / "a"
    path.write_bytes(b"\xef\xbb\xbfwords")

    assert bounded_read.FileContent(b"\xef\xbb\xbfwords") == bounded_read.read_content(path, str(root), 100)
    assert ("words", "") == ((text := bounded_read.read_text(path, None, 100)).text, text.problem)
    assert text.digest.startswith("sha256:")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.mkdir(), "not a regular file"),
        (lambda path: os.mkfifo(path), "not a regular file"),
        (lambda path: path.write_bytes(b"x" * 9), "larger than 8 bytes; not read"),
        (lambda path: path.symlink_to("/etc/passwd"), bounded_read.OUTSIDE_PROBLEM),
    ],
)
def test_what_is_not_read(root: Path, make: object, problem: str) -> None:
    """Everything but a small regular file of the repository is a problem, and never raises."""
    path = root / "a"
    make(path)  # type: ignore[operator]

    assert (b"", problem) == ((content := bounded_read.read_content(path, str(root), 8)).data, content.problem)


def test_text_that_is_not_utf8(root: Path) -> None:
    """The position of the first invalid byte is reported."""
    (root / "a").write_bytes(b"ab\xff")

    assert "not UTF-8 (byte 2)" == bounded_read.read_text(root / "a", None, 8).problem


def test_names_of_a_folder(root: Path) -> None:
    """Matching names are sorted and limited; the others are counted."""
    for name in ("b.md", "a.md", "c.md", ".md", "d.txt"):
        (root / name).touch()
    listing = bounded_read.list_folder(str(root), str(root), 2, suffix=".md")

    assert (("a.md", "b.md"), 1, "") == (listing.names, listing.omitted, listing.problem)
    assert bounded_read.OUTSIDE_PROBLEM == bounded_read.list_folder("/etc", str(root), 2).problem
    assert ((), "") == ((missing := bounded_read.list_folder(str(root / "none"), None, 2)).names, missing.problem)


def test_stamps(root: Path) -> None:
    """A stamp changes with the file; a file that changed just now has none that can be trusted."""
    path = root / "a"
    assert None is bounded_read.file_stamp(str(path))
    path.write_text("x")
    old = bounded_read.file_stamp(str(path))
    assert () == bounded_read.stable_stamps([str(path)])
    path.write_text("xy")

    assert old != bounded_read.file_stamp(str(path))


def test_a_result_that_keeps_changing(root: Path) -> None:
    """Without two equal results in a row there are no stamps."""
    results = iter(range(100))

    assert () == bounded_read.find_stable(lambda: next(results), lambda _: [str(root)])[1]


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "[" * 100_000, "\x00"])
def test_what_is_no_object_is_empty(tmp_path: Path, text: str) -> None:
    """Any content that is not a JSON object gives an empty object, and nothing is raised."""
    path = tmp_path / "settings.json"
    path.write_text(text)

    assert {} == bounded_read.read_json_object(path)


def test_what_is_no_file_is_empty(tmp_path: Path) -> None:
    """A missing file, a folder and a FIFO without a writer give an empty object without waiting."""
    os.mkfifo(tmp_path / "pipe")

    assert [{}, {}, {}] == [
        bounded_read.read_json_object(path) for path in (tmp_path / "none", tmp_path, tmp_path / "pipe")
    ]


def test_a_link_is_followed(tmp_path: Path) -> None:
    """People keep their settings in another folder."""
    (tmp_path / "kept.json").write_text('{"a": 1}')
    (tmp_path / "settings.json").symlink_to(tmp_path / "kept.json")

    assert {"a": 1} == bounded_read.read_json_object(tmp_path / "settings.json")
