"""Which comments are flagged as redundant, and which are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import call, finished, said_by, says, silent

from upbeat.core.contract.event import FileEdit, ToolFinished, ToolKind
from upbeat.core.policies.flag_redundant_comments import MAX_LISTED_COMMENTS, POLICY, restates_code


def edited(text: str, before: str = "", path: str = "/repo/core/a.py") -> ToolFinished:
    return finished(call("Edit", ToolKind.EDIT, paths=(path,), changes=(FileEdit(path, text, before),)))


def in_js(text: str) -> ToolFinished:
    return edited(text, path="/repo/a.ts")


REPEATS = "# increment counter\ncounter += 1\n"

SAYS_NOTHING = {
    "code": edited("counter += 1\n"),
    "a reason": edited("# the server counts from one\ncounter += 1\n"),
    "a comment that says more": edited("# increment counter twice per retry, as RFC 9110 wants\ncounter += 1\n"),
    "a heading": edited("# Constants\nLIMIT = 3\n"),
    "a heading of several words": edited("# Counter limits\nCOUNTER_LIMITS = {}\n"),
    "a name": edited("# find_counter\nx = find_counter(y)\n"),
    "the name of a thing": edited("# Missing counter\nx = MissingCounter(y)\n"),
    "documentation of a function in C": edited("/* Free the counter */\nvoid free_counter(int *c) {\n", path="/r/a.c"),
    "documentation of one in Go": edited("// create counter\nfunc createCounter() {\n", path="/r/a.go"),
    "documentation of a constant": edited("// define counter\n#define COUNTER 1\n", path="/r/a.h"),
    "a name that is not in the code": edited("# reset the timer\ncounter = 0\n"),
    "documentation": edited('"""Increment counter."""\ncounter += 1\n'),
    "documentation in Rust": edited("/// Increment counter\ncounter += 1;\n", path="/repo/a.rs"),
    "one that stood there before": edited(REPEATS, before=f"{REPEATS}x = 1\n"),
    "an edit that failed": replace(edited(REPEATS), has_failed=True),
    "a read": finished(call("Read", ToolKind.READ, changes=(FileEdit("/repo/a.py", REPEATS),))),
    "prose": edited("# New\n# Changed from a to b\n", path="/repo/CHANGELOG.md"),
    "a file that nobody knows": edited(REPEATS, path="/repo/a.xyz"),
    "a licence": edited("# Copyright 2026 The authors\n# Added for everybody\nx = 1\n"),
    "noqa": edited("x = 1  # noqa: E501 now uses more\n"),
    "a type": edited("x = []  # type: list[int]\n"),
    "an order to eslint": in_js("// eslint-disable-next-line no-new\nnew X()\n"),
    "a directive of Go": edited("//go:build linux\npackage linux\n", path="/repo/a.go"),
    "work with an owner": edited("# TODO(ann): remove the old parser\nparse()\n"),
    "words of a scenario": edited("# Given a new counter\ncounter = Counter()\n"),
    "arrange, act, assert": edited("# Act\nact()\n# Assert the counter\nassert counter\n"),
    "now, as a step": edited("# now the header is complete\nsend(header)\n"),
    "from, in a calculation": edited("# distance from a to b\nd = b - a\n"),
    "new, as an adjective": edited("# new sessions have no name yet\nname = ''\n"),
    "per request, as a measure": in_js("// once per request\nlimit()\n"),
    "a question": edited("# is counter enough?\ncounter += 1\n"),
    "code in a comment": edited("# counter = counter + 1\ncounter += 1\n"),
    "text in triple quotes": edited(f"x = '''\n{REPEATS}'''\n"),
    "a Chinese reason": edited("# 服务器从一开始计数\ncounter += 1\n"),
}

SAYS = {
    "what the line says": (edited(REPEATS), "line 1 “increment counter” (restates the code)"),
    "what an assignment says": (in_js("// Set the name\nthis.name = name;\n"), "restates the code"),
    "what a call says": (edited("# close connection\nconnection.close()\n"), "restates the code"),
    "what a return says": (in_js("return result; // return the result\n"), "restates the code"),
    "what a loop says": (edited("# loop over users\nfor user in users:\n"), "restates the code"),
    "what it does now": (edited("# now uses the cache\nx = cache()\n"), "narrates the change"),
    "what it does instead": (edited("# read it instead of the old query\nx = cache()\n"), "narrates the change"),
    "what it was": (edited("limit = 5  # was: 3\n"), "narrates the change"),
    "what it was changed from": (edited("# Changed from 3 to 5\nlimit = 5\n"), "narrates the change"),
    "that it is new": (in_js("foo(); // new\n"), "narrates the change"),
    "what it was added for": (edited("# Added for the login page\nlogin()\n"), "narrates the change"),
    "that something went": (edited("# removed the old parser\nparse()\n"), "narrates the change"),
    "what a review wanted": (edited("# renamed as requested\nx = 1\n"), "narrates the change"),
    "a change in Chinese": (edited("# 修改为使用缓存\nx = cache()\n"), "narrates the change"),
    "something new in Chinese": (edited("# 新增：重试\nretry()\n"), "narrates the change"),
    "a change in traditional Chinese": (edited("# 由 3 改為 5\nlimit = 5\n"), "narrates the change"),
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


@pytest.mark.parametrize(
    ("comment", "code", "expected"),
    [
        ("counter", "counter += 1", False),
        ("increment counter", "counter += 1", True),
        ("get the user name of this session for the log", "user_name = session.user_name", False),
        ("increment counter", "", False),
        ("increment counter (again)", "counter += 1", False),
    ],
)
def test_what_repeats(comment: str, code: str, expected: bool) -> None:
    """A comment restates code if it has at least two words, all in the code and one of them a name."""
    assert expected == restates_code(comment, code)
