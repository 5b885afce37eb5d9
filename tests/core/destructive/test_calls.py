"""The table of calls: no row that cannot fire."""

from __future__ import annotations

import pytest
from policy_play import ROOT, said_by, shell, starting

from upbeat.core.contract.effect import Deny, RequestApproval
from upbeat.core.destructive import ShellLocation, find_hazards
from upbeat.core.destructive.calls import is_only_shown, pattern_rows, worst_arguments
from upbeat.core.destructive.detectors import HAZARD_DETECTORS
from upbeat.core.destructive.triggers import has_trigger
from upbeat.core.policies.block_destructive_commands import POLICY

AT_ROOT = ShellLocation(ROOT, ROOT)
ROWS = [(program, pattern) for _kind, _severity, programs, pattern in pattern_rows() for program in programs]


def example(program: str, pattern: str) -> str:
    """A call that contains what the row requires: of alternatives the first, ``x`` for any characters."""
    words = [token.split("|")[0].replace("DISK", "sda").replace("*", "x") for token in pattern.split()]
    return f"{program} {' '.join(words) if pattern != '*' else 'x'}".strip()


def test_every_row_fires() -> None:
    """Each row stops its own example: through the words that are required first, and through the whole policy."""
    silent = [
        line
        for line in (example(*row) for row in ROWS)
        if not has_trigger(line)
        or not {type(one) for one in said_by(POLICY, starting(shell(line)))} & {Deny, RequestApproval}
    ]

    assert [] == silent


@pytest.mark.parametrize("program", sorted(HAZARD_DETECTORS))
def test_every_detector_is_reached(program: str) -> None:
    """A line with the program of a detector is parsed; git, with one of its subcommands."""
    assert has_trigger(f"{program} --x") or program == "git"


@pytest.mark.parametrize(
    "line",
    ["grm -rf ~", "mke2fs /dev/sda1", "del-cli ~", "newfs /dev/sda1", "telinit 0", "ip6tables -F", "mc rb --force x"],
)
def test_programs_that_were_never_reached(line: str) -> None:
    """Programs that a separate list of required words left out."""
    assert find_hazards(line, AT_ROOT)


@pytest.mark.parametrize(
    ("line", "is_stopped"),
    [
        ("acmectl cluster delete main", True),
        ("acmectl volumes remove data --force", True),
        ("acmectl volumes remove data", False),
        ("acmectl delete main --dry-run", False),
        ("acmectl describe delete.yaml", False),
        ("cargo test delete_all", False),
        ("./app.sh delete 3", False),
    ],
)
def test_programs_without_rows(line: str, is_stopped: bool) -> None:
    """The subcommand of an unknown program counts; a weak verb if the call forces it."""
    assert is_stopped is bool(find_hazards(line, AT_ROOT))


def test_only_shown() -> None:
    """Help and dry runs are harmless."""
    assert is_only_shown(("terraform", "destroy", "-help"))
    assert is_only_shown(("kubectl", "delete", "ns", "a", "--dry-run=client"))
    assert not is_only_shown(("kubectl", "delete", "ns", "a", "--dry-run=none"))
    assert not is_only_shown(("psql", "-h", "db", "-c", "drop table a"))


def test_what_may_follow_the_words_of_a_rule() -> None:
    """A row's words follow the program, its first words and its options, and no other subcommand."""
    assert ("destroy",) in set(worst_arguments(("zfs",)))
    assert worst_after(("aws", "--profile", "a", "s3"))
    assert not worst_after(("aws", "help"))


def worst_after(prefix: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {words for words in worst_arguments(prefix) if words}
