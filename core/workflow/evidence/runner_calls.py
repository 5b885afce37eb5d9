"""Recognize the call of a test runner, and how it is called.

Invariant: structure decides: the program, the words after it, the folder, the variables. What is not recognized is no
call of a test runner.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Protocol

from upbeat.core.package_data import load_toml
from upbeat.core.shell.expand import FAILED, UNKNOWN
from upbeat.core.shell.paths import Invocation


@cache
def word_set(name: str) -> frozenset[str]:
    """Return a list of words of ``words.toml``."""
    return frozenset(load_toml(__package__, "words.toml")[name].split())


_MAIN_CALL = re.compile(r"(?:sys\.exit|SystemExit|\bexit)\(\s*(pytest)\.main\(([^()]*)\)\s*\)")
"""``python -c "sys.exit(pytest.main([…]))"``, which hands the exit code on."""
PYTHON = re.compile(r"python[\d.]*|pypy3?|py")
PROGRAM_FOLDERS = re.compile(
    r"(?:^|/)(?:\.?v?env[\w.-]*|\.?virtualenv|node_modules/\.bin|vendor/bin|\.tox/[\w.-]+|\.nox/[\w.-]+|\.bundle|"
    r"target/release|\.pixi/envs/[\w.-]+|\.local|\.cargo|\.pyenv/shims|\.rbenv/shims|\.asdf/shims|go)(?:/bin|/Scripts)?/[\w.-]+$"
    r"|^(?:/usr(?:/local)?|/opt/[\w./-]+|/home/\w+/[\w./-]+|/nix/store/[\w.-]+|)/s?bin/[\w.-]+$"
)
"""Folders in which programs are installed; one of the same name elsewhere is another program."""
_OWN_PROGRAMS = word_set("own_programs")
"""Programs that a project has in its tree by convention."""
_OUTPUT_OPTION = re.compile(
    r"-{1,2}(?:o|[\w-]*(?:out|report|log|profile|cache|temp|tmp|result|junit|xml|target-dir|coverage|cov|html|json|save|allure|build-path|derivedData)[\w-]*)$",
    re.IGNORECASE,
)
_SELECTING = re.compile(
    r"-(?:k|m|t|g|R|L|E|run|skip|w|p|pl|tags?|n|e|-name|-grep|-fgrep|-filter\S*|-tests?|-lf|-last-failed|-ff|-only\S*|-testNamePattern|"
    r"-testPathPattern\S*|-workspace|-package|-lib|-doc|-bins?|-exclude\S*|-ignore\S*|-deselect|-skip|-tag\S*|-project|"
    r"-include\S*|-run|-suite|-testsuite|-group|-example|-match\S*|-focus|-label\S*|-shard|-selectProjects|-dir|-stepwise|-changed\S*|-onlyChanged|-related\S*)"
)


class ProjectFiles(Protocol):
    """The files of the tree that is tested; paths are relative to its root."""

    def read(self, path: str) -> str | None:
        """Return the text of a file; None if there is none, or it is too long or outside."""

    def exists(self, path: str) -> bool:
        """Return whether there is a file or folder of that name."""

    def entries(self, path: str) -> list[str]:
        """Return the names in a folder, sorted; none if there is no such folder."""


@dataclass(frozen=True, slots=True)
class Runner:
    """One row of ``test_runners.toml``."""

    name: str
    summary: tuple[str, ...]
    is_strict: bool = False
    idle: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    lenient: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    all_tests: frozenset[str] = frozenset()
    config: str = ""
    """A file of options that it reads."""
    redefined: tuple[tuple[str, str], ...] = ()
    """Files of the project with the expression of what makes something else run."""


@dataclass(frozen=True, slots=True)
class RunnerCall:
    """A call of a test runner. ``problem`` is the key of the reason why it is no evidence, ``detail`` its subject."""

    invocation: Invocation
    runner: Runner
    arguments: tuple[str, ...] = ()
    problem: str = ""
    detail: str = ""

    @property
    def is_strict(self) -> bool:
        """Whether its exit code 0 says that tests ran."""
        return self.runner.is_strict and not _has_option(self.arguments, self.runner.lenient)

    @property
    def scope(self) -> str:
        """Return the arguments that select some of the tests; empty if all run."""
        return " ".join(_selecting(self.arguments, self.runner))


@cache
def _runners() -> tuple[tuple[tuple[str, ...], Runner], ...]:
    """Return (words of the call, runner), the longest calls first."""
    rows: list[tuple[tuple[str, ...], Runner]] = []
    for name, row in load_toml(__package__, "test_runners.toml").items():
        sets = {key: frozenset(row.get(key, "").split()) for key in ("idle", "refused", "lenient", "needs", "all")}
        runner = Runner(name, tuple(row["summary"]), bool(row.get("strict")), sets["idle"], sets["refused"],
                        sets["lenient"], sets["needs"], sets["all"], row.get("config", ""),
                        tuple(row.get("redefined", {}).items()))  # fmt: skip
        rows += [(tuple(call.split()), runner) for call in row["calls"]]
    return tuple(sorted(rows, key=lambda row: -len(row[0])))


@cache
def runner_names() -> frozenset[str]:
    """Return the first words of all calls."""
    rows = load_toml(__package__, "test_runners.toml").values()
    return frozenset(call.split(" ", 1)[0] for row in rows for call in row["calls"])


def canonical_words(invocation: Invocation) -> tuple[str, ...]:
    """Return the words with the program named as it is in the table: ``python -m pytest`` is ``pytest``.

    A program of that name somewhere in the tree, or in another folder, keeps its path.
    """
    words = invocation.words
    program = words[0] if words else ""
    name = posixpath.basename(program)
    if "/" in program and name != program:
        if PROGRAM_FOLDERS.search(program) or name in _OWN_PROGRAMS:
            words = (name, *words[1:])
        elif not PYTHON.fullmatch(name):
            return words
    if PYTHON.fullmatch(name):
        return _python_words(words[1:])
    if name == "tsx" and "--test" in words:
        return ("node", *words[1:])
    if name in ("node", "bun") and (script := _node_script(words[1:])):
        return script
    if name in ("php", "ruby", "perl") and (found := _script_words(words[1:])):
        return found
    if name in ("coverage", "nyc", "c8", "kcov", "slipcover", "pytest-cov") and len(words) > 1:
        return _coverage_words(name, words[1:])
    return words


def _python_words(rest: Sequence[str]) -> tuple[str, ...]:
    at = 0
    while at < len(rest) and rest[at].startswith("-") and rest[at] not in ("-m", "-c", "-"):
        if rest[at].startswith("-m") and len(rest[at]) > 2:
            return (rest[at][2:], *rest[at + 1 :])
        at += 2 if rest[at] in ("-W", "-X", "-Q") else 1
    left = list(rest[at:])
    if left[:1] == ["-c"] and len(left) > 1 and (found := _MAIN_CALL.search(left[1])):
        return (found[1], *re.findall(r"['\"]([^'\"]*)['\"]", found[2]))
    if left[:1] == ["-m"] and len(left) > 1:
        if left[1] == "coverage":
            return _coverage_words("coverage", left[2:])
        return (left[1], *left[2:])
    script = posixpath.basename(left[0]) if left else ""
    if script in ("manage.py", "runtests.py") or PROGRAM_FOLDERS.search(left[0] if left else ""):
        return (script, *left[1:])
    return ("python", *left)


def _coverage_words(program: str, rest: Sequence[str]) -> tuple[str, ...]:
    if program == "coverage":
        if rest[:1] != ["run"] and tuple(rest[:1]) != ("run",):
            return ("coverage", *rest)
        left = [
            word
            for word in rest[1:]
            if word in ("-m",)
            or not word.startswith(
                ("-p", "--parallel", "--branch", "--source", "--append", "-a", "--rcfile", "--omit", "--include")
            )
        ]
        return _python_words(left)
    at = next((number for number, word in enumerate(rest) if not word.startswith("-")), len(rest))
    return tuple(rest[at:])


def _node_script(rest: Sequence[str]) -> tuple[str, ...]:
    """Return the package's program that ``node node_modules/…`` runs."""
    at = next((number for number, word in enumerate(rest) if not word.startswith("-") or word == "--test"), len(rest))
    script = rest[at] if at < len(rest) else ""
    if found := re.search(r"(?:^|/)node_modules/(?:\.bin/)?((?:@[\w.-]+/)?[\w.-]+)", script):
        return (posixpath.basename(found[1]), *rest[at + 1 :])
    return ()


def _script_words(rest: Sequence[str]) -> tuple[str, ...]:
    at = next((number for number, word in enumerate(rest) if not word.startswith("-")), len(rest))
    script = rest[at] if at < len(rest) else ""
    name = posixpath.basename(script)
    return (name, *rest[at + 1 :]) if name in _OWN_PROGRAMS or PROGRAM_FOLDERS.search(script) else ()


def match_runner(words: Sequence[str]) -> tuple[Runner, tuple[str, ...]] | None:
    """Return the runner that canonical ``words`` call, and its arguments."""
    if not words or words[0] not in runner_names():
        return None
    plain = [
        word for before, word in pairwise(words)
        if not word.startswith(("-", "+")) and before not in ("-C", "-j", "-f", "--directory", "--jobs")
    ]  # fmt: skip
    for call, runner in _runners():
        if call[0] != words[0]:
            continue
        inner = call[1:]
        if all(word.startswith("-") for word in inner):
            fits = all(word in words for word in inner)
        else:
            fits = tuple(plain[: len(inner)]) == inner
        if fits and (not runner.needs or _needs(runner, words[1:])):
            return runner, tuple(words[1:])
    return None


def _needs(runner: Runner, arguments: Sequence[str]) -> bool:
    plain = [re.split(r"[:\s]", word.lstrip(":"))[-1] if not word.startswith("-") else "" for word in arguments]
    first = [re.split(r"\s", word)[0] for word in arguments]
    return any(
        word in runner.needs or re.fullmatch(r"test[A-Z]\w*|\w+Tests?", word) for word in (*plain, *first, *arguments)
    )


def _has_option(arguments: Sequence[str], options: frozenset[str]) -> str:
    """Return the first of ``arguments`` that is one of ``options``, also as ``--option=value``."""
    for word in arguments:
        if word.endswith("=false"):
            continue
        option = word.partition("=")[0]
        if word in options or (option != word and len(option) > 2 and option.startswith("-") and option in options):
            return word
    return ""


def find_problem(runner: Runner, arguments: Sequence[str], root: str, cwd: str) -> tuple[str, str]:
    """Return why such a call is no evidence, and what shows it; empty if nothing speaks against it."""
    if found := _has_option(arguments, runner.idle):
        return "idle", found
    if found := _has_option(arguments, runner.refused):
        return "untrusted_option", found
    special = _SPECIAL.get(runner.name, lambda _: ("", ""))(arguments)
    if special[0]:
        return special
    for before, word in zip(("", *arguments), arguments, strict=False):
        if word.startswith(UNKNOWN) or FAILED in word:
            return "unexpanded", "$…"
        if _is_outside(word, before, root, cwd):
            return "outside", word
    return "", ""


def _is_outside(word: str, before: str, root: str, cwd: str) -> bool:
    """Return whether an argument names a path outside of the tree, unless it is where output goes."""
    option, separator, value = word.partition("=")
    path = value if separator and option.startswith("-") else re.sub(r"^-[A-Za-z](?=[/.])", "", word)
    if re.search(r"(?:^|/)(?:node_modules(?!/\.bin)|site-packages)/", path):
        return True
    if not path.startswith(("/", "../", "~")) and path != ".." and "/../" not in path:
        return False
    if _OUTPUT_OPTION.match(option if separator else before) or path.startswith(("/dev/", "//")):
        return False
    resolved = posixpath.normpath(posixpath.join(cwd, path.split("::")[0]))
    return not is_below(resolved, root)


def is_below(path: str, root: str) -> bool:
    """Return whether the normal ``path`` is ``root`` or below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def _selecting(arguments: Sequence[str], runner: Runner) -> list[str]:
    found: list[str] = []
    takes_value = False
    for word in arguments:
        if takes_value and not word.startswith("-"):
            found.append(word)
            takes_value = False
            continue
        takes_value = False
        if word.startswith("-"):
            if re.fullmatch(_SELECTING.pattern + r"(?:=.*)?", word) and not re.fullmatch(
                r"-n\d*|-p|-m|-e|-w|-t|-L|-E", word
            ):
                found.append(word)
                takes_value = "=" not in word
            elif word in ("-k", "-m", "-t"):
                found.append(word)
                takes_value = True
        elif word not in runner.all_tests and re.search(r"[./:*\\]|[Tt]est|[Ss]pec", word):
            found.append(word)
    return found[:6]


def _pytest_problem(arguments: Sequence[str]) -> tuple[str, str]:
    """A plugin can change every result: only pytest's own and well-known ones may be named."""
    for before, word in zip(("", *arguments), arguments, strict=False):
        if word.startswith("@"):
            return "untrusted_option", word  # arguments from a file
        name = word if before == "-p" else word[2:] if re.fullmatch(r"-p[a-z_].*", word) else ""
        if name and not name.startswith("no:") and name.replace("pytest_", "") not in _KNOWN_PLUGINS:
            return "untrusted_option", f"-p {name}"
    return "", ""


def _go_problem(arguments: Sequence[str]) -> tuple[str, str]:
    for at, word in enumerate(arguments):
        option, separator, value = word.lstrip("-").partition("=")
        if word.startswith("-") and option in ("run", "test.run"):
            pattern = value if separator else arguments[at + 1] if at + 1 < len(arguments) else ""
            if pattern.strip("'\"") in ("^$", "$^", "XXX", "NONE", "none", "-", "^XXX$"):
                return "idle", f"-run {pattern}"
    return "", ""


def _gradle_problem(arguments: Sequence[str]) -> tuple[str, str]:
    for before, word in zip(("", *arguments), arguments, strict=False):
        if before in ("-x", "--exclude-task") and "test" in word.lower():
            return "idle", f"-x {word}"
    return "", ""


def _vitest_problem(arguments: Sequence[str]) -> tuple[str, str]:
    return (
        ("idle", arguments[0])
        if arguments[:1] and arguments[0] in ("list", "bench", "init", "watch", "dev")
        else ("", "")
    )


_KNOWN_PLUGINS = word_set("pytest_plugins")
_SPECIAL = {
    "pytest": _pytest_problem,
    "hatch": _pytest_problem,
    "go": _go_problem,
    "gotestsum": _go_problem,
    "gradle": _gradle_problem,
    "vitest": _vitest_problem,
}
