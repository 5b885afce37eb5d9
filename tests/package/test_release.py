"""A release whose builds differ is none, and its checksums are what ``sha256sum`` reads.

Real builds in several environments are compared by the part ``package`` of the promises.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / ".ci"))
from release import ReleaseError, differences, main, run, write_sums

ONE = {"u.tar.gz": b"s", "u.whl": b"w", "again": b"w"}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (ONE, []),
        ({**ONE, "u.tar.gz": b"S"}, ["build 1: u.tar.gz"]),
        ({"u.tar.gz": b"s", "v.whl": b"w", "again": b"w"}, ["build 1: u.whl"]),
        (
            {**ONE, "again": b"small"},
            ["build 1: again", "build 1: the wheel from the sdist is another one"],
        ),
    ],
)
def test_builds_that_differ(other: dict[str, bytes], expected: list[str]) -> None:
    """Each file that differs is named with its build, and so is a wheel that the sdist does not give."""
    assert expected == differences([ONE, other])


def test_a_first_build_whose_sdist_gives_another_wheel() -> None:
    """One build is enough to see that the sdist lacks something."""
    assert ["build 0: the wheel from the sdist is another one"] == differences([{**ONE, "again": b"small"}])


def test_checksums(tmp_path: Path) -> None:
    """Every file is in the sums, and the system's own program agrees with them."""
    (tmp_path / "u.whl").write_bytes(b"w")
    (tmp_path / "u.tar.gz").write_bytes(b"s")
    write_sums(tmp_path)
    checked = subprocess.run(
        ["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (0, "u.tar.gz: OK\nu.whl: OK\n") == (checked.returncode, checked.stdout)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is mixed with the files of another release."""
    (tmp_path / "old.whl").write_bytes(b"w")

    assert (1, [tmp_path / "old.whl"]) == (main([str(tmp_path)]), list(tmp_path.iterdir()))
    assert f"release: {tmp_path} is not empty; move it away, or name another folder\n" == capsys.readouterr().err


def test_a_step_that_fails_says_what_it_said(tmp_path: Path) -> None:
    """The error names the command, its exit code and its words."""
    with pytest.raises(ReleaseError, match=r"sh -c echo no >&2; exit 3 ended with 3: no"):
        run(["sh", "-c", "echo no >&2; exit 3"], tmp_path)
