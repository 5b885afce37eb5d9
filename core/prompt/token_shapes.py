"""Recognize paths, identifiers and error names by their shape.

Invariant: the shape decides; the word lists only exclude ordinary names (node.js, example.com, YouTube) and set the
weight. The sentence around the word has no influence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from upbeat.core.prompt.phrases import words


class MentionKind(StrEnum):
    """The kind of thing that a mention names."""

    FILE = "file"
    SYMBOL = "symbol"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class RecognizedName:
    """The name in the first ``length`` characters. ``weight``: 1 may be prose, 2 probably not, 3 and 4 surely not."""

    kind: MentionKind
    name: str
    length: int
    weight: int


CODE_EXTENSIONS = words("code_extension")
DATA_EXTENSIONS = words("data_extension")
TEXT_FILES_OF_CODE = words("text_file_of_code")
FILES_WITHOUT_EXTENSION = words("file_without_extension")
ROOT_FOLDERS = words("root_folder")
NON_FILE_NAMES = words("non_file_name")
TOP_LEVEL_DOMAINS = words("top_level_domain")
BRAND_NAMES = words("brand_name")
SURNAME_PREFIXES = tuple(words("surname_prefix"))
CLASS_NAME_SUFFIXES = tuple(words("class_name_suffix"))
COMMON_RECEIVERS = words("common_receiver")
MATH_FUNCTIONS = words("math_function")
ERRNO_NAMES = words("errno_name")

_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_EXTENSION = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,11})(?![A-Za-z0-9_/\\-]|\.[A-Za-z0-9_])")
_CALL = re.compile(r"\(([^()\n]{0,80})\)?")
_PLURAL = re.compile(r"(?:s|es|ies|e?n)")
_PROSE_ARGUMENT = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)+")
_ERROR = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Panic)", re.ASCII)
_SEPARATOR = re.compile(r"\.|::|->|#")
_SNAKE = re.compile(r"_{0,2}[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_{0,2}")
_DUNDER = re.compile(r"__[a-z]+__")
_PRIVATE = re.compile(r"_{1,2}[a-z][A-Za-z0-9]+")
_LOWER_CAMEL = re.compile(r"[a-z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
_PASCAL = re.compile(
    r"(?:[A-Z][a-z0-9]+){2,}[A-Z]{0,4}|[A-Z]{2,6}[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+[A-Z]{2,}[a-z]\w*"
    r"|[A-Z]{2,6}[a-z]{3,}"
)
_SLASH = re.compile(r"[/\\]")
_LETTER = re.compile(r"[A-Za-z]")
_ANCHOR = re.compile(r"\.{1,2}|~|[A-Za-z]:")
_IN_NAMES = re.compile(r"[A-Za-z0-9][_.-]")
_SCOPED = re.compile(r"@[a-z][a-z0-9-]*/[a-z][a-z0-9._-]*")
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def recognize_name(run: str, after: str) -> RecognizedName | None:
    """Return the name in ``run``; ``after`` is the following text (about 100 characters are enough)."""
    file = _recognize_file(run, after)
    if file:
        return file
    cut = _CJK.search(run)
    if cut:
        run, after = run[: cut.start()], run[cut.start() :]
    run = run.rstrip("/\\.-+~@#:")
    bare = run.lstrip("@#$")
    if len(bare) < 2:
        return None
    if bare in ERRNO_NAMES or _ERROR.fullmatch(bare):
        return RecognizedName(MentionKind.ERROR, bare, len(run), 4)
    if _SCOPED.fullmatch(run):  # a scoped package, @acme/ui
        return RecognizedName(MentionKind.SYMBOL, run, len(run), 3)
    if _is_directory(bare):
        return RecognizedName(MentionKind.FILE, bare, len(run), 3)
    weight = _identifier_run_weight(bare, after)
    return RecognizedName(MentionKind.SYMBOL, bare, len(run), weight) if weight else None


def identifier_weight(word: str) -> int:
    """Return how certainly a word without dots and parentheses is an identifier; 0 for ordinary words."""
    if word.lower() in BRAND_NAMES:
        return 0
    if _SNAKE.fullmatch(word) or _DUNDER.fullmatch(word) or _LOWER_CAMEL.fullmatch(word):
        return 4
    if _PRIVATE.fullmatch(word):
        return 2
    if not _PASCAL.fullmatch(word):
        return 0
    return 4 if word.endswith(CLASS_NAME_SUFFIXES) else 0 if word.startswith(SURNAME_PREFIXES) else 2


def _recognize_file(run: str, after: str) -> RecognizedName | None:
    for match in _EXTENSION.finditer(run):
        extension = match[1].lower()
        name = run[: match.end()].lstrip("@#$")
        if extension not in CODE_EXTENSIONS and extension not in DATA_EXTENSIONS:
            continue
        if name.lower() in NON_FILE_NAMES or (match.end() == len(run) and after.startswith("(")):
            return None
        stem = name[: -len(extension) - 1]
        if len(extension) == 1 and (len(re.sub(r"[^A-Za-z_]", "", stem)) < 2 or not match[1].islower()):
            return None
        is_certain = extension in CODE_EXTENSIONS or name.lower() in TEXT_FILES_OF_CODE
        weight = 4 if is_certain else 3 if _SLASH.search(name) else 1
        return RecognizedName(MentionKind.FILE, name, match.end(), weight)
    first = re.match(r"\.?[A-Za-z]+", run)
    if first and first[0] in FILES_WITHOUT_EXTENSION:
        return RecognizedName(MentionKind.FILE, first[0], first.end(), 4)
    return None


def _is_directory(run: str) -> bool:
    """Return whether ``run`` is a path without an extension; its start decides, since "and/or" has a slash, too."""
    first, *rest = _SLASH.split(run)
    if not rest or not _LETTER.search(run):
        return False
    is_deep = len(rest) > 1 and (not first or _IN_NAMES.search(run))
    return bool(first in ROOT_FOLDERS or _ANCHOR.fullmatch(first) or is_deep)


def _identifier_run_weight(run: str, after: str) -> int:
    """Return how certainly ``run``, which may have dots, is an identifier or a call."""
    parts = [part for part in _SEPARATOR.split(run) if part]
    if "/" in run or not parts or not all(_WORD.fullmatch(part) for part in parts):
        return 0
    shape_weight = _dotted_weight(run, parts) if len(parts) > 1 else identifier_weight(run)
    call = _CALL.match(after)
    if not call or run.lower() in MATH_FUNCTIONS or len(run) < 2:
        return shape_weight
    argument = call[1].strip()
    if not argument:
        return 4
    is_prose = _PLURAL.fullmatch(argument) or _PROSE_ARGUMENT.fullmatch(argument)
    return shape_weight if is_prose else max(shape_weight, 2)


def _dotted_weight(run: str, parts: list[str]) -> int:
    if parts[-1].lower() in TOP_LEVEL_DOMAINS:
        return 0
    if any(identifier_weight(part) for part in parts) or "::" in run or "->" in run:
        return 4
    if any(len(part) < 2 for part in parts) or "#" in run or not parts[-1][0].islower():
        return 0
    return 3 if parts[0] in COMMON_RECEIVERS or len(parts) > 2 else 1
