"""Invariants of random sessions, whatever a client does and in whatever order.

Subagents start, return, are queued, lost and repeated; steps pass, fail and are unclear; commands run and files change;
turns end and fail; sessions are compacted, crash and resume; two sessions share one repository.
"""

from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from workflow_play import FAIL, ISSUES, PASS, REJECT, Play, registry

from upbeat.core.workflow.decide.transitions import unfinished_before
from upbeat.core.workflow.decision import LoopLimits
from upbeat.core.workflow.facts import StepFinished, StepStarted, TurnContinued, WorkflowEnded, apply_facts
from upbeat.core.workflow.state import RunStatus, SessionState, StepStatus, StepVerdict
from upbeat.core.workflow.verdict.classify import BAD_VERDICTS

MESSAGES = st.sampled_from([PASS, FAIL, REJECT, ISSUES, "", "Well.", "12 passed", "测试未通过", "Shall I go on?"])
AGENTS = st.sampled_from([*(stage.agent for stage in registry().stages.values()), "nobody", ""])
CAPS = LoopLimits(max_turns=6, max_turns_without_progress=3)


class Sessions(RuleBasedStateMachine):
    """Two sessions, each with its own state; a random one takes the next step."""

    @initialize(first=st.sampled_from(sorted(registry().workflows)), second=st.sampled_from(["quick", "tdd"]))
    def begin(self, first: str, second: str) -> None:
        self.plays = [Play(session_id="one", limits=CAPS), Play(session_id="two", limits=CAPS)]
        self.running: list[list[str]] = [[], []]
        self.continuation = Counter[int]()
        for play, workflow in zip(self.plays, (first, second), strict=True):
            play.begin()
            play.prompt(f"[workflow:{workflow}] add retries")

    @rule(who=st.integers(0, 1), agent=AGENTS)
    def delegate(self, who: int, agent: str) -> None:
        play = self.plays[who]
        before = play.state
        call_id = play.delegate(agent)
        started = [fact for fact in play.last.facts if isinstance(fact, StepStarted)]
        if started and before.run:
            step = before.run.find_step(started[0].step_key)
            assert step is not None
            assert () == unfinished_before(before.run, step)
            assert StepStatus.DONE is not step.status
            self.running[who].append(call_id)

    @precondition(lambda self: any(self.running))
    @rule(who=st.integers(0, 1), which=st.integers(0, 9), message=MESSAGES, known=st.booleans(), agent=AGENTS)
    def stop(self, who: int, which: int, message: str, known: bool, agent: str) -> None:
        if calls := self.running[who]:
            call_id = calls[which % len(calls)]
            self.plays[who].stopped(agent, f"agent of {call_id}" if known else "unknown", message, continued=known)

    @precondition(lambda self: any(self.running))
    @rule(who=st.integers(0, 1), which=st.integers(0, 9), message=MESSAGES, twice=st.booleans())
    def give_back(self, who: int, which: int, message: str, twice: bool) -> None:
        if calls := self.running[who]:
            call_id = calls[which % len(calls)] if twice else calls.pop(which % len(calls))
            self.plays[who].returned(call_id, message, f"agent of {call_id}")

    @rule(who=st.integers(0, 1), which=st.integers(0, 9), agent=AGENTS)
    def start_agent(self, who: int, which: int, agent: str) -> None:
        if calls := self.running[who]:
            self.plays[who].started(agent, f"agent of {calls[which % len(calls)]}")

    @rule(who=st.integers(0, 1), code=st.sampled_from([0, 1, None]), change=st.booleans())
    def run_tests(self, who: int, code: int | None, change: bool) -> None:
        if change:
            self.plays[who].tree = f"tree {len(self.plays[who].facts)}"
        self.plays[who].runs("pytest -q", code)

    @rule(who=st.integers(0, 1), message=MESSAGES, running=st.sampled_from([0, 1, None]))
    def end_turn(self, who: int, message: str, running: int | None) -> None:
        play = self.plays[who]
        was = play.state
        play.ends(message, background_task_count=running)
        if any(isinstance(fact, TurnContinued) for fact in play.last.facts):
            self.continuation[who] += 1
            assert was.run is not None
            assert not was.loop.end_reason
            assert not was.loop.is_paused
        if any(isinstance(fact, WorkflowEnded) and fact.status is RunStatus.COMPLETE for fact in play.last.facts):
            bad = [step for step in play.run.steps if step.status is not StepStatus.DONE]
            assert [] == bad
            open_ended = [
                s
                for s in play.run.steps
                if s.verdict in BAD_VERDICTS and not registry().stages[s.stage].continues_on_failure
            ]
            assert [] == open_ended

    @rule(who=st.integers(0, 1), text=st.sampled_from(["stop", "what is this?", "fix the parser", "/upbeat:continue"]))
    def talk(self, who: int, text: str) -> None:
        play = self.plays[who]
        play.prompt(text, is_unrelated_question=text.endswith("?"))
        if text == "stop":
            play.ends()
            assert "" == play.continuation
        if text == "/upbeat:continue":
            self.continuation[who] = 0

    @rule(who=st.integers(0, 1))
    def fail(self, who: int) -> None:
        self.plays[who].fails()

    @rule(who=st.integers(0, 1), how=st.sampled_from(["compact", "resume", "startup"]), closes=st.booleans())
    def come_back(self, who: int, how: str, closes: bool) -> None:
        play = self.plays[who]
        if closes:
            play.closes()
        play.begin(how)
        if how != "compact":
            assert all(call.verdict is not StepVerdict.NONE for call in play.run.calls) or not play.run.is_running
            self.running[who].clear()

    @invariant()
    def the_state_is_the_fold_of_the_facts(self) -> None:
        for play in getattr(self, "plays", ()):
            assert apply_facts(play.facts, SessionState()) == play.state

    @invariant()
    def every_step_is_there_once_and_in_the_workflows_order(self) -> None:
        for play in getattr(self, "plays", ()):
            keys = [step.key for step in play.run.steps]
            assert len(set(keys)) == len(keys)
            assert list(registry().workflows[play.run.workflow].step_keys) == [key for key in keys if "#" not in key]
            groups = [step.group for step in play.run.steps]
            assert sorted(groups) == groups
            assert set(groups) == set(range(len(set(groups))))

    @invariant()
    def a_step_is_active_exactly_while_a_call_works_on_it(self) -> None:
        for play in getattr(self, "plays", ()):
            worked_on = {call.step_key for call in play.run.calls}
            active = {step.key for step in play.run.steps if step.status is StepStatus.ACTIVE}
            assert worked_on == active

    @invariant()
    def no_stage_is_tried_more_often_than_it_may_be(self) -> None:
        for play in getattr(self, "plays", ()):
            ended = Counter(fact.step_key for fact in play.facts if isinstance(fact, StepFinished))
            for step in play.run.steps:
                assert step.attempts <= ended[step.key]
                if step.verdict in (*BAD_VERDICTS, StepVerdict.UNCLEAR):
                    assert step.attempts <= registry().stages[step.stage].max_attempts

    @invariant()
    def nothing_is_started_before_what_it_builds_on(self) -> None:
        for play in getattr(self, "plays", ()):
            for step in play.run.steps:
                if step.status is StepStatus.ACTIVE:
                    assert () == unfinished_before(play.run, step)

    @invariant()
    def the_loop_is_bounded(self) -> None:
        for who in range(len(getattr(self, "plays", ()))):
            assert self.continuation[who] <= CAPS.max_turns


TestSessions = Sessions.TestCase
TestSessions.settings = settings(stateful_step_count=40)
