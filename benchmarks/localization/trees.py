"""Puts the trees of cases where ``run.py`` looks for them, each with its own past and nothing later.

    python benchmarks/localization/trees.py CASES.jsonl MIRRORS TREES

``MIRRORS/OWNER+NAME/repo`` (or ``…/repo/.git``) is a git directory that holds the case's commit; objects are
borrowed from it, not copied, and nothing is written there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"


def git_directory(mirrors: Path, repository: str) -> Path | None:
    """The git directory of ``repository``, if its mirror is there."""
    top = mirrors / repository.replace("/", "+") / "repo"
    return next((path for path in (top / ".git", top) if (path / "HEAD").is_file()), None)


def tree_of(case: dict[str, Any], trees: Path) -> Path:
    """Where the tree of ``case`` is, or would be."""
    return trees / f"{case['repo'].replace('/', '+')}-{case['parent_sha'][:12]}"


def read_cases(path: Path, trees: Path, limit: int = 0, every: int = 1) -> Iterator[tuple[dict[str, Any], Path]]:
    """The cases in ``path`` whose trees are there, with them: every ``every``-th of the first ``limit`` (0: all)."""
    for line in path.read_text(encoding="utf-8").splitlines()[: limit or None : every]:
        case = json.loads(line)
        if tree_of(case, trees).is_dir():
            yield case, tree_of(case, trees)


def put(case: dict[str, Any], mirrors: Path, trees: Path) -> str:
    """Make the case's tree; what came of it in a word."""
    tree = tree_of(case, trees)
    mirror = git_directory(mirrors, case.get("mirror_repo", case["repo"]))
    if mirror is None:
        return "no mirror"
    if (tree / ".git" / "HEAD").is_file():
        return "there"
    tree.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", f"--git-dir={mirror}", "archive", case["parent_sha"]], capture_output=True)
    if archive.returncode:
        tree.rmdir()
        return "no commit"
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive.stdout, check=True)
    git = tree / ".git"
    (git / "objects" / "info").mkdir(parents=True)
    (git / "refs").mkdir()
    (git / "config").write_text(CONFIG)
    (git / "objects" / "info" / "alternates").write_text(f"{mirror.resolve()}/objects\n")
    (git / "HEAD").write_text(case["parent_sha"] + "\n")
    return "made"


def main() -> None:
    """Make all trees; count what came of them."""
    cases, mirrors, trees = (Path(argument) for argument in sys.argv[1:4])
    outcomes: dict[str, int] = {}
    for line in cases.read_text(encoding="utf-8").splitlines():
        outcome = put(json.loads(line), mirrors, trees)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    print(outcomes)


if __name__ == "__main__":
    main()
