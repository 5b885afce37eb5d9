"""Which commands run tests, build, lint or check types. Law: a table; nothing here knows the shell.

A command is the words of one program call, the program first, without what only wraps it (``shell.unwrap``). One that
only shows, lists or plans is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..shell.wrappers import ASSIGNMENT

TESTS = "tests"
BUILD = "build"
LINT = "lint"
TYPES = "types"
KINDS = (TESTS, BUILD, TYPES, LINT)
"""In the order in which they count, when one line does several of them."""

_SHOWS = frozenset({"--help", "--version", "--usage", "--dry-run", "--dryrun", "--list", "--list-tests", "--listTests"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- programs --------------------------------------------------------------------------------------------

_ALWAYS: dict[str, str] = {
    TESTS: """
        pytest py.test nosetests nose2 ward behave robot trial jest vitest mocha ava tap jasmine karma testcafe
        gotestsum ctest rspec cucumber minitest phpunit pest paratest codecept behat bats busted prove tox nox green
        stestr""",
    BUILD: "ninja webpack rollup esbuild msbuild javac tsup ncc parcel",
    LINT: """
        flake8 pylint eslint stylelint rubocop shellcheck hadolint ktlint swiftlint markdownlint markdownlint-cli2
        yamllint actionlint lint-imports bandit pycodestyle pydocstyle phpcs clang-tidy standard xo oxlint ansible-lint
        staticcheck golint tflint cspell codespell vulture""",
    TYPES: "mypy pyright basedpyright pytype pyre tsc vue-tsc svelte-check phpstan psalm dmypy",
}
_PROGRAMS = {program: kind for kind, programs in _ALWAYS.items() for program in programs.split()}

_SUBCOMMANDS: dict[str, dict[str, str]] = {
    "go": {"test": TESTS, "build": BUILD, "install": BUILD, "vet": LINT},
    "cargo": {
        "test": TESTS,
        "t": TESTS,
        "nextest": TESTS,
        "build": BUILD,
        "b": BUILD,
        "check": BUILD,
        "c": BUILD,
        "clippy": LINT,
    },
    "dotnet": {"test": TESTS, "vstest": TESTS, "build": BUILD, "publish": BUILD},
    "mix": {"test": TESTS, "compile": BUILD, "credo": LINT, "dialyzer": TYPES},
    "deno": {"test": TESTS, "lint": LINT, "check": TYPES, "compile": BUILD},
    "swift": {"test": TESTS, "build": BUILD},
    "flutter": {"test": TESTS, "build": BUILD, "analyze": LINT},
    "dart": {"test": TESTS, "analyze": LINT},
    "sbt": {"test": TESTS, "compile": BUILD},
    "lein": {"test": TESTS, "compile": BUILD},
    "stack": {"test": TESTS, "build": BUILD},
    "cabal": {"test": TESTS, "build": BUILD},
    "bazel": {"test": TESTS, "build": BUILD},
    "bazelisk": {"test": TESTS, "build": BUILD},
    "rake": {"test": TESTS, "spec": TESTS, "default": TESTS},
    "rails": {"test": TESTS, "spec": TESTS},
    "composer": {"test": TESTS},
    "playwright": {"test": TESTS},
    "cypress": {"run": TESTS},
    "wdio": {"run": TESTS},
    "ng": {"test": TESTS, "build": BUILD, "lint": LINT, "e2e": TESTS},
    "vite": {"build": BUILD},
    "next": {"build": BUILD, "lint": LINT},
    "nuxt": {"build": BUILD, "typecheck": TYPES},
    "astro": {"build": BUILD, "check": TYPES},
    "meson": {"test": TESTS, "compile": BUILD},
    "cmake": {"--build": BUILD},
    "ruff": {"check": LINT},
    "biome": {"check": LINT, "lint": LINT, "ci": LINT},
    "golangci-lint": {"run": LINT},
    "pre-commit": {"run": LINT},
    "sqlfluff": {"lint": LINT},
    "ty": {"check": TYPES},
    "flow": {"check": TYPES},
    "srb": {"tc": TYPES},
    "hatch": {"test": TESTS, "build": BUILD},
    "rye": {"test": TESTS, "lint": LINT, "build": BUILD},
    "poetry": {"build": BUILD},
    "uv": {"build": BUILD},
    "zig": {"test": TESTS, "build": BUILD},
    "forge": {"test": TESTS, "build": BUILD},
    "django-admin": {"test": TESTS},
    "R": {"CMD": TESTS},
}
"""Program -> its first word that is no option -> what that does."""

_CHECKERS = frozenset({"black", "isort", "prettier", "autopep8", "yapf", "dprint", "taplo", "gofumpt"})
"""Programs that lint only when they are asked to check, and otherwise write."""
_CHECKS = _words("--check --check-only --diff -c -l --list-different check")

_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_RUNNER_VALUES = _words("--prefix --filter -F -C --dir --cwd -w --workspace")
_NPM_TEST = _words("test t tst")
_TASK_RUNNERS = frozenset({"make", "gmake", "just", "task", "nx", "turbo", "lerna", "rush", "invoke", "inv", "doit"})
_TASK_VALUES = _words("-C -f -j --directory --file --justfile -p --filter --projects -t --targets --parallel")
_BUILD_TOOLS = frozenset({"mvn", "mvnw", "gradle", "gradlew"})

_NAMES: tuple[tuple[str, str], ...] = (
    (r"(?:\w+[:_-])?(?:tests?|specs?|unit|e2e|integration|pytest|jest|vitest|check|checks|verify|ci)", TESTS),
    (r"(?:tests?|specs?|unit|e2e|check|ci|verify)[:_-](?!watch|debug|ui\b|open|update).+", TESTS),
    (r"(?:\w+[:_-])?(?:lint|eslint|clippy|ruff|format-check|fmt-check|prettier-check)(?:[:_-].+)?", LINT),
    (r"(?:format|fmt|prettier|style)[:_-]check", LINT),
    (r"(?:\w+[:_-])?(?:types?|typecheck|type-check|check-types|types-check|tsc|mypy|pyright)(?:[:_-].+)?", TYPES),
    (r"check[:_-]types?|type[:_-]check", TYPES),
    (r"(?:\w+[:_-])?(?:build|compile|bundle)(?:[:_-](?!watch).+)?|all|dist", BUILD),
)
_GOALS = {
    **dict.fromkeys(("test", "verify", "install", "package", "integration-test", "deploy", "check", "build"), TESTS),
    **dict.fromkeys(("compile", "test-compile", "assemble", "classes", "jar"), BUILD),
}

_SKIPS_TESTS = _words("-DskipTests -DskipTests=true -Dmaven.test.skip -Dmaven.test.skip=true")

_NOT_RUN: dict[str, str] = {
    "pytest": "--collect-only --co --setup-plan --fixtures --markers --cache-show -h -V --trace-config --setup-only",
    "py.test": "--collect-only --co --setup-plan --fixtures --markers -h -V",
    "unittest": "-h",
    "jest": "--showConfig --init -h --clearCache --passWithNoTests --watch --watchAll",
    "vitest": "list init --passWithNoTests --watch -w watch -h",
    "mocha": "-h -V --watch -w",
    "go": "-c -list -n",
    "cargo": "--no-run -h",
    "ctest": "-N --show-only --print-labels -h",
    "tox": "-l --listenvs -a -h --notest -n config list devenv",
    "nox": "-l --list-sessions -h --install-only",
    "make": "-n --just-print --recon -q --question -t --touch -i --ignore-errors -p -h",
    "mvn": "-fn --fail-never -v -h -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true",
    "gradle": "-m -h -v",
    "dotnet": "-t -h",
    "rspec": "-h -v",
    "npm": "--if-present",
    "pnpm": "--if-present",
    "pylint": "--exit-zero -h --list-msgs",
    "flake8": "--exit-zero -h",
    "ruff": "--exit-zero -e -h --show-settings --show-files",
    "just": "-n -l --evaluate --show -s --summary",
    "bats": "-c --count -h",
    "playwright": "-h",
    "tsc": "-h -v --init --showConfig --listFilesOnly -w --watch",
    "mypy": "-h -V",
    "phpunit": "--list-suites --list-groups -h",
    "node": "-h -v --watch",
    "eslint": "-h -v --init --print-config --env-info",
    "bazel": "--nobuild --build_tests_only=false",
}
"""Program -> words with which it does not do its work, or says nothing about it when it ends."""
_NOT_RUN |= {"mvnw": _NOT_RUN["mvn"], "gradlew": _NOT_RUN["gradle"], "gmake": _NOT_RUN["make"]}
_IDLE = {program: _words(flags) for program, flags in _NOT_RUN.items()}
_RUNS_NOTHING = re.compile(r"-(?:test\.)?run[= ]['\"]?\^?\$['\"]?(?: |$)")

MENTIONS = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(
        sorted(
            map(
                re.escape,
                {*_PROGRAMS, *_SUBCOMMANDS, *_CHECKERS, *_RUNNERS, *_TASK_RUNNERS, *_BUILD_TOOLS, "unittest", "node"}
                | {"manage.py", "setup.py", "xcodebuild", "python", "coverage", "perl"},
            )
        )
    )
    + r")(?![\w-])"
)
"""What a command line has at least, if it is to be more than nothing."""


def kind_of_program(words: Sequence[str]) -> str:
    """What the command ``words`` (unwrapped) does: one of ``KINDS``, or nothing."""
    if not words:
        return ""
    program, rest = words[0], list(words[1:])
    if re.fullmatch(r"python[\d.]*|pypy3?|py", program):
        return _of_python(rest)
    if program == "coverage" and rest[:1] == ["run"]:
        return _of_python(rest[rest.index("-m") :]) if "-m" in rest else ""
    if _SHOWS & set(rest) or _IDLE.get(program, frozenset()) & set(rest):
        return ""
    if program == "go" and _RUNS_NOTHING.search(" ".join(rest)):
        return ""
    if program in _RUNNERS:
        return _of_runner(program, rest)
    if program in _TASK_RUNNERS:
        return _of_tasks(program, rest)
    if program in _BUILD_TOOLS:
        return _of_build_tool(rest)
    return _of_other(program, rest)


def _of_other(program: str, rest: list[str]) -> str:
    if program in _PROGRAMS:
        return _PROGRAMS[program]
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
    if program in _CHECKERS:
        return LINT if _CHECKS & set(rest) else ""
    return _SUBCOMMANDS.get(program, {}).get(first, "")


def _of_python(rest: list[str]) -> str:
    """``python -m MODULE …`` and the scripts that are known by name."""
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
    if rest[:1] == ["-m"] and len(rest) > 1:
        module, own = rest[1], rest[2:]
        if module == "build":
            return "" if _SHOWS & set(own) else BUILD
        if module == "unittest":
            return "" if {"-h", *_SHOWS} & set(own) else TESTS
        if module == "coverage" and own[:1] == ["run"]:
            return kind_of_program(("coverage", *own))
        return kind_of_program((module, *own))
    script = rest[0].rpartition("/")[2] if rest else ""
    known = {("manage.py", "test"): TESTS, ("setup.py", "test"): TESTS, ("setup.py", "build"): BUILD}
    found = known.get((script, rest[1] if len(rest) > 1 else ""), "")
    return "" if _SHOWS & set(rest) else found or (TESTS if script == "runtests.py" else "")


def _of_runner(program: str, rest: list[str]) -> str:
    """npm and its kin: ``npm test``, ``npm run NAME``, ``yarn NAME``, ``bun test``."""
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _RUNNER_VALUES else rest[1:]
    if rest[:1] == ["workspace"]:
        rest = rest[2:]
    if not rest:
        return ""
    if rest[0] in ("run", "run-script"):
        names = [word for word in rest[1:] if not word.startswith("-")]
        return _of_name(names[0]) if names else ""
    if rest[0] in _NPM_TEST:
        return TESTS
    if rest[0] in ("build", "lint") and program == "bun":
        return BUILD if rest[0] == "build" else ""
    if program in ("yarn", "pnpm"):
        return _of_name(rest[0]) or kind_of_program(rest)
    return ""


def _of_tasks(program: str, rest: list[str]) -> str:
    """make and its kin: the names of the targets; make without one builds."""
    names: list[str] = []
    skip = False
    for word in rest:
        if skip or word.startswith("-"):
            skip = not skip and word in _TASK_VALUES
        elif not ASSIGNMENT.match(word):
            names.append(word)
    if program in ("make", "gmake") and not names:
        return BUILD
    if program in ("nx", "turbo", "lerna", "rush") and names[:1] and names[0] in ("run", "run-many", "affected"):
        target = next((value for flag, value in pairwise(rest) if flag in ("-t", "--target")), "")
        names = [target] if target else [name.rpartition(":")[2] for name in names[1:]]
    return _most(_of_name(name) for name in names)


def _of_build_tool(rest: list[str]) -> str:
    """Maven and Gradle: their goals and tasks, ``:app:testDebugUnitTest`` too; excluded ones do not count."""
    excluded = {value for flag, value in pairwise(rest) if flag in ("-x", "--exclude-task")}
    names = [word.rpartition(":")[2] for word in rest if not word.startswith("-") and word not in excluded]
    kinds = [_GOALS.get(name) or (TESTS if re.match(r"test[A-Z]|\w+Test$", name) else "") for name in names]
    if "test" in excluded or _SKIPS_TESTS & set(rest):
        kinds = [BUILD if kind == TESTS else kind for kind in kinds]
    return _most(kinds)


def _of_name(name: str) -> str:
    """What a script or target of this name does, by custom."""
    for pattern, kind in _NAMES:
        if re.fullmatch(pattern, name):
            return kind
    return ""


def _most(kinds: Iterable[str]) -> str:
    found = set(kinds)
    return next((kind for kind in KINDS if kind in found), "")
