"""Tests of upbeat.core.workflow.decide.features."""

from __future__ import annotations

from dataclasses import replace

import pytest
from workflow_play import Play, started

from upbeat.core.workflow.decide.features import FEATURE_LEASE_SECONDS, find_holder, named_features
from upbeat.core.workflow.decision import StartFeature
from upbeat.core.workflow.state import PeerSession, RunStatus
from upbeat.core.workflow.tasks import TasksFile

TASKS = "# csv-export\n\n- [x] PLAN\n" + "".join(f"- [ ] task {number}\n" for number in range(1, 10))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("finish csv-export", ("csv-export",)),
        ("go on with specs/features/in-progress/login", ("login",)),
        ("Finish the export as CSV", ("csv-export",)),
        ("csv-export before login", ("csv-export", "login")),
        ("export the totals", ()),
        ("the csv-exporter", ()),
        ("继续登录功能", ("登录",)),
        ("", ()),
    ],
)
def test_named_features(text: str, expected: tuple[str, ...]) -> None:
    """A feature is named by its name, or by all of its words where none is written."""
    assert expected == named_features(text, ("csv-export", "login", "登录"))


@pytest.mark.parametrize(
    ("prompt", "in_progress", "backlog", "feature"),
    [
        ("[workflow:standard] make the totals right", ("csv-export",), (), "csv-export"),
        ("[workflow:quick] make the totals right", ("csv-export",), (), "csv-export"),
        ("[workflow:single]", ("csv-export",), (), "csv-export"),
        ("[workflow:single] fix the typo", ("csv-export",), (), ""),
        ("[workflow:review-only] look at it", ("csv-export",), (), ""),
        ("[workflow:standard] make the totals right", ("csv-export", "login"), (), ""),
        ("[workflow:standard] the export of csv", ("csv-export", "login"), (), "csv-export"),
        ("[workflow:standard] add the dark mode", ("csv-export",), ("dark-mode", "login"), "dark-mode"),
    ],
)
def test_the_feature_of_a_new_run(
    prompt: str, in_progress: tuple[str, ...], backlog: tuple[str, ...], feature: str
) -> None:
    """The goal decides, then a lone feature in progress if the workflow has task files; the backlog is started."""
    play = Play()
    play.prompt(prompt, features_in_progress=in_progress, features_in_backlog=backlog)

    assert feature == play.run.feature
    assert [StartFeature(feature)] * (feature in backlog) == play.workspace_actions
    assert (feature == "csv-export" and "totals" in prompt) == ("works on csv-export, the only" in play.notified)
    assert (prompt.startswith("[workflow:standard]") and not feature) == ("csv-export, login" in play.notified)


def test_a_presumed_feature_keeps_the_run_from_completing() -> None:
    """A run that its goal did not assign to the feature is not complete while boxes of it are open."""
    play = Play()
    play.prompt("[workflow:quick] make the totals right", features_in_progress=("csv-export",))
    for agent in ("developer", "code-reviewer"):
        play.does(agent)
    play.tests()
    play.does("retrospective")
    play.tasks = TASKS
    play.ends()

    assert (RunStatus.RUNNING, True) == (play.run.status, "9 boxes in tasks.md are open" in play.continuation)


def test_a_new_feature_replaces_a_presumed_one() -> None:
    """A folder that appears after the start is the run's, unless the goal named another one."""
    presumed, named = Play(), Play()
    presumed.prompt("[workflow:standard] add a login", features_in_progress=("csv-export",))
    named.prompt("[workflow:standard] csv-export", features_in_progress=("csv-export",))
    for play in (presumed, named):
        play.features = ("csv-export", "login-form")
        play.ends()

    assert ("login-form", "csv-export") == (presumed.run.feature, named.run.feature)


def test_the_user_names_the_feature_later() -> None:
    """If several are in progress, a later prompt of the user can name the one that is meant."""
    play = Play()
    play.prompt("[workflow:standard] add a total", features_in_progress=("csv-export", "login"))
    play.prompt("it is for csv-export", features_in_progress=("csv-export", "login"))

    assert "csv-export" == play.run.feature


def test_a_feature_of_another_session_is_not_presumed() -> None:
    """A lone feature that another session is working on belongs to that session, until it is silent or over."""
    other = started("standard").state
    assert other.run is not None
    holds = replace(other, run=replace(other.run, feature="csv-export"))
    play = Play()
    peers = (PeerSession("other", holds, play.at),)
    silent = (PeerSession("other", holds, play.at - FEATURE_LEASE_SECONDS),)
    ended = (PeerSession("other", replace(holds, has_ended=True), play.at),)
    play.prompt("[workflow:standard] fix the total", features_in_progress=("csv-export",), peer_sessions=peers)

    assert "" == play.run.feature
    assert [peers[0], None, None] == [
        find_holder("csv-export", play.inputs(peer_sessions=each)) for each in (peers, silent, ended)
    ]


@pytest.mark.parametrize("trigger", ["startup", "clear", "compact"])
def test_a_new_session_hears_of_its_open_tasks(trigger: str) -> None:
    """A new conversation has the lone feature in progress with its open tasks; of several it has the names."""
    lone, several, none = Play(), Play(), Play()
    lone.begin(trigger, features_in_progress=("csv-export",), tasks=TasksFile.parse(TASKS))
    several.begin(trigger, features_in_progress=("csv-export", "login"))
    none.begin(trigger)

    assert "in-progress: csv-export\nOpen in tasks.md (1/10 done):\n- [ ] task 1\n" in lone.injected
    assert "in-progress: csv-export, login\nThese tasks are open from before." in several.injected
    assert "" == none.injected


def test_a_resumed_session_has_heard_of_them() -> None:
    """A conversation that is resumed is not told again."""
    play = Play()
    play.begin("resume", features_in_progress=("csv-export",))

    assert "" == play.injected


@pytest.mark.parametrize(
    ("in_progress", "backlog", "expected"),
    [
        (("csv-export",), ("dark-mode", "login"), "dark-mode"),
        (("csv-export", "search"), ("dark-mode",), "search"),
        (("csv-export",), (), ""),
    ],
)
def test_the_next_feature_is_offered(in_progress: tuple[str, ...], backlog: tuple[str, ...], expected: str) -> None:
    """When a feature is complete, the user hears which one is next and how to start it."""
    play = Play()
    play.prompt("[workflow:single] csv-export", features_in_progress=("csv-export",))
    play.does("developer")
    play.features, play.backlog = in_progress, backlog
    play.ends()

    assert RunStatus.COMPLETE is play.run.status
    offer = f" Next feature: {expected}. Say [workflow:single] {expected} to start it."
    assert expected == "" or play.notified.endswith(offer)
    assert bool(expected) == ("Next feature" in play.notified)
