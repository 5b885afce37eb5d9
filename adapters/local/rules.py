"""Loads the rules of a user and of a project, and those that hookify has in a project.

Law: loading never fails for what a repository or a person put there, and never takes long: every hook does it. What
leads out of the repository, is no regular file, or is too much is left out, and told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...core.rules.book import RuleBook
from ...core.rules.rule import Owner, Rule
from .documents import Listing, Text, listed, read_text, settled, stamp
from .environment import Environment
from .trust import TRUST_FILE, trusted_contents

FOLDER = ".upbeat/rules"
USER_FOLDER = "upbeat/rules"
HOOKIFY_FOLDER = ".claude"
HOOKIFY = ("hookify.", ".local.md")
"""How the names of hookify's rule files begin and end."""
ENDING = ".md"
MAX_FILES = 200
"""Rule files of one folder; what comes after them by name is left out."""
MAX_BYTES = 64 * 1024
"""Bytes of one rule file."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A rule file. ``shown`` is how messages name it, ``name`` what the rule is called."""

    path: Path
    shown: str
    name: str
    is_users: bool = False
    is_hookify: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The rule files that there are, what was left out, and every place that was looked at."""

    files: tuple[FoundFile, ...] = ()
    problems: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


def find_rules(root: str, environment: Environment) -> Found:
    """The rule files for the repository at ``root`` (real, absolute): the user's own, the project's, hookify's."""
    users = environment.config_home / USER_FOLDER
    listings = (
        (listed(str(users), None, MAX_FILES, ending=ENDING), str(users), True, False),
        (listed(os.path.join(root, FOLDER), root, MAX_FILES, ending=ENDING), FOLDER, False, False),
        (
            listed(os.path.join(root, HOOKIFY_FOLDER), root, MAX_FILES, beginning=HOOKIFY[0], ending=HOOKIFY[1]),
            HOOKIFY_FOLDER,
            False,
            True,
        ),
    )
    files: list[FoundFile] = []
    problems: list[str] = []
    places: list[str] = []
    for listing, shown, is_users, is_hookify in listings:
        places += [listing.folder, *(os.path.join(listing.folder, name) for name in listing.names)]
        problems += _of_listing(listing, shown)
        files += (
            FoundFile(
                Path(listing.folder, name),
                clear(f"{shown}/{name}"),
                clear(name.removeprefix(HOOKIFY[0]).removesuffix(HOOKIFY[1]) if is_hookify else name[: -len(ENDING)]),
                is_users,
                is_hookify,
            )
            for name in listing.names
        )
    return Found(tuple(files), tuple(problems), tuple(places))


def load_rules(root: str, environment: Environment, found: Found | None = None) -> RuleBook:
    """The rules for the repository at ``root``. Problems are fit to be shown."""
    found = found or find_rules(root, environment)
    if not found.files:
        return RuleBook(problems=found.problems)
    trusted = trusted_contents(environment)
    rules: list[Rule] = []
    problems = list(found.problems)
    untrusted: list[str] = []
    for file in found.files:
        text = read_text(file.path, None if file.is_users else root, MAX_BYTES)
        if text.problem:
            problems.append(f"{file.shown}: {text.problem}")
            continue
        is_trusted = file.is_users or trusted.get(os.path.realpath(file.path)) == text.digest
        if not is_trusted:
            untrusted.append(file.shown)
        rules_here, wrong = _read(file, text, is_trusted=is_trusted)
        rules += rules_here
        problems += wrong
    return RuleBook(tuple(rules), tuple(map(clear, problems)), tuple(untrusted))


class RuleFiles:
    """Implements ``core.ports.Rules``: loads again when one of the files, or what is trusted, has changed."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._loaded: dict[str, tuple[tuple[str, ...], tuple[object, ...], RuleBook]] = {}

    def load(self, root: str) -> RuleBook:
        known = self._loaded.get(root)
        if known is not None and known[1] == tuple(map(stamp, known[0])):
            return known[2]
        found, stamps = settled(lambda: find_rules(root, self._environment), self._places)
        book = load_rules(root, self._environment, found)
        self._loaded[root] = (self._places(found), stamps, book)
        return book

    def _places(self, found: Found) -> tuple[str, ...]:
        return (*found.places, str(self._environment.state_home / TRUST_FILE))


def _read(file: FoundFile, text: Text, *, is_trusted: bool) -> tuple[Iterable[Rule], Iterable[str]]:
    from ...core.rules import hookify, rule_file  # only who has rules pays for reading them

    owner = Owner.USER if file.is_users else Owner.PROJECT if is_trusted else Owner.STRANGER
    if not file.is_hookify:
        read = rule_file.read(text.text, file.name, file.shown, owner)
        return read.rules, read.problems
    read = hookify.read(text.text, file.name, file.shown, owner)
    return read.rules, read.problems


def _of_listing(listing: Listing, shown: str) -> Iterator[str]:
    if listing.problem:
        yield f"{shown}: {listing.problem}"
    if listing.left_out:
        yield f"{shown}: {listing.left_out} rule files more than the {MAX_FILES} that are read; they do not count"


def clear(text: str) -> str:
    """``text`` as it may be shown: no controls, on one line, no half characters."""
    from ...core.turn.strip import strip

    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return strip(whole).replace("\n", " ")
