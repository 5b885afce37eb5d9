"""Which commands are denied, which need approval, and which are let through."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_json_groups
from hypothesis import given
from hypothesis import strategies as st
from policy_play import DESTRUCTIVE_LINES, HERE, IN_CODEX, ROOT, asked, call, queried, said_by, shell, starting, view_of

from upbeat.core.contract.effect import Deny, RequestApproval
from upbeat.core.contract.event import EventSource, ToolKind
from upbeat.core.destructive import ShellLocation, find_hazards
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.policies.block_destructive_commands import POLICY
from upbeat.core.policy.changed_files import MAX_QUERIED_FILES
from upbeat.core.policy.queries import ChangedFile, ChangedFilesQuery, Query, ScriptFilesQuery
from upbeat.core.workflow.state import SessionState

CASES = read_json_groups(Path(__file__).with_name("destructive_cases.jsonl"))

CHANGED = (ChangedFile("README.md", 1, 0), ChangedFile("new/draft.py"), ChangedFile("src/app/main.py", 3, 2))
KNOWN = {ChangedFilesQuery(): CHANGED}
CLEAN: dict[ChangedFilesQuery, tuple[ChangedFile, ...]] = {ChangedFilesQuery(): ()}


def said(line: str, **known: object) -> tuple[str, ...]:
    """The types of the effects of ``line`` with three changed files."""
    event = starting(shell(line))
    return tuple(type(one).__name__ for one in said_by(POLICY, event, found=known.get("found", KNOWN)))


@pytest.mark.parametrize(
    ("kind", "effects"), [("none", ()), ("deny", ("Deny",)), ("ask", ("RequestApproval",))], ids=["none", "deny", "ask"]
)
def test_corpus(kind: str, effects: tuple[str, ...]) -> None:
    """Irrecoverable commands are denied, possibly intended ones need approval, and all others are let through."""
    lines = DESTRUCTIVE_LINES[kind]

    assert dict.fromkeys(lines, effects) == {line: said(line) for line in lines}


@pytest.mark.parametrize(("line", "clean", "unknown"), CASES["uncommitted"])
def test_uncommitted(line: str, clean: list[str], unknown: list[str]) -> None:
    """A command that only loses uncommitted work is let through if there is none; unknown changes count as some."""
    assert (clean, unknown) == (list(said(line, found=CLEAN)), list(said(line, found={})))


def test_new_files() -> None:
    """A reset keeps untracked files, and a clean removes only those."""
    new = {ChangedFilesQuery(): (ChangedFile("draft.py"),)}
    changed = {ChangedFilesQuery(): (ChangedFile("a.py", 1, 1),)}

    assert said("git reset --hard", found=new) == ()
    assert said("git clean -fd", found=new) == ("Deny",)
    assert said("git checkout .", found=changed) == ("Deny",)


def test_many_changes() -> None:
    """If there are more changes than the query reports, anything may be lost."""
    many = tuple(ChangedFile(f"a{number}.py", 1, 1) for number in range(MAX_QUERIED_FILES))

    assert said("rm -rf src", found={ChangedFilesQuery(): many}) == ("RequestApproval",)
    assert said("rm -rf src", found={ChangedFilesQuery(): many[1:]}) == ()


@pytest.mark.parametrize(
    ("line", "looks"),
    [
        ("git reset --hard", (ChangedFilesQuery(), ScriptFilesQuery())),
        ("rm -rf src", (ChangedFilesQuery(), ScriptFilesQuery())),
        ("rm -rf /", (ScriptFilesQuery(),)),
        ("ls", ()),
    ],
)
def test_looks(line: str, looks: tuple[Query, ...]) -> None:
    """Changed files are queried only if a hazard depends on them, and scripts only if the line may run some."""
    assert queried(POLICY, starting(shell(line)), SessionState(root=ROOT)) == looks


def test_texts() -> None:
    """The denial names the damage, its target and the alternative, in both languages."""
    [english] = said_by(POLICY, starting(shell("git push -f origin main")))
    [chinese] = said_by(POLICY, starting(shell("git push -f origin main")), language="zh")

    assert "`git push --force origin main` would overwrite" in english.text
    assert "`git push --force-with-lease origin main`" in english.text
    assert "`git push --force-with-lease origin main`" in chinese.text
    assert "已阻止" in chinese.text
    assert isinstance(english, Deny)


@pytest.mark.parametrize(("line", "safe"), CASES["push"])
def test_the_safe_push_is_the_users_own(line: str, safe: str) -> None:
    """The alternative to a forced push names the remote and the forced branches as the line does."""
    [effect] = said_by(POLICY, starting(shell(line)))

    assert safe in effect.text


def test_every_hazard_has_texts() -> None:
    """Every kind of hazard has a description and an alternative in each language."""
    lines = DESTRUCTIVE_LINES["deny"] + DESTRUCTIVE_LINES["ask"]
    kinds = {hazard.kind for line in lines for hazard in find_hazards(line, ShellLocation(ROOT, ROOT))}

    for language in ("en", "zh"):
        messages = load_messages("hazards", language)
        assert kinds == set(messages.group("descriptions")) == set(messages.group("alternatives"))


def test_the_most_severe_hazard_decides() -> None:
    """A line that is denied for one hazard is not also asked about for another."""
    [effect] = said_by(POLICY, starting(shell("git branch -D x; rm -rf /")), found=KNOWN)

    assert isinstance(effect, Deny)
    assert "branch" not in effect.text


def test_in_a_folder_of_the_repository() -> None:
    """Paths are relative to the folder in which the command runs."""
    below = EventSource(HERE.client, f"{ROOT}/build/x", "s")

    assert said_by(POLICY, starting(shell("rm -rf *"), below)) == ()
    assert [type(one) for one in said_by(POLICY, starting(shell("rm -rf ../.."), below))] == [Deny]


def test_other_tools_and_clients() -> None:
    """Only shell commands are checked; Codex gets the same effects."""
    assert said_by(POLICY, starting(call("Write", ToolKind.WRITE, given={"content": "rm -rf /"}))) == ()
    assert [type(one) for one in said_by(POLICY, starting(shell("git branch -D x"), IN_CODEX))] == [RequestApproval]


@given(st.text(max_size=200))
def test_any_line(line: str) -> None:
    """No line raises."""
    asked(POLICY, starting(shell(f"rm -rf {line}")), view_of(POLICY))
    asked(POLICY, starting(shell(line)), view_of(POLICY))
