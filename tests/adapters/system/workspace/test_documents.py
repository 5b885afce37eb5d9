"""Text files of a repository that policies inject."""

from __future__ import annotations

from pathlib import Path

from repositories import write

from upbeat.adapters.system.workspace.documents import MAX_FILES, documents_above, documents_in
from upbeat.core.policy.queries import TextDocument


def test_the_nearest_document_comes_first(tmp_path: Path) -> None:
    """Documents from the file's folder up to the root are returned, with the root only on request."""
    root = str(write(tmp_path / "repo", {"A.md": "root", "a/A.md": "a"}).resolve())
    write(tmp_path, {"A.md": "outside"})
    nearest = TextDocument("a/A.md", "a")

    assert (nearest, TextDocument("A.md", "root")) == documents_above(root, f"{root}/a/x.py", ("A.md",))
    assert (nearest,) == documents_above(root, f"{root}/a/x.py", ("A.md",), with_root=False)
    assert () == documents_above(root, str(tmp_path / "x.py"), ("A.md",))


def test_documents_of_a_folder_are_sorted_and_bounded(tmp_path: Path) -> None:
    """Files with the suffix are returned by name; binary and empty ones, and folders outside the root, are not."""
    root = str(write(tmp_path / "repo", {"n/b.md": "b", "n/a.md": "a", "n/c.txt": "c", "n/e.md": " "}).resolve())
    (tmp_path / "repo/n/d.md").write_bytes(b"\0")
    write(tmp_path / "repo/many", {f"{number:02}.md": "x" for number in range(MAX_FILES + 5)})

    assert (TextDocument("n/a.md", "a"), TextDocument("n/b.md", "b")) == documents_in(root, "n", ".md")
    assert MAX_FILES == len(documents_in(root, "many", ".md"))
    assert () == documents_in(root, "..", ".md")
