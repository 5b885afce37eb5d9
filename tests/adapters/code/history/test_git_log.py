"""Reading what git says of the last commits, of any repository, without starting anything of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import git, make_repository, write

from upbeat.adapters.code.history.git_log import (
    MAX_FILES_PER_COMMIT,
    Commit,
    is_ancestor,
    is_fix,
    message_terms,
    parse_log,
    read_commits,
)
from upbeat.adapters.system.git.root import find_root, read_head


def commit(root: Path, message: str, files: dict[str, str]) -> str:
    """The id of a new commit with ``files`` written."""
    write(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(Path(os.path.realpath(tmp_path)) / "r", {"a.py": "x = 1\n"})


def read(root: Path, known: str = "") -> list[Commit]:
    info = find_root(str(root))
    commits = read_commits(info, read_head(info), known)
    assert commits is not None
    return list(commits)


def test_commits_have_words_and_files(root: Path) -> None:
    """Each commit has its files and the terms of its message, the latest first."""
    last = commit(root, "Fix the upload permissions\n\nOf files.", {"a.py": "x = 2\n", "b c.py": "y\n"})

    commits = read(root)

    assert (last, True, ("fix", "upload", "permiss", "fil"), {"a.py", "b c.py"}) == (
        commits[0].id,
        commits[0].is_fix,
        commits[0].terms,
        set(commits[0].files),
    )
    assert [("a.py",)] == [one.files for one in commits[1:]]


def test_empty_commits_moves_and_deletions(root: Path) -> None:
    """A commit without files has none, a move tells both names, a deleted file is not named."""
    commit(root, "nothing", {})
    git(root, "mv", "a.py", "b.py")
    git(root, "commit", "-q", "-m", "move")
    git(root, "rm", "-q", "b.py")
    git(root, "commit", "-q", "-m", "remove")

    assert [((), ()), (("b.py",), (("a.py", "b.py"),)), ((), ()), (("a.py",), ())] == [
        (one.files, one.renamed) for one in read(root)
    ]


@pytest.mark.parametrize("name", ["ü ñ.py", 'quote".py', "tab\there.py", "new\nline.py", "\x01odd.py"])
def test_any_file_name_is_read(root: Path, name: str) -> None:
    """Names are as git has them, whatever they hold."""
    commit(root, "odd", {name: "x"})

    assert (name,) == read(root)[0].files


def test_bulk_changes_name_no_files(root: Path) -> None:
    """A commit of very many files is kept without them."""
    commit(root, "format", {f"f{number}.py": "x" for number in range(MAX_FILES_PER_COMMIT + 1)})

    assert () == read(root)[0].files


def test_nothing_after_head_is_read(root: Path) -> None:
    """Commits of other branches, and those that HEAD was moved back from, are missing."""
    first = git(root, "rev-parse", "HEAD")
    commit(root, "later", {"later.py": "x"})
    git(root, "checkout", "-q", first)

    assert [first] == [one.id for one in read(root)]


def test_only_what_is_new_is_read(root: Path) -> None:
    """With a known commit only later ones are returned."""
    first = git(root, "rev-parse", "HEAD")
    last = commit(root, "later", {"later.py": "x"})

    assert [last] == [one.id for one in read(root, known=first)]


@pytest.mark.parametrize("head", ["", "HEAD", "--all", "0" * 40, "-" * 40])
def test_no_history_for_what_is_no_commit(root: Path, head: str) -> None:
    """What is no id, or an unknown one, has no history."""
    assert read_commits(find_root(str(root)), head) is None


def test_ancestors(root: Path) -> None:
    """A commit reaches those before it and not those after it."""
    info = find_root(str(root))
    first, last = read_head(info), commit(root, "later", {"b.py": "x"})

    assert is_ancestor(info, first, last)
    assert not is_ancestor(info, last, first)
    assert not is_ancestor(info, "--help", last)


def test_head_is_found_without_a_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loose and packed branches, detached heads, linked working trees and unborn branches."""
    here = git(root, "rev-parse", "HEAD")
    git(root, "worktree", "add", "-q", "../linked", "-b", "other")
    heads = [read_head(find_root(str(root))), read_head(find_root(str(root.parent / "linked")))]
    git(root, "pack-refs", "--all")
    monkeypatch.setattr(subprocess, "Popen", None)
    heads.append(read_head(find_root(str(root))))
    (root / ".git" / "HEAD").write_text(here + "\n")
    heads.append(read_head(find_root(str(root))))

    assert [here] * 4 == heads


def test_a_hostile_repository_starts_nothing(root: Path) -> None:
    """No signature check, pager, external diff, text conversion, hook or monitor that it names is started."""
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


@pytest.mark.parametrize("message", FIXES)
def test_fix_is(message: str) -> None:
    """A first line that mentions a fix is a fix."""
    assert is_fix(message)


@pytest.mark.parametrize("message", OTHERS)
def test_fix_is_not(message: str) -> None:
    """Other words, and lines after the first, are none."""
    assert not is_fix(message)


def test_terms_leave_out_trailers() -> None:
    """Trailers are ignored; Chinese is split into pairs."""
    message = "Retry uploads\n\nSigned-off-by: Ann Other <a@example.org>\n(cherry picked from commit abc)\n重试上传"

    assert ("retr", "upload", "重试", "试上", "上传") == message_terms(message)


@given(st.binary(max_size=300))
def test_any_output_is_read(output: bytes) -> None:
    """Whatever git prints, the answer is a list of commits."""
    assert isinstance(parse_log(output), tuple)


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
def test_what_git_prints_is_read_back(commits: list[tuple[int, str, list[str]]]) -> None:
    """Time, message and files come out as they went in."""
    parts = []
    for number, (time, message, files) in enumerate(commits):
        parts.append(b"\x01%040x\0%d\0%s\0\0" % (number, time, message.encode()))
        parts += [(b"\n" if at == 0 else b"") + b"M\0" + name.encode() + b"\0" for at, name in enumerate(files)]

    parsed = parse_log(b"".join(parts))

    assert [(time, message_terms(message), tuple(files)) for time, message, files in commits] == [
        (one.time, one.terms, one.files) for one in parsed
    ]


def test_secrets_of_messages_are_not_kept() -> None:
    """No part of a token in a message is a term of it."""
    log = (
        b"\x01" + b"a" * 40 + b"\x001700000000\x00Set ghp_9aF3kQ7mZx2Lr8Tn5Vb1Wc6Yd4Ueqwertyui for the broker\n\x00\x00"
    )

    terms = parse_log(log)[0].terms

    assert (True, False) == ("set" in terms, any("qwerty" in term for term in terms))
