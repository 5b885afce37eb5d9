"""Features of the specs on the real clients: the one in progress, its open tasks in a new session, and the next one."""

from __future__ import annotations

import pytest
from processes import read_log

from .runs import run
from .sandbox import Sandbox
from .workflow_sessions import (
    Played,
    carry_out,
    effects,
    facts,
    part,
    prepare,
    rounds_of,
    said,
    shared,
    status,
)

BOXES = "".join(f"- [ ] task {number}\n" for number in range(1, 11))


def add_feature(sandbox: Sandbox, name: str, *options: str, tasks: str = "") -> None:
    """Create a feature, with ``tasks`` in its file."""
    done = run(sandbox, ["upbeat", "features", "new", name, *options])
    assert 0 == done.exit_code
    if tasks:
        [file] = sandbox.repository.glob(f"specs/features/*/{name}/tasks.md")
        file.write_text(f"# {name}\n\n{tasks}", encoding="utf-8")


@shared
def presumed(sandbox: Sandbox, client: str) -> Played:
    """`quick` with a goal that does not name the feature in progress, which has ten open boxes."""
    add_feature(sandbox, "csv-export", "--start", tasks=BOXES)
    prepare(sandbox, client)
    done = carry_out(sandbox, client, "[workflow:quick] make the totals right", rounds_of("quick"))
    return Played(sandbox, done, read_log(sandbox.home))


def test_a_lone_feature_is_the_one_that_is_meant(presumed: Played) -> None:
    """The workflow works on it and is not complete while its boxes are open; in the end the user is told."""
    [session] = status(presumed.sandbox)
    first = presumed.done.turns[-1]

    assert ("csv-export", "running", "no_progress") == (
        session["workflow"]["feature"],
        session["workflow"]["status"],
        session["needs_user"],
    )
    assert "complete" not in said(presumed.records, "loop")
    assert [True] == [
        text.startswith("upbeat: this workflow works on csv-export")
        for text in effects(presumed.records, "notify_user")[:1]
    ]
    assert 1 == first.count("Tell the user this now")


def test_a_new_session_hears_of_the_open_tasks(presumed: Played) -> None:
    """The model has them from the start, once."""
    first = presumed.done.turns[0]

    assert 1 == first.count("Features in progress in specs/features/in-progress: csv-export")
    assert 1 == first.count("- [ ] task 5")


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_the_next_feature_is_offered_and_started(sandbox: Sandbox, client: str) -> None:
    """After a feature the user hears of the next one; naming it moves it out of the backlog and works on it."""
    add_feature(sandbox, "dark-mode", "--workflow", "single", tasks="- [ ] DEV\n")
    add_feature(sandbox, "csv-export", "--workflow", "single", "--start", tasks="- [ ] DEV\n")
    prepare(sandbox, client)
    first = [[part("developer", "Write the export.")], "The export is written."]
    carry_out(sandbox, client, "[workflow:single] csv-export", first)
    offer = effects(read_log(sandbox.home), "notify_user")[-1]
    carry_out(
        sandbox, client, "[workflow:single] dark-mode", [[part("developer", "Write the mode.")], "It is written."]
    )

    assert "Next feature: dark-mode. Say [workflow:single] dark-mode to start it." in offer
    assert ["csv-export", "dark-mode"] == [
        fact["run"]["feature"] for fact in facts(read_log(sandbox.home), "workflow_started")
    ]
    archived = [folder.name[11:] for folder in (sandbox.repository / "specs/features/archive").iterdir()]
    assert ["csv-export", "dark-mode"] == sorted(archived)
