"""Classifies files by path: language and role.

Invariant: no file is opened. The role decides which files rank last, unless the query asks for tests or documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from upbeat.core.package_data import load_rows


class FileRole(StrEnum):
    """What a file is for."""

    SOURCE = "source"
    CONFIG = "config"
    TEST = "test"
    DOCS = "docs"
    EXAMPLE = "example"
    VENDORED = "vendored"
    DATA = "data"
    """Generated, lock, translation and table files, which only programs read."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """Role and language of one path; the language is empty for files that are not code."""

    role: FileRole
    language: str


_ROWS = load_rows("upbeat.adapters.code.files", "file_types.tsv")
LANGUAGE_BY_EXTENSION = {
    extension: name for kind, name, words in _ROWS if kind == "language" for extension in words.split()
}
_CONFIG, _CONFIG_NAMES, _DOCS, _DATA, _DATA_NAMES = (
    frozenset(words.split()) for kind, _, words in _ROWS if kind != "language"
)
_TEST_PART = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|fixtures?|testdata|e2e|__mocks__|mocks)(?:/|$)", re.I
)
_TEST_NAME = re.compile(r"^(?:tests?[_.-].*|.*[_.-](?:tests?|spec|bench)|conftest|.*Tests?|tests)$")
_DOCS_PART = re.compile(r"(?:^|/)(?:docs?|documentation|changelogs?|newsfragments|man|licenses?)/", re.I)
_DOCS_NAME = re.compile(
    r"^(?:readme|changelog|changes|history|authors|contributing|license|copying|news|releases?|notice)(?:\.|$)",
    re.I,
)
_EXAMPLE_PART = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|tutorials?|benchmarks?|bench|benches)/", re.I)
_VENDORED_PART = re.compile(
    r"(?:^|/)(?:(?:[\w-]*[_-])?dist|vendor|vendored|_vendor|_vendored|third[_-]?party|node_modules|bower_components|deps|extern|externals?|site-packages)/",
    re.I,
)
_TRANSLATION = re.compile(
    r"(?:^|/)(?:messages|locales?|lang|languages|i18n|l10n|translations?)/(?:.*/)?(?!en\b)[a-z]{2}(?:[_-][a-z]{2,4})?[/.]",
    re.I,
)
"""Messages in another language than English, whose words are not those of the code that uses them."""

_GENERATED_NAME = re.compile(r"(?:-\d+\.\d+(?:\.\d+)*\.(?:js|css)$|\.min\.|[._-]generated\.|\.pb\.|_pb2|\.g\.)", re.I)


@lru_cache(maxsize=32768)
def classify_file(path: str) -> FileKind:
    """Return role and language of ``path`` (relative, with ``/``)."""
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    extension = extension.lower() if dot else ""
    language = LANGUAGE_BY_EXTENSION.get(extension, "")
    return FileKind(_role(folder + "/", name, stem or name, extension, language), language)


def _role(folder: str, name: str, stem: str, extension: str, language: str) -> FileRole:
    lower = name.lower()
    if extension in _DATA or lower in _DATA_NAMES or _GENERATED_NAME.search(name):
        return FileRole.DATA
    if _VENDORED_PART.search(folder):
        return FileRole.VENDORED
    if _TEST_PART.search(folder) or (language and _TEST_NAME.match(stem)):
        return FileRole.TEST
    if _EXAMPLE_PART.search(folder):
        return FileRole.EXAMPLE
    if not language and (extension in _CONFIG or lower in _CONFIG_NAMES):
        return FileRole.DOCS if _TRANSLATION.search(folder + name) else FileRole.CONFIG
    if extension in _DOCS or _DOCS_NAME.match(name) or _DOCS_PART.search(folder):
        return FileRole.DOCS
    return FileRole.SOURCE


CODE_ROLES = (FileRole.SOURCE, FileRole.TEST, FileRole.EXAMPLE, FileRole.VENDORED)
"""Roles whose files can define and use symbols, in search order."""


def select_code_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of ``paths`` that contain code, the project's own first, tests and examples after them."""
    kinds = [(classify_file(path), path) for path in paths]
    code = [(CODE_ROLES.index(kind.role), path) for kind, path in kinds if kind.language and kind.role in CODE_ROLES]
    return tuple(path for _, path in sorted(code))


def group_by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return ``paths`` by their names without extension, and by their folders' names."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        for part in {name.partition(".")[0], folder.rpartition("/")[2]}:
            groups.setdefault(part, []).append(path)
    return groups
