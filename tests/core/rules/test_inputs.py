"""The inputs of one event that rules are matched against."""

from __future__ import annotations

import pytest
from policy_play import HERE, call, finished, shell, starting

from upbeat.core.contract.event import Event, FileEdit, PromptSubmitted, ToolKind, TurnEnding
from upbeat.core.rules.inputs import (
    MAX_FILES,
    MAX_STEPS,
    MAX_UNTRUSTED_STEPS,
    NO_TEXTS,
    OVERHEAD,
    MatchInputs,
    PathInputs,
    TextInputs,
)
from upbeat.core.rules.pattern import MAX_TEXT_BYTES
from upbeat.core.rules.rule import MatchTarget

EDIT = call("Edit", ToolKind.EDIT, ("/repo/a.py",), (FileEdit("/repo/a.py", "new", "old"),))
TEXTS: dict[str, tuple[Event, MatchTarget, TextInputs]] = {
    "a command and its wrapper": (
        starting(shell("sudo rm x; rm x")),
        MatchTarget.COMMAND,
        TextInputs((b"rm x", b"sudo rm x")),
    ),
    "the raw line": (starting(shell("sudo rm x")), MatchTarget.RAW_COMMAND, TextInputs((b"sudo rm x",))),
    "no command": (starting(EDIT), MatchTarget.COMMAND, NO_TEXTS),
    "what is written": (starting(EDIT), MatchTarget.CONTENT, TextInputs((b"new",))),
    "what is removed": (starting(EDIT), MatchTarget.OLD_CONTENT, TextInputs((b"old",))),
    "a path": (starting(EDIT), MatchTarget.PATH, TextInputs((b"a.py",))),
    "a prompt": (PromptSubmitted(HERE, "hi"), MatchTarget.PROMPT, TextInputs((b"hi",))),
    "an output": (finished(shell("ls"), "out"), MatchTarget.OUTPUT, TextInputs((b"out",))),
    "a last message": (TurnEnding(HERE, "Done.", False), MatchTarget.OUTPUT, TextInputs((b"Done.",))),
    "a long text": (
        PromptSubmitted(HERE, "x" * (MAX_TEXT_BYTES + 1)),
        MatchTarget.PROMPT,
        TextInputs((b"x" * MAX_TEXT_BYTES,), f"only the first {MAX_TEXT_BYTES} bytes of a text were looked at"),
    ),
}
FILES: dict[str, tuple[Event, PathInputs]] = {
    "a file of the repository": (starting(EDIT), PathInputs(("a.py",))),
    "a file outside": (starting(call("Read", ToolKind.READ, ("/etc/hosts",))), PathInputs(("etc/hosts",))),
    "a shell line": (starting(shell("cd b && cat a.txt > c.txt")), PathInputs(("b/a.txt", "b/c.txt"))),
    "an unknown name": (
        starting(shell("ls > $OUT")),
        PathInputs((), "the shell line: a file whose name is not in the line"),
    ),
    "a change without a path": (
        starting(call("Edit", ToolKind.EDIT)),
        PathInputs((), "the call does not tell which files it changes"),
    ),
    "too many files": (
        starting(call("Read", ToolKind.READ, ("/repo/a",) * (MAX_FILES + 1))),
        PathInputs(("a",) * MAX_FILES, "too many files, or too long a name"),
    ),
    "a prompt": (PromptSubmitted(HERE, "cat a.py"), PathInputs()),
}


@pytest.mark.parametrize(("event", "target", "expected"), TEXTS.values(), ids=TEXTS)
def test_texts(event: Event, target: MatchTarget, expected: TextInputs) -> None:
    """Each target has its texts, each once and bounded, and says what is missing."""
    assert expected == MatchInputs(event, "/repo").texts(target)


@pytest.mark.parametrize(("event", "expected"), FILES.values(), ids=FILES)
def test_files(event: Event, expected: PathInputs) -> None:
    """The files of a call are relative to the repository, and what cannot be known is a gap."""
    assert expected == MatchInputs(event, "/repo").files()


def test_untrusted_rules_have_their_own_budget() -> None:
    """An untrusted rule that spends its budget leaves the budget of the user's rules untouched."""
    inputs = MatchInputs(starting(shell("ls")), "/repo")

    assert inputs.try_spend(MAX_UNTRUSTED_STEPS // OVERHEAD, 0, is_untrusted=True)
    assert not inputs.try_spend(1, 0, is_untrusted=True)
    assert inputs.try_spend(MAX_STEPS // OVERHEAD, 0, is_untrusted=False)
    assert not inputs.try_spend(1, 0, is_untrusted=False)
