"""A file is written whole or not at all, stays the file that it was to its owner, and nothing is left beside it."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from killed import every_point

from upbeat.adapters.system.files import atomic

OLD, NEW = b"old\n" * 2000, b"new\n" * 3000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with ``OLD`` in it."""
    made = tmp_path / "settings.json"
    made.write_bytes(OLD)
    return made


@pytest.fixture(params=[0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_writer_that_is_killed_anywhere_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """However it died, the file is whole; the next writer succeeds and leaves nothing of the dead one."""
    roots = every_point(
        tmp_path,
        lambda root: atomic.write_file(f"{root}/file", NEW),
        lambda root: Path(root, "file").write_bytes(OLD),
    )
    left = [len(os.listdir(root)) for root in roots]

    assert len(roots) > 10
    assert {1, 2} == set(left)
    assert {OLD, NEW} == {Path(root, "file").read_bytes() for root in roots}
    for root in roots:
        atomic.write_file(f"{root}/other", NEW)
        assert ["file", "other"] == names(Path(root))


def test_a_new_file_that_is_killed_anywhere_is_not_there_or_whole(tmp_path: Path) -> None:
    """A first writer leaves nothing or all; whatever it left, the next write succeeds."""
    roots = every_point(
        tmp_path, lambda root: atomic.write_file(f"{root}/file", NEW, is_new=True, is_private=True), lambda root: None
    )

    for root in roots:
        file = Path(root, "file")
        assert not file.exists() or file.read_bytes() == NEW
        atomic.write_file(file, NEW)
        assert ["file"] == names(Path(root))


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "fchmod", "open"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_what_the_disk_refuses_changes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """The former file stays as it was, no draft is left, and the error names the file."""
    real = getattr(os, call)

    def refuse(*arguments: Any, **named: Any) -> Any:
        if call == "open" and not arguments[1] & os.O_CREAT:
            return real(*arguments, **named)
        raise OSError(number, os.strerror(number), "a draft")

    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuse)
        with pytest.raises(OSError, match=os.strerror(number)) as raised:
            atomic.write_file(path, NEW)

    assert (number, str(path)) == (raised.value.errno, raised.value.filename)
    assert (OLD, ["settings.json"]) == (path.read_bytes(), names(path.parent))


def test_an_interrupt_leaves_no_draft(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle is as good as never begun."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            atomic.write_file(path, NEW)

    assert (OLD, ["settings.json"]) == (path.read_bytes(), names(path.parent))


@pytest.mark.parametrize("former", [0o644, 0o600, 0o664, 0o755, 0o444])
def test_the_mode_is_kept(path: Path, umask: int, former: int) -> None:
    """Whatever the umask says, the file is as open as its owner left it."""
    path.chmod(former)
    atomic.write_file(path, NEW)

    assert (former, NEW) == (mode(path), path.read_bytes())


def test_a_new_file_gets_what_the_umask_leaves(tmp_path: Path, umask: int) -> None:
    """As any program's new file would; a private one is its owner's alone."""
    atomic.write_file(tmp_path / "a", NEW)
    atomic.write_file(tmp_path / "b", NEW, is_private=True)

    assert (0o666 & ~umask, 0o600) == (mode(tmp_path / "a"), mode(tmp_path / "b"))


def test_a_private_file_becomes_private(path: Path) -> None:
    """Also where the former one was open to others."""
    path.chmod(0o644)
    atomic.write_file(path, NEW, is_private=True)

    assert (0o600, NEW) == (mode(path), path.read_bytes())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have files of others")
def test_the_owner_is_kept(path: Path) -> None:
    """A file of another user, written as root, stays that user's."""
    os.chown(path, 12345, 23456)
    path.chmod(0o640)
    atomic.write_file(path, NEW)
    status = path.stat()

    assert (12345, 23456, 0o640) == (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode))


def test_a_symbolic_link_stays(path: Path, tmp_path: Path) -> None:
    """What it leads to is replaced, where that is; also when nothing is there yet."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "link").symlink_to("../settings.json")
    (home / "dangling").symlink_to(tmp_path / "later")
    atomic.write_file(home / "link", NEW)
    atomic.write_file(home / "dangling", NEW)

    assert ("../settings.json", NEW, NEW) == (
        os.readlink(home / "link"),
        path.read_bytes(),
        (tmp_path / "later").read_bytes(),
    )
    assert (["dangling", "link"], ["home", "later", "settings.json"]) == (names(home), names(tmp_path))


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to a device", "loop"])
def test_what_is_no_regular_file_is_left_alone(tmp_path: Path, kind: str) -> None:
    """A device that a link leads to is not replaced by a file."""
    path = tmp_path / "odd"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null" if kind == "link to a device" else "odd")
    before = path.lstat()

    with pytest.raises(OSError, match="regular"):
        atomic.write_file(path, NEW)

    assert (before.st_ino, ["odd"]) == (path.lstat().st_ino, names(tmp_path))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("kind", ["file", "dangling link"])
@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_takes_no_name_from_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, links: bool
) -> None:
    """``is_new`` detects an existing name, on file systems with and without hard links."""
    path = tmp_path / "rule.md"
    if kind == "file":
        path.write_bytes(OLD)
    else:
        path.symlink_to("nowhere")
    if not links:
        monkeypatch.setattr(os, "link", no_links)

    with pytest.raises(FileExistsError, match=r"rule\.md"):
        atomic.write_file(path, NEW, is_new=True)

    atomic.write_file(tmp_path / "other.md", NEW, is_new=True)
    assert (["other.md", "rule.md"], NEW) == (names(tmp_path), (tmp_path / "other.md").read_bytes())


def no_links(*_: object, **__: object) -> NoReturn:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


TEXTS = {"tasks.md": OLD, "bdd.md": NEW}


def test_a_folder_that_is_killed_anywhere_is_not_there_or_whole(tmp_path: Path) -> None:
    """With all of its files; the next one is made in its place, and nothing is left of the dead one."""
    roots = every_point(tmp_path, lambda root: atomic.write_folder(Path(root, "folder"), TEXTS), lambda root: None)

    assert len(roots) > 20
    for root in roots:
        folder = Path(root, "folder")
        if not folder.exists():
            atomic.write_folder(folder, TEXTS)
        atomic.write_file(f"{root}/file", NEW)
        assert (["file", "folder"], ["bdd.md", "tasks.md"]) == (names(Path(root)), names(folder))
        assert TEXTS == {name: (folder / name).read_bytes() for name in TEXTS}


def test_a_folder_takes_no_name_from_another(tmp_path: Path) -> None:
    """Not even from an empty one, which a rename would replace."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileExistsError):
        atomic.write_folder(tmp_path / "folder", TEXTS)

    assert (["folder"], []) == (names(tmp_path), names(tmp_path / "folder"))


def test_a_folder_that_the_disk_refuses_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither it nor a draft of it is left."""

    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        atomic.write_folder(tmp_path / "folder", TEXTS)

    assert [] == names(tmp_path)


def test_the_draft_of_a_living_writer_is_left(path: Path) -> None:
    """A locked draft stays, the draft of a dead writer is removed, and another program's file stays."""
    living, dead, foreign = (
        path.parent / name
        for name in (".settings.json.upbeat-1-00000000", ".other.upbeat-1-11111111", ".settings.json.upbeat-old")
    )
    for draft in (living, dead, foreign):
        draft.write_bytes(b"half")
    with living.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        atomic.write_file(path, NEW)

    assert sorted(("settings.json", living.name, foreign.name)) == names(path.parent)


def test_without_locks_the_age_of_a_draft_tells(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recent draft may still be written and stays; an old one is removed."""
    young, old = (path.parent / f".settings.json.upbeat-1-{digit * 8}" for digit in "01")
    for draft in (young, old):
        draft.write_bytes(b"half")
    os.utime(old, (0, 0))

    def no_locks(*_: object) -> NoReturn:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    atomic.write_file(path, NEW)

    assert (sorted(("settings.json", young.name)), NEW) == (names(path.parent), path.read_bytes())


def test_a_long_name(tmp_path: Path) -> None:
    """A name as long as a file system takes can still be written."""
    path = tmp_path / ("é" * 127)
    atomic.write_file(path, NEW)

    assert [path.name] == names(tmp_path)


def test_writers_at_the_same_time(path: Path) -> None:
    """Every one succeeds; a reader sees one of the contents, whole, at any time."""
    contents = {bytes([65 + number]) * 50_000 for number in range(4)}
    seen: set[bytes] = set()
    problems: list[OSError] = []

    def write(content: bytes) -> None:
        try:
            for _ in range(25):
                atomic.write_file(path, content, is_durable=False)
        except OSError as error:
            problems.append(error)

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        seen.add(path.read_bytes())

    assert ([], ["settings.json"]) == (problems, names(path.parent))
    assert seen <= contents | {OLD}
