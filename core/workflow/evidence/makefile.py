"""Read which commands a target of a Makefile runs. Invariant: nothing is run; what needs a shell stays unknown."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from upbeat.core.shell.expand import UNKNOWN
from upbeat.core.shell.paths import Script
from upbeat.core.shell.wrappers import SHELLS

MAX_DEPTH = 8
MAX_LINES = 5000

_ASSIGNMENT = re.compile(r"^(?:export\s+|override\s+)*([\w.-]+)\s*(::?:?|\?|\+|!)?=\s*(.*)$")
_RULE = re.compile(r"^([^\t#=:][^=:]*?)\s*::?(?!=)\s*([^=;]*)(?:;(.*))?$")
_DIRECTIVE = re.compile(
    r"^\s*(?:if|ifeq|ifneq|ifdef|ifndef|else|endif|include|-include|sinclude|vpath|unexport|endef)\b"
)
_REFERENCE = re.compile(r"\$(?:\(([^()$]*)\)|\{([^{}$]*)\}|(.))")


@dataclass
class Makefile:
    """The rules and variables of one file."""

    variables: dict[str, str] = field(default_factory=dict)
    rules: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    """Target -> its prerequisites and the lines of its recipe."""
    first_target: str = ""


def parse_makefile(text: str) -> Makefile:
    """Return the rules and variables of a Makefile; both branches of a conditional are read."""
    parsed = Makefile()
    current: list[str] = []
    lines = text.replace("\\\r\n", "\\\n").split("\n")[:MAX_LINES]
    for line in _join_lines(lines):
        if line.startswith("\t"):
            for target in current:
                parsed.rules[target][1].append(line[1:])
            continue
        plain = line.split("#")[0].rstrip()
        if not plain.strip() or _DIRECTIVE.match(plain):
            continue
        if assignment := _ASSIGNMENT.match(plain.strip()):
            name, kind, value = assignment.groups()
            if kind == "+" and name in parsed.variables:
                value = f"{parsed.variables[name]} {value}"
            if kind != "?" or name not in parsed.variables:
                parsed.variables[name] = UNKNOWN if kind == "!" else value
        elif rule := _RULE.match(plain):
            current = rule[1].split()
            for target in current:
                prerequisites, recipe = parsed.rules.setdefault(target, ([], []))
                prerequisites += [word for word in rule[2].split() if word != "|"]
                recipe += [rule[3]] if rule[3] else []
                if not parsed.first_target and not target.startswith("."):
                    parsed.first_target = target
    return parsed


def _join_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines with their continuations; the newline stays in a recipe, where the shell reads it."""
    joined = ""
    for line in lines:
        if line.endswith("\\"):
            joined += line + "\n" if (joined or line).startswith("\t") else line[:-1] + " "
            continue
        yield joined + (line.lstrip("\t") if joined.startswith("\t") else line)
        joined = ""
    if joined:
        yield joined


def scripts_of_target(
    parsed: Makefile, target: str, cwd: str, overrides: Mapping[str, str], environment: Mapping[str, str]
) -> list[Script] | None:
    """Return the scripts that ``make target`` runs, one for each line; None if the target has no rule."""
    variables = {**environment, **parsed.variables, **overrides}
    shell = _expand(variables.get("SHELL", "sh"), variables)
    if posixpath.basename(shell.split()[0] if shell.split() else "") not in SHELLS:
        return None
    flags = _expand(variables.get(".SHELLFLAGS", ""), variables)
    ignored = parsed.rules.get(".IGNORE")
    names: list[str] | None = (
        [] if re.search(r"(?:^|\s)(?:-\w*i|--ignore-errors)", variables.get("MAKEFLAGS", "")) else None
    )
    context = _Context(parsed, cwd, variables, "pipefail" in flags, ignored[0] if ignored else names)
    return _collect(context, target, 0, set())


@dataclass(frozen=True)
class _Context:
    parsed: Makefile
    cwd: str
    variables: Mapping[str, str]
    has_pipefail: bool
    ignored: list[str] | None
    """The targets whose failures are ignored; an empty list means all."""

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """Variables that the Makefile sets and that change which program runs."""
        names = [name for name in self.parsed.variables if re.fullmatch(r"PATH|\w*ADDOPTS|LD_PRELOAD", name)]
        own = {name: value for name, value in self.variables.items() if name != "PATH"}
        path = {"PATH": UNKNOWN}
        return tuple((name, _expand(self.parsed.variables[name], own | path)) for name in names)


def _collect(context: _Context, target: str, depth: int, done: set[str]) -> list[Script] | None:
    rule = context.parsed.rules.get(target)
    if rule is None or depth > MAX_DEPTH:
        return None
    if target in done:
        return []
    done.add(target)
    scripts: list[Script] = []
    for prerequisite in (word for text in rule[0] for word in _expand(text, context.variables).split()):
        scripts += _collect(context, prerequisite, depth + 1, done) or []
    ignores = context.ignored is not None and (not context.ignored or target in context.ignored)
    lines = ["\n".join(rule[1])] if ".ONESHELL" in context.parsed.rules and rule[1] else rule[1]
    for line in lines:
        marks = re.match(r"[\s@+-]*", line)
        prefix = marks[0] if marks else ""
        text = _expand(line[len(prefix) :], {**context.variables, "@": target, "MAKE": "make"}).strip()
        if text:
            scripts.append(Script(text, context.cwd, f"make {target}", ignores_failure=ignores or "-" in prefix,
                                  pipefail=context.has_pipefail, env=context.environment))  # fmt: skip
    return scripts


def _expand(text: str, variables: Mapping[str, str], depth: int = 0) -> str:
    """Return ``text`` with its variables; a function becomes ``UNKNOWN``, and what is not set is empty."""

    def value(match: re.Match[str]) -> str:
        name = match[1] if match[1] is not None else match[2] if match[2] is not None else match[3]
        if name == "$":
            return "\0"
        if re.search(r"[\s,:]", name):
            return UNKNOWN
        return _expand(variables.get(name, ""), variables, depth + 1) if depth < MAX_DEPTH else UNKNOWN

    for _ in range(MAX_DEPTH):
        expanded = _REFERENCE.sub(value, text)
        if expanded == text:
            break
        text = expanded
    return text.replace("\0", "$") if depth == 0 else text
