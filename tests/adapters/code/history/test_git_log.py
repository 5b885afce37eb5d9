"""Recent commits are read from any repository without starting a program that it names."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
import repositories
from hypothesis import given
from hypothesis import strategies as st
from repositories import git, make_repository, write

from upbeat.adapters.code.history import git_log
from upbeat.adapters.code.index.document import redact_secrets
from upbeat.adapters.system.git.root import find_root, read_head


def commit(root: Path, message: str, files: dict[str, str]) -> str:
    """Commit ``files`` and return the id of the commit."""
    return repositories.commit(write(root, files), message)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(Path(os.path.realpath(tmp_path)) / "r", {"a.py": "x = 1\n"})


def read(root: Path, known: str = "") -> list[git_log.Commit]:
    info = find_root(str(root))
    commits = git_log.read_commits(info, read_head(info), known)
    assert commits is not None
    return list(commits)


def test_commits_have_words_and_files(root: Path) -> None:
    """Each commit has its files and the terms of its message, the latest first."""
    last = commit(root, "Fix the upload permissions\n\nOf files.", {"a.py": "x = 2\n", "b c.py": "y\n"})

    commits = read(root)

    assert (last, True) == (commits[0].id, commits[0].is_fix)
    assert ("fix", "upload", "permiss", "fil") == commits[0].terms
    assert [{"a.py", "b c.py"}, {"a.py"}] == [set(commit.files) for commit in commits]


def test_empty_commits_moves_and_deletions(root: Path) -> None:
    """A commit without changes has no files, a moved file has both names, and a deleted one is left out."""
    commit(root, "nothing", {})
    git(root, "mv", "a.py", "b.py")
    git(root, "commit", "-q", "-m", "move")
    git(root, "rm", "-q", "b.py")
    git(root, "commit", "-q", "-m", "remove")

    assert [((), ()), (("b.py",), (("a.py", "b.py"),)), ((), ()), (("a.py",), ())] == [
        (commit.files, commit.renamed) for commit in read(root)
    ]


def test_any_file_name_is_read(root: Path) -> None:
    """File names can contain spaces, quotes, tabs, line breaks and control characters."""
    names = ["ü ñ.py", 'quote".py', "tab\there.py", "new\nline.py", "\x01odd.py"]
    commit(root, "odd", dict.fromkeys(names, "x"))

    assert sorted(names) == sorted(read(root)[0].files)


def test_bulk_changes_have_no_files(root: Path) -> None:
    """A commit of very many files is returned without them."""
    commit(root, "format", {f"f{number}.py": "x" for number in range(git_log.MAX_FILES_PER_COMMIT + 1)})

    assert () == read(root)[0].files


def test_nothing_after_head_is_read(root: Path) -> None:
    """Commits that HEAD does not reach, such as those of other branches, are left out."""
    first = git(root, "rev-parse", "HEAD")
    commit(root, "later", {"later.py": "x"})
    git(root, "checkout", "-q", first)

    assert [first] == [commit.id for commit in read(root)]


def test_only_new_commits_are_read(root: Path) -> None:
    """With a known commit only later ones are returned."""
    first = git(root, "rev-parse", "HEAD")
    last = commit(root, "later", {"later.py": "x"})

    assert [last] == [commit.id for commit in read(root, known=first)]


@pytest.mark.parametrize("head", ["", "HEAD", "--all", "0" * 40, "-" * 40])
def test_only_a_commit_has_a_history(root: Path, head: str) -> None:
    """Any other text, and an unknown id, has no history."""
    assert git_log.read_commits(find_root(str(root)), head) is None


def test_ancestors(root: Path) -> None:
    """A commit reaches earlier ones, and no later ones."""
    info = find_root(str(root))
    first, last = read_head(info), commit(root, "later", {"b.py": "x"})

    assert git_log.is_ancestor(info, first, last)
    assert not git_log.is_ancestor(info, last, first)
    assert not git_log.is_ancestor(info, "--help", last)


def test_a_hostile_repository_starts_nothing(root: Path) -> None:
    """No signature check, pager, external diff, text conversion, hook or monitor of it is started."""
    marker = root.parent / "marker"
    script = root.parent / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {marker}\n")
    script.chmod(0o755)
    commit(root, "b", {".gitattributes": "* diff=evil\n", "b.py": "x"})
    for key in (
        *("gpg.program", "core.pager", "pager.log", "diff.external", "diff.evil.textconv", "diff.evil.command"),
        *("core.fsmonitor", "core.alternateRefsCommand", "core.sshCommand"),
    ):
        git(root, "config", key, str(script))
    for key in ("log.showSignature", "log.follow", "log.mailmap"):
        git(root, "config", key, "true")
    git(root, "config", "alias.log", f"!{script}")
    (root / ".git" / "hooks" / "post-index-change").symlink_to(script)

    assert 2 == len(read(root))
    assert not marker.exists()


FIXES = ["fix the cart", "Fixed #12 -- x", "fix(api): y", "Bug 7: z", "crash on start", "修复登录", "Resolves the leak"]
OTHERS = ["add a prefix", "tidy\n\nfixes nothing", "", "affix", "update docs", "debugger"]


def test_a_fix_is_recognized_by_its_first_line() -> None:
    """A first line that mentions a fix is one; other words, and later lines, are not."""
    assert FIXES == [message for message in (*FIXES, *OTHERS) if git_log.is_fix(message)]


def test_terms_leave_out_trailers() -> None:
    """Trailers are left out; Chinese text is split into pairs."""
    message = "Retry uploads\n\nSigned-off-by: Ann Other <a@example.org>\n(cherry picked from commit abc)\n重试上传"

    assert ("retr", "upload", "重试", "试上", "上传") == git_log.message_terms(message)


@given(st.binary(max_size=300))
def test_any_output_is_parsed(output: bytes) -> None:
    """Any bytes give commits, or none."""
    assert isinstance(git_log.parse_log(output), tuple)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**11),
            st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=30),
            st.lists(st.text("ab/.é ", min_size=1, max_size=8), max_size=4, unique=True),
        ),
        max_size=5,
    )
)
def test_a_log_is_parsed(commits: list[tuple[int, str, list[str]]]) -> None:
    """Time, sanitized message and files are those of the commits."""
    parts = []
    for number, (time, message, files) in enumerate(commits):
        parts.append(b"\x01%040x\0%d\0%s\0\0" % (number, time, message.encode()))
        parts += [(b"" if index else b"\n") + b"M\0" + name.encode() + b"\0" for index, name in enumerate(files)]

    parsed = git_log.parse_log(b"".join(parts))

    assert [
        (time, git_log.message_terms(redact_secrets(message)), tuple(files)) for time, message, files in commits
    ] == [(commit.time, commit.terms, commit.files) for commit in parsed]


def test_secrets_in_messages_are_redacted() -> None:
    """No part of a token in a message is a term."""
    log = (
        b"\x01" + b"a" * 40 + b"\x001700000000\x00Set ghp_9aF3kQ7mZx2Lr8Tn5Vb1Wc6Yd4Ueqwertyui for the broker\n\x00\x00"
    )

    terms = git_log.parse_log(log)[0].terms

    assert (True, False) == ("set" in terms, any("qwerty" in term for term in terms))


NEVER = threading.Event()


def test_churn_counts_commits(tmp_path: Path) -> None:
    """Each commit counts once for each file, also for one with an unusual name or deleted since."""
    root = make_repository(tmp_path, {"a.py": "1", "ä b.py": "1", "gone.py": "1"})
    write(root, {"a.py": "2"})
    git(root, "rm", "-q", "gone.py")
    git(root, "commit", "-qam", "second")

    assert {"a.py": 2, "ä b.py": 1, "gone.py": 2} == git_log.count_changes(str(root), 30, NEVER, 5)


def test_churn_is_relative_to_the_folder(tmp_path: Path) -> None:
    """In a subfolder only its files count, under their names there."""
    root = make_repository(tmp_path, {"a.py": "1", "web/b.ts": "1"})

    assert {"b.ts": 1} == git_log.count_changes(str(root / "web"), 30, NEVER, 5)


def test_churn_counts_days_from_the_newest_commit(tmp_path: Path) -> None:
    """Older commits do not count."""
    root = make_repository(tmp_path, {"a.py": "1"})
    write(root, {"a.py": "2"})
    git(root, "add", "-A")
    tree = git(root, "write-tree")
    newest = git(root, "commit-tree", tree, "-p", "HEAD", "-m", "later")
    raw = git(root, "cat-file", "commit", newest).replace(" 1767225600 ", " 1777225600 ")
    (root / "raw").write_text(raw + "\n")
    git(root, "reset", "-q", "--hard", git(root, "hash-object", "-t", "commit", "-w", "raw"))

    assert ({"a.py": 1}, {"a.py": 2}) == (
        git_log.count_changes(str(root), 30, NEVER, 5),
        git_log.count_changes(str(root), 300, NEVER, 5),
    )


def test_churn_without_git(tmp_path: Path) -> None:
    """Without a repository there is no count."""
    assert git_log.count_changes(str(tmp_path), 30, NEVER, 5) is None
