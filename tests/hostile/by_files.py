"""Repositories whose files are none, are elsewhere, have no end, or have names that others would take for orders."""

from __future__ import annotations

import contextlib
import os
import socket
import stat

from .place import CANARY, SECRET, Place

NAMES = (
    "--upload-pack=retry.py",
    "-c core.pager=x",
    "-rf",
    "--output=retry.txt",
    ":(exclude)retry.py",
    ":/retry.py",
    ":!retry.py",
    "*.py",
    "retry\nlimit.py",
    "retry\r\tlimit.py",
    "\x1b]0;owned\x07\x1b[2Jretry.py",
    "retry\u202eyp.timil.py",
    "retry\u2066limit\u2069.py",
    "$(touch retry).py",
    "`touch retry`.py",
    "; touch retry;.py",
    "retry'\"limit.py",
    "con.py",
    "aux",
    "retry.py:stream",
    "retry.py.",
    "retry .py ",
    "C:retry.py",
    "back\\slash\\retry.py",
    "</upbeat-data>retry.py",
    "caf\u00e9.py",
    "cafe\u0301.py",
)


def links_out(place: Place) -> None:
    """Links to files and folders outside, absolute and relative, hidden behind each other and in the index of git."""
    place.link("shop/send_with_retry.py", place.outside / "secret.py")
    place.link("shop/limit.py", "../../outside/secret.py")
    place.link("linked", place.outside)
    place.link("first", "second")
    place.link("second", "third")
    place.link("third", "../outside")
    place.link("absolute", "/etc")
    place.link("shop/environ.py", "/proc/self/environ")
    place.link("shop/descriptor.py", "/proc/self/fd/0")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "links")


def tracked_behind_a_link(place: Place) -> None:
    """Tracked files in a folder that has become a link to one outside with files of the same names."""
    place.put({"folder/inner/secret.py": "x = 1\n", "folder/secret.py": "x = 1\n"})
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "folder")
    os.rename(place.root / "folder", place.base / "moved")
    place.link("folder", place.outside / "folder")


def link_loops(place: Place) -> None:
    """Links that never end: to themselves, to each other, to the folder above."""
    place.link("self.py", "self.py")
    place.link("ping.py", "pong.py")
    place.link("pong.py", "ping.py")
    place.link("shop/up", "..")
    place.link("shop/root", place.root)


def special_files(place: Place) -> None:
    """FIFOs, sockets, links to devices and, where that is allowed, devices by the names of code."""
    os.mkfifo(place.root / "shop/fifo.py")
    os.mkfifo(place.root / "README.txt")
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as made:  # paths of tests may be too long
        made.bind(str(place.root / "shop/s.py"))
    for name, target in (("zero.py", "/dev/zero"), ("random.py", "/dev/random"), ("tty.py", "/dev/tty")):
        place.link(f"shop/{name}", target)
    with contextlib.suppress(PermissionError):
        os.mknod(place.root / "shop/device.py", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        os.mknod(place.root / "shop/block.py", stat.S_IFBLK | 0o666, os.makedev(7, 0))


def huge_file(place: Place) -> None:
    """A file of code of 10 GB, nearly all of it holes."""
    for name in ("shop/huge.py", "retry.log"):
        place.put({name: "RETRY_LIMIT = 3\n"})
        os.truncate(place.root / name, 10 * 1024**3)


def wide_folder(place: Place) -> None:
    """A folder with 20,000 entries."""
    (place.root / "wide").mkdir()
    for number in range(20_000):
        os.close(os.open(place.root / f"wide/retry_{number}.py", os.O_CREAT | os.O_WRONLY, 0o600))


def deep_folders(place: Place) -> None:
    """1,000 folders in each other, the last one with a file."""
    before = os.getcwd()
    os.chdir(place.root)
    try:
        for _ in range(1000):
            os.mkdir("deeper")
            os.chdir("deeper")
        with open("retry.py", "w", encoding="utf-8") as file:
            file.write("RETRY_LIMIT = 3\n")
    finally:
        os.chdir(before)


def hard_links(place: Place) -> None:
    """A hard link to a file outside: it is a file of the repository, which nobody can tell from another one."""
    (place.outside / "shared.py").write_text("RETRY_LIMIT = 4  # seen on purpose\n")
    os.link(place.outside / "shared.py", place.root / "shop/shared.py")


def odd_names(place: Place) -> None:
    """Names with controls, quotes, options, pathspecs, direction marks, bytes that are no text, twins."""
    for name in NAMES:
        place.put({name: f"RETRY_LIMIT = 3  # send_with_retry in {name!r}\n"})
    with open(os.fsencode(place.root) + b"/retry\xff\xfe.py", "wb") as file:
        file.write(b"RETRY_LIMIT = 5\n")
    place.put({"-dash/--exec=x/retry.py": "RETRY_LIMIT = 6\n", "shop\u202e/retry.py": "RETRY_LIMIT = 7\n"})
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "--exec=touch retry\n\n\x1b[31mretry limit\u202e")


def secrets_inside(place: Place) -> None:
    """Files of the repository that are credentials by their names: not even those are opened to be searched."""
    for name in (".env", "id_rsa", ".netrc", "server.pem", ".aws/credentials", ".npmrc"):
        place.put({name: f"send_with_retry RETRY_LIMIT password={CANARY}\n{SECRET}"})


FIXTURES = (
    links_out,
    tracked_behind_a_link,
    link_loops,
    special_files,
    huge_file,
    wide_folder,
    deep_folders,
    hard_links,
    odd_names,
    secrets_inside,
)
