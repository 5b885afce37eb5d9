"""The structure of the repository: tests mirror the tree, folders stay small, and a name means one thing."""

from __future__ import annotations

import ast
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent

MAX_MODULES = 15
ONE_FILE_PER_BEHAVIOR = {"core/policies", "adapters/cli"}
"""Folders that may grow: one file per policy or per command."""

MAX_HOMONYMS = 10
"""Public class names with more than one definition, in core and adapters together."""


def tracked(*patterns: str) -> list[str]:
    """Paths of the tracked files that match the git pathspecs, relative to the root."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\0") if path]


PRODUCT = [Path(path) for path in tracked("core/*.py", "adapters/*.py")]
MODULES = [path for path in PRODUCT if path.name != "__init__.py"]


def test_tests_mirror_the_tree() -> None:
    """A module core/a/b.py is tested in tests/core/a/test_b.py, or in files whose names begin with test_b_."""
    tests = tracked("tests/*.py")
    untested = {
        path.as_posix()
        for path in MODULES
        if not any(
            test == f"tests/{path.parent}/test_{path.name}" or test.startswith(f"tests/{path.parent}/test_{path.stem}_")
            for test in tests
        )
    }

    assert set() == untested


def test_folders_are_small() -> None:
    """No folder has more than 15 modules side by side."""
    sizes = Counter(path.parent.as_posix() for path in MODULES)

    assert {} == {
        folder: count for folder, count in sizes.items() if count > MAX_MODULES and folder not in ONE_FILE_PER_BEHAVIOR
    }


def test_a_public_class_name_means_one_thing() -> None:
    """At most ten public class names have more than one definition."""
    places = defaultdict(list)
    for path in PRODUCT:
        for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.as_posix())
    homonyms = {name: found for name, found in places.items() if len(found) > 1}

    assert len(homonyms) <= MAX_HOMONYMS, homonyms
