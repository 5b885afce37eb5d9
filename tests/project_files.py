"""The files of a project as a mapping, for tests of what commands of the project run."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from upbeat.core.shell.execute import execute
from upbeat.core.workflow.evidence.judge import judge_command
from upbeat.core.workflow.evidence.judgement import EvidenceRules, FinishedCommand, Judgement
from upbeat.core.workflow.evidence.resolve import TaskResolver


@dataclass(frozen=True)
class Project:
    """Implements ``ProjectFiles`` of the tree ``/repo``."""

    texts: Mapping[str, str] = field(default_factory=dict)

    def read(self, path: str) -> str | None:
        return self.texts.get(posixpath.normpath(path))

    def exists(self, path: str) -> bool:
        path = posixpath.normpath(path)
        return any(name == path or name.startswith(f"{path}/") for name in self.texts)

    def entries(self, path: str) -> list[str]:
        start = "" if path in (".", "") else posixpath.normpath(path) + "/"
        return sorted({name[len(start) :].split("/")[0] for name in self.texts if name.startswith(start)})


def judge(
    command: str,
    output: str = "",
    texts: Mapping[str, str] | None = None,
    *,
    exit_code: int | None = 0,
    rules: EvidenceRules | None = None,
    recorded_code: int | None = None,
) -> Judgement:
    """Judge a command that ended in ``/repo``."""
    finished = FinishedCommand(command, "/repo", "/repo", exit_code, output, recorded_code)
    return judge_command(finished, Project(texts or {}), rules or EvidenceRules())


def proven_programs(command: str, texts: Mapping[str, str]) -> list[str]:
    """Return the programs of the project's tasks that exit code 0 of ``command`` proves, each as one text."""
    resolver = TaskResolver(Project(texts), "/repo")
    execution = execute(command, "/repo", "/repo", resolver)
    return [
        " ".join(one.words) for one in execution.proven if one not in resolver.resolved and one not in execution.masked
    ]
