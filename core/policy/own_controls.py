"""Find where a tool call would touch what supervises it: upbeat's own commands and files, the clients' settings.

Commands are found in every spelling that ``core/shell`` resolves, and in text that another program runs. Paths are only
collected here: which of them are controls depends on the machine (``OwnControlsQuery``), except for the well-known
names that ``names_control`` tells. Invariant: nothing is a mention that only reads.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Any

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.package_data import load_toml
from upbeat.core.shell import SimpleCommand, parse_commands
from upbeat.core.shell.commands import SIZE_GAP, SYNTAX_GAP

MAX_PATHS = 500
MAX_TEXTS = 50
MAX_SCRIPTS = 10

_TABLE: Mapping[str, Any] = load_toml(__package__, "own_controls.toml")
_RESERVED = frozenset(tuple(words.split()) for words in _TABLE["reserved"])
_HARMLESS = frozenset(_TABLE["harmless_options"])
_TEXT_PROGRAMS, _SHELLS, _SHELL_RUNNERS, _INTERPRETERS = (
    frozenset(_TABLE[name].split()) for name in ("text_programs", "shells", "shell_runners", "interpreters")
)
_READERS, _COPIERS, _TREE_PROGRAMS = (
    frozenset(_TABLE[name].split()) for name in ("readers", "copiers", "tree_programs")
)
_CLIENT_PROGRAMS, _CLIENT_AREAS, _CLIENT_READS = (
    frozenset(_TABLE[name].split()) for name in ("client_programs", "client_areas", "client_reads")
)
_WRITING_OPTIONS = tuple(_TABLE["writing_options"])
_SUFFIXES: tuple[str, ...] = tuple(_TABLE["suffixes"])
_NAME_PATTERNS = (
    re.escape(suffix.strip("/")).replace(r"\*", "[^/]*") + ("(?:/|$)" if suffix.endswith("/") else "$")
    for suffix in _SUFFIXES
)
_NAMED = re.compile("|".join(f"(?:^|/){pattern}" for pattern in _NAME_PATTERNS))
_PROGRAM = "upbeat"
_EDITS_IN_PLACE = re.compile(r"--in-place|-[A-Za-z0-9]*i")
_VERSION_CHARS = "0123456789."
_GLUE = re.compile(r"""["'`]\s*[,/+]\s*["'`]""")
"""Between the parts of a path that a script joins: ``home / ".config" / "upbeat"``."""
_SEPARATORS = r"""["'`,\s\[\]()]+"""
_RESERVED_TEXT = re.compile(
    rf"(?:^|[^\w.-])(?:{_PROGRAM}|upbeat[./]__main__(?:\.py)?|hook_entry/shim\.py){_SEPARATORS}(?P<rest>[^\n;|&]*)"
)
_INTERNALS = re.compile(r"\bupbeat\.adapters\.(?:cli|hook_entry|install|wiring|mcp_server|system)\b")
_PYTHON_FILE = re.compile(r"(?:^|/)(?:shim\.py|__main__\.py)$")
_INSTALLERS = frozenset({"pip", "pipx", "uv", "brew", "conda"})
_LAST_WORDS = frozenset({"uninstall", "remove", "rm"})
_DOWNLOAD_OPTIONS = frozenset({"--output-dir", "-P", "--directory-prefix"})
_FINDERS = frozenset({"find", "fd", "fdfind", "xargs", "parallel"})
_SCRIPT_RUN = re.compile(r"(?:^|[\s;&|(])((?:\.{0,2}|~|\$\w+)?/[^\s;&|<>()'\"]+)")


@dataclass(frozen=True, slots=True)
class ControlMentions:
    """What a call mentions. ``commands`` are the user's; ``requests`` a user may approve.

    ``paths`` would be written, ``trees`` removed or moved with all that they contain; both are as written, relative
    ones to the working directory. ``texts`` are run by a program, ``scripts`` are files that are run.
    """

    commands: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()

    @property
    def needs_query(self) -> bool:
        """Whether the machine has to say which of them are controls."""
        return bool(self.paths or self.trees or self.texts or self.scripts)


NOTHING = ControlMentions()


def is_reserved(words: Sequence[str]) -> bool:
    """Return whether the words after ``upbeat`` are a command that only the user runs."""
    options = words[: words.index("--")] if "--" in words else words
    plain = [word for word in words if not word.startswith("-")]
    is_named = bool(plain) and any((plain[0], *rest) in _RESERVED for rest in ((), *((word,) for word in plain[1:])))
    return is_named and not _HARMLESS.intersection(options)


def reserved_command(text: str) -> str:
    """Return the first command in ``text``, which something runs, that only the user may run; empty for none."""
    for match in _RESERVED_TEXT.finditer(text.replace("\\n", "\n")):
        words = re.split(_SEPARATORS, match["rest"])[:8]
        if is_reserved(words):
            return " ".join((_PROGRAM, *(word for word in words if not word.startswith("-"))))[:60]
    return f"{_PROGRAM} as a library" if _INTERNALS.search(text) else ""


def names_control(path: str) -> bool:
    """Return whether ``path``, absolute or as written, is a control by its name alone."""
    return _NAMED.search(posixpath.normpath(path)) is not None


def mentions_control(text: str, needles: Iterable[str] = ()) -> bool:
    """Return whether ``text``, which something runs, names a control or one of ``needles`` (paths)."""
    joined = _GLUE.sub("/", text)
    stems = (suffix.partition("*")[0].rstrip("/") for suffix in _SUFFIXES)
    return any(stem in joined for stem in stems) or any(needle in joined for needle in needles)


@lru_cache(maxsize=32)
def mentions_in_line(line: str) -> ControlMentions:
    """Return what the shell line ``line`` mentions."""
    parsed, called = parse_commands(line), _called_files(line)
    commands: dict[str, None] = {}
    requests: dict[str, None] = {}
    paths: dict[str, None] = {}
    trees: dict[str, None] = {}
    texts: dict[str, None] = {}
    scripts: dict[str, None] = {}
    for command in parsed.items:
        if found := _reserved_in(command):
            commands[found] = None
        if found := _request_in(command):
            requests[found] = None
        paths |= dict.fromkeys(_located(command, word) for word in _written_words(command))
        if _program_of(command) in _TREE_PROGRAMS and not _only_finds(command):
            moved = list(_arguments(command))[: -1 if command.words[0] == "mv" else None]
            trees |= dict.fromkeys(_located(command, word) for word in moved)
        run = tuple(_run_texts(command))
        texts |= dict.fromkeys(run)
        found_in = requests if _program_of(command) in _INTERPRETERS else commands  # a language may only mention it
        found_in |= dict.fromkeys(filter(None, map(reserved_command, run)))
        scripts |= dict.fromkeys(_located(command, word) for word in _script_files(command, called))
    trees |= dict.fromkeys(_found_and_changed(parsed.items))
    written = tuple(_written_then_run(parsed.items, scripts))
    texts |= dict.fromkeys((*written, line) if {SIZE_GAP, SYNTAX_GAP}.intersection(parsed.gaps) else written)
    commands |= dict.fromkeys(filter(None, map(reserved_command, written)))
    if parsed.gaps and (found := reserved_command(line)):
        commands[found] = None
    return ControlMentions(
        tuple(commands),
        tuple(requests),
        tuple(paths)[:MAX_PATHS],
        tuple(trees)[:MAX_PATHS],
        tuple(texts)[:MAX_TEXTS],
        tuple(scripts)[:MAX_SCRIPTS],
    )


def _program_of(command: SimpleCommand) -> str:
    return command.words[0].lower().rstrip(_VERSION_CHARS) or command.words[0] if command.words else ""


def _arguments(command: SimpleCommand) -> Iterator[str]:
    """Yield the words that may name files, and the values of options and of ``name=value``."""
    for word in command.words[1:]:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            yield word
        if equals and value and name.lstrip("-").replace("-", "").isalnum():
            yield value


def _reserved_in(command: SimpleCommand) -> str:
    """Return the reserved command that ``command`` runs; empty for none."""
    program, words = _program_of(command), command.words
    if not words or program in _TEXT_PROGRAMS:
        return ""
    for at, word in enumerate(words[:12]):
        name = word.rpartition("/")[2]
        is_own = name in (_PROGRAM, f"{_PROGRAM}.__main__") or (_PYTHON_FILE.search(word) and _PROGRAM in word)
        rest = ("hook", *words[at + 1 :]) if name == "shim.py" else words[at + 1 :]
        if is_own and is_reserved(rest):
            return " ".join((_PROGRAM, *(part for part in rest if not part.startswith("-"))))[:60]
    return ""


def _request_in(command: SimpleCommand) -> str:
    """Return what ``command`` asks another program to do to upbeat or to the client's settings; empty for none."""
    program, words = _program_of(command), command.words[1:]
    has_own_name = any(_PROGRAM in word for word in words)
    shown = " ".join(command.words)[:60]
    if program in ("pkill", "killall", "skill") and has_own_name:
        return shown
    installs = not _INSTALLERS.isdisjoint((program, *command.wrappers, *words))  # also python -m pip, uv tool
    if has_own_name and installs and not _LAST_WORDS.isdisjoint(command.words):
        return shown
    if program in _CLIENT_PROGRAMS and words[:1] and words[0] in _CLIENT_AREAS:
        return shown if not _CLIENT_READS.intersection(words[1:]) and len(words) > 1 else ""
    return ""


def _written_words(command: SimpleCommand) -> Iterator[str]:
    """Yield the words that name files which ``command`` may write."""
    for redirect in command.redirects:
        if ">" in redirect.operator and not redirect.target.isdecimal():
            yield redirect.target
    program = _program_of(command)
    arguments = list(_arguments(command))
    if program in _READERS or not command.words:
        if any(
            word == option or word.startswith(f"{option}=") for word in command.words for option in _WRITING_OPTIONS
        ):
            yield from arguments
    elif program in ("sed", "perl") and not any(map(_EDITS_IN_PLACE.match, command.words)):
        return
    elif program == "git":
        if command.words[1:2] and command.words[1] in ("checkout", "restore", "rm", "mv", "clean", "apply", "stash"):
            yield from arguments
    elif program in ("curl", "wget"):
        folders = [after for word, after in pairwise(command.words) if word in _DOWNLOAD_OPTIONS]
        folders += [word.partition("=")[2] for word in command.words if word.partition("=")[0] in _DOWNLOAD_OPTIONS]
        yield from arguments
        yield from (path for folder in folders for path in _in_folder(folder, arguments))
    elif program in _COPIERS or program in ("mv", "ln"):
        yield from _copied_files(command.words, arguments, counts_sources=program not in _COPIERS)
    elif not _only_finds(command):
        yield from arguments


def _copied_files(words: Sequence[str], arguments: Sequence[str], *, counts_sources: bool) -> Iterator[str]:
    """Yield the target of a copy, and the files that it gets if it is a folder; the sources, too, if they change."""
    target = next((after for word, after in pairwise(words) if word in ("-t", "--target-directory")), "")
    target = next((word.partition("=")[2] for word in words if word.startswith("--target-directory=")), target)
    sources = [word for word in arguments if word != target] if target else arguments[:-1]
    target = target or (arguments[-1] if arguments else "")
    yield target
    yield from _in_folder(target, sources)
    if counts_sources:
        yield from sources


def _in_folder(folder: str, sources: Iterable[str]) -> Iterator[str]:
    """Yield the paths in ``folder`` that ``sources`` (paths, ``host:path``, addresses) get there."""
    yield from (f"{folder}/{re.split('[/:]', source.rstrip('/'))[-1]}" for source in sources)


def _only_finds(command: SimpleCommand) -> bool:
    """Return whether ``find`` only lists, or runs programs that are found by themselves."""
    return _program_of(command) in ("find", "fd") and not any(
        word.startswith(("-delete", "-fprint", "-fls")) for word in command.words
    )


def _found_and_changed(items: Sequence[SimpleCommand]) -> Iterator[str]:
    """Yield the folders in which ``find`` looks for files that a program gets which changes them."""
    changing = [item for item in items if _FINDERS.intersection(item.wrappers) and _program_of(item) not in _READERS]
    if not any(_program_of(item) not in ("sed", "perl") or any(_written_words(item)) for item in changing):
        return
    for item in items:
        patterns = [word for flag, word in pairwise(item.words) if flag in ("-name", "-iname", "-path")]
        can_be_control = not patterns or any(map(_may_name_control, patterns))
        if _program_of(item) in ("find", "fd", "fdfind") and can_be_control:
            yield from (_located(item, word) for word in takewhile(lambda word: word[:1] not in "-(!", item.words[1:]))


def _may_name_control(pattern: str) -> bool:
    names = (suffix.strip("/").rpartition("/")[2] for suffix in _SUFFIXES)
    return any(fnmatchcase(name, pattern.rpartition("/")[2]) for name in names)


def _located(command: SimpleCommand, word: str) -> str:
    """Return ``word`` with the folder that ``command`` runs in; as written if that is unknown."""
    folder = command.working_dir
    return word if not folder or folder == "?" or word.startswith(("/", "~", "$")) else f"{folder}/{word}"


def _run_texts(command: SimpleCommand) -> Iterator[str]:
    """Yield the texts that ``command`` runs: words of several words, and its input."""
    program = _program_of(command)
    if program not in _SHELL_RUNNERS and program not in _INTERPRETERS:
        return
    yield from (word for word in command.words[1:] if " " in word or "(" in word or "\n" in word)
    if command.stdin_text:
        yield command.stdin_text


def _called_files(line: str) -> Mapping[str, list[str]]:
    """Return the paths in ``line`` that may name programs, by the last part of their names."""
    found: dict[str, dict[str, None]] = {}
    for match in _SCRIPT_RUN.finditer(line):
        found.setdefault(match[1].rpartition("/")[2], {})[match[1]] = None
    return {name: list(paths)[:MAX_SCRIPTS] for name, paths in found.items()}


def _script_files(command: SimpleCommand, called: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the files that ``command`` runs; ``called`` are the paths of the line by the last part of their names."""
    program = _program_of(command)
    if program in _SHELLS | _SHELL_RUNNERS | _INTERPRETERS:
        yield from (word for word in command.words[1:] if not word.startswith("-") and " " not in word)
    if command.words:
        yield from called.get(command.words[0].rpartition("/")[2], ())


def _written_then_run(items: Sequence[SimpleCommand], scripts: Iterable[str]) -> Iterator[str]:
    """Yield the texts that the line writes into files that it runs."""
    run = {posixpath.normpath(path) for path in scripts}
    for command in items:
        targets = [redirect.target for redirect in command.redirects if ">" in redirect.operator]
        if _program_of(command) == "tee":
            targets += _arguments(command)
        if any(posixpath.normpath(_located(command, target)) in run for target in targets):
            yield command.stdin_text or "\n".join(command.words[1:])
