"""Files and folders of a repository that are swapped for links to the outside while they are read, as fast as can be.

A process swaps them without a pause; the readers of upbeat read. What they get may be the file, or nothing: never what
is outside. A reader that looks first and opens then is tried as well: that it gets out shows that the race is one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from upbeat.adapters.code.files.tree import SourceCache, WorkingTree
from upbeat.adapters.system.files.bounded_read import list_folder, read_text
from upbeat.adapters.system.files.safe_open import read_file
from upbeat.adapters.system.files.toml_file import read_toml
from upbeat.adapters.system.workspace.documents import documents_above, documents_in

from .place import CANARY

FILE, FOLDER = "file.toml", "folder"
INNER = f"{FOLDER}/{FILE}"
OWN = 'mode = "own"\n'
SWAPPER = """
import os, sys
root, outside = sys.argv[1:]
os.chdir(root)
def link(target, name):
    os.symlink(target, ".link")
    os.rename(".link", name)
def file(name):
    with open(".new", "w") as new:
        new.write('mode = "own"\\n')
    os.rename(".new", name)
print("begun", flush=True)
while True:
    link(outside + "/file.toml", "file.toml")
    file("file.toml")
    os.rename("folder", "away")
    os.symlink(outside, "folder")
    os.remove("folder")
    os.rename("away", "folder")
    os.remove("file.toml")
    os.mkfifo("file.toml")
    file("file.toml")
"""


@dataclass
class Raced:
    """How often was read, how often a secret was seen, how often something came, and how long the slowest took."""

    tries: int = 0
    escapes: int = 0
    read: int = 0
    slowest: float = 0.0


def race(base: Path, tries: int) -> tuple[Raced, Raced]:
    """What the readers saw in ``tries`` readings, and what the one that looks first saw in as many."""
    root, outside = base / "repo", base / "outside"
    for folder in (root / FOLDER, outside):
        folder.mkdir(parents=True)
    (root / FILE).write_text(OWN)
    (root / INNER).write_text(OWN)
    (outside / FILE).write_text(f'mode = "{CANARY}"\n')
    (outside / f"{CANARY}.toml").touch()
    with _swapping(root, outside):
        ours = _tried(_readers(str(root)), tries)
        naive = _tried({"naive": lambda: _naive(root, INNER), "naive file": lambda: _naive(root, FILE)}, tries)
    return ours, naive


def _tried(readers: Mapping[str, Callable[[], str]], tries: int) -> Raced:
    seen = Raced()
    while seen.tries < tries:
        for reader in readers.values():
            began = time.monotonic()
            text = reader()
            seen.slowest = max(seen.slowest, time.monotonic() - began)
            seen.tries += 1
            seen.escapes += CANARY in text
            seen.read += bool(text)
    return seen


def _readers(root: str) -> dict[str, Callable[[], str]]:
    """Everything of upbeat that opens a file or lists a folder of a repository, by what it gives of them."""

    def source(path: str) -> str:
        found = WorkingTree(root, SourceCache()).read_bytes(path)
        return (found or b"").decode()

    def plain(path: str) -> str:
        with contextlib.suppress(OSError):
            return read_file(path, 1000, root).decode()
        return ""

    def nothing(find: Callable[[], object]) -> str:
        with contextlib.suppress(OSError):
            return repr(find())
        return ""

    return {
        "opening": lambda: plain(INNER),
        "opening a file": lambda: plain(FILE),
        "text": lambda: read_text(Path(root, FILE), root, 1000).text,
        "inner text": lambda: read_text(Path(root, INNER), root, 1000).text,
        "settings": lambda: str(dict(read_toml(Path(root, FILE), FILE, root).values) or ""),
        "source": lambda: source(FILE),
        "inner source": lambda: source(INNER),
        "list": lambda: " ".join(list_folder(f"{root}/{FOLDER}", root, 10).names),
        "documents": lambda: nothing(lambda: documents_in(root, FOLDER, ".toml") or ""),
        "documents above": lambda: nothing(lambda: documents_above(root, f"{root}/{INNER}", (FILE,)) or ""),
    }


def _naive(root: Path, name: str) -> str:
    """Looks where the path leads, then opens it: the mistake that is tried for."""
    path = root / name
    with contextlib.suppress(OSError):
        if os.path.isfile(path) and Path(os.path.realpath(path)).is_relative_to(root):
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                return os.read(descriptor, 1000).decode()
            finally:
                os.close(descriptor)
    return ""


@contextmanager
def _swapping(root: Path, outside: Path) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", SWAPPER, str(root), str(outside)], stdout=subprocess.PIPE
    )
    assert process.stdout
    try:
        process.stdout.readline()
        yield
        if process.poll() is not None:
            raise RuntimeError("the swapping process has ended; there was no race")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
