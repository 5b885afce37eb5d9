"""What a repository holds is opened below its root, over no link, and only where it is a file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.system.files.safe_open import NotRegularError, open_file, read_file, real_path, scan_folder

PARTS = st.sampled_from(["", ".", "..", "a", "b", "link", "out", "up", "file", "pipe", "none"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path)


def make(folder: Path) -> Path:
    """A root with a file at two depths, links inside and outside, and a FIFO; beside it a secret."""
    root = folder / "root"
    (root / "a/b").mkdir(parents=True)
    (folder / "secret").write_text("secret")
    for place in (root, root / "a", root / "a/b"):
        (place / "file").write_text("own")
    (root / "link").symlink_to("a")
    (root / "out").symlink_to(folder)
    (root / "a/up").symlink_to("../..")
    (root / "to-file").symlink_to("file")
    (root / "to-secret").symlink_to(folder / "secret")
    os.mkfifo(root / "pipe")
    return root


@pytest.mark.parametrize("path", ["file", "a/file", "a/b/file"])
def test_files(root: Path, path: str) -> None:
    """A file is read at any depth, and no more of it than was asked for."""
    assert (b"own", b"ow") == (read_file(path, 10, str(root)), read_file(path, 2, str(root)))


@pytest.mark.parametrize(("path", "code"), read_cases(Path(__file__).with_name("safe_open_refused.tsv")))
def test_what_is_not_opened(root: Path, path: str, code: str) -> None:
    """Links, ways up, absolute paths, pipes and folders stay closed, each with a reason."""
    number = getattr(errno, code)
    with pytest.raises(OSError, match=rf"\[Errno {number}\]") as raised:
        open_file(path, str(root))

    assert number == raised.value.errno
    assert (number == errno.EINVAL) == isinstance(raised.value, NotRegularError)


@given(st.lists(PARTS, min_size=1, max_size=6))
def test_no_path_leads_out(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    """Whatever the path is composed of, only files of the repository are read."""
    base = tmp_path_factory.getbasetemp() / "paths"
    root = base / "root" if base.exists() else make(base)
    try:
        data = read_file("/".join([*parts, "file"]), 10, str(root))
    except OSError:
        return

    assert b"own" == data
    assert {"", ".", "..", "link", "out", "up"}.isdisjoint(parts)


def test_folders(root: Path) -> None:
    """The entries of a folder are listed; those behind a link are not."""
    with scan_folder(str(root), "a") as entries:
        assert ["b", "file", "up"] == sorted(entry.name for entry in entries)
    for path in ("out", "link", "a/up", ".."):
        with pytest.raises(OSError, match="Errno"), scan_folder(str(root), path):
            pass


def test_nothing_stays_open(root: Path) -> None:
    """Every descriptor is given back, whatever came of it."""
    before = sorted(os.listdir("/dev/fd"))
    for path in ("file", "a/b/file", "pipe", "to-secret", "out/secret", "a/none", "none/none"):
        try:
            read_file(path, 10, str(root))
        except OSError:
            continue

    assert before == sorted(os.listdir("/dev/fd"))


def test_real_path(root: Path) -> None:
    """The links of a path are resolved."""
    assert f"{root}/a/file" == real_path(root / "link/file")
