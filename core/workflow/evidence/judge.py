"""Decide whether a finished command line is evidence that tests pass, and if not, why.

A line is evidence if all of this holds: a test runner that upbeat knows (or a command that the settings name) ran the
tests; its exit code reaches the client; it ran on the tested tree, in an environment that the line does not bend; and
its own summary says that at least one test was executed and none failed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from upbeat.core.package_data import load_toml
from upbeat.core.shell.execute import execute
from upbeat.core.shell.expand import UNKNOWN
from upbeat.core.shell.paths import Invocation
from upbeat.core.workflow.evidence.judgement import NO_TEST_RUN, EvidenceRules, FinishedCommand, Judgement
from upbeat.core.workflow.evidence.program_calls import match_own_program
from upbeat.core.workflow.evidence.resolve import TaskResolver
from upbeat.core.workflow.evidence.runner_calls import (
    PYTHON,
    ProjectFiles,
    Runner,
    RunnerCall,
    canonical_words,
    find_problem,
    is_below,
    match_runner,
    runner_names,
    word_set,
)
from upbeat.core.workflow.evidence.summaries import Summary, clean_output, read_all_formats, read_summary

_GENERATORS = word_set("generators")
"""Files of build systems that write the rules of make and ninja outside of the tree's own files."""
_PACKAGE_RUNNERS = frozenset({"npx", "bunx", "pnpx", "uvx", "npm", "pnpm", "yarn", "uv", "pipx", "bun"})
_REWRITES_RESULTS = re.compile(r"outcome\s*=\s*[\"']passed|exitstatus\s*=[^=]|os\._exit\(")
"""In a conftest.py: code that changes the results of all tests."""
_REPORT = re.compile(r"junit|xml|json|tap|report|trx", re.IGNORECASE)
_REPORT_FORMATS = ("junit_xml", "json_report", "tap")
_STARTS_ANOTHER = re.compile(r"\b(?:exec|java|node|require\w*|load|import|include|use)\b")
"""What the launcher of a program in the tree does, in any language; a file without it only prints."""
MAX_COMPLETE_CHARS = 25_000
"""Longer output may have lost its end: clients cut it at some 30,000 characters."""
_PRINTERS = frozenset({"echo", "printf"})
_OTHER_VCS = frozenset({"hg", "svn", "jj", "sl", "fossil", "bzr", "p4", "gh"})
_VCS_VERBS = word_set("vcs_verbs")
_RUNS_ELSEWHERE = word_set("runs_elsewhere")
_TEST_NAME = re.compile(r"(?:^|[/_.:-])(?:tests?|specs?|check|ci|verify|e2e|unit)(?:$|[/_.:-])", re.IGNORECASE)
_GREP_LIKE = word_set("no_test_programs")


@dataclass
class _Line:
    """One line while it is judged."""

    finished: FinishedCommand
    files: ProjectFiles
    rules: EvidenceRules
    resolver: TaskResolver
    calls: list[RunnerCall] = field(default_factory=list)
    own: list[Invocation] = field(default_factory=list)


def judge_command(finished: FinishedCommand, files: ProjectFiles, rules: EvidenceRules) -> Judgement:
    """Return what a finished command line is worth as a test run."""
    resolver = TaskResolver(files, finished.root, rules.own_commands)
    execution = execute(finished.command, finished.cwd, finished.root, resolver)
    line = _Line(finished, files, rules, resolver)
    for invocation in execution.invocations:
        if resolver.is_own(invocation):
            line.own.append(invocation)
        elif invocation not in resolver.resolved and (call := _find_call(line, invocation)):
            line.calls.append(call)
    if not line.calls and not line.own:
        return _judge_without_runner(line, execution.invocations)
    scope = "; ".join(dict.fromkeys(call.scope for call in line.calls if call.scope))[:120]
    place = next((one.place for one in (*(call.invocation for call in line.calls), *line.own) if one.place), "")
    refusal, detail, executed = _find_refusal(line, execution.invocations, execution.proven, execution.masked)
    if not refusal and finished.exit_code == 0 and rules.needs_all_tests and scope and not line.own:
        refusal, detail = "subset", scope
    return Judgement(True, refusal, detail, scope, place, executed)


def _find_call(line: _Line, invocation: Invocation) -> RunnerCall | None:
    words = canonical_words(invocation)
    found = match_runner(words)
    if found is None:
        return match_own_program(invocation, line.files, line.finished.root)
    runner, arguments = found
    if words[0] in ("make", "ninja") and not any(map(line.files.exists, _GENERATORS)):
        return None  # its own rules say what it runs
    problem, detail = _find_shadow(line, invocation, words[0], runner)
    if not problem:
        configured = _config_words(line, invocation, runner)
        problem, detail = find_problem(runner, (*arguments, *configured), line.finished.root, invocation.cwd)
    return RunnerCall(invocation, runner, arguments, problem, detail)


def _config_words(line: _Line, invocation: Invocation, runner: Runner) -> tuple[str, ...]:
    """Return the options that the runner also reads from a file of options, such as ``.rspec``."""
    found: list[str] = []
    for folder in dict.fromkeys((invocation.cwd, line.finished.root)):
        relative = posixpath.relpath(posixpath.join(folder, runner.config), line.finished.root) if runner.config else ""
        found += (line.files.read(relative) or "").split() if relative and not relative.startswith("..") else []
    return tuple(word for word in found if word in runner.idle | runner.refused)


def _find_shadow(line: _Line, invocation: Invocation, program: str, runner: Runner) -> tuple[str, str]:
    """Return a file of the tree that takes the place of the runner, if one does."""
    is_module = any(PYTHON.fullmatch(posixpath.basename(word)) for word in invocation.words[:1])
    paths = dict(invocation.env).get("PYTHONPATH", "")
    if program in ("pytest", "py.test"):
        for name in ("conftest.py", "tests/conftest.py"):
            if _REWRITES_RESULTS.search(line.files.read(name) or ""):
                return "shadowed", name
    for name, pattern in runner.redefined:
        if re.search(pattern, line.files.read(name) or "", re.MULTILINE):
            return "shadowed", name
    given = next((word for word in invocation.words[:3] if posixpath.basename(word) == program), "")
    for name in (given, f"node_modules/.bin/{program}"):
        path = posixpath.normpath(posixpath.join(invocation.cwd, name)) if name else ""
        text = (
            (line.files.read(posixpath.relpath(path, line.finished.root)) or "")
            if is_below(path, line.finished.root)
            else ""
        )
        body = re.sub(r"^#!.*", "", text).strip()
        if body and not _STARTS_ANOTHER.search(body):
            return "shadowed", name
    folders = [invocation.cwd] if is_module else []
    folders += [
        posixpath.normpath(posixpath.join(invocation.cwd, path))
        for path in paths.split(":")
        if path and UNKNOWN not in path
    ]
    for folder in folders:
        if not is_below(folder, line.finished.root):
            if folder != invocation.cwd:
                return "environment", f"PYTHONPATH={paths}"
            continue
        for name in (f"{program}.py", f"{program}/__init__.py", "sitecustomize.py", "usercustomize.py"):
            relative = posixpath.relpath(posixpath.join(folder, name), line.finished.root)
            if program not in ("manage.py", "runtests.py") and line.files.exists(relative):
                return "shadowed", relative
    return "", ""


def _find_refusal(
    line: _Line, invocations: Sequence[Invocation], proven: Sequence[Invocation], masked: Sequence[Invocation]
) -> tuple[str, str, int]:
    """Return why the line is no evidence, what shows it, and how many tests ran."""
    runs = [*(call.invocation for call in line.calls), *line.own]
    checks: Iterable[tuple[str, str]] = (
        *((call.problem, call.detail) for call in line.calls if call.problem),
        *_other_problems(line, invocations),
        *filter(None, (_environment_problem(run, line.finished.root) for run in runs)),
        *filter(None, (_place_problem(line, run) for run in runs)),
        *_tree_problems(invocations, runs),
    )
    for refusal, detail in checks:
        return refusal, detail, 0
    recorded = line.finished.recorded_code
    code = line.finished.exit_code if recorded is None else recorded
    if code is None:
        return "exit_unknown", "", 0
    if code != 0:
        return "", "", 0
    if recorded is not None:
        return _summary_problem(line, line.calls, invocations)
    if any(run in masked for run in runs) or not any(run in proven for run in runs):
        return "hidden", " ".join(next((run for run in runs if run in masked), runs[0]).words)[:60], 0
    return _summary_problem(line, [call for call in line.calls if call.invocation in proven], invocations)


def _other_problems(line: _Line, invocations: Sequence[Invocation]) -> Iterator[tuple[str, str]]:
    """Yield what the tasks of the line say of themselves, such as ``make -n``."""
    runs = {call.invocation for call in line.calls}
    for invocation in invocations:
        if invocation in line.resolver.problems and (
            invocation not in runs or line.resolver.problems[invocation][0] != "unreadable_script"
        ):
            yield line.resolver.problems[invocation]


def _environment_problem(run: Invocation, root: str) -> tuple[str, str] | None:
    """Return the variable that changes which program runs or how, if the line sets one."""
    table = load_toml(__package__, "environment.toml")
    for name, value in run.env:
        if name == "PATH":
            is_harmless = _is_safe_path(value)
        elif name in ("MAKEFLAGS", "MFLAGS"):
            is_harmless = re.fullmatch(r"(?:-j ?\d*\s*)*", value) is not None
        elif re.fullmatch(table["refused"], name):
            is_harmless = False
        elif re.fullmatch(table["options"], name):
            is_harmless = all(re.fullmatch(table["harmless_words"], word) for word in value.split())
        elif re.fullmatch(table["folders"], name):
            folders = (posixpath.normpath(posixpath.join(run.cwd, folder)) for folder in value.split(":") if folder)
            is_harmless = all(UNKNOWN in folder or is_below(folder, root) for folder in folders)
        else:
            continue
        if not is_harmless:
            return "environment", f"{name}={value.replace(UNKNOWN, '$…')}"
    return None


def _is_safe_path(value: str) -> bool:
    """Return whether a PATH only adds the folders in which a project's own tools are installed."""
    parts = [part for part in value.split(":") if part]
    before = parts[: next((at for at, part in enumerate(parts) if part.startswith(UNKNOWN)), len(parts))]
    if len(before) == len(parts):
        return False
    return all(
        re.search(r"(?:node_modules/\.bin|\.?venv[\w.-]*/bin|vendor/bin|\.cargo/bin|\.local/bin|/go/bin)/?$", part)
        for part in before
    )


def _place_problem(line: _Line, run: Invocation) -> tuple[str, str] | None:
    """Return where a run works if that is not the tested tree."""
    root = line.finished.root
    if UNKNOWN in run.cwd:
        return "unknown_folder", ""
    if _PACKAGE_RUNNERS & set(run.wrappers):
        for word in run.source_words[: len(run.source_words) - len(run.words)]:
            path = re.sub(r"^(?:--?[\w-]+=|file:|-p(?=[/.]))", "", word)
            if path.startswith(("/", "../")) and not is_below(posixpath.normpath(posixpath.join(run.cwd, path)), root):
                return "outside", word
    if not is_below(run.cwd, root) or re.search(r"/(?:node_modules|site-packages)(?:/|$)", run.cwd[len(root) :]):
        return "outside", run.cwd
    folder = run.cwd
    while folder != root:
        if line.files.exists(posixpath.relpath(f"{folder}/.git", root)):
            return "outside", posixpath.relpath(folder, root)
        folder = posixpath.dirname(folder)
    if run.words[0].startswith(UNKNOWN):
        return "unexpanded", "$…"
    return None


def _tree_problems(invocations: Sequence[Invocation], runs: Sequence[Invocation]) -> Iterator[tuple[str, str]]:
    """Yield commands with which the tests run on other files than the line leaves behind."""
    order = {invocation: number for number, invocation in enumerate(invocations)}
    first, last = min(order[run] for run in runs), max(order[run] for run in runs)
    for invocation in invocations:
        words = invocation.words
        if words[0] == "git" and (verb := _git_verb(words[1:])):
            if order[invocation] < last and verb in ("stash", "checkout", "switch", "worktree", "reset", "bisect"):
                yield "other_tree", f"git {verb}"
            if order[invocation] > first and verb in (
                "stash pop",
                "checkout",
                "switch",
                "restore",
                "reset",
                "apply",
                "stash",
            ):
                yield "changed_after", f"git {verb}"
        elif words[0] in _OTHER_VCS and set(words[1:3]) & _VCS_VERBS and order[invocation] < last:
            yield "other_tree", " ".join(words[:3])
        elif order[invocation] > first and _changes_files(words):
            yield "changed_after", " ".join(words)[:60]


def _git_verb(arguments: Sequence[str]) -> str:
    """Return what git does to the tree; empty if it leaves the files of the tree as they are."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    left = [word for word in arguments[at:] if word]
    if not left:
        return ""
    verb, rest = left[0], left[1:]
    if verb == "stash":
        return (
            "stash pop"
            if rest[:1] in (["pop"], ["apply"])
            else ""
            if rest[:1] in (["list"], ["show"], ["drop"], ["clear"])
            else verb
        )
    if verb in ("checkout", "switch") and {"-b", "-c", "-B", "-C"} & set(rest):
        return ""
    if verb == "worktree":
        return verb if rest[:1] == ["add"] else ""
    return verb if verb in ("checkout", "switch", "restore", "reset", "apply", "bisect") else ""


def _changes_files(words: Sequence[str]) -> bool:
    program = posixpath.basename(words[0])
    if program in ("sed", "perl", "gsed"):
        return any(re.match(r"-\w*i|--in-place", word) for word in words[1:3])
    if program in ("mv", "cp"):
        paths = [word for word in words[1:] if not word.startswith("-")]
        return len(paths) > 1 and paths[0].startswith("/") and not paths[-1].startswith("/")
    return program == "patch"


def _summary_problem(
    line: _Line, calls: Sequence[RunnerCall], invocations: Sequence[Invocation]
) -> tuple[str, str, int]:
    """Read the summaries: at least one test must have been executed, and none may have failed."""
    output = clean_output(_without_printed_text(line.finished.output, invocations))
    if line.own and not calls:
        summary = read_all_formats(output)
        return (
            ("failed_in_output", "", 0) if summary and summary.failed else ("", "", summary.executed if summary else 0)
        )
    found: list[Summary] = []
    silent: list[RunnerCall] = []
    for call in calls:
        writes_report = any(_REPORT.search(word) for word in call.arguments)
        summary = read_summary(output, (*call.runner.summary, *(_REPORT_FORMATS if writes_report else ())))
        found += [summary] if summary else []
        silent += [] if summary else [call]
    if any(summary.failed for summary in found):
        return "failed_in_output", "", 0
    executed = sum(summary.executed for summary in found)
    if executed:
        return "", "", executed
    if found:
        return "nothing_ran", "", 0
    names = sorted({call.runner.name for call in silent})
    is_partial = len(line.finished.output) >= MAX_COMPLETE_CHARS or re.search(
        r"[|>]", line.finished.command.replace("2>&1", "")
    )
    is_certain = all(call.is_strict and "xargs" not in call.invocation.wrappers for call in silent)
    if is_partial and is_certain and not _says_nothing_ran(output):
        return "", "", 0
    return "no_summary", ", ".join(names), 0


def _says_nothing_ran(output: str) -> bool:
    return bool(
        re.search(
            r"^\W*(?:no tests?\b|0 tests\b|collected 0 items|.*\btests? collected\b|usage:)",
            output,
            re.MULTILINE | re.IGNORECASE,
        )
    )


def _without_printed_text(output: str, invocations: Sequence[Invocation]) -> str:
    """Return ``output`` without the lines that the command line itself prints with ``echo`` and ``printf``."""
    printed = {
        text.strip()
        for invocation in invocations
        if invocation.words[0] in _PRINTERS
        for word in (*invocation.words[1:], " ".join(invocation.words[1:]))
        for text in word.replace("\\n", "\n").split("\n")
        if text.strip()
    }
    return "\n".join(line for line in output.split("\n") if line.strip() not in printed)


def _judge_without_runner(line: _Line, invocations: Sequence[Invocation]) -> Judgement:
    """Return why a line that looks like a test run is none."""
    for invocation in invocations:
        if (
            invocation.words in line.rules.untrusted_commands
            or invocation.source_words in line.rules.untrusted_commands
        ):
            return Judgement(True, "untrusted_command", " ".join(invocation.words))
    found = next(_other_problems(line, invocations), None)
    if found and (found[0].startswith("container") or any(_looks_like_tests(one) for one in invocations)):
        return Judgement(True, *found)
    suspects = [one for one in invocations if _looks_like_tests(one)]
    if not suspects:
        return NO_TEST_RUN
    suspect = suspects[0]
    shown = " ".join(suspect.source_words)[:60].replace(UNKNOWN, "$…")
    if posixpath.basename(suspect.words[0]) in _RUNS_ELSEWHERE:
        return Judgement(True, "elsewhere", suspect.words[0])
    if "/" in suspect.words[0] and posixpath.basename(suspect.words[0]) in runner_names():
        return Judgement(True, "shadowed", suspect.words[0])
    return Judgement(True, "no_runner", shown)


def _looks_like_tests(invocation: Invocation) -> bool:
    """Return whether a command that runs no known runner was probably meant to run tests."""
    words = invocation.words
    program = posixpath.basename(words[0])
    if program in _GREP_LIKE or invocation.source_words[0] in _GREP_LIKE:
        return False
    if program in _RUNS_ELSEWHERE:
        return any(word in _COMMON_RUNNERS or _TEST_NAME.search(word) for word in words[1:])
    if _TEST_NAME.search(program) or program in _COMMON_RUNNERS:
        return True
    named = [word for word in words[1:4] if not word.startswith("-")]
    return program in _TASK_PROGRAMS and any(_TEST_NAME.search(word) for word in named)


_TASK_PROGRAMS = word_set("task_programs")
_COMMON_RUNNERS = word_set("common_runners")
