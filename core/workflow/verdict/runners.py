"""Classify a program call: does it run tests, build, lint or check types?

Invariant: the tables are in ``runners.toml``; nothing here parses a shell. A command is the words of one program call,
the program first, without wrappers (``shell.unwrap``). A call that only shows, lists or plans has no kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from upbeat.core.package_data import load_toml
from upbeat.core.shell.wrappers import ASSIGNMENT

TESTS = "tests"
BUILD = "build"
LINT = "lint"
TYPES = "types"
CHECK_KINDS = (TESTS, BUILD, TYPES, LINT)
"""By precedence, when one line does several of them."""

_GO_RUN_NOTHING = re.compile(r"-(?:test\.)?run[= ]['\"]?\^?\$['\"]?(?: |$)")


def _table(name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = load_toml(__package__, "runners.toml")[name]
    return table


@cache
def _words(name: str, key: str = "") -> frozenset[str]:
    """Return the words of the string ``name``, or of ``key`` in the table ``name``."""
    tables = load_toml(__package__, "runners.toml")
    return frozenset((tables[name].get(key, "") if key else tables[name]).split())


@cache
def _kind_by_word(name: str) -> Mapping[str, str]:
    """Return the table ``name``, which lists the words of each kind, turned around."""
    return {word: kind for kind, words in _table(name).items() for word in words.split()}


@cache
def _maybe_check_command() -> re.Pattern[str]:
    lists = ("formatters", "script_runners", "task_runners", "build_tools", "other_programs")
    names = {*_kind_by_word("programs"), *_table("subcommands")}.union(*map(_words, lists))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(map(re.escape, names)))})(?![\w-])")


def mentions_runner(command: str) -> bool:
    """Return whether a command line contains a word that ``classify_program`` may recognize. Fast."""
    return _maybe_check_command().search(command) is not None


def classify_program(words: Sequence[str]) -> str:
    """Return the kind of check that ``words`` (unwrapped) run: one of ``CHECK_KINDS``, or empty."""
    if not words:
        return ""
    program, rest = words[0], list(words[1:])
    if re.fullmatch(r"python[\d.]*|pypy3?|py", program):
        return _classify_python(rest)
    if program == "coverage" and rest[:1] == ["run"]:
        return _classify_python(rest[rest.index("-m") :]) if "-m" in rest else ""
    if (_words("info_flags") | _words("no_op_flags", program)) & set(rest):
        return ""
    if program == "go" and _GO_RUN_NOTHING.search(" ".join(rest)):
        return ""
    if program in _words("script_runners"):
        return _classify_script_runner(program, rest)
    if program in _words("task_runners"):
        return _classify_task_runner(program, rest)
    if program in _words("build_tools"):
        return _classify_build_tool(rest)
    return _classify_other(program, rest)


def _classify_other(program: str, rest: list[str]) -> str:
    if kind := _kind_by_word("programs").get(program):
        return kind
    first = next((word for word in rest if not word.startswith(("-", "+"))), "")
    if program == "ruff" and "format" in rest[:1]:
        return LINT if "--check" in rest or "--diff" in rest else ""
    if program == "cargo" and first == "fmt":
        return LINT if "--check" in rest else ""
    if program == "meson" and first == "setup":
        return ""
    if program == "cmake":
        return BUILD if "--build" in rest else ""
    if program == "R":
        return TESTS if rest[:2] == ["CMD", "check"] else ""
    if program == "node":
        return TESTS if "--test" in rest else ""
    if program == "xcodebuild":
        return TESTS if "test" in rest else BUILD if "build" in rest or not rest else ""
    if program in _words("formatters"):
        return LINT if _words("formatter_check_flags") & set(rest) else ""
    return str(_table("subcommands").get(program, {}).get(first, ""))


def _classify_python(rest: list[str]) -> str:
    """Classify ``python -m MODULE …`` and well-known scripts."""
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
    if rest[:1] == ["-m"] and len(rest) > 1:
        module, own = rest[1], rest[2:]
        if module == "build":
            return "" if _words("info_flags") & set(own) else BUILD
        if module == "unittest":
            return "" if {"-h", *_words("info_flags")} & set(own) else TESTS
        if module == "coverage" and own[:1] == ["run"]:
            return classify_program(("coverage", *own))
        return classify_program((module, *own))
    script = rest[0].rpartition("/")[2] if rest else ""
    known = {("manage.py", "test"): TESTS, ("setup.py", "test"): TESTS, ("setup.py", "build"): BUILD}
    kind = known.get((script, rest[1] if len(rest) > 1 else ""), "")
    return "" if _words("info_flags") & set(rest) else kind or (TESTS if script == "runtests.py" else "")


def _classify_script_runner(program: str, rest: list[str]) -> str:
    """Classify ``npm test``, ``npm run NAME``, ``yarn NAME``, ``bun test``."""
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _words("script_runner_value_flags") else rest[1:]
    if rest[:1] == ["workspace"]:
        rest = rest[2:]
    if not rest:
        return ""
    if rest[0] in ("run", "run-script"):
        names = [word for word in rest[1:] if not word.startswith("-")]
        return _classify_target_name(names[0]) if names else ""
    if rest[0] in _words("npm_test_names"):
        return TESTS
    if rest[0] in ("build", "lint") and program == "bun":
        return BUILD if rest[0] == "build" else ""
    if program in ("yarn", "pnpm"):
        return _classify_target_name(rest[0]) or classify_program(rest)
    return ""


def _classify_task_runner(program: str, rest: list[str]) -> str:
    """Classify make and similar programs by the names of their targets; make without a target builds."""
    names: list[str] = []
    skip = False
    for word in rest:
        if skip or word.startswith("-"):
            skip = not skip and word in _words("task_runner_value_flags")
        elif not ASSIGNMENT.match(word):
            names.append(word)
    if program in ("make", "gmake") and not names:
        return BUILD
    if program in ("nx", "turbo", "lerna", "rush") and names[:1] and names[0] in ("run", "run-many", "affected"):
        target = next((value for flag, value in pairwise(rest) if flag in ("-t", "--target")), "")
        names = [target] if target else [name.rpartition(":")[2] for name in names[1:]]
    return first_kind(_classify_target_name(name) for name in names)


def _classify_build_tool(rest: list[str]) -> str:
    """Classify Maven and Gradle by their goals, such as ``:app:testDebugUnitTest``; excluded ones do not count."""
    excluded = {value for flag, value in pairwise(rest) if flag in ("-x", "--exclude-task")}
    names = [word.rpartition(":")[2] for word in rest if not word.startswith("-") and word not in excluded]
    kinds = [
        _kind_by_word("build_goals").get(name) or (TESTS if re.match(r"test[A-Z]|\w+Test$", name) else "")
        for name in names
    ]
    if "test" in excluded or _words("skip_tests_flags") & set(rest):
        kinds = [BUILD if kind == TESTS else kind for kind in kinds]
    return first_kind(kinds)


def _classify_target_name(name: str) -> str:
    """Return the kind of a script or target by the convention for such names."""
    targets: Iterable[Mapping[str, str]] = load_toml(__package__, "runners.toml")["targets"]
    return next((target["kind"] for target in targets if re.fullmatch(target["pattern"], name)), "")


def first_kind(kinds: Iterable[str]) -> str:
    """Return the kind among ``kinds`` with the highest precedence; empty for none."""
    return min(filter(None, kinds), key=CHECK_KINDS.index, default="")
