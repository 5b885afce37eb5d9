"""The scripts that a command runs: files that the line writes or the project contains, tasks, playbooks, SQL files.

Invariant: files are read through ``ScriptFiles`` only, each that the command names; what cannot be read is no hazard.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from upbeat.core import lazy_re as re
from upbeat.core.destructive.hazard import arguments_of, word_set
from upbeat.core.destructive.nested import recipe_lines
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.package_data import load_toml
from upbeat.core.shell import SimpleCommand, Words
from upbeat.core.shell.wrappers import SHELLS

_INTERPRETERS: Mapping[str, str] = load_toml(__package__, "interpreters.toml")["file_after"]
_CODE_PROGRAM = re.compile(r"python[\d.]*|pypy3?|ruby[\d.]*|perl[\d.]*|php[\d.]*|lua[\d.]*|node(?:js)?")
_TASK_RUNNERS = word_set(load_toml(__package__, "interpreters.toml")["task_runners"])
_PLAY = re.compile(r"^[\s-]*(?:shell|command|raw|cmd|ansible\.builtin\.(?:shell|command|raw)):\s*(.+)$", re.MULTILINE)
_ABSENT = re.compile(r"^\s*(?:path|dest):\s*(\S+)\s*(?:\n\s+\w+:.*)*\n\s*state:\s*absent", re.MULTILINE)
_SHEBANG = re.compile(r"#!\s*(\S+)(?:\s+(?:-S\s+)?(\S+))?")
_HOOKS = re.compile(r"(?:^|/)\.git/hooks/")
MAX_SCRIPT_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class TaskScript:
    """A shell script that a task runs, with its arguments, in the folder ``cwd``."""

    text: str
    positional: Words = ()
    cwd: str = ""


class ScriptFiles(Protocol):
    """The files of this machine as they are now."""

    def read(self, path: str) -> str | None:
        """Return the text of a small regular file; ``path`` is absolute."""

    def tasks(self, words: Words, cwd: str) -> Sequence[TaskScript]:
        """Return the scripts of the task that ``words`` run: ``make TARGET``, ``npm run NAME``."""


@dataclass(frozen=True, slots=True)
class FoundScript:
    """A script: shell lines with their arguments, or code of another language."""

    text: str
    is_code: bool = False
    positional: Words = ()
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class ScriptReader:
    """Reads files from a folder: those that the line writes first, then those of this machine."""

    cwd: str
    written: Mapping[str, str]
    files: ScriptFiles | None = None

    def read(self, path: str, working_dir: str = "") -> str | None:
        """Return the text of a file; None if it is not known."""
        for name in (path, posixpath.normpath(path) if path else ""):
            if name in self.written:
                return self.written[name]
        if self.files is None or "$" in path + working_dir or working_dir == "?" or path.startswith("~"):
            return None
        return self.files.read(posixpath.normpath(posixpath.join(self.cwd, working_dir, path)))

    def scripts_of(self, command: SimpleCommand) -> Iterator[FoundScript]:
        """Yield the scripts that ``command`` runs."""
        words = command.words
        program = words[0]
        folder = posixpath.join(self.cwd, command.working_dir)
        if program in SHELLS or program in ("source", "."):
            yield from self._shell_script(command)
        elif language := _language_of(program):
            yield from self._code_file(command, language)
        elif command.program_path:
            yield from self._program_file(command)
        elif program == "ansible-playbook":
            yield from self._playbooks(command)
        elif program in _TASK_RUNNERS:
            if program in ("make", "gmake") and (text := self._written_makefile(words)):
                yield FoundScript("\n".join(recipe_lines(text)), cwd=folder)
            for task in self.files.tasks(words, folder) if self.files else ():
                yield FoundScript(task.text, False, task.positional, task.cwd)
        elif program == "git":
            yield from (FoundScript(text) for name, text in self.written.items() if _HOOKS.search(name))

    def _shell_script(self, command: SimpleCommand) -> Iterator[FoundScript]:
        words = command.words
        at = next((at for at, word in enumerate(words[1:], 1) if not word.startswith(("-", "+"))), 0)
        if not at or any(re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*", word) for word in words[1:at]):
            return
        if text := self.read(words[at], command.working_dir):
            yield self._by_shebang(text, words[at], words[at + 1 :])

    def _program_file(self, command: SimpleCommand) -> Iterator[FoundScript]:
        if text := self.read(command.program_path, command.working_dir):
            yield self._by_shebang(text, command.program_path, command.words[1:])

    def _by_shebang(self, text: str, path: str, positional: Words) -> FoundScript:
        shebang = _SHEBANG.match(text)
        program = (
            posixpath.basename((shebang[2] if shebang and shebang[1].endswith("env") else shebang[1]) or "")
            if shebang
            else ""
        )
        is_code = bool(_language_of(program)) or (
            not program and path.endswith((".py", ".rb", ".pl", ".js", ".mjs", ".php"))
        )
        return FoundScript(text[:MAX_SCRIPT_CHARS], is_code, positional)

    def _code_file(self, command: SimpleCommand, subcommands: str) -> Iterator[FoundScript]:
        words = command.words
        rest = words[1:]
        if rest[:1] and rest[0] in subcommands.split():
            rest = rest[1:]
        if {"-c", "-e", "-m", "--eval", "-r", "--check", "-p"} & set(rest[:2]) and words[0] not in ("go", "deno"):
            return
        for path in arguments_of(rest)[:1]:
            for name in (path, f"{path}/main.go") if words[0] == "go" else (path,):
                if text := self.read(name, command.working_dir):
                    yield FoundScript(text[:MAX_SCRIPT_CHARS], is_code=True)

    def _playbooks(self, command: SimpleCommand) -> Iterator[FoundScript]:
        for path in arguments_of(command.words[1:], frozenset({"-i", "-l", "-e", "--tags"})):
            text = self.read(path, command.working_dir) or ""
            lines = [match[1].strip("\"'") for match in _PLAY.finditer(text)]
            lines += [f"rm -rf {match[1]}" for match in _ABSENT.finditer(text)]
            if lines:
                yield FoundScript("\n".join(lines))

    def _written_makefile(self, words: Words) -> str | None:
        at = next((at for at, word in enumerate(words) if word in ("-f", "--file")), 0)
        return self.read(words[at + 1]) if at and at + 1 < len(words) else self.written.get("Makefile")


def _language_of(program: str) -> str:
    """Return the subcommands before the file that an interpreter runs, or a dash; empty if it is none."""
    return _INTERPRETERS.get(program) or ("-" if _CODE_PROGRAM.fullmatch(program) else "")


def is_code_program(program: str) -> bool:
    """Return whether ``program`` runs code in its arguments or on its input."""
    return bool(_language_of(program))
