"""Recognize test programs of the project itself: a compiled test binary, a test file that is run on its own."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from upbeat.core.shell.expand import UNKNOWN
from upbeat.core.shell.paths import Invocation
from upbeat.core.workflow.evidence.runner_calls import (
    PYTHON,
    ProjectFiles,
    Runner,
    RunnerCall,
    find_problem,
    is_below,
    match_runner,
)

_TEST_PATH = re.compile(r"(?:^|[/_.-])(?:[tT]ests?|[sS]pecs?|t|runtests|unittests?|check)(?:[/_.-]|$)|[tT]est")
_BINARY = Runner(
    "program",
    ("gtest", "catch2", "tap"),
    idle=frozenset({"--gtest_list_tests", "--list-tests", "-l", "--list", "-h", "--help"}),
)
_FRAMEWORKS: dict[str, tuple[re.Pattern[str], Runner]] = {
    "python": (
        re.compile(r"\b(?:TestCase|unittest\.main|TextTestRunner|pytest\.main|doctest\.test|django\.test|nose|trial)"),
        Runner("unittest", ("unittest", "pytest", "doctest", "tap"), idle=frozenset({"-h", "--help"})),
    ),
    "node": (
        re.compile(
            r"""(?:require\(|from|import)\s*\(?\s*["'](?:node:test|test|tape|tap|uvu|ava|mocha|jasmine|zora|qunit|brittle|jest|vitest)\b"""
        ),
        Runner("node", ("node", "tap", "mocha", "uvu", "jasmine"), idle=frozenset({"--check", "-c"})),
    ),
    "ruby": (
        re.compile(r"minitest|test/unit|rspec|test_helper|spec_helper"),
        Runner("minitest", ("minitest", "rspec"), idle=frozenset({"-c", "-h"})),
    ),
    "perl": (re.compile(r"\bTest2?::"), Runner("prove", ("tap",), idle=frozenset({"-c"}))),
    "php": (re.compile(r"PHPUnit|Tester|TAP"), Runner("phpunit", ("phpunit", "tap"), idle=frozenset({"-l"}))),
    "lua": (re.compile(r"busted|luaunit"), Runner("busted", ("busted", "tap", "unittest"))),
    "Rscript": (re.compile(r"testthat|tinytest"), Runner("testthat", ("testthat",))),
    "julia": (re.compile(r"using Test|@testset|Pkg\.test"), Runner("julia", ("julia",))),
}
_INLINE = {
    "Rscript": re.compile(r"(?:testthat|devtools)::(?:test|test_\w+|check)\("),
    "julia": re.compile(r"Pkg\.test\("),
    "R": re.compile(r"(?:testthat|devtools)::(?:test|test_\w+|check)\("),
}
_STARTERS = {
    "python": (
        re.compile(r"\bsubprocess\.|\bos\.exec"),
        re.compile(r"sys\.exit\(|SystemExit\(|check=True|check_call|os\.exec"),
        re.compile(r"\[\s*(?:sys\.executable,\s*[\"']-m[\"'],\s*)?[\"'](\w[^\]\n]*)|[(]\s*[\"'](\w[^\"']*)[\"']"),
    ),
    "node": (
        re.compile(r"child_process"),
        re.compile(r"process\.exit\(|exec(?:File)?Sync\(|process\.exitCode"),
        re.compile(r"(?:exec|spawn)\w*\(\s*[\"'`](?:npx )?(\w[^\"'`]*)"),
    ),
}
"""How a script starts a process, hands its exit code on, and what the words of a command are."""
_EXITS_WITH_0 = re.compile(r"exit\(\s*0?\s*\)|check=False|except\b|\bcatch\b")
_BUILD_FOLDERS = frozenset({"build", "out", "target", "bin", "_build", "cmake-build-debug", "dist", "obj", "zig-out"})


def match_own_program(invocation: Invocation, files: ProjectFiles, root: str) -> RunnerCall | None:
    """Return the call if the command is a test program of the project, with its problem if it has one."""
    words = invocation.words
    program = posixpath.basename(words[0])
    name = "python" if PYTHON.fullmatch(program) else "node" if program in ("node", "tsx", "ts-node") else program
    if name in _FRAMEWORKS and not (words[0].startswith((".", UNKNOWN))):
        return _match_script(invocation, name, files, root)
    if "/" not in words[0] or UNKNOWN in words[0]:
        return None
    path = posixpath.normpath(posixpath.join(invocation.cwd, words[0]))
    if not is_below(path, root):
        return None
    relative = posixpath.relpath(path, root)
    is_task = any(origin.startswith(("make ", "task ", "just ", "npm ")) for origin in invocation.origin)
    is_named = _TEST_PATH.search(relative) is not None
    is_script = (files.read(relative) or "").startswith("#!")
    if is_script or not (is_task or (is_named and set(relative.split("/")[:-1]) & _BUILD_FOLDERS)):
        return None
    return RunnerCall(invocation, _BINARY, words[1:], *find_problem(_BINARY, words[1:], root, invocation.cwd))


def _match_script(invocation: Invocation, name: str, files: ProjectFiles, root: str) -> RunnerCall | None:
    pattern, runner = _FRAMEWORKS[name]
    arguments = invocation.words[1:]
    inline = _INLINE.get(name)
    if inline and (code := _after(arguments, "-e")) and inline.search(code):
        return RunnerCall(invocation, runner, ())
    for word in arguments:
        if word in ("-c", "-e", "-m", "--eval", "-p"):
            return None
        if word.startswith("-"):
            continue
        path = posixpath.normpath(posixpath.join(invocation.cwd, word))
        text = files.read(posixpath.relpath(path, root)) if is_below(path, root) else None
        if text is not None and (runner_call := _starts_runner(invocation, name, text)):
            return runner_call
        if text is None or not pattern.search(text) or not _TEST_PATH.search(posixpath.relpath(path, root)):
            return None
        rest = arguments[arguments.index(word) + 1 :]
        return RunnerCall(invocation, runner, (word, *rest), *find_problem(runner, rest, root, invocation.cwd))
    return None


def _starts_runner(invocation: Invocation, name: str, text: str) -> RunnerCall | None:
    """Return the call if a script starts a test runner as a process and hands its exit code on."""
    starts, hands_on, words = _STARTERS.get(name, (None, None, None))
    if not (starts and hands_on and words and starts.search(text) and hands_on.search(text)) or _EXITS_WITH_0.search(
        text
    ):
        return None
    for found in words.finditer(text):
        matched = match_runner(re.findall(r"[\w./-]+", found[1] or found[found.lastindex or 0]))
        if matched:
            return RunnerCall(invocation, matched[0], ())
    return None


def _after(arguments: Sequence[str], option: str) -> str:
    at = arguments.index(option) if option in arguments else len(arguments)
    return arguments[at + 1] if at + 1 < len(arguments) else ""
