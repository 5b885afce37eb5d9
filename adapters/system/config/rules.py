"""Load the rules of the user and the project, and hookify's rules in the project.

Invariant: no content makes loading fail or take long, because every hook loads rules. Files outside the repository,
files that are not regular, and files over the limits are left out and reported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from upbeat.adapters.system.config.trust import TRUST_FILE, trusted_digests
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.bounded_read import FileText, file_stamp, find_stable, list_folder, read_text
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.rules.rule import Owner, Rule, RuleSet

PROJECT_FOLDER = ".upbeat/rules"
USER_FOLDER = "upbeat/rules"
HOOKIFY_FOLDER = ".claude"
HOOKIFY_AFFIXES = ("hookify.", ".local.md")
"""The prefix and suffix of the names of hookify's rule files."""
FILE_SUFFIX = ".md"
MAX_FILES = 200
"""Rule files per folder, in the order of their names."""
MAX_BYTES = 64 * 1024
"""Bytes per rule file."""


@dataclass(frozen=True, slots=True)
class RuleSourceFile:
    """A rule file. ``display_name`` names the file in messages, ``name`` is the rule's name."""

    path: Path
    display_name: str
    name: str
    is_user_owned: bool = False
    is_hookify: bool = False


@dataclass(frozen=True, slots=True)
class RuleFileListing:
    """The rule files, problems with the others, and every path that was read."""

    files: tuple[RuleSourceFile, ...] = ()
    problems: tuple[str, ...] = ()
    watched_paths: tuple[str, ...] = ()


def find_rule_files(root: str, environment: Environment) -> RuleFileListing:
    """Find the rule files for the repository at ``root`` (real, absolute): the user's, the project's, hookify's."""
    user_folder = str(environment.config_home / USER_FOLDER)
    sources = (
        (user_folder, user_folder, None, "", FILE_SUFFIX),
        (os.path.join(root, PROJECT_FOLDER), PROJECT_FOLDER, root, "", FILE_SUFFIX),
        (os.path.join(root, HOOKIFY_FOLDER), HOOKIFY_FOLDER, root, *HOOKIFY_AFFIXES),
    )
    files: list[RuleSourceFile] = []
    problems: list[str] = []
    paths: list[str] = []
    for folder, display_name, containing_root, prefix, suffix in sources:
        listing = list_folder(folder, containing_root, MAX_FILES, prefix=prefix, suffix=suffix)
        paths += [folder, *(os.path.join(folder, name) for name in listing.names)]
        if listing.problem:
            problems.append(f"{display_name}: {listing.problem}")
        if listing.omitted:
            problems.append(f"{display_name}: {listing.omitted} rule files over the limit of {MAX_FILES} are ignored")
        for name in listing.names:
            rule_name = to_display_text(name.removeprefix(prefix).removesuffix(suffix))
            shown = to_display_text(f"{display_name}/{name}")
            files.append(RuleSourceFile(Path(folder, name), shown, rule_name, containing_root is None, bool(prefix)))
    return RuleFileListing(tuple(files), tuple(problems), tuple(paths))


def load_rules(root: str, environment: Environment, listing: RuleFileListing | None = None) -> RuleSet:
    """Load the rules for the repository at ``root``. The problems are sanitized."""
    listing = listing or find_rule_files(root, environment)
    if not listing.files:
        return RuleSet(problems=listing.problems)
    trusted = trusted_digests(environment)
    rules: list[Rule] = []
    problems = list(listing.problems)
    untrusted: list[str] = []
    for file in listing.files:
        text = read_text(file.path, None if file.is_user_owned else root, MAX_BYTES)
        if text.problem:
            problems.append(f"{file.display_name}: {text.problem}")
            continue
        is_trusted = file.is_user_owned or trusted.get(os.path.realpath(file.path)) == text.digest
        if not is_trusted:
            untrusted.append(file.display_name)
        file_rules, file_problems = _parse_file(file, text, is_trusted=is_trusted)
        rules += file_rules
        problems += file_problems
    return RuleSet(tuple(rules), tuple(map(to_display_text, problems)), tuple(untrusted))


class RuleFiles:
    """Implements ``core.engine.ports.Rules``: reloads when a file or the trust store changes."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._loaded: dict[str, tuple[tuple[str, ...], tuple[object, ...], RuleSet]] = {}

    def load(self, root: str) -> RuleSet:
        known = self._loaded.get(root)
        if known is not None and known[1] == tuple(map(file_stamp, known[0])):
            return known[2]
        listing, stamps = find_stable(lambda: find_rule_files(root, self._environment), self._watched_paths)
        rule_set = load_rules(root, self._environment, listing)
        self._loaded[root] = (self._watched_paths(listing), stamps, rule_set)
        return rule_set

    def _watched_paths(self, listing: RuleFileListing) -> tuple[str, ...]:
        return (*listing.watched_paths, str(self._environment.state_home / TRUST_FILE))


def _parse_file(file: RuleSourceFile, text: FileText, *, is_trusted: bool) -> tuple[Iterable[Rule], Iterable[str]]:
    from upbeat.core.rules.formats import hookify, markdown  # slow to import, needed only with rules

    owner = Owner.USER if file.is_user_owned else Owner.PROJECT if is_trusted else Owner.UNTRUSTED
    parse = hookify.parse_hookify_file if file.is_hookify else markdown.parse_rule_file
    parsed = parse(text.text, file.name, file.display_name, owner)
    return parsed.rules, parsed.problems


def to_display_text(text: str) -> str:
    r"""Return ``text`` on one line, with what would not be visible, lone surrogates included, as ``\u{202e}``."""
    if text.isascii() and text.isprintable():
        return text
    from upbeat.core.sanitize.exact import escape_exactly

    return escape_exactly(text)
