"""Read which commands a named task of a project runs: scripts of package.json, recipes, tox environments and others.

Invariant: each reader gets the text of a file and returns scripts, or None if the file has no such task.
"""

from __future__ import annotations

import ast
import configparser
import json
import posixpath
import re
import shlex
from collections.abc import Container, Mapping, Sequence
from typing import Any

from upbeat.core.package_data import parse_toml
from upbeat.core.shell.paths import Script
from upbeat.core.shell.wrappers import SHELLS

MAX_TASKS = 40
"""Tasks that call other tasks."""


def parse_json(text: str) -> Mapping[str, Any]:
    """Return the JSON object in ``text``, which may have comments; empty if there is none."""
    for candidate in (text, re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else {}
    return {}


def parse_yaml(text: str) -> Mapping[str, Any]:
    """Return the YAML mapping in ``text``; empty if there is none."""
    import yaml

    try:
        value = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 -- a safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def package_scripts(text: str, name: str, arguments: Sequence[str], cwd: str) -> list[Script] | None:
    """Return what ``npm run NAME`` runs, with its ``pre`` and ``post`` scripts."""
    scripts = parse_json(text).get("scripts")
    if not isinstance(scripts, dict) or not isinstance(scripts.get(name), str):
        return None
    found = []
    for key in (f"pre{name}", name, f"post{name}"):
        line = scripts.get(key)
        if isinstance(line, str):
            own = f" {shlex.join(arguments)}" if key == name and arguments else ""
            found.append(Script(line + own, cwd, f"npm run {key}"))
    return found


def composer_scripts(text: str, name: str, arguments: Sequence[str], cwd: str) -> list[Script] | None:
    """Return what ``composer NAME`` runs."""
    scripts = parse_json(text).get("scripts")
    lines = scripts.get(name) if isinstance(scripts, dict) else None
    if lines is None:
        return None
    found = []
    for line in [lines] if isinstance(lines, str) else list(lines)[:MAX_TASKS]:
        text_of = f"composer {line[1:]}" if str(line).startswith("@") and not line.startswith("@php") else str(line)
        text_of = text_of.replace("@php ", "php ")
        found.append(Script(text_of + (f" {shlex.join(arguments)}" if arguments else ""), cwd, f"composer {name}"))
    return found


def deno_tasks(text: str, name: str, arguments: Sequence[str], cwd: str) -> list[Script] | None:
    """Return what ``deno task NAME`` runs."""
    tasks = parse_json(text).get("tasks")
    line = tasks.get(name) if isinstance(tasks, dict) else None
    if isinstance(line, dict):
        line = line.get("command")
    own = f" {shlex.join(arguments)}" if arguments else ""
    return [Script(line + own, cwd, f"deno task {name}")] if isinstance(line, str) else None


def toml_tasks(text: str, tables: Sequence[str], name: str, arguments: Sequence[str], cwd: str) -> list[Script] | None:
    """Return what the task ``name`` in one of the dotted ``tables`` of a TOML file runs."""
    document = parse_toml(text)
    for dotted in tables:
        table: Any = document
        for part in dotted.split("."):
            table = table.get(part) if isinstance(table, dict) else None
        if isinstance(table, dict) and name in table:
            return _task_scripts(table, name, arguments, cwd, 0)
    return None


def _task_scripts(
    table: Mapping[str, Any], name: str, arguments: Sequence[str], cwd: str, depth: int
) -> list[Script] | None:
    task = table.get(name)
    label = f"task {name}"
    if depth > MAX_TASKS or task is None:
        return None
    own = f" {shlex.join(arguments)}" if arguments else ""
    if isinstance(task, str):
        ignores = task.lstrip().startswith("- ")
        line = re.sub(r"^\s*- ", "", re.sub(r"\{args(?::([^}]*))?\}", lambda m: own.strip() or m[1] or "", task))
        if line.split() and line.split()[0] in table and line.split()[0] != name:
            return _task_scripts(table, line.split()[0], arguments, cwd, depth + 1)
        return [Script(line + ("" if "{args" in task else own), cwd, label, ignores_failure=ignores)]
    if isinstance(task, list):
        found: list[Script] = []
        for item in task:
            words = str(item).split() if not isinstance(item, list) else [shlex.join(map(str, item))]
            is_name = bool(words) and words[0] in table
            inner = _task_scripts(table, words[0], (), cwd, depth + 1) if is_name else [Script(str(item), cwd, label)]
            found += inner or []
        return found
    if isinstance(task, dict):
        return _task_table(table, task, (name, own), cwd, depth)
    return None


def _task_table(
    table: Mapping[str, Any], task: Mapping[str, Any], label: tuple[str, str], cwd: str, depth: int
) -> list[Script] | None:  # fmt: skip
    name, own = label
    found: list[Script] = []
    for needed in _names(task.get("depends") or task.get("depends-on") or task.get("depends_on") or task.get("deps")):
        found += _task_scripts(table, needed, (), cwd, depth + 1) or []
    for key in ("composite", "sequence", "chain"):
        for needed in _names(task.get(key)):
            inner = _task_scripts(table, needed.split()[0], (), cwd, depth + 1)
            found += inner if inner is not None else [Script(needed, cwd, f"task {name}")]
    command = next((task[key] for key in ("cmd", "shell", "command", "run") if key in task), None)
    if isinstance(command, list):
        command = "\n".join(map(str, command)) if "run" in task else shlex.join(map(str, command))
    if isinstance(command, str):
        command += "".join(f" {shlex.quote(str(word))}" for word in task.get("args", ()) if isinstance(word, str))
        ignores = bool(task.get("ignore_fail") or task.get("ignore_errors"))
        found.append(Script(command + own, cwd, f"task {name}", ignores_failure=ignores, errexit="run" in task))
    return found or None


def _names(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value if isinstance(value, list) else []
    return [str(item.get("task", "") if isinstance(item, dict) else item) for item in items]


def just_recipe(text: str, name: str, arguments: Sequence[str], cwd: str, depth: int = 0) -> list[Script] | None:
    """Return what ``just NAME`` runs; the first recipe without a name."""
    recipes = list(
        re.finditer(
            r"^@?([A-Za-z_][\w-]*)((?:[ \t]+[^:\n]*)?):(?!=)([^\n]*)\n((?:[ \t]+[^\n]*\n|\n)*)",
            text + "\n",
            re.MULTILINE,
        )
    )
    alias = re.search(rf"^alias\s+{re.escape(name)}\s*:=\s*([\w-]+)", text, re.MULTILINE) if name else None
    wanted = alias[1] if alias else name
    recipe = next((one for one in recipes if not wanted or one[1] == wanted), None)
    shell = re.search(r"^set shell\s*:=\s*\[\s*[\"']([^\"']*)", text, re.MULTILINE)
    if recipe is None or depth > MAX_TASKS or (shell and posixpath.basename(shell[1]) not in SHELLS):
        return None
    found: list[Script] = []
    for needed in re.findall(r"[A-Za-z_][\w-]*", recipe[3].split("#")[0].split("&&")[0]):
        found += just_recipe(text, needed, (), cwd, depth + 1) or []
    settings = dict(re.findall(r"^([A-Za-z_]\w*)\s*:=\s*[\"']([^\"'\n]*)[\"']", text, re.MULTILINE))
    defaults = dict(re.findall(r"[*+$]?(\w+)\s*=\s*[\"']?([^\"'\s]*)[\"']?", recipe[2]))
    names = re.findall(r"[*+$]?(\w+)(?:\s*=\s*\S+)?", recipe[2])
    values = {**settings, **defaults}
    values |= {key: " ".join(arguments[at:]) if at == len(names) - 1 else arguments[at] for at, key in enumerate(names)
               if at < len(arguments)}  # fmt: skip
    body = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda match: values.get(match[1], ""), recipe[4])
    lines = [line.strip() for line in body.replace("\\\n", " ").split("\n") if line.strip()]
    label = f"just {recipe[1]}"
    has_pipefail = bool(re.search(r"^set shell\s*:=.*pipefail", text, re.MULTILINE))
    if lines and lines[0].startswith("#!"):
        return [*found, Script("\n".join(lines[1:]), cwd, label)]
    for line in lines:
        marks = re.match(r"[@-]*", line)
        prefix = marks[0] if marks else ""
        found.append(Script(line[len(prefix) :], cwd, label, ignores_failure="-" in prefix, pipefail=has_pipefail))
    return found


def taskfile_task(text: str, name: str, arguments: Sequence[str], cwd: str, depth: int = 0) -> list[Script] | None:
    """Return what ``task NAME`` (go-task) runs."""
    tasks = parse_yaml(text).get("tasks")
    task = tasks.get(name or "default") if isinstance(tasks, dict) else None
    if task is None or depth > MAX_TASKS:
        return None
    table = task if isinstance(task, dict) else {"cmds": task if isinstance(task, list) else [task]}
    found: list[Script] = []
    for needed in _names(table.get("deps")):
        found += taskfile_task(text, needed, (), cwd, depth + 1) or []
    commands = table.get("cmds") or ([table["cmd"]] if "cmd" in table else [])
    ignores_all = bool(table.get("ignore_error"))
    for command in commands if isinstance(commands, list) else []:
        if isinstance(command, dict) and "task" in command:
            found += taskfile_task(text, str(command["task"]), (), cwd, depth + 1) or []
            continue
        line = str(command.get("cmd", "") if isinstance(command, dict) else command)
        line = re.sub(r"\{\{\s*\.CLI_ARGS\s*\}\}", shlex.join(arguments), line)
        ignores = ignores_all or (isinstance(command, dict) and bool(command.get("ignore_error")))
        found.append(Script(line, cwd, f"task {name}", ignores_failure=ignores))
    return found


def tox_commands(text: str, environments: Sequence[str], arguments: Sequence[str], cwd: str) -> list[Script] | None:
    """Return what tox runs in ``environments``; in those of its list if none are named."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    listed = parser.get("tox", "envlist", fallback=parser.get("tox", "env_list", fallback="py"))
    names = list(environments) or [name for name in re.split(r"[\s,]+", re.sub(r"\{[^}]*\}", "x", listed)) if name]
    found: list[Script] = []
    for name in names:
        section = f"testenv:{name}" if parser.has_section(f"testenv:{name}") else "testenv"
        if not parser.has_section(section):
            return None
        fallback = parser.get("testenv", "commands", fallback="") if parser.has_section("testenv") else ""
        lines = parser.get(section, "commands", fallback=fallback).replace("\\\n", " ")
        ignores = parser.get(section, "ignore_outcome", fallback="false").strip().lower() == "true"
        for line in filter(None, map(str.strip, lines.split("\n"))):
            factor = re.match(r"^[\w!,{}.-]+:\s+(?=\S)", line)
            command = line[factor.end() :] if factor else line
            own = shlex.join(arguments)
            command = re.sub(r"\{posargs(?::([^{}]*(?:\{[^{}]*\}[^{}]*)*))?\}", lambda m: own or m[1] or "", command)  # noqa: B023
            command = re.sub(
                r"\{(?:envpython|envbindir\}/python)\}?", "python", re.sub(r"\{(?:toxinidir|tox_root)\}", cwd, command)
            )
            found.append(Script(re.sub(r"^[-!]\s*", "", command), cwd, f"tox -e {name}",
                                ignores_failure=ignores or command.startswith(("-", "!"))))  # fmt: skip
    return found


def tox_toml_commands(
    text: str, environments: Sequence[str], arguments: Sequence[str], cwd: str
) -> list[Script] | None:
    """Return what tox runs by ``tox.toml``, or the table ``tool.tox`` of pyproject.toml."""
    document = parse_toml(text)
    table = document.get("tool", {}).get("tox", {}) if "tool" in document else document
    found: list[Script] = []
    for name in environments or table.get("env_list", ["py"]):
        own = table.get("env", {}).get(name, {})
        base = table.get("env_run_base", {})
        commands = own.get("commands", base.get("commands"))
        if not isinstance(commands, list):
            return None
        ignores = bool(own.get("ignore_outcome", base.get("ignore_outcome", False)))
        for command in commands:
            words = [str(word) for word in command if not isinstance(word, dict)]
            is_open = any(isinstance(word, dict) for word in command)
            line = shlex.join([*words, *(arguments if is_open else ())])
            found.append(
                Script(line.removeprefix("- "), cwd, f"tox -e {name}", ignores_failure=ignores or words[:1] == ["-"])
            )
    return found


def _function_name(task: str, functions: Container[str]) -> str:
    """Return the function of a session or task: ``tests-3.12`` is one of ``tests``, ``unit-test`` is ``unit_test``."""
    plain = task.replace("-", "_")
    return plain if plain in functions else re.sub(r"[-(].*$", "", task)


def python_tasks(text: str, names: Sequence[str], cwd: str, tool: str) -> list[Script] | None:
    """Return the commands of nox sessions or invoke tasks: literal words of their ``run`` calls, in order."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef) and node.decorator_list}
    wanted = [_function_name(name, functions) for name in names] or list(functions)
    if any(name not in functions for name in wanted):
        return None
    found: list[Script] = []
    for name in wanted:
        for call in (node for node in ast.walk(functions[name]) if isinstance(node, ast.Call)):
            if not (isinstance(call.func, ast.Attribute) and call.func.attr in ("run", "run_always", "sudo")):
                continue
            words = [str(one.value) for one in call.args if isinstance(one, ast.Constant)]
            hides = any(keyword.arg in ("success_codes", "warn") for keyword in call.keywords)
            line = shlex.join(words) if tool == "nox" else " ".join(words)
            if words:
                found.append(Script(line, cwd, f"{tool} {name}", ignores_failure=hides))
    return found
