"""Hazards of programs that a table describes: which words of a call destroy something, and which make it harmless.

Invariant: every row of ``calls.tsv`` can fire: its programs are triggers. A program without rows counts if its
subcommand is a verb of destruction (``verbs.toml``), unless that is routine for this program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import translate
from functools import cache, lru_cache
from itertools import pairwise

from upbeat.core import lazy_re as re
from upbeat.core.destructive.hazard import Hazard, Hazards, Severity, arguments_of, word_set
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.package_data import load_rows, load_toml
from upbeat.core.shell import SimpleCommand, Words

DISK = r"(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk|mapper/|md\d|dm-|ada|nvd|da\d)[\w/-]*"
"""What follows ``/dev/`` in the name of a disk."""

_VERBS = load_toml(__package__, "verbs.toml")
STRONG_VERBS, WEAK_VERBS = word_set(_VERBS["strong"]), word_set(_VERBS["weak"])
_ROUTINE_PROGRAMS = word_set(_VERBS["routine"])
_FORCING_OPTIONS, _SAFE_OPTIONS = word_set(_VERBS["forcing"]), word_set(_VERBS["safe"])
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9]*(?:[-:_][a-z0-9]+)*")
_WORD_PARTS = re.compile(r"[-:_]")
_DESTRUCTIVE_OPTION = re.compile(
    r"--?(?:factory-reset|zap-all|nuke|obliterate|purge-all|self-destruct|erase|wipe|destroy"
    r"|(?:delete|destroy|wipe|erase|purge|drop)-(?:all(?:-\w+)*|everything|vm|disk|data|database|volumes?|slot|users?|cluster|repo))"
)
MAX_SUBCOMMANDS = 3


@dataclass(frozen=True, slots=True)
class CallPattern:
    """What a call must contain: words in this order, and options anywhere."""

    kind: str
    severity: Severity
    words: tuple[re.Pattern[str], ...]
    options: tuple[tuple[str, ...], ...]

    def matches(self, arguments: Sequence[str]) -> bool:
        """Return whether ``arguments``, without the program, contain it."""
        rest = iter(arguments)
        if not all(any(word.fullmatch(argument) for argument in rest) for word in self.words):
            return False
        return all(any(_has_option(name, arguments) for name in names) for names in self.options)


def _has_option(name: str, arguments: Sequence[str]) -> bool:
    if len(name) == 2 and name != "--":
        cluster = re.compile(rf"-[a-zA-Z]{{0,4}}{re.escape(name[1])}[a-zA-Z]{{0,4}}")
        return any(cluster.fullmatch(word) or word.startswith(f"{name}=") for word in arguments)
    pattern = re.compile(translate(name))
    return any(pattern.fullmatch(word) or word.startswith(f"{name}=") for word in arguments)


def pattern_rows() -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """Yield kind, severity, programs and pattern of each row of the table."""
    for kind, severity, programs, patterns in load_rows(__package__, "calls.tsv"):
        for pattern in patterns.split("; "):
            yield kind, severity, tuple(programs.split()), pattern


@cache
def _patterns_by_program() -> Mapping[str, Sequence[tuple[str, str, str]]]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    for kind, severity, programs, pattern in pattern_rows():
        for program in programs:
            found.setdefault(program, []).append((kind, severity, pattern))
    return found


@lru_cache(maxsize=64)
def _patterns_of(program: str) -> tuple[CallPattern, ...]:
    return tuple(_compile_pattern(*row) for row in _patterns_by_program().get(program, ()))


def _compile_pattern(kind: str, severity: str, pattern: str) -> CallPattern:
    words, options = [], []
    for token in pattern.split() if pattern != "*" else ():
        if token.startswith("-"):
            options.append(tuple(token.split("|")))
        else:
            parts = (translate(part).replace("DISK", DISK) for part in token.split("|"))
            words.append(re.compile("|".join(parts)))
    return CallPattern(kind, Severity(severity), tuple(words), tuple(options))


def table_programs() -> frozenset[str]:
    """Return the programs of the table."""
    return frozenset(_patterns_by_program())


def worst_arguments(prefix: Words) -> Iterator[Words]:
    """Yield what may follow the words ``prefix`` of a call so that a row of the table finds it."""
    given = [
        word for before, word in pairwise(prefix) if word[:1] != "-" and (before[:1] != "-" or before == prefix[0])
    ]
    for _, _, pattern in _patterns_by_program().get(prefix[0].rpartition("/")[2], ()):
        tokens = pattern.split()
        if all(name in token.split("|") for name, token in zip(given, tokens, strict=False)):
            yield tuple(_example_of(token) for token in tokens[len(given) :])


def _example_of(token: str) -> str:
    return token.split("|")[0].replace("DISK", "sda").replace("*", "x")


def is_only_shown(words: Words) -> bool:
    """Return whether an option makes the call harmless: ``--help``, ``--dry-run``."""
    for word in words[1:]:
        name, _, value = word.partition("=")
        if name == "--version" and word != words[-1]:
            continue
        if name in _SAFE_OPTIONS and value not in ("none", "false", "no", "0"):
            return True
        if word == "--":
            break
    return len(words) < 5 and words[-1] in ("-h", "help", "-help", "-?", "/?") and len(words) > 1


def detect_call(command: SimpleCommand, *, has_detector: bool = False) -> Hazards:
    """Yield the first row of the table that ``command`` matches, or its verb of destruction."""
    words = command.words
    shown = " ".join(words[:4])[:100]
    patterns = _patterns_of(words[0])
    for pattern in patterns:
        if pattern.matches(words[1:]):
            yield Hazard(pattern.kind, pattern.severity, shown)
            return
    if not patterns and not has_detector and words[0] not in _ROUTINE_PROGRAMS and _has_destructive_verb(words):
        yield Hazard("data", Severity.ASK, shown)


def _has_destructive_verb(words: Words) -> bool:
    """Return whether a subcommand is a verb of destruction: a weak one counts if the call also forces it."""
    if "/" in words[0] or "." in words[0]:
        return False
    if any(_DESTRUCTIVE_OPTION.fullmatch(word.partition("=")[0]) for word in words[1:]):
        return True
    is_forced = not _FORCING_OPTIONS.isdisjoint(words)
    for word in arguments_of(words[1:])[:MAX_SUBCOMMANDS]:
        if not _SUBCOMMAND.fullmatch(word):
            return False
        parts = _WORD_PARTS.split(word)
        if not STRONG_VERBS.isdisjoint(parts) or (is_forced and not WEAK_VERBS.isdisjoint(parts)):
            return True
    return False
