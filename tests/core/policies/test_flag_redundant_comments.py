"""Which comments are flagged as redundant, and which are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from case_files import read_groups
from policy_play import call, finished, said_by, says, silent

from upbeat.core.contract.event import FileEdit, ToolFinished, ToolKind
from upbeat.core.policies.flag_redundant_comments import MAX_LISTED_COMMENTS, POLICY, restates_code


def edited(text: str, before: str = "", path: str = "/repo/core/a.py") -> ToolFinished:
    return finished(call("Edit", ToolKind.EDIT, paths=(path,), changes=(FileEdit(path, text, before),)))


REPEATS = "# increment counter\ncounter += 1\n"

CASES = read_groups(Path(__file__).with_name("redundant_comments.tsv"))
SAYS_NOTHING = {
    **{name: edited(new, old, path) for name, path, new, old in CASES["none"]},
    "an edit that failed": replace(edited(REPEATS), has_failed=True),
    "a read": finished(call("Read", ToolKind.READ, changes=(FileEdit("/repo/a.py", REPEATS),))),
}
SAYS = {
    **{name: (edited(new, old, path), words) for name, path, new, old, words in CASES["says"]},
    "in a new file": (
        finished(call("Write", ToolKind.WRITE, changes=(FileEdit("/repo/b.py", f"import x\n{REPEATS}"),))),
        "line 2 “increment counter”",
    ),
    "in a patch's second file": (
        finished(
            call(
                "apply_patch", ToolKind.EDIT, changes=(FileEdit("/repo/a.py", "x = 1"), FileEdit("/repo/b.py", REPEATS))
            )
        ),
        "comments to b.py",
    ),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda event: said_by(POLICY, event))


test_says = says(SAYS, lambda event, language: said_by(POLICY, event, language))


@pytest.mark.parametrize(("count", "more"), [(MAX_LISTED_COMMENTS, False), (MAX_LISTED_COMMENTS + 1, True)])
def test_listed_comments_are_limited(count: int, more: bool) -> None:
    """Comments beyond the limit are only counted."""
    [effect] = said_by(POLICY, edited(REPEATS * count))

    assert ("and 1 more" in effect.text) == more


@pytest.mark.parametrize(("comment", "code", "expected"), CASES["restates"])
def test_what_repeats(comment: str, code: str, expected: str) -> None:
    """A comment restates code if it has at least two words, all in the code and one of them a name."""
    assert (expected == "yes") == restates_code(comment, code)
