"""What git commands throw away: work that is in no commit, commits that nobody else has, history that others share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ..shell import Command, Words
from .harm import Grade, Harm, Harms, Here, arguments_of, options_of
from .places import Place, spot_of, spots_of

SHARED = re.compile(
    r"(?:refs/heads/)?(?:main|master|trunk|develop|development|dev|staging|production|prod|gh-pages|stable"
    r"|release(?:[/-].*)?|hotfix/.*|v?\d+(?:\.\d+)*(?:\.x|-stable)?)"
)
"""Names of branches that are not one person's own."""

_GLOBAL = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_SAVES = frozenset({"commit", "stash"})


def of_git(command: Command, here: Here) -> Harms:
    """What a git command throws away."""
    words, folder = _verb(command)
    rule = _RULES.get(words[0]) if words else None
    if rule is None:
        return
    at = spot_of(folder or ".", here, command.folder)
    is_here = at.place in (Place.PROJECT, Place.INSIDE) and "ssh" not in command.wrappers
    if at.place is Place.HARMLESS and words[0] in _LOCAL:
        return
    for harm in rule(Command(words, folder=_joined(command.folder, folder)), here):
        if is_here or harm.loses is None:
            yield harm
        else:  # nothing is known of another repository's changes
            yield Harm(harm.kind, Grade.ASK, harm.target)


def saves(command: Command) -> bool:
    """Whether nothing is uncommitted any more after ``command``."""
    words, _folder = _verb(command)
    if not words or words[0] not in _SAVES:
        return False
    if words[0] == "stash":
        return words[1:2] in ((), ("push",), ("save",)) or "".join(words[1:2]).startswith("-")
    return "--dry-run" not in words


def _verb(command: Command) -> tuple[Words, str]:
    """The words from the verb on, and the folder of ``-C``."""
    words, folder, at = command.words, "", 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-C" and at + 1 < len(words):
            folder = words[at + 1]
        at += 2 if words[at] in _GLOBAL else 1
    return words[at:], folder


def _joined(folder: str, more: str) -> str:
    if not more or more == ".":
        return folder
    return more if more.startswith(("/", "~", "$")) or not folder else f"{folder}/{more}"


def _reset(command: Command, _here: Here) -> Harms:
    if "--hard" in command.words:
        to = next(iter(arguments_of(command.words[1:])), "HEAD")
        yield Harm("git-changes", Grade.DENY, "git reset --hard", "", Grade.NONE if to == "HEAD" else Grade.ASK, True)


def _clean(command: Command, here: Here) -> Harms:
    options = options_of(command)
    if not options & {"-f", "--force"} or options & {"-n", "--dry-run", "-i", "--interactive"}:
        return
    shown = " ".join(("git", *command.words[:2]))
    is_ignored_too = bool(options & {"-x", "-X"})
    paths = arguments_of(command.words[1:], frozenset({"-e", "--exclude"}))
    for path in paths or (".",):
        for _path, spot in spots_of(path, here, command.folder):
            if spot.place is Place.HARMLESS:
                continue
            if "-X" in options:
                yield Harm("git-ignored", Grade.ASK, shown)
            else:
                kind = "git-ignored" if is_ignored_too else "git-new"
                grade = Grade.DENY if not spot.inside else Grade.ASK
                yield Harm(kind, grade, shown, spot.inside, Grade.ASK if is_ignored_too else Grade.NONE)


def _checkout(command: Command, here: Here) -> Harms:
    """``git checkout .``, ``git checkout -- folder``, ``git checkout -f``; a file by its name is meant."""
    options = options_of(command)
    if options & {"-b", "-B", "--orphan", "-p", "--patch"}:
        return
    if options & {"-f", "--force", "--discard-changes"}:
        yield Harm("git-changes", Grade.DENY, f"git {command.words[0]} -f", "", only_tracked=True)
    words = command.words[1:]
    has_dashes = "--" in words
    paths = words[words.index("--") + 1 :] if has_dashes else arguments_of(words)
    for path in paths:
        if has_dashes or path in (".", ":/", "./", "*", ":", "..") or path.endswith("/"):
            yield from _put_back(path, command, here, "git checkout")


def _restore(command: Command, here: Here) -> Harms:
    options = options_of(command)
    is_index_only = options & {"-S", "--staged"} and not options & {"-W", "--worktree"}
    if is_index_only or options & {"-p", "--patch"}:
        return
    for path in arguments_of(command.words[1:], frozenset({"-s", "--source"})):
        yield from _put_back(path, command, here, "git restore")


def _put_back(path: str, command: Command, here: Here, shown: str) -> Harms:
    """All of it is denied, a folder is asked about, a file is meant."""
    if path in (":/", ":"):
        yield Harm("git-changes", Grade.DENY, f"{shown} {path}", "", only_tracked=True)
        return
    for _path, spot in spots_of(path, here, command.folder):
        if spot.place is Place.PROJECT:
            yield Harm("git-changes", Grade.DENY, f"{shown} {path}", "", only_tracked=True)
        elif spot.place is Place.INSIDE:
            yield Harm("git-changes", Grade.ASK, f"{shown} {path}", f"{spot.inside}/", only_tracked=True)


def _stash(command: Command, _here: Here) -> Harms:
    if command.words[1:2] == ("clear",):
        yield Harm("git-stash", Grade.DENY, "git stash clear")
    elif command.words[1:2] == ("drop",):
        yield Harm("git-stash", Grade.ASK, "git stash drop")


def _push(command: Command, _here: Here) -> Harms:
    options = options_of(command)
    if options & {"--dry-run", "-n"}:
        return
    arguments = arguments_of(command.words[1:], frozenset({"-o", "--push-option", "--receive-pack", "--repo"}))
    refs = arguments[1:]
    names = [ref.lstrip("+").rpartition(":")[2] for ref in refs]
    if "--mirror" in options:
        yield Harm("git-push", Grade.DENY, "git push --mirror")
    elif options & {"-d", "--delete"} or any(ref.startswith(":") and len(ref) > 1 for ref in refs):
        gone = names if options & {"-d", "--delete"} else [ref[1:] for ref in refs if ref.startswith(":")]
        for name in gone:
            if SHARED.fullmatch(name):
                yield Harm("git-push-delete", Grade.DENY, name)
    elif options & {"-f", "--force"} or any(ref.startswith("+") for ref in refs):
        forced = (
            names
            if options & {"-f", "--force"}
            else [name for name, ref in zip(names, refs, strict=True) if ref[0] == "+"]
        )
        shared = [name for name in forced if SHARED.fullmatch(name)]
        yield Harm("git-push", Grade.DENY if shared else Grade.ASK, " ".join(("git push --force", *(shared or forced))))


def _branch(command: Command, _here: Here) -> Harms:
    options = options_of(command)
    if "-D" in options or (options & {"-d", "--delete"} and options & {"-f", "--force"}):
        yield Harm("git-branch", Grade.ASK, " ".join(arguments_of(command.words[1:])))


def _rewrite(command: Command, _here: Here) -> Harms:
    yield Harm("git-history", Grade.DENY if command.words[0] == "filter-repo" else Grade.ASK, f"git {command.words[0]}")


def _reflog(command: Command, _here: Here) -> Harms:
    if command.words[1:2] in (("expire",), ("delete",)) and "--dry-run" not in command.words:
        yield Harm("git-history", Grade.DENY, f"git reflog {command.words[1]}")


def _gc(command: Command, _here: Here) -> Harms:
    if "--prune=now" in command.words or "--prune=all" in command.words:
        yield Harm("git-history", Grade.ASK, "git gc --prune=now")


def _worktree(command: Command, here: Here) -> Harms:
    if command.words[1:2] == ("remove",) and options_of(command) & {"-f", "--force"}:
        paths = arguments_of(command.words[2:])
        if any(
            spot.place is not Place.HARMLESS for path in paths for _path, spot in spots_of(path, here, command.folder)
        ):
            yield Harm("git-worktree", Grade.ASK, " ".join(paths))


def _rm(command: Command, here: Here) -> Harms:
    if "--cached" in command.words or "-r" not in options_of(command):
        return
    for path in arguments_of(command.words[1:]):
        for _path, spot in spots_of(path, here, command.folder):
            if spot.place in (Place.PROJECT, Place.INSIDE):
                yield Harm("delete-changes", Grade.ASK, path, spot.inside, only_tracked=True)


def _update_ref(command: Command, _here: Here) -> Harms:
    if "-d" in command.words:
        yield Harm("git-branch", Grade.ASK, " ".join(arguments_of(command.words[1:])[:1]))


_RULES: Mapping[str, Callable[[Command, Here], Harms]] = {
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "switch": _checkout,
    "restore": _restore,
    "stash": _stash,
    "push": _push,
    "branch": _branch,
    "filter-branch": _rewrite,
    "filter-repo": _rewrite,
    "reflog": _reflog,
    "gc": _gc,
    "worktree": _worktree,
    "rm": _rm,
    "update-ref": _update_ref,
}
_LOCAL = frozenset(_RULES) - {"push"}
"""What only concerns the repository that it is run in: a temporary one does not matter."""
