"""Find out what a command of the project runs: a script of the tree, a task of a Makefile, a command in a container.

Invariant: only files of the tested tree are read, through ``ProjectFiles``. What cannot be read stays a program.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from upbeat.core.package_data import parse_toml
from upbeat.core.shell.expand import UNKNOWN
from upbeat.core.shell.paths import Invocation, Script
from upbeat.core.shell.wrappers import ASSIGNMENT, SHELLS
from upbeat.core.workflow.evidence import task_files
from upbeat.core.workflow.evidence.containers import built_image, read_container_command
from upbeat.core.workflow.evidence.makefile import parse_makefile, scripts_of_target
from upbeat.core.workflow.evidence.package_managers import listed_scripts, package_scripts, take_option
from upbeat.core.workflow.evidence.rakefile import rake_task
from upbeat.core.workflow.evidence.runner_calls import (
    PROGRAM_FOLDERS,
    PYTHON,
    ProjectFiles,
    is_below,
    match_runner,
    word_set,
)

PACKAGE_MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun"})
_ACTIVATE = re.compile(
    r"(?:^|/)(?:bin|Scripts)/activate(?:\.\w+)?$|(?:^~|/home/\w+|/root|/etc|/opt|/usr)/[\w./-]*"
    r"(?:nvm|env|profile|rc|asdf|conda|sdkman-init|activate|export|bash_completion|rvm|functions)(?:\.\w+)?$"
)
"""Files that only extend PATH, as programs install them."""


@dataclass
class TaskResolver:
    """Resolves the commands of one line."""

    files: ProjectFiles
    root: str
    own_commands: Sequence[tuple[str, ...]] = ()
    """Commands that the settings name; what they run does not matter."""
    problems: dict[Invocation, tuple[str, str]] = field(default_factory=dict)
    """Why what a command runs does not count, and what shows it."""
    built_images: list[str] = field(default_factory=list)
    resolved: set[Invocation] = field(default_factory=set)

    def __call__(self, invocation: Invocation) -> Sequence[Script] | None:
        """Return the scripts that ``invocation`` runs; None for a program."""
        if self.is_own(invocation):
            return None
        scripts = self._resolve(invocation)
        if scripts is not None:
            self.resolved.add(invocation)
        return scripts

    def is_own(self, invocation: Invocation) -> bool:
        """Return whether the settings name this command."""
        return any(invocation.source_words == command or invocation.words == command for command in self.own_commands)

    def _resolve(self, invocation: Invocation) -> Sequence[Script] | None:
        words, program = invocation.words, posixpath.basename(invocation.words[0])
        if PYTHON.fullmatch(program) and words[1:2] == ("-m",) and words[2:3] and words[2] in _PYTHON_TASKS:
            invocation, program = replace(invocation, words=words[2:]), words[2]
            words = invocation.words
        if words[0] == "source":
            return self._sourced(invocation)
        if image := built_image(words, invocation.cwd, self.root):
            self.built_images.append(image)
        container = read_container_command(words, invocation.cwd, self.root, self.files, self.built_images)
        if container is not None:
            if container.problem == "container_unnamed" and invocation.origin:  # the project names it
                return [Script(shlex.join(container.command), self.root, "container", place="container")]
            if container.problem:
                self.problems[invocation] = (container.problem, container.detail)
            return container.scripts or None
        if invocation.wrappers and (scripts := self._script_of_wrapper(invocation)) is not None:
            return scripts
        reader = _READERS.get(program)
        if reader and (words[0] == program or PROGRAM_FOLDERS.search(words[0])):
            return reader(self, invocation, list(words[1:]))
        if program in ("kubectl", "oc") and invocation.origin and "exec" in words and "--" in words:
            inner = words[words.index("--") + 1 :]
            return [Script(shlex.join(inner), self.root, "container", place="container")]
        if program in SHELLS:
            return self._shell_file(invocation, words)
        return self._file_in_tree(invocation)

    # Files

    def relative(self, cwd: str, path: str) -> str:
        """Return ``path`` from the root of the tree; empty if it is outside or not known."""
        full = posixpath.normpath(posixpath.join(cwd, path))
        if UNKNOWN in full or not is_below(full, self.root):
            return ""
        return posixpath.relpath(full, self.root)

    def read(self, cwd: str, *names: str) -> tuple[str, str]:
        """Return the path and text of the first of ``names`` that is a file below ``cwd``."""
        for name in names:
            path = self.relative(cwd, name)
            text = self.files.read(path) if path else None
            if text is not None:
                return path, text
        return "", ""

    def _sourced(self, invocation: Invocation) -> Sequence[Script] | None:
        path = invocation.words[1] if len(invocation.words) > 1 else ""
        if _ACTIVATE.search(path) and not path.startswith(("/tmp/", "/var/tmp/", "/dev/")):  # noqa: S108 -- a prefix
            return ()
        name, text = self.read(invocation.cwd, path)
        if not name:
            return () if path.endswith(".env") and self.relative(invocation.cwd, path) else None
        return (Script(text, invocation.cwd, path=path, is_sourced=True),)

    def _shell_file(self, invocation: Invocation, words: Sequence[str]) -> Sequence[Script] | None:
        """``bash [-eu] FILE ARGUMENTS``."""
        at, errexit, pipefail = 1, False, "pipefail" in words
        while at < len(words) and (words[at].startswith("-") or words[at - 1].endswith("o")):
            if re.fullmatch(r"-[a-z]*n[a-z]*", words[at]):
                return ()  # only checks the syntax
            errexit = errexit or ("e" in words[at] and not words[at].startswith("--"))
            at += 1
        return self._script(invocation, words[at], words[at + 1 :], (errexit, pipefail)) if at < len(words) else None

    def _file_in_tree(self, invocation: Invocation) -> Sequence[Script] | None:
        """``./run_tests.sh``: a shell script of the tree."""
        words = invocation.words
        if "/" not in words[0] or PROGRAM_FOLDERS.search(words[0]):
            return None
        if match_runner((posixpath.basename(words[0]), *words[1:])) and posixpath.basename(words[0]) in _TOOL_SCRIPTS:
            return None
        return self._script(invocation, words[0], words[1:], (False, False))

    def _script(
        self, invocation: Invocation, path: str, arguments: Sequence[str], options: tuple[bool, bool]
    ) -> Sequence[Script] | None:
        name, text = self.read(invocation.cwd, path)
        if not name:
            self.problems[invocation] = ("unreadable_script", path)
            return None
        first = text.partition("\n")[0]
        if first.startswith("#!") and not re.search(r"\b(?:ba|z|da|k|a)?sh\b", first):
            interpreter = re.sub(r"^#!\s*(?:\S*/env\s+(?:-S\s+)?)?", "", first).split()
            line = shlex.join([posixpath.basename(interpreter[0]), path, *arguments]) if interpreter else ""
            return (Script(line, invocation.cwd),) if interpreter else None
        errexit = options[0] or bool(re.search(r"\s-\w*e", first))
        return (Script(text, invocation.cwd, path, tuple(arguments), invocation.env, errexit, options[1],
                       path=posixpath.normpath(posixpath.join(invocation.cwd, path))),)  # fmt: skip

    # Tasks

    def task_cwd(self, invocation: Invocation, arguments: list[str], *options: str) -> str:
        """Take an option that names a folder out of ``arguments``, and return the folder of the task."""
        for at, word in enumerate(arguments):
            name, separator, value = word.partition("=")
            if word in options and at + 1 < len(arguments):
                value = arguments[at + 1]
                del arguments[at : at + 2]
            elif separator and name in options:
                del arguments[at]
            elif len(word) > 2 and word[:2] in options and not word.startswith("--"):
                value = word[2:]
                del arguments[at]
            else:
                continue
            return posixpath.normpath(posixpath.join(invocation.cwd, value))
        return invocation.cwd

    def _make(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        cwd = self.task_cwd(invocation, arguments, "-C", "--directory")
        file = take_option(arguments, "-f", "--file", "--makefile")
        take_option(arguments, "-j", "--jobs", "-l", "-o", "-W") if "-j" not in arguments else None
        if bad := next((word for word in arguments if _MAKE_REFUSED.fullmatch(word)), ""):
            self.problems[invocation] = ("idle", bad)
            return None
        path, text = self.read(cwd, *([file] if file else ("GNUmakefile", "makefile", "Makefile")))
        if not path:
            return None
        parsed = parse_makefile(text)
        overrides = dict(word.partition("=")[::2] for word in arguments if ASSIGNMENT.match(word))
        targets = [word for word in arguments if not word.startswith("-") and "=" not in word and not word.isdecimal()]
        found: list[Script] = []
        for target in targets or [parsed.first_target]:
            scripts = scripts_of_target(parsed, target, cwd, overrides, dict(invocation.env))
            if scripts is None:
                return None
            found += scripts
        return found

    def _just(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        if any(word in _JUST_REFUSED for word in arguments):
            self.problems[invocation] = ("idle", next(word for word in arguments if word in _JUST_REFUSED))
            return None
        file = take_option(arguments, "-f", "--justfile")
        cwd = self.task_cwd(invocation, arguments, "-d", "--working-directory")
        path, text = self.read(cwd, *([file] if file else ("justfile", "Justfile", ".justfile")))
        plain = [word for word in arguments if not word.startswith("-") or arguments.index(word) > 0]
        return task_files.just_recipe(text, plain[0] if plain else "", plain[1:], cwd) if path else None

    def _taskfile(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        if found := next(
            (
                word
                for word in arguments
                if word
                in ("-l", "--list", "-a", "--list-all", "-n", "--dry", "--summary", "--status", "-w", "--watch", "-x")
            ),
            "",
        ):
            self.problems[invocation] = ("idle", found)
            return None
        own = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
        file = take_option(arguments, "-t", "--taskfile")
        cwd = self.task_cwd(invocation, arguments, "-d", "--dir")
        path, text = self.read(
            cwd, *([file] if file else ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "Taskfile.dist.yml"))
        )
        names = [
            word
            for word in arguments[: arguments.index("--") if "--" in arguments else None]
            if not word.startswith("-") and "=" not in word
        ]
        found_scripts: list[Script] = []
        for name in names or [""]:
            found_scripts += task_files.taskfile_task(text, name, own, cwd) or []
        return found_scripts if path and found_scripts else None

    def _tox(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        if found := next((word for word in arguments if word in _TOX_REFUSED), ""):
            self.problems[invocation] = ("idle", found)
            return None
        own = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
        named = take_option(arguments, "-e", "--env", "-f")
        cwd = self.task_cwd(invocation, arguments, "-c", "--conf")
        cwd = posixpath.dirname(cwd) if cwd.endswith((".ini", ".cfg", ".toml")) else cwd
        environments = [name for name in (named or "").split(",") if name]
        for file in ("tox.ini", "setup.cfg", "pyproject.toml", "tox.toml"):
            _, text = self.read(cwd, file)
            if file.endswith(".toml"):
                if legacy := re.search(r'legacy_tox_ini\s*=\s*"""(.*?)"""', text, re.DOTALL):
                    return task_files.tox_commands(legacy[1], environments, own, cwd)
                if "tox" in text or file == "tox.toml":
                    scripts = task_files.tox_toml_commands(text, environments, own, cwd)
                    if scripts is not None:
                        return scripts
            elif "testenv" in text:
                return task_files.tox_commands(text, environments, own, cwd)
        return None

    def _nox(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        if found := next(
            (word for word in arguments if word in ("-l", "--list", "--list-sessions", "--install-only", "-h")), ""
        ):
            self.problems[invocation] = ("idle", found)
            return None
        arguments = arguments[: arguments.index("--")] if "--" in arguments else arguments
        names: list[str] = []
        for at, word in enumerate(arguments):
            if word in ("-s", "--session", "--sessions", "-e"):
                names += [name for name in arguments[at + 1 :] if not name.startswith("-")]
                break
            if word.startswith(("-s", "--session=")) and len(word) > 2:
                names.append(word.partition("=")[2] or word[2:])
        path, text = self.read(invocation.cwd, "noxfile.py")
        return task_files.python_tasks(text, names, invocation.cwd, "nox") if path else None

    def _invoke(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        names = [word for word in arguments if not word.startswith("-")]
        path, text = self.read(invocation.cwd, "tasks.py")
        return task_files.python_tasks(text, names[:1], invocation.cwd, "invoke") if path and names else None

    def _composer(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        own = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
        plain = [word for word in arguments if not word.startswith("-")]
        name = plain[1] if plain[:1] in (["run"], ["run-script"], ["exec"]) and len(plain) > 1 else "".join(plain[:1])
        path, text = self.read(invocation.cwd, "composer.json")
        if path and plain[:1] == ["exec"]:
            return [Script(shlex.join(plain[1:] + own), invocation.cwd)]
        return task_files.composer_scripts(text, name, own, invocation.cwd) if path else None

    def _deno(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        if arguments[:1] != ["task"]:
            return None
        plain = [word for word in arguments[1:] if not word.startswith("-")]
        path, text = self.read(invocation.cwd, "deno.json", "deno.jsonc")
        if not plain or not path:
            return None
        return task_files.deno_tasks(text, plain[0], plain[1:], invocation.cwd)

    def _mise(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        is_short = arguments[:1] not in (["run"], ["r"])
        plain = [word for word in arguments[not is_short :] if not word.startswith("-")]
        folders = ("mise-tasks", ".mise/tasks", ".config/mise/tasks", ".mise-tasks") if plain else ()
        if file := self.read(invocation.cwd, *(f"{folder}/{plain[0].replace(':', '/')}" for folder in folders))[0]:
            return self._script(invocation, posixpath.join(self.root, file), plain[1:], (False, False))
        path, text = self.read(invocation.cwd, "mise.toml", ".mise.toml", ".config/mise.toml")
        return task_files.toml_tasks(text, ("tasks",), plain[0], plain[1:], invocation.cwd) if path and plain else None

    def _rake(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        file = take_option(arguments, "-f", "--rakefile")
        path, text = self.read(invocation.cwd, *([file] if file else ("Rakefile", "rakefile", "Rakefile.rb")))
        names = [word.partition("[")[0] for word in arguments if not word.startswith("-") and "=" not in word]
        if not path or any(word.startswith("-") for word in arguments):
            return None
        found: list[Script] = []
        for name in names or ["default"]:
            scripts = rake_task(text, name, invocation.cwd)
            if scripts is None:
                return None
            found += scripts
        if not found:
            self.problems[invocation] = ("no_runner", " ".join(invocation.words))
        return found or None

    def _poe(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        plain = [word for word in arguments if not word.startswith("-")]
        _, text = self.read(invocation.cwd, "pyproject.toml")
        tables = ("tool.poe.tasks", "tool.taskipy.tasks")
        return (
            task_files.toml_tasks(text, tables, plain[0], arguments[arguments.index(plain[0]) + 1 :], invocation.cwd)
            if plain
            else None
        )

    def _cargo(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        """An alias of the project, and ``cargo make``."""
        plain = [word for word in arguments if not word.startswith(("-", "+"))]
        if not plain:
            return None
        if plain[0] in ("make", "xtask"):
            path, text = self.read(invocation.cwd, "Makefile.toml")
            return (
                task_files.toml_tasks(text, ("tasks",), plain[1], (), invocation.cwd)
                if path and len(plain) > 1
                else None
            )
        _, text = self.read(invocation.cwd, ".cargo/config.toml", ".cargo/config")
        alias = parse_toml(text).get("alias", {}).get(plain[0]) if text else None
        if not isinstance(alias, str | list):
            return None
        line = alias if isinstance(alias, str) else shlex.join(alias)
        rest = arguments[arguments.index(plain[0]) + 1 :]
        return [Script(f"cargo {line} {shlex.join(rest)}".strip(), invocation.cwd, f"cargo {plain[0]}")]

    def _script_of_wrapper(self, invocation: Invocation) -> Sequence[Script] | None:
        """``pdm run test``: a script of the project with the name of a program."""
        tables = _WRAPPER_TABLES.get(invocation.wrappers[-1])
        if not tables:
            return None
        name, arguments = invocation.words[0], invocation.words[1:]
        if invocation.wrappers[-1] == "hatch" and ":" in name:
            name = name.rpartition(":")[2]
        for file, dotted in tables:
            _, text = self.read(invocation.cwd, file)
            scripts = task_files.toml_tasks(text, dotted, name, arguments, invocation.cwd) if text else None
            if scripts is not None:
                return scripts
        return None

    def _with_script_option(self, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
        """``script -qec COMMAND FILE``, ``nix-shell --run COMMAND``."""
        program = posixpath.basename(invocation.words[0])
        for at, word in enumerate(arguments[:-1]):
            if program == "script" and re.fullmatch(r"-\w*c|--command", word):
                keeps = any(re.fullmatch(r"-\w*e\w*|--return", other) for other in arguments)
                return [Script(arguments[at + 1], invocation.cwd, ignores_failure=not keeps)]
            if program == "nix-shell" and word in ("--run", "--command"):
                return [Script(arguments[at + 1], invocation.cwd)]
        return None


_MAKE_REFUSED = re.compile(
    r"-[a-zA-Z]*[inqtp][a-zA-Z]*|--(?:just-print|dry-run|recon|question|touch|ignore-errors|print-data-base|eval=.*)"
)
_JUST_REFUSED = word_set("just_idle")
_TOX_REFUSED = word_set("tox_idle")
_TOOL_SCRIPTS = word_set("own_program_scripts")
_PYPROJECT = "pyproject.toml"
_WRAPPER_TABLES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "pdm": ((_PYPROJECT, ("tool.pdm.scripts",)),),
    "hatch": ((_PYPROJECT, ("tool.hatch.envs.default.scripts", "tool.hatch.envs.test.scripts",
                            "tool.hatch.envs.hatch-test.scripts")),
              ("hatch.toml", ("envs.default.scripts", "envs.test.scripts"))),
    "rye": ((_PYPROJECT, ("tool.rye.scripts",)),),
    "pixi": (("pixi.toml", ("tasks", "feature.test.tasks", "feature.dev.tasks")),
             (_PYPROJECT, ("tool.pixi.tasks", "tool.pixi.feature.test.tasks", "tool.pixi.feature.dev.tasks"))),
    "pipenv": (("Pipfile", ("scripts",)),),
}  # fmt: skip
_PYTHON_TASKS = frozenset({"tox", "nox", "invoke", "poethepoet"})
_READERS: dict[str, Callable[[TaskResolver, Invocation, list[str]], Sequence[Script] | None]] = {
    "make": TaskResolver._make,
    "gmake": TaskResolver._make,
    **dict.fromkeys(PACKAGE_MANAGERS, package_scripts),
    **dict.fromkeys(("run-s", "run-p", "npm-run-all", "npm-run-all2", "concurrently"), listed_scripts),
    "just": TaskResolver._just,
    "task": TaskResolver._taskfile,
    "go-task": TaskResolver._taskfile,
    "tox": TaskResolver._tox,
    "nox": TaskResolver._nox,
    "invoke": TaskResolver._invoke,
    "inv": TaskResolver._invoke,
    "composer": TaskResolver._composer,
    "deno": TaskResolver._deno,
    "mise": TaskResolver._mise,
    "poe": TaskResolver._poe,
    "rake": TaskResolver._rake,
    "cargo": TaskResolver._cargo,
    "script": TaskResolver._with_script_option,
    "nix-shell": TaskResolver._with_script_option,
}
