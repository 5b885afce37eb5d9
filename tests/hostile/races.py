"""Files and folders of a repository that are swapped for links to the outside while they are read, as fast as can be.

A process swaps them without a pause; the readers of upbeat read. What they get may be the file, or nothing: never what
is outside. A reader that looks first and opens then is tried as well: that it gets out shows that the race is one.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
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
    """How often was read, how often a secret was seen, and how often something came."""

    tries: int = 0
    escapes: int = 0
    read: int = 0


def race(base: Path, tries: int) -> tuple[Raced, Raced]:
    """Return what the readers saw in ``tries`` readings, and what the one that looks first saw in as many."""
    root, outside = base / "repo", base / "outside"
    for folder in (root / FOLDER, outside):
        folder.mkdir(parents=True)
    (root / FILE).write_text(OWN)
    (root / INNER).write_text(OWN)
    (outside / FILE).write_text(f'mode = "{CANARY}"\n')
    (outside / f"{CANARY}.toml").touch()
    with _swapping(root, outside):
        ours = _tried(_readers(str(root)), tries)
        naive = _tried([_or_nothing(partial(_naive, root, name)) for name in (INNER, FILE)], tries)
    return ours, naive


def _tried(readers: Sequence[Callable[[], str]], tries: int) -> Raced:
    seen = Raced()
    while seen.tries < tries:
        for reader in readers:
            text = reader()
            seen.tries += 1
            seen.escapes += CANARY in text
            seen.read += bool(text)
    return seen


def _readers(root: str) -> list[Callable[[], str]]:
    """Return everything of upbeat that opens a file or lists a folder of a repository, by what it gives of them."""
    file, inner = Path(root, FILE), Path(root, INNER)
    return [
        _or_nothing(lambda: read_file(INNER, 1000, root).decode()),
        _or_nothing(lambda: read_file(FILE, 1000, root).decode()),
        lambda: read_text(file, root, 1000).text,
        lambda: read_text(inner, root, 1000).text,
        lambda: str(dict(read_toml(file, FILE, root).values) or ""),
        lambda: (WorkingTree(root, SourceCache()).read_bytes(FILE) or b"").decode(),
        lambda: (WorkingTree(root, SourceCache()).read_bytes(INNER) or b"").decode(),
        lambda: " ".join(list_folder(f"{root}/{FOLDER}", root, 10).names),
        _or_nothing(lambda: repr(documents_in(root, FOLDER, ".toml") or "")),
        _or_nothing(lambda: repr(documents_above(root, str(inner), (FILE,)) or "")),
    ]


def _or_nothing(reader: Callable[[], str]) -> Callable[[], str]:
    """Return ``reader`` with nothing in place of an error of the system."""

    def read() -> str:
        with contextlib.suppress(OSError):
            return reader()
        return ""

    return read


def _naive(root: Path, name: str) -> str:
    """Look where the path leads, then open it: the mistake that is tried for."""
    path = root / name
    if os.path.isfile(path) and Path(os.path.realpath(path)).is_relative_to(root):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(descriptor, "rb", buffering=0) as file:
            return file.read(1000).decode()
    return ""


@contextmanager
def _swapping(root: Path, outside: Path) -> Iterator[None]:
    command = [sys.executable, "-I", "-S", "-c", SWAPPER, str(root), str(outside)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            yield
            if process.poll() is not None:
                raise RuntimeError("the swapping process has ended; there was no race")
        finally:
            process.kill()
