"""Read which commands a task of a Rakefile runs. Invariant: what needs Ruby to be run stays a program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from upbeat.core.shell.paths import Script

MAX_DEPTH = 8

_TASK = (
    r"^(?P<indent>[ \t]*)(?:multi)?task[ (]+(?::(?P<a>\w+)|[\"'](?P<b>[\w:-]+)[\"']|(?P<c>\w+)(?=:\s))(?P<rest>[^\n]*)"
)
_LIBRARY = re.compile(
    r"^[^#\n]*\b(?P<class>[A-Z]\w*(?:::\w+)*Task|Cucumber::Rake::Task)\.(?:new|create)\b"
    r"(?:[ (]+(?::|[\"'])(?P<name>[\w:-]+))?",
    re.MULTILINE,
)
"""A task that a library defines, such as ``Rake::TestTask.new(:unit)``."""
_DEFAULT_NAMES = {"RSpec::Core::RakeTask": "spec", "Cucumber::Rake::Task": "cucumber"}
_COMMAND = re.compile(r"\b(?P<call>sh|system|ruby|exec)[ (]+(?P<quote>[\"'])(?P<text>.*?)(?P=quote)(?P<rest>[^\n]*)")


def rake_task(text: str, name: str, cwd: str, depth: int = 0) -> list[Script] | None:
    """Return what the task ``name`` runs; None if that is not said here, an empty list if it runs no command."""
    if any((found["name"] or _DEFAULT_NAMES.get(found["class"], "test")) == name for found in _LIBRARY.finditer(text)):
        return None
    tasks = [found for found in re.finditer(_TASK, text, re.MULTILINE) if name in (found["a"], found["b"], found["c"])]
    if depth > MAX_DEPTH or not tasks:
        return None
    scripts: list[Script] = []
    for task in tasks:
        for needed in re.findall(r"[:\"']?([a-zA-Z]\w*)", re.sub(r"\bdo\b.*", "", task["rest"])):
            inner = rake_task(text, needed, cwd, depth + 1)
            scripts += [Script(f"rake {needed}", cwd, f"rake {name}")] if inner is None else inner
        end = re.compile(rf"^{re.escape(task['indent'])}end\b", re.MULTILINE).search(text, task.end())
        has_body = re.search(r"\bdo\b", task["rest"])
        scripts += _commands(text[task.end() : end.start()] if has_body and end else "", name, cwd)
    return scripts


def _commands(body: str, name: str, cwd: str) -> Iterator[Script]:
    is_rescued = re.search(r"\brescue\b|\bexit\b[ (]*(?:0|true)", body)
    for found in _COMMAND.finditer(body):
        hides = is_rescued or re.search(r"\||\bdo\b", found["rest"])
        if found["call"] == "system":
            hides = is_rescued if re.search(r"exception: true|\|\||\bor\b", found["rest"]) else found
        line = f"ruby {found['text']}" if found["call"] == "ruby" else found["text"]
        yield Script(line, cwd, f"rake {name}", ignores_failure=bool(hides))
