"""Codex is found on the search path or at the path that the user names, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import pids_with_home

from upbeat.adapters.system.process import find_program as program
from upbeat.adapters.system.process import run
from upbeat.adapters.system.process.find_program import find_program, get_version, is_only_in_repository, search_path


@pytest.fixture
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program named codex in a folder that is the working directory."""
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return program


def test_the_search_path_is_followed(codex: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first folder that has an executable codex wins."""
    (codex.parent / "no").mkdir()
    (codex.parent / "no" / "codex").write_text("not executable")
    monkeypatch.setenv("PATH", f"/nowhere:{codex.parent}/no:{codex.parent}")

    assert str(codex) == find_program("codex")


@pytest.mark.parametrize("path", ["", ":", ".", "..:."])
def test_the_working_directory_is_not(codex: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Relative entries of PATH are skipped, because the working directory may be an untrusted repository."""
    monkeypatch.setenv("PATH", path)

    assert "" == find_program("codex")


@pytest.mark.parametrize(("given", "is_found"), [("./codex", True), ("./nothing", False), ("./", False)])
def test_a_path_is_taken_as_it_is(codex: Path, given: str, is_found: bool) -> None:
    """A path that the user names is used as it is."""
    assert (str(codex) if is_found else "") == find_program(given)


def test_the_repository_is_not(codex: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that leads into the repository, by its name or over a link, is passed over; a named path is not."""
    outside = tmp_path / "outside"
    outside.mkdir()
    link = tmp_path / "link"
    repository = tmp_path / "repo"
    (repository / "bin").mkdir(parents=True)
    link.symlink_to(repository / "bin")
    codex.rename(repository / "bin/codex")
    monkeypatch.setenv("PATH", f"{repository}/bin:{link}:{outside}")

    assert ("", True, [str(outside)]) == (
        find_program("codex", str(repository)),
        is_only_in_repository("codex", str(repository)),
        search_path(str(repository)),
    )
    assert f"{repository}/bin/codex" == find_program(f"{repository}/bin/codex", str(repository))

    (outside / "codex").write_text("")
    (outside / "codex").chmod(0o755)

    assert (f"{outside}/codex", False) == (
        find_program("codex", str(repository)),
        is_only_in_repository("codex", str(repository)),
    )


def test_the_root_of_the_system_is_no_repository(codex: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container that is one repository from its root on, everything would lie inside."""
    monkeypatch.setenv("PATH", str(codex.parent))

    assert str(codex) == find_program("codex", "/")


# --- its version ---


@pytest.fixture
def variables(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment by which all is known that was started with it; in the end nothing of it is left."""
    yield {"PATH": os.defpath, "HOME": str(tmp_path)}
    assert [] == pids_with_home(tmp_path)


@pytest.mark.parametrize(
    "script",
    [
        "echo 2.1.329 '(Claude Code)'",
        "sleep 60 & setsid sleep 60 & echo 2.1.329",
        "(setsid sleep 60 >/dev/null 2>&1 &); echo 2.1.329",
        "yes oh no | head -c 1000000 >&2; echo 2.1.329",
    ],
    ids=["plain", "leaves children", "leaves a daemon", "complains at length"],
)
def test_its_version(codex: Path, variables: dict[str, str], script: str) -> None:
    """The printed version is returned, and every process that the program started is gone."""
    codex.write_text(f"#!/bin/sh\n{script}\n")

    assert (2, 1, 329) == get_version(str(codex), variables)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("#!/bin/sh\necho one; echo two >&2; exit 3", " --version: exit 3 two"),
        ("#!/bin/sh\necho one; echo two; exit 3", " --version: exit 3 two"),
        ("#!/bin/sh\necho no version", " --version: exit 0 no version"),
        ("#!/bin/sh\nkill -9 $$", " --version: exit -9"),
        ("#!/bin/sh\nsleep 60 & exec sleep 60", " --version: > 0.5 s"),
        ("#!/bin/sh\nexec yes 2.1.329 >&2", " --version: > 0.5 s"),
        ("#!/bin/sh\nexec yes 2.1.329", " --version: > 100000 bytes"),
        ("#!/nowhere/sh\necho 2.1.329", ": No such file or directory"),
    ],
    ids=["complains", "says why", "none", "killed", "hangs", "complains for ever", "floods", "cannot be started"],
)
def test_why_it_has_no_version(
    codex: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    """Its own last words or the system's, in its time and its room; nothing of it is left."""
    monkeypatch.setattr(program, "VERSION_TIMEOUT_SECONDS", 0.5)
    monkeypatch.setattr(run, "MAX_OUTPUT_BYTES", 100_000)
    if ">" in why:  # it does not exit by itself
        monkeypatch.setattr(run, "_EXIT_GRACE_SECONDS", 0.1)
    codex.write_text(f"{script}\n")

    assert f"{codex}{why}" == get_version(str(codex), variables)


def test_it_is_asked_where_we_are(codex: Path, variables: dict[str, str]) -> None:
    """A version manager answers for the folder in which the program would be used."""
    codex.write_text("#!/bin/sh\ncat said\n")
    codex.with_name("said").write_text("1.2.3")

    assert (1, 2, 3) == get_version(str(codex), variables)
