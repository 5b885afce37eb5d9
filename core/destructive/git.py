"""Hazards of git commands: discarded work, unreachable commits, rewritten shared history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from upbeat.core import lazy_re as re
from upbeat.core.destructive.hazard import Hazard, Hazards, Severity, ShellLocation, arguments_of, options_of
from upbeat.core.destructive.paths import PathClass, classify_path, classify_word
from upbeat.core.shell import SimpleCommand, Words

SHARED_BRANCH = re.compile(
    r"(?:refs/heads/)?(?:main|master|trunk|develop|development|dev|staging|production|prod|gh-pages|stable"
    r"|release(?:[/-].*)?|hotfix/.*|v?\d+(?:\.\d+)*(?:\.x|-stable)?)"
)
"""Names of shared branches."""

_GLOBAL_OPTIONS = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_SAVING_SUBCOMMANDS = frozenset({"commit", "stash"})


def detect_git(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """Yield what a git command discards."""
    words, folder = _split_subcommand(command)
    rule = _DETECTORS.get(words[0]) if words else None
    if rule is None:
        return
    place = classify_path(folder or ".", location, command.working_dir)
    is_here = place.path_class in (PathClass.PROJECT, PathClass.INSIDE) and "ssh" not in command.wrappers
    if place.path_class is PathClass.DISPOSABLE and words[0] in _LOCAL_SUBCOMMANDS:
        return
    working_dir = command.working_dir
    if folder not in ("", "."):
        is_whole = folder.startswith(("/", "~", "$")) or not working_dir
        working_dir = folder if is_whole else f"{working_dir}/{folder}"
    config = tuple(value for flag, value in pairwise(command.words) if flag == "-c")
    for hazard in rule(SimpleCommand(words, assignments=config, working_dir=working_dir), location):
        if is_here or hazard.lost_path is None:
            yield hazard
        else:  # nothing is known of another repository's changes
            yield Hazard(hazard.kind, Severity.ASK, hazard.target)


def leaves_clean_tree(command: SimpleCommand) -> bool:
    """Return whether ``command`` leaves no uncommitted changes."""
    words, _folder = _split_subcommand(command)
    if not words or words[0] not in _SAVING_SUBCOMMANDS:
        return False
    if words[0] == "stash":
        return words[1:2] in ((), ("push",), ("save",)) or "".join(words[1:2]).startswith("-")
    return "--dry-run" not in words


def _split_subcommand(command: SimpleCommand) -> tuple[Words, str]:
    """Return the words from the subcommand on, and the folder of ``-C``."""
    words, folder, at = command.words, "", 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-C" and at + 1 < len(words):
            folder = words[at + 1]
        at += 2 if words[at] in _GLOBAL_OPTIONS else 1
    return words[at:], folder


def _detect_reset(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    if "--hard" in command.words:
        to = next(iter(arguments_of(command.words[1:])), "HEAD")
        yield Hazard(
            "git-changes", Severity.DENY, "git reset --hard", "", Severity.NONE if to == "HEAD" else Severity.ASK, True
        )


def _detect_clean(command: SimpleCommand, location: ShellLocation) -> Hazards:
    options = options_of(command)
    is_forced = options & {"-f", "--force"} or "clean.requireForce=false" in command.assignments
    if not is_forced or options & {"-n", "--dry-run", "-i", "--interactive"}:
        return
    shown = " ".join(("git", *command.words[:2]))
    is_ignored_too = bool(options & {"-x", "-X"})
    paths = arguments_of(command.words[1:], frozenset({"-e", "--exclude"}))
    for path in paths or (".",):
        for _path, place in classify_word(path, location, command.working_dir):
            if place.path_class is PathClass.DISPOSABLE:
                continue
            if "-X" in options:
                yield Hazard("git-ignored", Severity.ASK, shown)
            else:
                kind = "git-ignored" if is_ignored_too else "git-new"
                severity = Severity.DENY if not place.relative_path else Severity.ASK
                yield Hazard(
                    kind, severity, shown, place.relative_path, Severity.ASK if is_ignored_too else Severity.NONE
                )


def _detect_checkout(command: SimpleCommand, location: ShellLocation) -> Hazards:
    """``git checkout .``, ``git checkout -- folder``, ``git checkout -f``; naming a single file is deliberate."""
    options = options_of(command)
    if options & {"-b", "-B", "--orphan", "-p", "--patch"}:
        return
    if options & {"-f", "--force", "--discard-changes"}:
        yield Hazard("git-changes", Severity.DENY, f"git {command.words[0]} -f", "", ignores_untracked=True)
    words = command.words[1:]
    has_dashes = "--" in words
    paths = words[words.index("--") + 1 :] if has_dashes else arguments_of(words)
    for path in paths:
        if has_dashes or path in (".", ":/", "./", "*", ":", "..") or path.endswith("/"):
            yield from _detect_discarded_changes(path, command, location, "git checkout")


def _detect_restore(command: SimpleCommand, location: ShellLocation) -> Hazards:
    options = options_of(command)
    is_index_only = options & {"-S", "--staged"} and not options & {"-W", "--worktree"}
    if is_index_only or options & {"-p", "--patch"}:
        return
    for path in arguments_of(command.words[1:], frozenset({"-s", "--source"})):
        yield from _detect_discarded_changes(path, command, location, "git restore")


def _detect_discarded_changes(path: str, command: SimpleCommand, location: ShellLocation, subcommand: str) -> Hazards:
    """Deny for everything, ask for a folder; naming a single file is deliberate."""
    if path in (":/", ":"):
        yield Hazard("git-changes", Severity.DENY, f"{subcommand} {path}", "", ignores_untracked=True)
        return
    for _path, place in classify_word(path, location, command.working_dir):
        if place.path_class is PathClass.PROJECT:
            yield Hazard("git-changes", Severity.DENY, f"{subcommand} {path}", "", ignores_untracked=True)
        elif place.path_class is PathClass.INSIDE:
            yield Hazard(
                "git-changes", Severity.ASK, f"{subcommand} {path}", f"{place.relative_path}/", ignores_untracked=True
            )


def _detect_stash(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    if command.words[1:2] == ("clear",):
        yield Hazard("git-stash", Severity.DENY, "git stash clear")
    elif command.words[1:2] == ("drop",):
        yield Hazard("git-stash", Severity.ASK, "git stash drop")


def _detect_push(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    options = options_of(command)
    if options & {"--dry-run", "-n"}:
        return
    arguments = arguments_of(command.words[1:], frozenset({"-o", "--push-option", "--receive-pack", "--repo"}))
    refs = arguments[1:]
    if "--mirror" in options:
        yield Hazard("git-push", Severity.DENY, "git push --mirror", safe_command="git push --force-with-lease")
    elif options & {"-d", "--delete"} or any(ref.startswith(":") and len(ref) > 1 for ref in refs):
        deleted = refs if options & {"-d", "--delete"} else [ref for ref in refs if ref.startswith(":")]
        for name in map(_branch_of, deleted):
            if SHARED_BRANCH.fullmatch(name) or name.startswith("refs/tags/"):
                is_tag = name.startswith("refs/tags/")
                yield Hazard("git-push-delete", Severity.ASK if is_tag else Severity.DENY, name)
    elif "--prune" in options and any("*" in ref for ref in refs):
        yield Hazard("git-push", Severity.ASK, "git push --prune", safe_command="git push")
    elif options & {"-f", "--force"} or any(ref.startswith("+") for ref in refs):
        forced = refs if options & {"-f", "--force"} else [ref for ref in refs if ref.startswith("+")]
        is_shared = any(SHARED_BRANCH.fullmatch(_branch_of(ref)) for ref in forced)
        named = " ".join((*arguments[:1], *(ref.lstrip("+") for ref in forced)))
        yield Hazard(
            "git-push",
            Severity.DENY if is_shared else Severity.ASK,
            f"git push --force {named}".rstrip(),
            safe_command=f"git push --force-with-lease {named}".rstrip(),
        )


def _branch_of(ref: str) -> str:
    """Return the remote branch of ``+LOCAL:REMOTE``."""
    return ref.lstrip("+").rpartition(":")[2]


def _detect_branch(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """``git branch -D`` and ``git update-ref -d``."""
    options = options_of(command)
    if command.words[0] == "update-ref" and {"-d", "--stdin"} & set(command.words):
        yield Hazard("git-branch", Severity.ASK, " ".join(arguments_of(command.words[1:])[:1]))
    elif "-D" in options or (options & {"-d", "--delete"} and options & {"-f", "--force"}):
        yield Hazard("git-branch", Severity.ASK, " ".join(arguments_of(command.words[1:])))


def _detect_history_rewrite(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    yield Hazard(
        "git-history", Severity.DENY if command.words[0] == "filter-repo" else Severity.ASK, f"git {command.words[0]}"
    )


def _detect_pruned_history(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """``git reflog expire`` and ``git gc --prune=now`` remove what could be restored."""
    if command.words[1:2] in (("expire",), ("delete",)) and "--dry-run" not in command.words:
        yield Hazard("git-history", Severity.DENY, f"git reflog {command.words[1]}")
    elif "--prune=now" in command.words or "--prune=all" in command.words:
        yield Hazard("git-history", Severity.ASK, "git gc --prune=now")


def _detect_worktree(command: SimpleCommand, location: ShellLocation) -> Hazards:
    if command.words[1:2] == ("remove",) and options_of(command) & {"-f", "--force"}:
        paths = arguments_of(command.words[2:])
        if any(
            place.path_class is not PathClass.DISPOSABLE
            for path in paths
            for _path, place in classify_word(path, location, command.working_dir)
        ):
            yield Hazard("git-worktree", Severity.ASK, " ".join(paths))


def _detect_rm(command: SimpleCommand, location: ShellLocation) -> Hazards:
    if "--cached" in command.words or "-r" not in options_of(command):
        return
    for path in arguments_of(command.words[1:]):
        for _path, place in classify_word(path, location, command.working_dir):
            if place.path_class in (PathClass.PROJECT, PathClass.INSIDE):
                yield Hazard("delete-changes", Severity.ASK, path, place.relative_path, ignores_untracked=True)


def _detect_low_level(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """Plumbing that overwrites the working tree or deletes references."""
    words, options = command.words, options_of(command)
    shown = " ".join(("git", *words[:2]))
    match words:
        case ("read-tree", *_) if "--reset" in options and "-u" in options:
            yield Hazard("git-changes", Severity.ASK, shown, "", ignores_untracked=True)
        case ("checkout-index", *_) if options & {"-f", "--force"}:
            yield Hazard("git-changes", Severity.ASK, shown, "", ignores_untracked=True)
        case ("symbolic-ref", *_) if options & {"-d", "--delete"}:
            yield Hazard("git-branch", Severity.ASK, shown)
        case ("submodule", "deinit", *_) if options & {"-f", "--force"}:
            yield Hazard("git-worktree", Severity.ASK, shown)
        case ("lfs", "prune", *_) if options & {"-f", "--force"}:
            yield Hazard("git-history", Severity.ASK, shown)
        case ("annex", "drop" | "dropunused" | "uninit", *_) if options & {"--force", "--all"}:
            yield Hazard("git-history", Severity.ASK, shown)
        case ("replace" | "notes", *_) if options & {"-d", "--delete"} or "remove" in words:
            yield Hazard("git-history", Severity.ASK, shown)


_DETECTORS: Mapping[str, Callable[[SimpleCommand, ShellLocation], Hazards]] = {
    "reset": _detect_reset,
    "clean": _detect_clean,
    "checkout": _detect_checkout,
    "switch": _detect_checkout,
    "restore": _detect_restore,
    "stash": _detect_stash,
    "push": _detect_push,
    "branch": _detect_branch,
    "filter-branch": _detect_history_rewrite,
    "filter-repo": _detect_history_rewrite,
    "reflog": _detect_pruned_history,
    "gc": _detect_pruned_history,
    "worktree": _detect_worktree,
    "rm": _detect_rm,
    "update-ref": _detect_branch,
    **dict.fromkeys(
        ("read-tree", "checkout-index", "symbolic-ref", "submodule", "lfs", "annex", "replace", "notes"),
        _detect_low_level,
    ),
}
SUBCOMMANDS = frozenset({*_DETECTORS, "bisect", "rebase", "config", "foreach", "alias", "difftool", "mergetool"})
"""Subcommands that may destroy or run something."""
_LOCAL_SUBCOMMANDS = frozenset(_DETECTORS) - {"push"}
"""Subcommands that affect only their own repository: a temporary one does not matter."""
