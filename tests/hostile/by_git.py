"""Repositories whose ``.git`` would have git run a program, or read what is not theirs."""

from __future__ import annotations

import os
import shutil

from repositories import git, make_repository

from .place import CANARY, Place


def monitor(place: Place) -> None:
    """core.fsmonitor."""
    place.configure(core__fsmonitor=place.trap("bin/fsmonitor"))


def hooks(place: Place) -> None:
    """core.hooksPath, and hooks where git looks for them."""
    for name in ("post-index-change", "pre-commit", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        place.trap(f"hooks/{name}")
        shutil.copy(place.root / "hooks" / name, place.root / ".git/hooks" / name)
    place.configure(core__hooksPath="hooks")


def differences(place: Place) -> None:
    """External diffs, text conversions and filters, named by attributes."""
    for name in ("external", "textconv", "command", "clean", "smudge", "process"):
        place.trap(f"bin/{name}")
    bin_ = place.root / "bin"
    place.configure(diff__external=f"{bin_}/external")
    for key in ("textconv", "command"):
        place.git("config", f"diff.evil.{key}", f"{bin_}/{key}")
    for key in ("clean", "smudge", "process"):
        place.git("config", f"filter.evil.{key}", f"{bin_}/{key}")
    place.git("config", "filter.evil.required", "true")
    (place.root / ".gitattributes").write_text("* diff=evil filter=evil\n")
    place.put({"shop/cart.py": "changed = 1\n"})


def pagers_and_editors(place: Place) -> None:
    """A pager, an editor, an SSH command, aliases for the commands that are used, credential helpers."""
    trap = place.trap("bin/pager")
    place.configure(core__pager=trap, core__editor=trap, sequence__editor=trap, core__sshCommand=trap)
    place.configure(core__gitProxy=trap, core__askPass=trap, credential__helper=trap, pager__log=trap)
    place.git("config", "alias.ls-files", f"!{trap}")
    place.git("config", "alias.log", f"!{trap}")


def signatures(place: Place) -> None:
    """Signatures that are shown, with a program to check them."""
    trap = place.trap("bin/gpg")
    place.configure(log__showSignature="true", gpg__program=trap, gpg__ssh__program=trap)
    body = place.git("cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n\n", 1
    )
    (place.base / "commit").write_text(body + "\n")
    place.git("reset", "-q", "--soft", place.git("hash-object", "-t", "commit", "-w", str(place.base / "commit")))


def promised_objects(place: Place) -> None:
    """Objects that are missing and promised by a remote that is a program."""
    trap = place.trap("bin/remote")
    place.configure(core__repositoryFormatVersion="1", extensions__partialClone="evil")
    place.git("config", "remote.evil.url", f"ext::{trap}")
    place.git("config", "remote.evil.promisor", "true")
    place.git("config", "remote.evil.uploadpack", trap)
    place.configure(protocol__ext__allow="always")
    tree = place.git("rev-parse", "HEAD^{tree}")
    (place.root / ".git/objects" / tree[:2] / tree[2:]).unlink()


def includes_outside(place: Place) -> None:
    """Configuration that includes a file outside, directly and by way of another one."""
    place.git("config", "include.path", str(place.outside / "secret.toml"))


def includes_by_detours(place: Place) -> None:
    """An include inside that includes one outside, with a monitor in it."""
    trap = place.trap("bin/included")
    (place.outside / "gitconfig").write_text(f"[core]\n\tfsmonitor = {trap}\n# {CANARY}\n")
    (place.root / "inner.config").write_text(f"[include]\n\tpath = {place.outside}/gitconfig\n")
    place.git("config", "include.path", "../inner.config")


def includes_a_pipe(place: Place) -> None:
    """Configuration that includes a FIFO."""
    os.mkfifo(place.root / "pipe")
    place.git("config", "include.path", "../pipe")


def files_elsewhere(place: Place) -> None:
    """Configuration with ignore files, attributes, mail maps and ordering files outside."""
    secret = str(place.outside / "secret.md")
    place.configure(
        core__excludesFile=secret, core__attributesFile=secret, mailmap__file=secret, diff__orderFile=secret
    )
    place.configure(blame__ignoreRevsFile=secret, commit__template=secret, log__mailmap="true")


def tree_elsewhere(place: Place) -> None:
    """core.worktree names a folder outside."""
    place.configure(core__worktree=str(place.outside / "folder"))


def file_points_elsewhere(place: Place) -> None:
    """``.git`` is a file that points to a private repository."""
    shutil.rmtree(place.root / ".git")
    (place.root / ".git").write_text(f"gitdir: {place.outside}/private/.git\n")


def link_points_elsewhere(place: Place) -> None:
    """``.git`` is a link to a private repository."""
    shutil.rmtree(place.root / ".git")
    place.link(".git", place.outside / "private/.git")


def common_dir(place: Place) -> None:
    """``.git/commondir`` leads to a private repository."""
    (place.root / ".git/commondir").write_text(f"{place.outside}/private/.git\n")


def common_dir_of_worktrees(place: Place) -> None:
    """``.git`` is a file that points to a made-up worktree, whose common directory is a private repository."""
    shutil.rmtree(place.root / ".git")
    folder = place.root / "hidden/worktrees/x"
    folder.mkdir(parents=True)
    (folder / "commondir").write_text(f"{place.outside}/private/.git\n")
    (folder / "gitdir").write_text(f"{place.root}/.git\n")
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (place.root / ".git").write_text(f"gitdir: {folder}\n")


def head_is_a_link(place: Place) -> None:
    """HEAD is a link to a secret."""
    (place.root / ".git/HEAD").unlink()
    place.link(".git/HEAD", place.outside / "secret.py")


def reference_is_a_link(place: Place) -> None:
    """The branch that HEAD names is a link to a secret, and packed references are another one."""
    (place.root / ".git/refs/heads/main").unlink()
    place.link(".git/refs/heads/main", place.outside / "secret.py")
    place.link(".git/packed-refs", place.outside / "secret.py")


def folders_are_links(place: Place) -> None:
    """Objects and references are links into a private repository."""
    for name in ("objects", "refs"):
        shutil.rmtree(place.root / ".git" / name)
        place.link(f".git/{name}", place.outside / "private/.git" / name)


def alternates(place: Place) -> None:
    """Objects are shared from a private repository, whose last commit is known."""
    private = place.outside / "private"
    (place.root / ".git/objects/info/alternates").write_text(f"{private}/.git/objects\n")
    (place.root / ".git/refs/heads/main").write_text(git(private, "rev-parse", "HEAD") + "\n")


def git_has_pipes(place: Place) -> None:
    """The index, packed references, the shallow file and an object are FIFOs."""
    commit = place.git("rev-parse", "HEAD")
    for name in ("index", f"objects/{commit[:2]}/{commit[2:]}", "packed-refs", "shallow", "commondir"):
        path = place.root / ".git" / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)


def object_is_a_pipe(place: Place) -> None:
    """The commit itself is a FIFO, and nothing else is odd."""
    commit = place.git("rev-parse", "HEAD")
    path = place.root / ".git/objects" / commit[:2] / commit[2:]
    path.unlink()
    os.mkfifo(path)


def submodule(place: Place) -> None:
    """A submodule with a monitor, and beside it a folder whose ``.git`` points outside.

    Listing what is untracked, git looks whether a repository is there, by its HEAD.
    """
    make_repository(place.base / "inner", {"inner.py": "def retry(): pass\n"})
    place.git("submodule", "add", "-q", str(place.base / "inner"), "inner")
    trap = place.trap("bin/submodule")
    git(place.root / "inner", "config", "core.fsmonitor", trap)
    make_repository(place.root / "other", {"other.py": "x = 1\n"})
    shutil.rmtree(place.root / "other/.git")
    (place.root / "other/.git").write_text(f"gitdir: {place.outside}/private/.git\n")
    place.looked_at_by_git = (f"{place.outside}/private/.git/HEAD",)


def submodule_behind_a_link(place: Place) -> None:
    """Where a submodule was there is a link to a private repository, and to the folder above it."""
    make_repository(place.root / "libs/private", {"x.py": "x = 1\n"})
    (place.root / ".gitmodules").write_text('[submodule "p"]\n\tpath = libs/private\n\turl = .\n')
    place.git("add", "libs/private", ".gitmodules")
    shutil.rmtree(place.root / "libs")
    place.link("libs", place.outside)


def worktree(place: Place) -> None:
    """A linked worktree whose main repository has a monitor and hooks."""
    place.git("worktree", "add", "-q", "tree")
    place.configure(core__fsmonitor=place.trap("bin/worktree"), core__hooksPath="hooks")
    place.cwd = "tree"


def bare_inside(place: Place) -> None:
    """A bare repository among the files, with a monitor; the session is in it."""
    trap = place.trap("bin/bare")
    place.git("init", "-q", "--bare", "docs/bare")
    git(place.root / "docs/bare", "config", "core.fsmonitor", trap)
    git(place.root / "docs/bare", "config", "core.worktree", str(place.root))
    place.cwd = "docs/bare"


def owner(place: Place) -> None:
    """Another user's repository, as safe.directory is about."""
    place.configure(core__fsmonitor=place.trap("bin/owner"))
    if os.getuid() == 0:
        for folder, names, files in os.walk(place.root):
            for name in (".", *names, *files):
                os.lchown(os.path.join(folder, name), 12345, 12345)


def attributes(place: Place) -> None:
    """Ignore and attribute files of the repository are links to the outside and FIFOs."""
    place.link(".gitattributes", place.outside / "secret.md")
    place.link("shop/.gitignore", place.outside / "secret.md")
    (place.root / ".git/info/exclude").unlink(missing_ok=True)
    place.link(".git/info/exclude", place.outside / "secret.md")


def ignore_files_are_pipes(place: Place) -> None:
    """Ignore and attribute files are FIFOs: git waits for them, and is not waited for."""
    os.mkfifo(place.root / ".gitignore")
    os.mkfifo(place.root / "shop/.gitattributes")


FIXTURES = (
    monitor,
    hooks,
    differences,
    pagers_and_editors,
    signatures,
    promised_objects,
    includes_outside,
    includes_by_detours,
    includes_a_pipe,
    files_elsewhere,
    tree_elsewhere,
    file_points_elsewhere,
    link_points_elsewhere,
    common_dir,
    common_dir_of_worktrees,
    head_is_a_link,
    reference_is_a_link,
    folders_are_links,
    alternates,
    git_has_pipes,
    object_is_a_pipe,
    submodule,
    submodule_behind_a_link,
    worktree,
    bare_inside,
    owner,
    attributes,
    ignore_files_are_pipes,
)
