"""Only regular, readable files inside the root are opened; everything else is counted."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from upbeat.adapters.code.files.tree import MAX_FILE_BYTES, SkipReason, SourceCache, SourceFile, WorkingTree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path)) / "root"
    root.mkdir()
    return root


def tree_of(root: Path) -> WorkingTree:
    return WorkingTree(str(root), SourceCache())


def skipped(root: Path, path: str) -> dict[SkipReason, int]:
    """Return why ``path`` is skipped; it is never read as text either."""
    tree = tree_of(root)

    assert tree.read_source(path) is None
    assert tree.read_text(path) is None
    return dict(tree.skipped)


def test_a_source_is_lowercase(root: Path) -> None:
    """A source has lowercase bytes; the text is that of the file."""
    (root / "目 录").mkdir()
    (root / "目 录" / "a.py").write_text("Token = '登录'\n", encoding="utf-8")
    tree = tree_of(root)
    source = tree.read_source("目 录/a.py")

    assert source
    assert source.lowercase_bytes == "token = '登录'\n".encode()
    assert tree.read_text("目 录/a.py") == "Token = '登录'\n"
    assert dict(tree.skipped) == {}


@pytest.mark.parametrize("path", [".env", "deploy/.env.local", "certs/server.pem", "id_rsa", ".ssh/config", "a/.npmrc"])
def test_credential_files_are_not_opened(root: Path, path: str) -> None:
    """A file whose name says that it has credentials is skipped."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("TOKEN=abc")

    assert {SkipReason.SENSITIVE: 1} == skipped(root, path)


def test_links_are_not_followed(root: Path) -> None:
    """A link to a file, inside or outside, and a folder that is a link are skipped."""
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("x = 1")
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to("loop")

    assert [{SkipReason.LINK: 1}] * 3 == [skipped(root, path) for path in ("link.py", "folder/secret.py", "loop")]


@pytest.mark.parametrize("path", ["../outside.py", "a/../../outside.py"])
def test_paths_do_not_leave_the_root(root: Path, path: str) -> None:
    """A path with ``..`` is skipped."""
    (root / "a").mkdir()
    (root.parent / "outside.py").write_text("x = 1")

    assert {SkipReason.LINK: 1} == skipped(root, path)


def test_pipes_sockets_and_folders_are_never_opened(root: Path) -> None:
    """A named pipe does not block; a socket and a folder are skipped."""
    os.mkfifo(root / "pipe.py")
    (root / "folder.py").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        folder = os.getcwd()
        os.chdir(root)
        try:
            server.bind("socket.py")
        finally:
            os.chdir(folder)
        reasons = [skipped(root, path) for path in ("pipe.py", "socket.py", "folder.py")]

    assert [{SkipReason.SPECIAL: 1}] * 3 == reasons


def test_a_device_is_never_opened(root: Path) -> None:
    """A device file is skipped."""
    try:
        os.mknod(root / "zero.py", 0o600 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("making a device needs root")

    assert {SkipReason.SPECIAL: 1} == skipped(root, "zero.py")


def test_binary_large_and_missing_files_are_counted(root: Path) -> None:
    """A file with a NUL near its beginning is binary; of a large file only path and size are known."""
    (root / "b.py").write_bytes(b"abc\0def")
    (root / "big.py").write_text("x" * (MAX_FILE_BYTES + 1))
    (root / "fits.py").write_text("x" * MAX_FILE_BYTES)
    tree = tree_of(root)

    assert [None, None, None] == [tree.read_source(path) for path in ("b.py", "big.py", "gone.py")]
    assert tree.read_source("fits.py")
    assert {SkipReason.BINARY: 1, SkipReason.LARGE: 1, SkipReason.MISSING: 1} == dict(tree.skipped)
    assert [("big.py", MAX_FILE_BYTES + 1)] == tree.oversized


def test_unreadable_files_are_counted(root: Path) -> None:
    """A file without permission is counted and raises nothing."""
    (root / "closed.py").write_text("x = 1")
    (root / "closed.py").chmod(0)
    if os.access(root / "closed.py", os.R_OK):
        pytest.skip("this user may read everything")

    assert {SkipReason.UNREADABLE: 1} == skipped(root, "closed.py")


def test_a_name_that_no_file_can_have_is_counted(root: Path) -> None:
    """A NUL in a name, and a name that is too long, raise nothing."""
    assert {SkipReason.UNREADABLE: 1} == skipped(root, "a\0b.py")
    assert {SkipReason.UNREADABLE: 1} == skipped(root, "x" * 5000 + ".py")


def test_the_cache_is_used_until_the_file_changes(root: Path) -> None:
    """An unchanged file is the same object, a changed one is read again."""
    cache = SourceCache()
    (root / "a.py").write_text("one")
    first = WorkingTree(str(root), cache).read_source("a.py")
    again = WorkingTree(str(root), cache).read_source("a.py")
    (root / "a.py").write_text("three")
    changed = WorkingTree(str(root), cache).read_source("a.py")

    assert first is again
    assert changed
    assert b"three" == changed.lowercase_bytes
    assert 5 == cache.size


def test_the_cache_is_bounded() -> None:
    """The cache holds no more than its limit; other roots make room, the present one does not."""
    cache = SourceCache(max_bytes=10)
    for path in ("a", "b", "c"):
        cache.put("/one", SourceFile(path, (0, 4), b"xxxx"))

    assert 8 == cache.size
    cache.put("/two", SourceFile("d", (0, 4), b"yyyy"))
    assert [None, b"xxxx", None, b"yyyy"] == [
        source.lowercase_bytes if source else None
        for source in (
            cache.get("/one", "a", (0, 4)),
            cache.get("/one", "b", (0, 4)),
            cache.get("/one", "c", (0, 4)),
            cache.get("/two", "d", (0, 4)),
        )
    ]
    cache.put("/two", SourceFile("huge", (0, 99), b"z" * 99))
    assert cache.size <= 10
