"""Which commands are stopped, which are asked about, and the many that are let through."""

from __future__ import annotations

import pytest
from destructive_lines import ASKED, HARMLESS, STOPPED
from hypothesis import given
from hypothesis import strategies as st
from policy_play import HERE, IN_CODEX, ROOT, asked, call, said_by, shell, starting, view_of

from upbeat.core.contract.effect import Ask, Deny
from upbeat.core.contract.event import Act, Source
from upbeat.core.harm import Here, harms_of
from upbeat.core.policies.look import ChangedFile, ChangedFiles
from upbeat.core.policies.stop_destructive_commands import MANY, POLICY
from upbeat.core.texts.harms import ACTS, WAYS
from upbeat.core.workflow.state import SessionState

CHANGED = (ChangedFile("README.md", 1, 0), ChangedFile("new/draft.py"), ChangedFile("src/app/main.py", 3, 2))
KNOWN = {ChangedFiles(): CHANGED}
CLEAN: dict[ChangedFiles, tuple[ChangedFile, ...]] = {ChangedFiles(): ()}


def said(line: str, **known: object) -> tuple[str, ...]:
    """The kinds of effects that ``line`` meets, where three files have changed."""
    event = starting(shell(line.replace("§", "\n")))
    return tuple(type(one).__name__ for one in said_by(POLICY, event, found=known.get("found", KNOWN)))


def test_says_nothing_for() -> None:
    """Says nothing for text that only looks like it, for what is built again, and for what loses nothing."""
    assert dict.fromkeys(HARMLESS, ()) == {line: said(line) for line in HARMLESS}


def test_stops() -> None:
    """Stops what nothing brings back."""
    assert dict.fromkeys(STOPPED, ("Deny",)) == {line: said(line) for line in STOPPED}


def test_asks() -> None:
    """Asks about what may be meant, or can be had back with some work."""
    assert dict.fromkeys(ASKED, ("Ask",)) == {line: said(line) for line in ASKED}


@pytest.mark.parametrize(
    ("line", "clean", "unknown"),
    [
        ("git reset --hard", (), ("Deny",)),
        ("git reset --hard origin/main", ("Ask",), ("Deny",)),
        ("git checkout .", (), ("Deny",)),
        ("git restore .", (), ("Deny",)),
        ("git clean -fd", (), ("Deny",)),
        ("git clean -fdx", ("Ask",), ("Deny",)),
        ("git checkout -- src", (), ("Ask",)),
        ("rm -rf src", (), ("Ask",)),
        ("rm -rf .", ("Deny",), ("Deny",)),
        ("rm -rf .git", ("Deny",), ("Deny",)),
    ],
)
def test_uncommitted(line: str, clean: tuple[str, ...], unknown: tuple[str, ...]) -> None:
    """What only loses uncommitted work is let through where there is none; what nobody could look up counts as some."""
    assert (said(line, found=CLEAN), said(line, found={})) == (clean, unknown)


def test_new_files() -> None:
    """A reset leaves new files alone, a clean takes nothing else."""
    new = {ChangedFiles(): (ChangedFile("draft.py"),)}
    changed = {ChangedFiles(): (ChangedFile("a.py", 1, 1),)}

    assert said("git reset --hard", found=new) == ()
    assert said("git clean -fd", found=new) == ("Deny",)
    assert said("git checkout .", found=changed) == ("Deny",)


def test_many_changes() -> None:
    """Where so much has changed that not all of it is known, everything may be lost."""
    many = tuple(ChangedFile(f"a{number}.py", 1, 1) for number in range(MANY))

    assert said("rm -rf src", found={ChangedFiles(): many}) == ("Ask",)
    assert said("rm -rf src", found={ChangedFiles(): many[1:]}) == ()


@pytest.mark.parametrize(
    ("line", "looks"),
    [("git reset --hard", (ChangedFiles(),)), ("rm -rf src", (ChangedFiles(),)), ("rm -rf /", ()), ("ls", ())],
)
def test_looks(line: str, looks: tuple[ChangedFiles, ...]) -> None:
    """Changes are looked up only where they matter."""
    assert POLICY.looks(starting(shell(line)), SessionState(root=ROOT)) == looks


def test_texts() -> None:
    """It says what happens to what, and the way out, in both languages."""
    [english] = said_by(POLICY, starting(shell("git push -f origin main")))
    [chinese] = said_by(POLICY, starting(shell("git push -f origin main")), language="zh")

    assert "git push --force main" in english.text
    assert "--force-with-lease" in english.text
    assert "--force-with-lease" in chinese.text
    assert "已阻止" in chinese.text
    assert isinstance(english, Deny)


def test_every_harm_has_texts() -> None:
    """Every kind of harm that is told has a text and a way, in each language."""
    kinds = {harm.kind for line in STOPPED + ASKED for harm in harms_of(line.replace("§", "\n"), Here(ROOT, ROOT))}

    for language in ("en", "zh"):
        assert kinds == set(ACTS[language]) == set(WAYS[language])


def test_the_worst_decides() -> None:
    """A line that is denied for one thing is not asked about for another one."""
    [effect] = said_by(POLICY, starting(shell("git branch -D x; rm -rf /")), found=KNOWN)

    assert isinstance(effect, Deny)
    assert "branch" not in effect.text


def test_in_a_folder_of_the_repository() -> None:
    """Paths begin in the folder that the command runs in."""
    below = Source(HERE.client, f"{ROOT}/build/x", "s")

    assert said_by(POLICY, starting(shell("rm -rf *"), below)) == ()
    assert [type(one) for one in said_by(POLICY, starting(shell("rm -rf ../.."), below))] == [Deny]


def test_other_tools_and_clients() -> None:
    """Only the shell is looked at; Codex gets the same effects."""
    assert said_by(POLICY, starting(call("Write", Act.WRITE, given={"content": "rm -rf /"}))) == ()
    assert [type(one) for one in said_by(POLICY, starting(shell("git branch -D x"), IN_CODEX))] == [Ask]


@given(st.text(max_size=200))
def test_any_line(line: str) -> None:
    """No line makes it raise."""
    asked(POLICY, starting(shell(f"rm -rf {line}")), view_of(POLICY))
    asked(POLICY, starting(shell(line)), view_of(POLICY))
