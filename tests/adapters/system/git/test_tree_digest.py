"""The digest of a working tree: what changes it and what does not, against real git."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st
from repositories import git, make_repository, write

from upbeat.adapters.system.git import tree_digest as tree
from upbeat.adapters.system.git.tree_digest import is_prose, tree_digest

CASES = read_groups(Path(__file__).with_name("tree_digest_cases.tsv"))


def touch(repo: Path) -> None:
    os.utime(repo / "shop/cart.py", (1, 1))


def rewrite(repo: Path) -> None:
    path = repo / "shop/cart.py"
    text = path.read_text()
    path.unlink()
    path.write_text(text)


def commit(repo: Path) -> None:
    write(repo, {"shop/new.py": "NEW = 1\n"})
    before = tree_digest(str(repo))
    git(repo, "add", "-A")
    staged = tree_digest(str(repo))
    git(repo, "commit", "-q", "-m", "second")

    assert [before, before] == [staged, tree_digest(str(repo))]
    git(repo, "rm", "-q", "shop/new.py")


def branch(repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "other")


def pack(repo: Path) -> None:
    git(repo, "gc", "-q")


def index_4(repo: Path) -> None:
    git(repo, "update-index", "--index-version", "4")


NOTHING: dict[str, Callable[[Path], object]] = {
    "touch": touch,
    "the same bytes again": rewrite,
    "a commit": commit,
    "a branch": branch,
    "gc": pack,
    "another version of the index": index_4,
    "prose": lambda repo: write(repo, {"README.md": "other", "docs/a.rst": "x", "NOTES.txt": "x", "LICENSE": "x"}),
    "specs": lambda repo: write(repo, {"specs/features/retry/tasks.md": "- [x] DEV", "specs/features/x.json": "{}"}),
    "upbeat's own files": lambda repo: write(repo, {".upbeat/auto-tools.toml": "enabled = 'off'"}),
    "an ignored file": lambda repo: write(repo, {"out.log": "x", "build/x.py": "x"}),
    "caches": lambda repo: write(
        repo, {"shop/__pycache__/cart.pyc": "x", "node_modules/a/b.js": "x", ".coverage": "x"}
    ),
    "an editor": lambda repo: write(repo, {"shop/.cart.py.swp": "x", "shop/cart.py~": "x"}),
    "an empty folder": lambda repo: (repo / "new").mkdir(),
}

SOMETHING: dict[str, Callable[[Path], object]] = {
    "a byte": lambda repo: write(repo, {"shop/cart.py": "class Cart: pass\n"}),
    "a new file": lambda repo: write(repo, {"shop/new.py": ""}),
    "a file that is gone": lambda repo: (repo / "shop/cart.py").unlink(),
    "a new name": lambda repo: (repo / "shop/cart.py").rename(repo / "shop/basket.py"),
    "a right to run": lambda repo: (repo / "shop/cart.py").chmod(0o755),
    "a link": lambda repo: (repo / "link.py").symlink_to("shop/cart.py"),
    "requirements": lambda repo: write(repo, {"requirements.txt": "django"}),
    "a fixture of the tests": lambda repo: write(repo, {"tests/data/expected.txt": "3"}),
    "a tracked file that is ignored": lambda repo: write(repo, {"kept.log": "changed"}),
    "what is ignored": lambda repo: write(repo, {".gitignore": ""}),
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with an ignored file, and a tracked one that is ignored as well."""
    made = make_repository(tmp_path / "shop repository 店")
    write(made, {".gitignore": "*.log\nbuild/\n", "kept.log": "x"})
    git(made, "add", "-f", "-A")
    git(made, "commit", "-q", "-m", "ignore")
    write(made, {"old.log": "x"})
    return made.resolve()


@pytest.mark.parametrize("change", NOTHING.values(), ids=NOTHING)
def test_is_the_same_after(repo: Path, change: Callable[[Path], object]) -> None:
    """The digest stays after what changes no program."""
    before = tree_digest(str(repo))
    change(repo)

    assert before == tree_digest(str(repo))
    assert 64 == len(before)


@pytest.mark.parametrize("change", SOMETHING.values(), ids=SOMETHING)
def test_is_another_after(repo: Path, change: Callable[[Path], object]) -> None:
    """The digest changes with what a program is made of."""
    before = tree_digest(str(repo))
    change(repo)

    assert before != tree_digest(str(repo))


def test_cold_is_warm(repo: Path) -> None:
    """A digest from the cache equals the digest of a full read."""
    warm = [tree_digest(str(repo)) for _ in range(2)][1]
    tree._digest_caches.clear()

    assert warm == tree_digest(str(repo))


def test_a_write_of_the_same_size_at_once_is_seen(repo: Path) -> None:
    """A file that changes right after it was read, with the same size and times, is read again."""
    path = repo / "shop/cart.py"
    path.write_text("A = 1\n")
    status = path.stat()
    before = tree_digest(str(repo))
    path.write_text("A = 2\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert before != tree_digest(str(repo))


def test_clone_has_the_same(repo: Path, tmp_path: Path) -> None:
    """Another clone of the same files has the same digest, wherever it lies."""
    (repo / "old.log").unlink()
    git(tmp_path, "clone", "-q", str(repo), str(tmp_path / "clone"))

    assert tree_digest(str(repo)) == tree_digest(str((tmp_path / "clone").resolve()))


def test_without_git(tmp_path: Path) -> None:
    """Without git all files count but those of builds and caches."""
    root = write(tmp_path.resolve(), {"a.py": "x"})
    before = tree_digest(str(root))
    write(root, {"build/x.py": "x", "node_modules/x.js": "x"})
    same = tree_digest(str(root))
    write(root, {"b.py": "x"})

    assert before == same
    assert before != tree_digest(str(root))


def test_worktree_and_subfolder(repo: Path, tmp_path: Path) -> None:
    """A linked worktree has the digest of its files, and a folder of a repository that of its own."""
    (repo / "old.log").unlink()
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    write(repo, {"shop/x.log": "ignored from above"})

    assert tree_digest(str(repo)) == tree_digest(str((tmp_path / "linked").resolve()))
    whole = tree_digest(str(repo / "shop"))
    (repo / "shop/x.log").write_text("other")
    assert whole == tree_digest(str(repo / "shop"))


def test_repository_inside(repo: Path) -> None:
    """The files of a repository inside count, by its own rules."""
    inner = make_repository(repo / "vendor/inner", {"a.py": "x", ".gitignore": "*.tmp2\n"})
    before = tree_digest(str(repo))
    write(inner, {"b.tmp2": "x"})
    same = tree_digest(str(repo))
    write(inner, {"a.py": "y"})

    assert before == same
    assert before != tree_digest(str(repo))


def test_links_are_not_followed(repo: Path, tmp_path: Path) -> None:
    """What lies behind a link does not count, only where it points."""
    outside = write(tmp_path / "outside", {"a.py": "x"})
    (repo / "out").symlink_to(outside)
    (repo / "loop").symlink_to(repo)
    (repo / "dead").symlink_to("nowhere")
    before = tree_digest(str(repo))
    write(outside, {"a.py": "y"})

    assert before == tree_digest(str(repo))


def test_odd_entries_do_no_harm(repo: Path) -> None:
    """Pipes, files that cannot be read and names that are no text are taken as they are."""
    os.mkfifo(repo / "pipe")
    (repo / "shop/.gitignore").unlink(missing_ok=True)
    os.mkfifo(repo / "shop/.gitignore")
    (repo / "closed.py").write_text("x")
    (repo / "closed.py").chmod(0)
    Path(os.fsdecode(os.fsencode(str(repo)) + b"/bad\xff.py")).write_text("x")
    git_dir = repo / ".git"
    (git_dir / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\x09" + b"x" * 30)

    assert 64 == len(tree_digest(str(repo)))


def test_no_time_no_digest(repo: Path) -> None:
    """When time is up there is no digest, and what was read is kept for the next time."""
    write(repo, {f"many/{number}.py": str(number) for number in range(300)})

    assert "" == tree_digest(str(repo), 0.0)
    assert 64 == len(tree_digest(str(repo)))


def test_stays_in_time_with_greedy_patterns(repo: Path) -> None:
    """A malicious ignore pattern does not slow the digest down."""
    write(repo, {".gitignore": "a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n", "a" * 60: "x"})
    start = time.monotonic()
    tree_digest(str(repo))

    assert time.monotonic() - start < 20


def test_root_that_is_gone(tmp_path: Path) -> None:
    """A root that is not there has the digest of nothing."""
    assert tree_digest(str(tmp_path / "gone")) == tree_digest(str(tmp_path / "gone too"))


@pytest.mark.parametrize(("kind", "path"), [(kind, path) for kind in ("prose", "program") for (path,) in CASES[kind]])
def test_is_prose(kind: str, path: str) -> None:
    """Prose is text for people, not what a program or a test reads."""
    assert (kind == "prose") == is_prose(path)


NAMES = st.sampled_from(["a", "b", "ab", "a.py", "b.log", "c.txt2", "build", "x y"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
PATTERNS = st.sampled_from([pattern for (pattern,) in CASES["pattern"]])


@given(
    st.sets(PATHS, max_size=8),
    st.lists(PATTERNS, max_size=4),
    st.lists(PATTERNS, max_size=2),
    st.sets(NAMES, max_size=2),
)
def test_takes_what_git_lists(paths: set[str], outer: list[str], inner: list[str], tracked: set[str]) -> None:
    """The files that count are those that git tracks or does not ignore."""
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        git(root, "init", "-q")
        (root / ".gitignore").write_text("\n".join(outer))
        for path in sorted(paths):
            if all(not (root / parent).is_file() for parent in Path(path).parents) and not (root / path).is_dir():
                write(root, {path: path})
        if (root / "a").is_dir():
            (root / "a/.gitignore").write_text("\n".join(inner))
        present = [name for name in tracked if (root / name).exists()]
        if present:
            git(root, "add", "-f", *present)
        walk = tree._TreeWalk(str(root), {}, time.monotonic() + 30)
        tree._walk_tree(walk, "", 0)

        listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        assert sorted(name for name in listed if name) == sorted(walk.entries)
        shutil.rmtree(root / ".git")
