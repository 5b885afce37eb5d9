"""What a finished command is judged by."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from project_files import Project

from upbeat.core.contract.event import Call, ClientName, EventSource, ToolFinished
from upbeat.core.engine.observe_run import evidence_rules, named_scripts, observe_run
from upbeat.core.settings import Settings
from upbeat.core.workflow.evidence.exec_mark import make_mark
from upbeat.core.workflow.evidence.judgement import Judgement, ObservedRun


@dataclass
class Source:
    """Implements ``EvidenceSource``."""

    project: Project = field(default_factory=Project)
    trusted: tuple[str, ...] = ()

    def files(self, root: str) -> Project:
        assert root == "/repo"
        return self.project

    def is_trusted(self, root: str, path: str) -> bool:
        assert root == "/repo"
        return path in self.trusted

    def exec_key(self) -> str:
        return "key"


def observe(
    command: str, output: str = "", cwd: str = "/repo", source: Source | None = None, settings: Settings | None = None
) -> ObservedRun:
    event = ToolFinished(EventSource(ClientName.CLI, cwd, "s"), Call("c", "Bash", {}), output, command, 0)
    return observe_run(event, None, "/repo", source or Source(), settings or Settings(), 1000)


def test_the_folder_of_a_client_that_follows_cd() -> None:
    """The command began above the folder that the client reports after ``cd``, if that folder is not in itself."""
    source = Source(Project({"web/package.json": '{"scripts": {"test": "jest"}}'}))
    output = "Tests:       7 passed, 7 total"

    assert observe("cd web && npm test", output, "/repo/web", source).judgement.is_evidence
    assert observe("cd web && npm test", output, "/repo", source).judgement.is_evidence
    assert not observe("npm test", output, "/repo", source).judgement.is_evidence


def test_a_recorded_exit_code() -> None:
    """The mark of upbeat exec counts for the command that it ran."""
    mark = make_mark("key", ("pytest", "-q"), 0, 990, "0123abcd")
    line = "upbeat exec -- pytest -q | tail -3"

    assert observe(line, f"1 passed in 0.1s\n\n{mark}").judgement.is_evidence
    assert 0 == observe(line, f"1 passed in 0.1s\n\n{mark}").recorded_code
    assert "hidden" == observe(line, "1 passed in 0.1s\n\nupbeat: exit 0").judgement.refusal


@pytest.mark.parametrize(("trusted", "refusal"), [((), "untrusted_command"), (("run.sh",), "")])
def test_the_projects_own_command(trusted: tuple[str, ...], refusal: str) -> None:
    """A command of the settings counts as long as the script that it names is trusted."""
    settings = Settings(evidence_tests=("./run.sh --all", "'"))
    source = Source(Project({"run.sh": "true"}), trusted)

    assert (
        Judgement(True, refusal, "./run.sh --all" if refusal else "")
        == observe("./run.sh --all", "", "/repo", source, settings).judgement
    )


def test_what_settings_say() -> None:
    """Commands without a script of the project need no trust."""
    rules = evidence_rules(Settings(evidence_tests=("make qa",), evidence_scope="all"), "/repo", Source())

    assert ((("make", "qa"),), True) == (rules.own_commands, rules.needs_all_tests)
    assert ("run.sh", "a/b.py") == named_scripts(("./run.sh", "a/b.py", "-x"))


def test_other_checks() -> None:
    """A build is a check of its own, masked or not."""
    assert ("build", "") == (observe("cargo build").other_kind, observe("cargo build").masked_kind)
    assert ("", "build") == (observe("cargo build | tail").other_kind, observe("cargo build | tail").masked_kind)
    assert not observe("ls").is_check
