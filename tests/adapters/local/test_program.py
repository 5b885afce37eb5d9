"""Codex is found on the search path, or where the person says, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.local.program import find_program, is_only_inside, search_path


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
    """Relative entries mean the working directory, which may be anybody's repository."""
    monkeypatch.setenv("PATH", path)

    assert "" == find_program("codex")


@pytest.mark.parametrize(("given", "found"), [("./codex", True), ("./nothing", False), ("./", False)])
def test_a_path_is_taken_as_it_is(codex: Path, given: str, found: bool) -> None:
    """What the person names is the person's choice."""
    assert (str(codex) if found else "") == find_program(given)


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
        is_only_inside("codex", str(repository)),
        search_path(str(repository)),
    )
    assert f"{repository}/bin/codex" == find_program(f"{repository}/bin/codex", str(repository))

    (outside / "codex").write_text("")
    (outside / "codex").chmod(0o755)

    assert (f"{outside}/codex", False) == (
        find_program("codex", str(repository)),
        is_only_inside("codex", str(repository)),
    )


def test_the_root_of_the_system_is_no_repository(codex: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container that is one repository from its root on, everything would lie inside."""
    monkeypatch.setenv("PATH", str(codex.parent))

    assert str(codex) == find_program("codex", "/")
