"""Find everything that a shell line would destroy, the most severe first.

A line that cannot be parsed but looks destructive is asked about, and so is one that is too long or too deep. Work that
the line itself has committed or stashed, and containers and databases that it has created, are not lost later in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from upbeat.core import lazy_re as re
from upbeat.core.destructive import calls, files, git, services
from upbeat.core.destructive.detectors import detect_in_command
from upbeat.core.destructive.hazard import Hazard, Severity, ShellLocation
from upbeat.core.destructive.nested import NestedLine, find_nested_lines
from upbeat.core.destructive.scripts import FoundScript, ScriptFiles, ScriptReader, is_code_program
from upbeat.core.destructive.triggers import has_trigger, may_be_windows
from upbeat.core.lazy_dataclass import dataclass, field, replace
from upbeat.core.package_data import load_toml
from upbeat.core.shell import ParsedCommands, SimpleCommand, parse_commands
from upbeat.core.shell.commands import SIZE_GAP, SYNTAX_GAP
from upbeat.core.shell.wrappers import SHELLS

MAX_SCANNED_CHARS = 20_000
MAX_NESTING = 4
"""Maximum nesting of scripts and of lines in arguments."""
MAX_ITEMS = 50
LISTED_ITEM = "{}"
"""Stands for what ``xargs`` appends."""
ELSEWHERE = ShellLocation("/nowhere/remote", "/nowhere/remote")
"""Another machine or a container."""

_FORK_BOMB = re.compile(r"(?<![\w:])([\w:]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;?\s*\1")
_CREATING_WORDS = frozenset({"create", "run", "createdb"})
_STORED_KINDS = frozenset({"database", "containers", "cluster", "cloud", "data", "delete-outside"})
_PROJECT_KINDS = frozenset({"delete-changes", "delete-project", "git-changes", "git-new"})


def _destructive_text() -> str:
    """Return the expression of what looks destructive in a line that cannot be parsed."""
    return "".join(load_toml(__package__, "destructive_lines.toml")["texts"])


@lru_cache(maxsize=32)
def find_hazards(line: str, location: ShellLocation, files: ScriptFiles | None = None) -> tuple[Hazard, ...]:
    """Return what ``line`` would destroy at ``location``, the most severe first, without duplicates. Never raises.

    With ``files``, also what the scripts and tasks that it runs would destroy.
    """
    if not has_trigger(line):
        return ()
    line = line.replace("${IFS}", " ").replace("$IFS$9", " ").replace("$IFS", " ") if "IFS" in line else line
    hazards = dict.fromkeys(_Scan(location, files).scan_line(line))
    if not hazards and may_be_windows(line):
        from upbeat.core.destructive.windows import detect_windows

        reader = ScriptReader(location.cwd, {}, files)
        hazards = dict.fromkeys(detect_windows(line, location, reader.read))
    return tuple(sorted(hazards, key=lambda hazard: hazard.severity is not Severity.DENY))


@dataclass(slots=True)
class _Scan:
    """The scan of one line. ``created`` are the names of what it has created; ``depth`` counts nested scripts."""

    location: ShellLocation
    files: ScriptFiles | None = None
    depth: int = 0
    created: set[str] = field(default_factory=set)

    def scan_line(self, line: str, positional: tuple[str, ...] | None = None) -> Iterator[Hazard]:
        """Yield the hazards of a line or script."""
        if _FORK_BOMB.search(line[:MAX_SCANNED_CHARS]):
            yield Hazard("fork-bomb", Severity.DENY, "fork bomb")
        parsed = parse_commands(line, positional)
        is_saved = False
        for command in parsed.items:
            for hazard in self._scan_command(command, parsed):
                if is_saved and hazard.lost_path is not None:
                    hazard = replace(hazard, severity=hazard.severity_if_clean, lost_path=None)
                if hazard.severity is Severity.DENY and SYNTAX_GAP in parsed.gaps:
                    hazard = replace(hazard, severity=Severity.ASK)
                yield hazard
            is_saved = is_saved or (command.words[:1] == ("git",) and git.leaves_clean_tree(command))
        if SIZE_GAP in parsed.gaps:
            yield Hazard("unparsed", Severity.ASK, line.strip()[:80])
        elif SYNTAX_GAP in parsed.gaps and (match := re.search(_destructive_text(), line[:MAX_SCANNED_CHARS])):
            yield Hazard("unparsed", Severity.ASK, match[0].strip()[:80])

    def _scan_command(self, command: SimpleCommand, parsed: ParsedCommands) -> Iterator[Hazard]:
        reader = ScriptReader(self.location.cwd, parsed.written_files, self.files)
        command = _with_input(command, reader)
        if "xargs" in command.wrappers and command.words:
            listed = command.stdin_text.split()[:MAX_ITEMS] or [LISTED_ITEM]
            command = replace(command, words=(*command.words, *listed))
        is_own = not self.created.isdisjoint(command.words)
        for hazard in self._hazards_of(command, reader):
            if not (is_own and hazard.kind in _STORED_KINDS):
                yield hazard
        self._note_created(command)

    def _hazards_of(self, command: SimpleCommand, reader: ScriptReader) -> Iterator[Hazard]:
        words = command.words
        if words and not calls.is_only_shown(words):
            yield from detect_in_command(command, self.location)
        if command.redirects or words[:1] == ("tee",):
            yield from files.detect_redirects(command, self.location)
        if self.depth >= MAX_NESTING:
            return
        for nested in find_nested_lines(command):
            yield from self._scan_nested(nested, command)
        if not words:
            return
        if is_code_program(words[0]):
            yield from self._scan_code("\n".join((*words[1:], command.stdin_text)), command)
        if words[0] in SHELLS and command.stdin_text and command.piped_from[:1] == ("cat",):
            yield from self._scan_script(FoundScript(command.stdin_text), command)
        for script in reader.scripts_of(command):
            yield from self._scan_script(script, command)

    def _scan_nested(self, nested: NestedLine, command: SimpleCommand) -> Iterator[Hazard]:
        location = ELSEWHERE if nested.is_elsewhere else self.location
        inner = _Scan(location, None if nested.is_elsewhere else self.files, self.depth + 1, self.created)
        for hazard in inner.scan_line(nested.line):
            if hazard.kind in _PROJECT_KINDS and nested.is_elsewhere:
                continue
            if nested.is_disposable and hazard.kind not in _STORED_KINDS - {"delete-outside"}:
                continue
            here = self._on_this_machine(hazard, nested, command) if nested.mounts else hazard
            if here is not None:
                yield here

    def _on_this_machine(self, hazard: Hazard, nested: NestedLine, command: SimpleCommand) -> Hazard | None:
        """Return the hazard of a container's mounted folder as that of the folder on this machine."""
        for target, source in nested.mounts.items():
            if f"{hazard.target}/".startswith(f"{target.rstrip('/')}/"):
                path = (source.rstrip("/") + hazard.target[len(target.rstrip("/")) :]) or "/"
                removal = SimpleCommand(("rm", "-rf", path), working_dir=command.working_dir)
                return next(iter(files.detect_rm(removal, self.location)), None)
        return hazard if hazard.kind in _STORED_KINDS - {"delete-outside"} else None

    def _scan_code(self, code: str, command: SimpleCommand) -> Iterator[Hazard]:
        from upbeat.core.destructive.code import find_in_code

        for finding in find_in_code(code):
            match finding.kind:
                case "tree":
                    yield from files.detect_rimraf(replace(command, words=("rimraf", finding.text)), self.location)
                case "file":
                    yield from files.detect_unlink(replace(command, words=("rm", finding.text)), self.location)
                    for hazard in files.detect_rimraf(replace(command, words=("rm", finding.text)), self.location):
                        if hazard.kind in ("delete-system", "delete-home"):
                            yield hazard
                case "shell":
                    yield from _Scan(self.location, self.files, self.depth + 1).scan_line(finding.text)
                case "sql" if ":memory:" not in code:
                    yield from services.detect_sql_statements(finding.text, code)
                case "write":
                    yield from files.detect_overwritten(finding.text)
                case "truncate":
                    yield from files.detect_overwritten(finding.text)
                    yield from files.detect_emptied(finding.text, command, self.location)
                case "service":
                    yield Hazard("data", Severity.ASK, finding.text)

    def _scan_script(self, script: FoundScript, command: SimpleCommand) -> Iterator[Hazard]:
        """Yield the hazards of a script; what it deletes inside of the project is its purpose."""
        cwd = script.cwd or self.location.cwd
        inner = _Scan(replace(self.location, cwd=cwd), self.files, self.depth + 1, self.created)
        found = (
            inner._scan_code(script.text, command)
            if script.is_code
            else inner.scan_line(script.text, script.positional)
        )
        for hazard in found:
            if hazard.kind == "delete-changes":
                continue
            yield hazard if hazard.lost_path is None else replace(hazard, severity=Severity.ASK, lost_path=None)

    def _note_created(self, command: SimpleCommand) -> None:
        words = command.words
        if _CREATING_WORDS.isdisjoint(words[:4]):
            return
        self.created.update(value for flag, value in pairwise(words) if flag in ("--name", "-n"))
        if "run" not in words[:4] and not words[-1].startswith("-"):
            self.created.add(words[-1])


def _with_input(command: SimpleCommand, reader: ScriptReader) -> SimpleCommand:
    """Return ``command`` with the text of the file that it reads: ``< FILE``, or ``-f FILE`` of a database client."""
    names = [redirect.target for redirect in command.redirects if redirect.operator == "<"]
    if command.words and command.words[0] in services.SQL_PROGRAMS:
        names += services.sql_files(command.words)
    if command.piped_from[:1] == ("cat",) and not command.stdin_text:
        names += [word for word in command.piped_from[1:] if not word.startswith("-")]
    texts = [reader.read(name, command.working_dir) for name in names if not command.stdin_text]
    text = "\n".join(text for text in texts if text)
    return replace(command, stdin_text=text) if text else command
