"""A search ranks files by their text and by what the history says about them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from repositories import git, make_repository, write

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.query.search import search_code
from upbeat.core.contract.finding import ToolOutput


def search(root: Path, query: str, index_manager: IndexManager | None) -> ToolOutput:
    return search_code(str(root), query, 10, (), (), SourceCache(), threading.Event(), 5.0, index_manager)


def test_history_decides_between_equal_files(tmp_path: Path) -> None:
    """Of files with the same text, the one that a similar commit touched is first; without history it is not."""
    files = {f"{name}.py": "def run(): pass\n" for name in "abcd"}
    root = make_repository(Path(os.path.realpath(tmp_path)) / "r", files)
    write(root, {"c.py": "def run(): return 1\n"})
    git(root, "commit", "-qam", "Fix the flamingo crash")
    with_history = search(root, "flamingo in run", IndexManager(None))
    without = search(root, "flamingo in run", None)

    assert ("c.py", 2) == (with_history.findings[0].path, with_history.data["commits"])
    assert ("a.py", 0) == (without.findings[0].path, without.data["commits"])


def test_history_adds_files_without_a_word_of_the_query(tmp_path: Path) -> None:
    """A source that only a similar commit touched is a candidate too."""
    root = make_repository(Path(os.path.realpath(tmp_path)) / "r", {"a.py": "x = 1\n", "b.py": "flamingo = 1\n"})
    write(root, {"a.py": "x = 2\n"})
    git(root, "commit", "-qam", "Let the pelican swim")

    assert "a.py" == search(root, "pelican cannot swim", IndexManager(None)).findings[0].path


def gated(root: Path, query: str, prior: float | None) -> ToolOutput:
    """Return the answer to a search that decides whether there is anything to say."""
    return search_code(str(root), query, 10, (), (), SourceCache(), threading.Event(), 5.0, IndexManager(None), prior)


def test_a_gated_search_ends_after_the_first_look(tmp_path: Path) -> None:
    """With nothing to say there are no findings and no ranking; without a prior the same search answers."""
    root = make_repository(Path(os.path.realpath(tmp_path)) / "r")
    silent = gated(root, "send my mother a message", -3.0)

    assert ((), False, {"gate"}) == (silent.findings, silent.data["gate"]["speaks"], set(silent.data))
    assert gated(root, "send my mother a message", None).findings
    assert gated(root, "send my mother a message", 3.0).data["gate"]["speaks"]


def test_a_small_tree_is_named_when_no_word_matches(tmp_path: Path) -> None:
    """A prompt that is about the code, in words that it does not have, gets the few files that there are."""
    root = make_repository(Path(os.path.realpath(tmp_path)) / "r")

    assert {"shop/cart.py", "shop/retry.py"} == {f.path for f in gated(root, "优惠券", 5.0).findings}
    assert () == gated(root, "优惠券", None).findings


@pytest.mark.parametrize(
    "question", ["what does this project do?", "give me an overview of the repo", "这个项目是做什么的？"]
)
def test_a_prompt_about_the_whole_project_names_its_readme(tmp_path: Path, question: str) -> None:
    """The README at the top is first, whatever the first look says; a project without one gets none."""
    root = make_repository(
        Path(os.path.realpath(tmp_path)) / "r", {"README.md": "# Shop\n\nSells.\n", "a.py": "x = 1\n"}
    )

    assert ("README.md", 1) == (
        gated(root, question, -5.0).findings[0].path,
        gated(root, question, None).findings[0].start_line,
    )
    (root / "README.md").unlink()
    assert "README.md" not in [finding.path for finding in gated(root, question, -5.0).findings]
    assert not gated(root, "what does this project do with refunds?", -5.0).data["gate"]["speaks"]
