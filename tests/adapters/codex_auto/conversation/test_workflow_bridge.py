"""Workflows in codex-auto with a fake Codex: commands, the loop, evidence, subagents and sessions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.codex.conversation import FakeTransport, Scene, open_scene
from fakes.codex.rollout import AGENT, ROOT, call, command, ended, item, spawned, write
from fakes.context import HERE, FakeContextResolver, repo_context
from fakes.runtime import FakeWorld, fake_world

from upbeat.adapters.codex.transport.base import (
    CommandFinished,
    Completed,
    Ending,
    Failed,
    FailureReason,
    FilesChanged,
    Heartbeat,
    Interrupted,
    Message,
    ThreadCompacted,
    ThreadStarted,
    TokenUsage,
    TransportNotice,
    TransportNoticeKind,
    TurnEvent,
)
from upbeat.adapters.codex_auto.conversation.rollouts import RolloutReader
from upbeat.adapters.codex_auto.conversation.workflow_bridge import NoLoopContextResolver
from upbeat.core.contract.event import ClientName, EventSource, WorkflowCommanded
from upbeat.core.engine.handle import handle_event
from upbeat.core.settings import Toggle
from upbeat.core.workflow.state import RunStatus, SessionState, StepStatus, WorkflowRun

OTHER = "01a1fd22-0000-7171-9ad9-1ee82ac1d505"
START = "/upbeat:single add retries"
DONE = '<!-- VERDICT: {"stage": "DEV", "result": "PASS"} -->'
END = Completed(TokenUsage(100, 0, 0))


class Nonces(FakeClock):
    """A clock whose nonces differ, as real ones do."""

    def __init__(self) -> None:
        super().__init__()
        self.given = 0

    def nonce(self) -> str:
        self.given += 1
        return f"{self.given:06x}{self.given:06x}"


class Writing(FakeTransport):
    """Writes what Codex would have in its records by then: ``files`` holds the lines for each turn."""

    def __init__(
        self, home: Path, turns: Sequence[Sequence[TurnEvent]], files: Sequence[Sequence[tuple[str, str]]]
    ) -> None:
        super().__init__(turns, 100_000)
        self._home = home
        self._lines = list(files)

    def send(self, ask):  # type: ignore[no-untyped-def]
        for thread_id, text in self._lines.pop(0) if self._lines else ():
            write(self._home, thread_id, text)
        yield from super().send(ask)


@dataclass
class WorkflowScene(Scene):
    """A scene with what was sent, and what the journal has."""

    def says(self, prompt: str) -> Ending:
        return self.turn(prompt)

    @property
    def sent(self) -> list[str]:
        return [ask.prompt.partition("\n")[0] for ask in self.transport.asked]

    def state(self, thread_id: str = ROOT) -> SessionState:
        return self.world.journal.states[thread_id]

    def ran(self, thread_id: str = ROOT) -> WorkflowRun:
        run = self.state(thread_id).run
        assert run
        return run

    def events(self) -> list[str]:
        return [record.event for record in self.world.journal.records]


def make_scene(
    root: Path,
    *turns: Sequence[TurnEvent],
    files: Sequence[Sequence[tuple[str, str]]] = (),
    world: FakeWorld | None = None,
    **settings: object,
) -> WorkflowScene:
    world = world or replace(fake_world(), clock=Nonces())
    transport, rollouts = Writing(root / "codex", turns, files), RolloutReader(root / "codex")
    scene = open_scene(
        root, world=world, transport=transport, rollouts=rollouts, tools_disabled=("ci_search",), **settings
    )
    return WorkflowScene(scene.conversation, transport, world, scene.printer, root)


def turn(*events: TurnEvent, thread_id: str = ROOT, end: Ending = END) -> list[TurnEvent]:
    return [ThreadStarted(thread_id), *events, end]


# --- the loop ---


def test_a_workflow_continues_until_it_is_complete(tmp_path: Path) -> None:
    """The command starts it, the model is told, and a turn that ends too early is followed by another."""
    scene = make_scene(tmp_path, turn(Message("Begun.")), turn(Message(f"Done.\n{DONE}")))
    ending = scene.says(START)
    first, second = scene.transport.asked

    assert (END, RunStatus.COMPLETE) == (ending, scene.ran().status)
    assert (START, ROOT) == (first.prompt, second.thread_id)
    assert first.guidance.startswith("Run this workflow now. Do not choose another one.\nupbeat · workflow single: DEV")
    assert ("", "") == (second.guidance, second.context)
    assert second.prompt.startswith("[upbeat 1/30] workflow single: DEV\nNext step: delegate DEV")
    assert "upbeat continues: [upbeat 1/30] workflow single: DEV\n" in scene.printed
    assert "upbeat: workflow single is complete: DEV ✓ Self-declared: DEV.\n" in scene.printed


def test_the_configuration_of_a_turn(tmp_path: Path) -> None:
    """What has changed since the user's last prompt applies with the next one and is named; a continuation is none."""
    calls = []

    class Pin:
        def renew(self) -> None:
            calls.append("renew")

        def take_notice(self, language: str) -> str:
            return f"in effect from now on: policies.off ({language})"

    scene = make_scene(tmp_path, turn(Message("Begun.")), turn(Message(f"Done.\n{DONE}")))
    scene.conversation.workflow.configuration_pin = Pin()  # type: ignore[assignment]
    scene.says(START)

    assert (["renew"], 2) == (calls, len(scene.sent))
    assert 1 == scene.printed.count("in effect from now on: policies.off")


def test_a_loop_without_progress_ends(tmp_path: Path) -> None:
    """Three turns without progress end the loop; the user is told, and the model says it in one more turn."""
    scene = make_scene(tmp_path, *[turn(Message("Thinking.")) for _ in range(9)])
    scene.says(START)

    assert 5 == len(scene.sent)
    assert "Tell the user this now" in scene.transport.asked[-1].prompt
    assert ("no_progress", RunStatus.RUNNING) == (scene.state().loop.end_reason, scene.ran().status)
    assert "no progress in 3 turns" in scene.printed


@pytest.mark.parametrize("settings", [{"loop_enabled": Toggle.OFF}])
def test_without_the_loop_a_turn_ends(tmp_path: Path, settings: dict[str, object]) -> None:
    """With the loop off, the workflow waits for the user's next prompt."""
    scene = make_scene(tmp_path, turn(Message("Begun.")), turn(Message(DONE)), **settings)
    scene.says(START)
    began = (list(scene.sent), scene.ran().status)
    scene.says("go on please, implement it")

    assert ([START], RunStatus.RUNNING) == began
    assert RunStatus.COMPLETE is scene.ran().status
    assert "upbeat · workflow single: DEV" in scene.transport.asked[1].guidance


def test_no_loop_overrides_the_settings() -> None:
    """--no-loop turns the loop off, and ``why`` can name the flag."""
    found = NoLoopContextResolver(FakeContextResolver()).resolve(
        EventSource(ClientName.CODEX_CLI, "/"), None, is_plan=False
    )

    assert (Toggle.OFF, "--no-loop") == (found.settings.loop_enabled, found.settings.origins["loop.enabled"])


@pytest.mark.parametrize("word", ["stop", "停", "/upbeat:stop"])
def test_a_stop_word_stops_the_workflow(tmp_path: Path, word: str) -> None:
    """Nothing follows a stop word, and the workflow can be resumed."""
    scene = make_scene(tmp_path, turn(Message("Which of the two?")), turn(Message("Stopped.")), turn(Message(DONE)))
    scene.says(START)
    scene.says(word)
    stopped = (scene.ran().status, len(scene.sent))
    scene.says("/upbeat:continue")

    assert (RunStatus.STOPPED, 2) == stopped
    assert RunStatus.COMPLETE is scene.ran().status
    assert "upbeat: stopped workflow single" in scene.printed


def test_a_question_to_the_user_ends_the_turn(tmp_path: Path) -> None:
    """A turn that ends in a question is not continued."""
    scene = make_scene(tmp_path, turn(Message("Per host or in all?")))
    scene.says(START)

    assert [START] == scene.sent


def test_an_interrupted_turn_pauses_the_loop(tmp_path: Path) -> None:
    """Ctrl-C ends the turn and the loop, and the next prompt continues."""
    scene = make_scene(tmp_path, turn(Message("Begun.")), turn(end=Interrupted(2)), turn(Message(DONE)))
    ending = scene.says(START)
    paused = (len(scene.sent), scene.ran().status, scene.state().loop.was_continued)
    scene.says("implement it per host")

    assert (Interrupted(2), (2, RunStatus.RUNNING, False)) == (ending, paused)
    assert RunStatus.COMPLETE is scene.ran().status


def test_ctrl_c_between_two_turns_sends_nothing(tmp_path: Path) -> None:
    """A signal that comes while the core decides ends the turn."""

    class Pressed(StringIO):
        def write(self, text: str) -> int:
            if "upbeat continues" in text:
                raise KeyboardInterrupt
            return super().write(text)

    scene = make_scene(tmp_path, turn(Message("Begun.")))
    scene.printer.status_stream = Pressed()

    assert Interrupted(2) == scene.says(START)
    assert ([START], False) == (scene.sent, scene.state().loop.was_continued)


def test_a_failed_turn_is_counted_and_not_repeated(tmp_path: Path) -> None:
    """A failed turn may have reached the model, so nothing is sent again."""
    scene = make_scene(tmp_path, turn(end=Failed(FailureReason.QUOTA_EXCEEDED, "no more")))
    ending = scene.says(START)
    [record] = [record for record in scene.world.journal.records if record.event == "TurnFailed"]

    assert (Failed(FailureReason.QUOTA_EXCEEDED, "no more"), [START], 1) == (
        ending,
        scene.sent,
        scene.state().loop.consecutive_errors,
    )
    assert ("quota_exceeded", "no more") == (record.event_fields["error"], record.event_fields["message"])


# --- evidence ---


def test_a_recorded_command_is_evidence(tmp_path: Path) -> None:
    """The evidence has the exit code, the state of the files, and the call id that hooks get."""
    lines = [(ROOT, command(ROOT, "t1", "call_9", ["/bin/bash", "-lc", "pytest -q"], 0).replace("5000", at_now()))]
    lines = [(thread, line.replace("hi", "1 passed in 0.01s")) for thread, line in lines]
    seen = CommandFinished("item_3", "/bin/bash -lc 'pytest -q'", "1 passed in 0.01s", 0)
    scene = make_scene(tmp_path, turn(Message("Which one?")), turn(seen, Message("Which one?")), files=[[], lines])
    scene.says(START)
    scene.says("implement it")
    [evidence] = scene.state().evidence

    assert ("call_9", "tests", 0, "tree 1") == (
        evidence.call_id,
        evidence.kind,
        evidence.exit_code,
        evidence.tree_digest,
    )


def test_without_a_rollout_the_events_are_evidence(tmp_path: Path) -> None:
    """Item ids repeat in every turn, so they are made unique."""
    seen = CommandFinished("item_0", "/bin/bash -lc 'pytest -q'", "", 1)
    declined = CommandFinished("item_1", "pytest", "", None, is_declined=True)
    changed = FilesChanged("item_2", ())
    scene = make_scene(
        tmp_path, turn(seen, declined, changed, Message("Which one?")), turn(seen, Message("Which one?"))
    )
    scene.says(START)
    scene.says("implement it")
    first, second = scene.state().evidence

    assert (1, 1, "pytest -q") == (first.exit_code, second.exit_code, first.command)
    assert first.call_id.endswith("-item_0")
    assert first.call_id != second.call_id


def test_a_command_that_is_seen_late_is_no_evidence(tmp_path: Path) -> None:
    """Files may have changed since the command ran."""
    lines = [(ROOT, command(ROOT, "t1", "call_9", ["pytest"], 0))]
    scene = make_scene(tmp_path, turn(Message("Which one?")), turn(Message("Which one?")), files=[[], lines])
    scene.says(START)
    scene.says("implement it")

    assert () == scene.state().evidence


def at_now() -> str:
    """The fake clock's time in milliseconds."""
    return str(int(fake_world().clock.now().timestamp() * 1000))


# --- agents ---


def agent(answer: str | None, *, kind: str = "upbeat-developer", prompt: str = "Add retries.") -> list[tuple[str, str]]:
    """The records of one agent, from its call to its end."""
    over = ended("t2", answer, "turn_aborted" if answer is None else "task_complete")
    return [
        (ROOT, call("call_3", "multi_agent_v1", message=prompt, agent_type=kind)),
        (ROOT, spawned("call_3", AGENT)),
        (AGENT, item(AGENT, "t2", "UserMessage", id="u") + over),
    ]


def test_the_answer_of_a_subagent_ends_its_step(tmp_path: Path) -> None:
    """The answer belongs to the call, whatever else the turn says."""
    scene = make_scene(tmp_path, turn(Heartbeat(), Message("All over.")), files=[agent("The retries are in.")])
    scene.says(START)

    assert ([START], RunStatus.COMPLETE) == (scene.sent, scene.ran().status)
    assert ["SubagentRequested", "SubagentReturned", "SubagentReturned"] == [
        name for name in scene.events() if name.startswith("Subagent")
    ]


def test_the_step_of_an_aborted_subagent_is_pending(tmp_path: Path) -> None:
    """A subagent without an answer has not done its step."""
    scene = make_scene(tmp_path, turn(Heartbeat(), Message("Which one?")), files=[agent(None)])
    scene.says(START)

    assert [StepStatus.PENDING] == [step.status for step in scene.ran().steps]


def test_subagents_that_end_with_the_turn_are_not_waited_for(tmp_path: Path) -> None:
    """Subagents of codex exec end with their turn; those of the app-server continue."""
    lines = agent("late")[:2]
    gone, there = (make_scene(tmp_path / name, turn(Message("Which one?")), files=[lines]) for name in ("exec", "fake"))
    gone.conversation.workflow._agents_end_with_turn = True
    for scene in (gone, there):
        scene.says(START)

    assert [StepStatus.PENDING, StepStatus.ACTIVE] == [scene.ran().steps[0].status for scene in (gone, there)]


def test_a_restarted_server_has_lost_its_subagents(tmp_path: Path) -> None:
    """After a restart of Codex the steps of its subagents are pending again."""
    again = [TransportNotice(TransportNoticeKind.RESTARTED, "died"), *turn(Message("Which one?"))]
    scene = make_scene(tmp_path, turn(Message("Which one?")), again, files=[agent("late")[:2]])
    scene.says(START)
    scene.says("implement it")

    assert [StepStatus.PENDING] == [step.status for step in scene.ran().steps]


def test_a_compaction_is_recorded(tmp_path: Path) -> None:
    """What the model was shown counts as forgotten, and the guidance is sent again."""
    scene = make_scene(
        tmp_path,
        turn(Message("Which one?")),
        turn(ThreadCompacted(), Message("Which one?")),
        turn(Message("Which one?")),
    )
    scene.says(START)
    scene.says("implement it")
    scene.says("go on")

    assert 1 == scene.state().compactions
    assert 2 == scene.events().count("SessionStarted")


def test_a_step_that_cannot_be_denied_is_reported_once(tmp_path: Path) -> None:
    """Without hooks a step out of order is not blocked; the user is told why, and how it would be."""
    lines = agent("Tested.", kind="upbeat-tester")
    more = [(where, text.replace("call_3", "call_4").replace(AGENT, OTHER)) for where, text in lines[:2]]
    scene = make_scene(tmp_path, turn(Heartbeat(), Heartbeat(), Message("Which one?")), files=[[*lines, *more]])
    scene.says("/upbeat:quick add retries")
    [denied, _] = [record for record in scene.world.journal.records if "deny" in str(record.effects)]

    assert 1 == scene.printed.count("so this step was not blocked (upbeat install codex): TEST cannot start yet")
    assert "the client cannot carry it out here" == denied.effects[0]["degraded"]


# --- sessions ---


def test_a_new_thread_takes_over_the_session_before_it(tmp_path: Path) -> None:
    """The workflow moves to the thread in one transaction."""
    scene = make_scene(tmp_path, turn(Message("Which one?")))
    scene.says(START)
    [ours] = [name for name in scene.world.journal.states if name.startswith("codex-auto-")]

    assert (RunStatus.RUNNING, RunStatus.HANDED_OVER) == (scene.ran().status, scene.ran(ours).status)
    assert scene.ran().id == scene.ran(ours).id


def test_without_a_thread_the_workflow_waits_for_the_next_prompt(tmp_path: Path) -> None:
    """If Codex cannot be started, the next turn has the workflow."""
    scene = make_scene(tmp_path, [Failed(FailureReason.LAUNCH_FAILED)], turn(Message(DONE)))
    scene.says(START)
    scene.says("try again to implement it")

    assert RunStatus.COMPLETE is scene.ran().status
    assert "upbeat · workflow single: DEV" in scene.transport.asked[1].guidance


def test_a_lost_thread_hands_its_workflow_to_the_new_one(tmp_path: Path) -> None:
    """The prompt is sent to another thread, and its workflow moves there."""
    scene = make_scene(
        tmp_path,
        turn(Message("Which one?")),
        [Failed(FailureReason.NO_ROLLOUT, "gone")],
        turn(Message(DONE), thread_id=OTHER),
    )
    scene.says(START)
    scene.says("implement it")

    assert (RunStatus.COMPLETE, RunStatus.HANDED_OVER) == (scene.ran(OTHER).status, scene.ran().status)


def test_another_process_continues_the_workflow(tmp_path: Path) -> None:
    """After a restart the thread has its workflow, without the calls that were running."""
    before = make_scene(tmp_path, turn(Message("Which one?")), files=[agent("late")[:2]])
    before.says(START)
    before.conversation.sessions.close()
    later = make_scene(tmp_path, turn(Message(DONE)), world=before.world)
    shown = later.conversation.workflow.state.run
    later.says("implement it")

    assert "single" == (shown and shown.workflow)
    assert RunStatus.COMPLETE is later.ran().status
    assert 2 == later.transport.asked[0].guidance.count("upbeat · workflow single: DEV")  # as two hooks would say


def test_a_new_session_has_no_workflow(tmp_path: Path) -> None:
    """A new session starts without a workflow, and switching back finds it."""
    scene = make_scene(
        tmp_path, turn(Message("Which one?")), turn(Message("Hi."), thread_id=OTHER), turn(Message("Which one?"))
    )
    scene.says(START)
    scene.conversation.start_new_thread(is_plan_only=False)
    scene.says("hello")
    fresh = scene.conversation.workflow.state.run
    scene.conversation.switch_session(ROOT)
    scene.says("implement it")

    assert None is fresh
    assert "upbeat · workflow single: DEV" in scene.transport.asked[2].guidance


def test_a_fork_is_recorded_as_one(tmp_path: Path) -> None:
    """The core learns how each session started, and that it ended."""
    scene = make_scene(tmp_path, turn(Message("Hi.")), turn(Message("Hi."), thread_id=OTHER))
    scene.transport.forks = [OTHER]
    scene.says("hello")
    scene.conversation.fork()
    scene.says("hello")
    scene.conversation.close()
    how = [
        record.event_fields.get("trigger") for record in scene.world.journal.records if record.event == "SessionStarted"
    ]

    assert ["startup", "fork"] == how
    assert [ROOT, OTHER] == [
        record.session_id for record in scene.world.journal.records if record.event == "SessionEnded"
    ]


def test_a_workflow_that_is_handed_over_is_continued(tmp_path: Path) -> None:
    """The next session continues what another client hands over to Codex, and says so."""
    world = fake_world(repo_context(replace(HERE, root=str(tmp_path))))
    claude = EventSource(ClientName.CLAUDE_CODE, str(tmp_path), "claude-1")
    handle_event(WorkflowCommanded(claude, "start", "single", "add retries"), world.runtime)
    handle_event(WorkflowCommanded(claude, "hand-over", "codex-cli"), world.runtime)
    scene = make_scene(tmp_path, turn(Message(DONE)), world=world)
    scene.says("implement it")

    assert "upbeat: this session continues the workflow of claude-code session claude-1." in scene.printed
    assert (RunStatus.COMPLETE, RunStatus.HANDED_OVER) == (scene.ran().status, scene.ran("claude-1").status)


def test_a_plan_is_not_recorded(tmp_path: Path) -> None:
    """The core records neither the session nor the prompt of a dry run."""
    scene = make_scene(tmp_path)
    report = scene.conversation.preparer.prepare(START, is_plan_only=True)
    scene.conversation.close()

    assert "plan" in json.dumps(report.model_dump(mode="json"))
    assert [] == scene.world.journal.records
