"""Make the trees of localization cases, each with its own history and nothing later.

    python -m benchmarks.localization.trees [CASES.jsonl MIRRORS TREES] [--clone]

``MIRRORS/OWNER+NAME/repo`` (or ``…/repo/.git``) is a git directory that has the commit of the case. Its objects are
linked or copied into the tree, because a history of borrowed objects would not be read; a tree without a readable
history is an error. ``--clone`` clones missing mirrors from GitHub first. Without arguments, a sample in a temporary
folder serves.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from upbeat.adapters.code.history.commit_history import HistoryStore

from .cases import Case, read_cases
from .sample import make_sample

CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"


def git_directory(mirrors: Path, repository: str) -> Path | None:
    """The git directory of ``repository``, if its mirror is there."""
    top = mirrors / repository.replace("/", "+") / "repo"
    return next((path for path in (top / ".git", top) if (path / "HEAD").is_file()), None)


def put(case: Case, mirrors: Path, trees: Path) -> str:
    """Make the case's tree; return what came of it in a word.

    Raises:
        RuntimeError: The tree has no history that upbeat reads.
    """
    tree = trees / case.tree_name
    mirror = git_directory(mirrors, case.mirror_repo)
    if mirror is None:
        return "no mirror"
    if (tree / ".git" / "HEAD").is_file():
        return "there"
    tree.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", f"--git-dir={mirror}", "archive", case.commit], capture_output=True)
    if archive.returncode:
        tree.rmdir()
        return "no commit"
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive.stdout, check=True)
    git = tree / ".git"
    (git / "refs").mkdir(parents=True)
    shutil.copytree(mirror / "objects", git / "objects", copy_function=_link_or_copy)
    (git / "config").write_text(CONFIG)
    (git / "HEAD").write_text(case.commit + "\n")
    history = HistoryStore(None).get(str(tree.resolve()))
    if history is None or not history.commits:
        raise RuntimeError(
            f"{tree} has no history: {HistoryStore(None).problem(str(tree.resolve())) or 'not readable'}"
        )
    return "made"


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def clone_mirrors(cases: Path, mirrors: Path) -> None:
    """Clone the missing mirrors of all cases. Raises CalledProcessError."""
    for repository in sorted({case.mirror_repo for case in read_cases(cases)}):
        if git_directory(mirrors, repository) is None:
            target = mirrors / repository.replace("/", "+") / "repo"
            subprocess.run(["git", "clone", "--bare", f"https://github.com/{repository}", str(target)], check=True)


def put_all(cases: Path, mirrors: Path, trees: Path) -> dict[str, int]:
    """Make the trees of all cases; return how often each outcome occurs."""
    outcomes: dict[str, int] = {}
    for case in read_cases(cases):
        outcome = put(case, mirrors, trees)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes


@contextlib.contextmanager
def open_cases(cases: Path | None, trees: Path | None) -> Iterator[tuple[Path, Path]]:
    """Yield the given cases and trees, or those of the sample if none are given."""
    if cases is not None and trees is not None:
        yield cases, trees
        return
    if cases is not None:
        raise SystemExit("cases need a folder of trees")
    with tempfile.TemporaryDirectory() as folder:
        sample, mirrors = make_sample(Path(folder))
        put_all(sample, mirrors, Path(folder) / "trees")
        yield sample, Path(folder) / "trees"


def main() -> None:
    """Make all trees; print how often each outcome occurs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="CASES.jsonl MIRRORS TREES")
    parser.add_argument("--clone", action="store_true", help="clone missing mirrors from GitHub (network)")
    parser.add_argument("--quick", action="store_true", help="no effect: the sample takes a second")
    options = parser.parse_args()
    if len(options.paths) == 3:
        if options.clone:
            clone_mirrors(options.paths[0], options.paths[1])
        print(put_all(*options.paths))
    elif options.paths:
        parser.error("expected CASES.jsonl, MIRRORS and TREES, or no arguments")
    else:
        with tempfile.TemporaryDirectory() as folder:
            print(put_all(*make_sample(Path(folder)), Path(folder) / "trees"))


if __name__ == "__main__":
    main()
