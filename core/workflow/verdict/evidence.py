"""Check whether a claim ("the tests pass") is backed by a command that really ran.

Invariant: the latest run of a kind decides. A run counts only for the files it ran on, and never if something else on
its command line hides its exit code.

If the tree digest could not be computed in time, exit code 0 counts and the reason says so: otherwise nothing could
ever pass in a repository too large to digest.

Which programs run tests is in ``evidence/test_runners.toml``; which build, lint or check types, in ``checks.toml``. A
program call is its words, the program
first, without wrappers (``shell.unwrap``); one that only shows, lists or plans is no check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Any

from upbeat.core.messages.catalogue import load_messages
from upbeat.core.package_data import load_toml
from upbeat.core.sanitize.text import sanitize_inline
from upbeat.core.shell import unwrap
from upbeat.core.shell.execute import execute
from upbeat.core.shell.paths import Invocation
from upbeat.core.shell.wrappers import ASSIGNMENT
from upbeat.core.workflow.evidence.runner_calls import canonical_words, match_runner, runner_names
from upbeat.core.workflow.state import Evidence

TESTS = "tests"
BUILD = "build"
LINT = "lint"
TYPES = "types"
CHECK_KINDS = (TESTS, BUILD, TYPES, LINT)
"""By precedence, when one line does several of them."""

MAX_COMMAND_CHARS = 80
_MAYBE_TESTS = re.compile(r"(?i)test|spec|check|verify|\bci\b|e2e|\bunit|\.sh\b|\bupbeat\b")


class EvidenceStatus(StrEnum):
    """What the evidence is worth."""

    VERIFIED = "verified"
    UNCHECKED = "unchecked"
    """Exit code 0, but the files could not be compared."""
    CONTRADICTED = "contradicted"
    EXPIRED = "expired"
    MISSING = "missing"
    EXIT_CODE_UNKNOWN = "exit_code_unknown"
    EXIT_CODE_HIDDEN = "exit_code_hidden"
    """It ran, and its command line hides the exit code, as in ``pytest | tail``."""
    REFUSED = "refused"
    """It ran, and does not count for another reason."""


PROVEN_STATUSES = (EvidenceStatus.VERIFIED, EvidenceStatus.UNCHECKED)


@dataclass(frozen=True, slots=True)
class CommandChecks:
    """The checks that a command line runs.

    ``proven_kind`` is proven by exit code 0; ``masked_kind`` runs but is not proven by the exit code.
    """

    proven_kind: str = ""
    masked_kind: str = ""


NO_CHECKS = CommandChecks()


@dataclass(frozen=True, slots=True)
class EvidenceResult:
    """Whether the claim is proven, and why: one clause for users and models."""

    is_proven: bool
    reason: str
    status: EvidenceStatus
    note: str = ""
    """What is special about the run that proves it (``describe_run``)."""


def inspect_command(command: str) -> CommandChecks:
    """Return the checks that ``command``, one shell command line, runs."""
    if not mentions_runner(command):
        return CommandChecks()
    execution = execute(command)
    masked = [one for one in execution.invocations if one in execution.masked or one not in execution.proven]
    groups = [one for one in execution.proven if one not in execution.masked], masked
    kinds = (first_kind(classify_check(unwrap(one.words)) for one in group) for group in groups)
    return CommandChecks(*kinds)


def may_be_check(command: str) -> bool:
    """Return whether ``command`` may run a check, also one that is only evidence by the project's settings. Fast."""
    return mentions_runner(command) or _MAYBE_TESTS.search(command) is not None


def check_evidence(kind: str, evidence: tuple[Evidence, ...], tree_digest: str, language: str = "en") -> EvidenceResult:
    """Return whether the latest of ``evidence`` proves ``kind`` for the files with this ``tree_digest``.

    A run with a hidden exit code does not replace an earlier proof, and proves nothing itself.
    """
    runs = [run for run in reversed(evidence) if run.kind == kind]
    latest = next((run for run in runs if not run.is_hidden), None)
    status = _evidence_status(latest, tree_digest)
    if status not in PROVEN_STATUSES and runs and runs[0].is_hidden:
        latest, status = runs[0], EvidenceStatus.REFUSED if runs[0].refusal else EvidenceStatus.EXIT_CODE_HIDDEN
    messages = load_messages("workflow", language)
    kinds = messages.group("check_kinds")
    command = " ".join(latest.command.split()) if latest else ""
    reason = messages.group("evidence")[status].format(
        kind=kinds.get(kind, kind),
        command=command if len(command) <= MAX_COMMAND_CHARS else command[: MAX_COMMAND_CHARS - 1] + "…",
        code="" if latest is None or latest.exit_code is None else str(latest.exit_code),
        refusal=format_refusal(latest.refusal, latest.refusal_detail, language) if latest and latest.refusal else "",
    )
    is_proven = status in PROVEN_STATUSES
    return EvidenceResult(is_proven, reason, status, describe_run(latest, language) if latest and is_proven else "")


def format_refusal(refusal: str, detail: str, language: str = "en") -> str:
    """Return why a run is no evidence, and what would count."""
    text: str = load_messages("workflow", language).group("refusals")[refusal]
    return text.format(detail=sanitize_inline(detail, MAX_COMMAND_CHARS))


def describe_run(run: Evidence, language: str = "en") -> str:
    """Return what is special about a run that is evidence: only some tests, in a container; empty if nothing is."""
    notes = load_messages("workflow", language).group("evidence_notes")
    parts = [notes["subset"].format(scope=sanitize_inline(run.scope, MAX_COMMAND_CHARS))] if run.scope else []
    return ", ".join([*parts, *([notes["container"]] if run.place else [])])


def _evidence_status(latest: Evidence | None, tree_digest: str) -> EvidenceStatus:
    if latest is None:
        return EvidenceStatus.MISSING
    if latest.exit_code is None:
        return EvidenceStatus.EXIT_CODE_UNKNOWN
    if latest.exit_code != 0:
        return EvidenceStatus.CONTRADICTED
    if not latest.tree_digest or not tree_digest:
        return EvidenceStatus.UNCHECKED
    return EvidenceStatus.VERIFIED if latest.tree_digest == tree_digest else EvidenceStatus.EXPIRED


# Programs


def _table(name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = load_toml(__package__, "checks.toml")[name]
    return table


@cache
def _words(name: str, key: str = "") -> frozenset[str]:
    """Return the words of the string ``name``, or of ``key`` in the table ``name``."""
    tables = load_toml(__package__, "checks.toml")
    return frozenset((tables[name].get(key, "") if key else tables[name]).split())


@cache
def _kind_by_word(name: str) -> Mapping[str, str]:
    """Return the table ``name``, which lists the words of each kind, turned around."""
    return {word: kind for kind, words in _table(name).items() for word in words.split()}


@cache
def _maybe_check_command() -> re.Pattern[str]:
    lists = ("formatters", "script_runners", "task_runners", "build_tools", "other_programs")
    names = {*_kind_by_word("programs"), *_table("subcommands"), *runner_names()}.union(*map(_words, lists))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(map(re.escape, names)))})(?![\w-])")


def mentions_runner(command: str) -> bool:
    """Return whether a command line contains a word that ``classify_program`` may recognize. Fast."""
    return _maybe_check_command().search(command) is not None


def classify_program(words: Sequence[str]) -> str:
    """Return the kind of check that ``words`` (unwrapped) run: one of ``CHECK_KINDS``, or empty."""
    is_test_run = words and match_runner(canonical_words(Invocation(tuple(words), tuple(words), "")))
    return TESTS if is_test_run else classify_check(words)


def classify_check(words: Sequence[str]) -> str:
    """Return the kind of check other than tests that ``words`` (unwrapped) run, or empty."""
    if not words:
        return ""
    program, rest = words[0], list(words[1:])
    if re.fullmatch(r"python[\d.]*|pypy3?|py", program):
        return _classify_python(rest)
    if (_words("info_flags") | _words("no_op_flags", program)) & set(rest):
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
    if program == "xcodebuild":
        return BUILD if "build" in rest or not rest else ""
    if program in _words("formatters"):
        return LINT if _words("formatter_check_flags") & set(rest) else ""
    return str(_table("subcommands").get(program, {}).get(first, ""))


def _classify_python(rest: list[str]) -> str:
    """Classify ``python -m MODULE …`` and ``python setup.py build``."""
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
    if rest[:1] == ["-m"] and rest[1:2] != ["build"]:
        return classify_check(rest[1:])
    script = rest[0].rpartition("/")[2] if rest else ""
    is_build = rest[:2] == ["-m", "build"] or (script, *rest[1:2]) == ("setup.py", "build")
    return BUILD if is_build and not _words("info_flags") & set(rest) else ""


def _classify_script_runner(program: str, rest: list[str]) -> str:
    """Classify ``npm run NAME``, ``yarn NAME``, ``bun build``."""
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _words("script_runner_value_flags") else rest[1:]
    if rest[:1] == ["workspace"]:
        rest = rest[2:]
    if not rest:
        return ""
    if rest[0] in ("run", "run-script"):
        names = [word for word in rest[1:] if not word.startswith("-")]
        return _classify_target_name(names[0]) if names else ""
    if rest[0] in ("build", "lint") and program == "bun":
        return BUILD if rest[0] == "build" else ""
    if program in ("yarn", "pnpm"):
        return _classify_target_name(rest[0]) or classify_check(rest)
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
    """Classify Maven and Gradle by their goals, such as ``:app:assemble``."""
    goals = (word.rpartition(":")[2] for word in rest if not word.startswith("-"))
    return BUILD if _words("build_goals").intersection(goals) else ""


def _classify_target_name(name: str) -> str:
    """Return the kind of a script or target by the convention for such names."""
    targets: Iterable[Mapping[str, str]] = load_toml(__package__, "checks.toml")["targets"]
    return next((target["kind"] for target in targets if re.fullmatch(target["pattern"], name)), "")


def first_kind(kinds: Iterable[str]) -> str:
    """Return the kind among ``kinds`` with the highest precedence; empty for none."""
    return min(filter(None, kinds), key=CHECK_KINDS.index, default="")
