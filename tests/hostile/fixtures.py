"""All hostile repositories, by name. Each is a function that makes a ``Place`` hostile; its docstring says how."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from . import by_files, by_git, by_programs, by_settings
from .place import Place, make_place

GROUPS = {"settings": by_settings, "git": by_git, "programs": by_programs, "files": by_files}
FIXTURES: Mapping[str, Callable[[Place], None]] = {
    f"{group}: {one.__name__.replace('_', ' ')}": one for group, module in GROUPS.items() for one in module.FIXTURES
}

MIXED: Mapping[str, tuple[Callable[[Place], None], ...]] = {
    "settings and programs": (
        by_settings.asks_for_everything,
        by_settings.rules_with_commands,
        by_settings.servers_of_a_client,
        by_settings.hooks_of_clients,
        by_settings.workflows_of_strangers,
        by_settings.prompts_of_strangers,
        by_settings.features_link_out,
        by_programs.projects,
        by_programs.programs_of_an_environment,
        by_programs.variables_of_git,
    ),
    "another user's": (by_git.file_points_elsewhere, by_settings.settings_are_pipes, by_settings.features_link_out),
    "git": (
        by_git.submodule,
        by_git.monitor,
        by_git.hooks,
        by_git.differences,
        by_git.pagers_and_editors,
        by_git.signatures,
        by_git.files_elsewhere,
        by_git.alternates,
    ),
    "files": (by_files.odd_names, by_files.links_out, by_files.link_loops, by_files.special_files, by_files.huge_file),
}
"""Several at once, for those who have little time; each goes with the others."""


def make(name: str, base: Path) -> Place:
    """The repository called ``name``, alone or mixed, in a new folder ``base``."""
    place = make_place(base)
    for one in MIXED.get(name) or (FIXTURES[name],):
        one(place)
    for name in place.sprung():  # git has run them while it was told of them
        (place.marks / name).unlink()
    return place


@contextmanager
def staged(name: str) -> Iterator[Place]:
    """The repository called ``name``, in a folder of its own that is gone afterwards."""
    folder = tempfile.mkdtemp(prefix="hostile-")
    try:
        yield make(name, Path(folder).resolve() / "stage")
    finally:
        subprocess.run(["rm", "-rf", "--", folder], check=True)  # Python's own gives up on deep folders
