"""What stands in the way of an installation is told before anything is touched, all at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from upbeat.adapters.install.disk import FileChange, missing_folders, read_regular_file, resolve_link, verify_applicable
from upbeat.core.errors import UserError


def test_a_link_is_its_target(tmp_path: Path) -> None:
    """Also if the target does not exist yet; a link without a possible target is an error."""
    (tmp_path / "dotfiles").mkdir()
    links = {"link": "dotfiles/new", "round": "round", "lost": "no/such/file"}
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)

    assert tmp_path / "dotfiles/new" == resolve_link(tmp_path / "link")
    assert tmp_path / "plain" == resolve_link(tmp_path / "plain")
    with pytest.raises(UserError, match="leads to itself"):
        resolve_link(tmp_path / "round")
    with pytest.raises(UserError, match="that folder does not exist"):
        resolve_link(tmp_path / "lost")


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """A file has its bytes, a missing file has none, and anything else is an error."""
    (tmp_path / "file").write_bytes(b"\xff")
    os.mkfifo(tmp_path / "pipe")

    assert (b"\xff", None, None) == tuple(read_regular_file(tmp_path / name) for name in ("file", "none", "file/in"))
    for name in ("pipe", "."):
        with pytest.raises(UserError, match="is not a regular file"):
            read_regular_file(tmp_path / name)


def test_missing_folders_come_in_the_order_of_their_creation(tmp_path: Path) -> None:
    """Each folder that has to be created comes once, after its parent."""
    (tmp_path / "there").mkdir()
    paths = [tmp_path / "there/a/b/file", tmp_path / "there/a/file", tmp_path / "there/file"]

    assert [tmp_path / "there/a", tmp_path / "there/a/b"] == list(missing_folders(paths))


def test_every_obstacle_is_reported_at_once(tmp_path: Path) -> None:
    """One error lists every reason, each with its fix; a read-only mode counts for root, too."""
    for name in ("changed", "read-only", "two", "folder/in"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "read-only").chmod(0o444)
    os.link(tmp_path / "two", tmp_path / "three")
    (tmp_path / "folder").chmod(0o555)
    names = ["changed", "read-only", "two", "folder/in", "folder/new", "two/new"]
    changes = [FileChange(tmp_path / name, None if "new" in name else b"x", b"y") for name in names]
    changes[0] = FileChange(tmp_path / "changed", b"was", b"y")

    with pytest.raises(UserError) as refused:
        verify_applicable(changes)
    (tmp_path / "folder").chmod(0o755)

    assert [
        "/changed was changed by another program just now; try again",
        "/read-only is read-only; make it writable (chmod u+w)",
        "/two has 2 hard links, and replacing it would detach it from the others; make it a single file",
        "/folder is read-only, but in must be changed there; make it writable (chmod u+w)",
        "/folder is read-only, but new must be changed there; make it writable (chmod u+w)",
        "/two is not a folder; move it away",
        "nothing was changed",
    ] == str(refused.value).replace(str(tmp_path), "").splitlines()


def test_without_an_obstacle_nothing_is_raised(tmp_path: Path) -> None:
    """A change in folders that do not exist yet can be applied."""
    verify_applicable([FileChange(tmp_path / "a/b", None, b"x")])
