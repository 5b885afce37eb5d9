"""Which files may be overwritten, and which must be read first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_play import HERE, IN_CODEX, ROOT, asked, call, finished, queried, shell, starting, view_of

from upbeat.core.contract.event import Call, EventSource, ToolKind, ToolStarting
from upbeat.core.policies.require_read_before_write import MAX_KNOWN_FILES, POLICY
from upbeat.core.policy.definition import PolicyContext
from upbeat.core.policy.queries import ExistingPathsQuery
from upbeat.core.workflow.state import SessionState

THERE = ("README.md", "src/a.py", "test.log", "build/x.js")
STATE = SessionState(root=ROOT)


def added(*paths: str) -> Call:
    """A patch that adds files."""
    return call("apply_patch", ToolKind.WRITE, tuple(f"{ROOT}/{path}" for path in paths))


def known(event: ToolStarting, notes: tuple[str, ...], language: str = "en") -> PolicyContext:
    """The context with the answers to the policy's queries."""
    found = {
        look: frozenset(path for path in look.paths if path.removeprefix(f"{ROOT}/") in THERE)
        for look in queried(POLICY, event, STATE)
        if isinstance(look, ExistingPathsQuery)
    }
    return view_of(POLICY, notes, found, language, STATE)


def said(made: Call, *before: Call, source: EventSource = IN_CODEX, language: str = "en") -> list[str]:
    """The texts of the effects of a call after the calls ``before``."""
    notes: tuple[str, ...] = ()
    for one in before:
        told = asked(POLICY, finished(one, source=source), view_of(POLICY, notes, state=STATE)).notes
        notes = notes if told is None else told
    event = starting(made, source)
    return [effect.text for effect in asked(POLICY, event, known(event, notes, language)).effects]


WRITES = shell("echo x > README.md")
SAYS_NOTHING: dict[str, tuple[Call, ...]] = {
    "a new file": (added("src/new.py"),),
    "a patch that changes it": (call("apply_patch", ToolKind.EDIT, (f"{ROOT}/README.md",)),),
    "a file that was changed": (added("README.md"), call("apply_patch", ToolKind.EDIT, (f"{ROOT}/README.md",))),
    "a file of another place": (call("apply_patch", ToolKind.WRITE, ("/elsewhere/README.md",)),),
    "a new file of the shell": (shell("echo x > new.txt"),),
    "a file that was shown": (WRITES, shell("cat README.md | head -5")),
    "a part of it that was shown": (WRITES, shell("sed -n '1,20p' README.md")),
    "a file that was searched": (WRITES, shell("cd src && rg -n x ../README.md")),
    "a file that was read from": (WRITES, shell("sed s/a/b/ < README.md")),
    "a file that the session wrote": (WRITES, WRITES),
    "a line that is added": (shell("echo x >> README.md"),),
    "errors": (shell("make 2> README.md"),),
    "a descriptor": (shell("make > /dev/null 2>&1"),),
    "a log": (shell("pytest > test.log"),),
    "what is built": (shell("tsc > build/x.js"),),
    "what is temporary": (shell("echo x > /tmp/README.md"),),
    "text": (shell("echo 'a > README.md'"),),
    "a comparison": (shell('[[ b > a ]] && git commit -m "a > README.md"'),),
    "a name that nobody knows": (shell("echo x > $FILE"),),
    "another folder": (shell("cd /srv && echo x > README.md"),),
}


@pytest.mark.parametrize("calls", SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_says_nothing_for(calls: tuple[Call, ...]) -> None:
    """Says nothing for new files, known ones, others, and what loses nothing."""
    assert [] == said(*calls)


SAYS: dict[str, tuple[str, tuple[Call, ...]]] = {
    "a patch": ("README.md", (added("README.md"),)),
    "a patch with a new one": ("src/a.py", (added("new.py", "src/a.py"),)),
    "the shell": ("README.md", (WRITES,)),
    "the shell by force": ("README.md", (shell("echo x >| README.md"),)),
    "another folder": ("src/a.py", (shell("cd src && cat > a.py <<'E'\nx\nE"),)),
    "an absolute path": ("src/a.py", (shell(f"echo x > {ROOT}/src/a.py"),)),
    "another shell": ("src/a.py", (shell("bash -c 'echo x > src/a.py'"),)),
    "another file that was read": ("README.md", (WRITES, shell("cat src/a.py"))),
    "a listing": ("README.md", (WRITES, shell("ls README.md"))),
}


@pytest.mark.parametrize(("path", "calls"), SAYS.values(), ids=SAYS)
def test_says(path: str, calls: tuple[Call, ...]) -> None:
    """Overwriting an unread file is denied, with the alternative in both languages."""
    [english] = said(*calls)
    [chinese] = said(*calls, language="zh")

    assert f"`{path}` exists" in english
    assert "Read it first" in english
    assert f"`{path}` 已存在" in chinese


def test_only_codex() -> None:
    """The policy is not evaluated in Claude Code, which has this natively."""
    assert [] == said(added("README.md"), source=HERE) == said(WRITES, source=HERE)
    assert None is asked(POLICY, finished(shell("cat README.md")), view_of(POLICY)).notes


def test_the_latest_are_remembered() -> None:
    """The number of noted files is limited; a file that is read again is the latest."""
    notes = tuple(f"f{number}" for number in range(MAX_KNOWN_FILES))
    seen = view_of(POLICY, notes, state=STATE)

    assert (*notes[1:], "README.md") == asked(POLICY, finished(shell("cat README.md"), source=IN_CODEX), seen).notes
    assert (*notes[1:], "f0") == asked(POLICY, finished(shell("cat f0"), source=IN_CODEX), seen).notes


@given(st.text(max_size=100))
def test_anything(text: str) -> None:
    """No line raises."""
    for line in (text, f"cat {text} > {text}"):
        event = starting(shell(line), IN_CODEX)
        asked(POLICY, event, known(event, ()))
        asked(POLICY, finished(shell(line), source=IN_CODEX), view_of(POLICY, state=STATE))
