"""What the user of a real client learns when a workflow ends without success."""

from __future__ import annotations

import pytest
from processes import read_log

from .runs import run
from .sandbox import Sandbox
from .workflow_sessions import (
    Played,
    command_of,
    course,
    effects,
    prepare,
    rounds_of,
    said,
    shared_session,
    status,
)

exhausted = shared_session("[workflow:debug] the total", rounds_of("exhausted"))
"""`debug` whose TEST fails three times, after which the main agent claims that all is well."""

TOLD = "upbeat: workflow debug waits for you: TEST has failed 3 times."


def test_the_model_has_to_say_it(exhausted: Played) -> None:
    """The user gets a message, and the turn is continued once to the model, which reads what failed; then it ends."""
    turns = [turn for turn in exhausted.done.turns if not turn.from_subagent]

    assert "run needs_human TEST" == course(exhausted.records)[-1]
    assert 1 == sum(text.startswith(TOLD) for text in effects(exhausted.records, "notify_user"))
    assert ["waits_for_user"] == said(exhausted.records, "loop")
    assert (0, 1) == (turns[-2].count(TOLD), turns[-1].count(TOLD))
    assert ["user"] == turns[-1].roles_with("Tell the user this now")
    assert 1 == turns[-1].count("TEST: On «TEST THE REST.»: see above.")


def test_the_status_says_so(exhausted: Played) -> None:
    """A failed step does not count as done, and the exit code is one of its own."""
    shown = run(exhausted.sandbox, ["upbeat", "status"])
    [session] = status(exhausted.sandbox)

    assert 3 == shown.exit_code
    assert "debug needs you: TEST has used all its attempts" in " ".join(shown.stdout.split())
    assert ("needs_human", 6, ["TEST"]) == (
        session["needs_user"],
        session["workflow"]["done"],
        session["workflow"]["failed"],
    )
    last = session["workflow"]["step_details"][-1]
    assert ("TEST", "fail", 3, 3) == tuple(last[name] for name in ("key", "result", "tries", "failures"))
    assert ("tests", 1) == (last["evidence"]["kind"], last["evidence"]["exit_code"])


FILL_THE_DISK = """
state="$HOME/.local/state/upbeat"; mkdir -p "$state"; mount -t tmpfs -o size=2m tmpfs "$state"
until grep -qs workflow_started "$state/journal.db-wal"; do sleep 0.05; done && cat /dev/zero > "$state/rest" &
"$@"
upbeat status >&2; echo "exit code $?" >&2
"""


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_full_disk(sandbox: Sandbox, client: str) -> None:
    """When nothing can be stored, the turn is continued once so that the model says so, and the status says so, too."""
    prepare(sandbox, client)
    script = [{"reply": [{"wait": 4}, {"text": "I have begun."}]}, {"times": 0, "reply": [{"text": "It is all done."}]}]
    command = ["unshare", "--mount", "sh", "-c", FILL_THE_DISK, "sh", *command_of(client)]
    done = run(sandbox, command, stdin="[workflow:single] add retries to save_order", script=script)

    assert [0, 1] == [turn.count("upbeat: its state cannot be stored") for turn in done.turns]
    assert 1 == done.turns[-1].count("Tell the user this now")
    assert all(word in done.stderr for word in ("single", "DEV"))
    assert "NOTHING CAN BE STORED: no room left" in done.stderr
    assert "exit code 4" in done.stderr
    assert [] == read_log(sandbox.home)  # the state was in the namespace of the command
