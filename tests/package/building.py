"""Builds wheel and sdist of this checkout in this process, with the backend that pip and uv use, and reads them."""

from __future__ import annotations

import stat
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]
CONTENTS = ROOT / "tests/package/wheel_contents.txt"


@cache
def wheel_files() -> dict[str, bytes]:
    """Return the content of this checkout's wheel by name."""
    return build_wheel(ROOT)


def build_wheel(checkout: Path) -> dict[str, bytes]:
    """Build the wheel of ``checkout``, and return its content by name. No entry may be a link."""
    with tempfile.TemporaryDirectory() as folder:
        [built] = WheelBuilder(str(checkout)).build(directory=folder, versions=["standard"])
        with zipfile.ZipFile(built) as wheel:
            assert not [entry for entry in wheel.infolist() if stat.S_ISLNK(entry.external_attr >> 16)]
            return {name: wheel.read(name) for name in wheel.namelist()}


@cache
def sdist_files() -> dict[str, bytes | None]:
    """Return what the sdist holds, below its one folder: name -> bytes; None for what is no regular file."""
    with tempfile.TemporaryDirectory() as folder:
        [built] = SdistBuilder(str(ROOT)).build(directory=folder, versions=["standard"])
        with tarfile.open(built) as sdist:
            files: dict[str, bytes | None] = {}
            for member in sdist.getmembers():
                file = sdist.extractfile(member) if member.isreg() else None
                files[member.name.partition("/")[2]] = file.read() if file else None
            return files


def wheel_contents() -> str:
    """Return the golden list, one name a line."""
    return "".join(f"{name}\n" for name in sorted(wheel_files()))
