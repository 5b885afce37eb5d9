"""What a finished command line is worth as a run of tests, and what that is judged by."""

from __future__ import annotations

from upbeat.core.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class EvidenceRules:
    """What the settings say about evidence: the project's own commands, whether a subset counts."""

    own_commands: tuple[tuple[str, ...], ...] = ()
    needs_all_tests: bool = False
    untrusted_commands: tuple[tuple[str, ...], ...] = ()
    """Commands that the settings name, but that the user has not trusted as they are now."""


@dataclass(frozen=True, slots=True)
class FinishedCommand:
    """A command line that has ended. ``cwd`` and ``root`` are real and absolute; ``exit_code`` is None if unknown."""

    command: str
    cwd: str
    root: str
    exit_code: int | None = None
    output: str = ""
    recorded_code: int | None = None
    """The exit code that ``upbeat exec`` recorded of the command that it ran."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a command line is worth as a test run.

    ``is_test_run``: it is, or looks like, a run of tests. ``refusal`` is the key of the reason why it is no evidence
    (``refusals`` of the messages) and ``detail`` its subject; both empty for evidence, which may also be of failure.
    ``scope`` are the arguments that select some of the tests; ``executed`` the tests that ran, 0 if not said.
    """

    is_test_run: bool = False
    refusal: str = ""
    detail: str = ""
    scope: str = ""
    place: str = ""
    executed: int = 0

    @property
    def is_evidence(self) -> bool:
        return self.is_test_run and not self.refusal


NO_TEST_RUN = Judgement()
"""The line does not look like a run of tests."""


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """A finished command as evidence of any kind.

    ``other_kind`` is the check (build, types, lint) that its exit code proves if it is no run of tests; ``masked_kind``
    one that it runs without proving it. ``recorded_code`` is what ``upbeat exec`` recorded, signed with ``mark``.
    """

    judgement: Judgement = NO_TEST_RUN
    other_kind: str = ""
    masked_kind: str = ""
    recorded_code: int | None = None
    mark: str = ""

    @property
    def is_check(self) -> bool:
        return self.judgement.is_test_run or bool(self.other_kind or self.masked_kind)


NO_RUN = ObservedRun()
"""The command is no check."""
