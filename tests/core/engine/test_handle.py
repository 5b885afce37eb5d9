"""Events handled with fakes: the decision, the queries, the record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from fakes.context import repo_context
from fakes.journal import MemoryTransaction
from fakes.runner import FakeRunner
from fakes.runtime import fake_world
from fakes.shop import ANSWERS, CLAUDE, CONTEXT, FOUND, PROMPT

from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.effect import EMPTY_DECISION, Decision, InjectContext, NotifyUser
from upbeat.core.contract.event import (
    Call,
    ClientName,
    Event,
    EventSource,
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    SubagentRequested,
    SubagentReturned,
    ToolFinished,
    ToolKind,
    ToolStarting,
    TurnEnding,
    TurnFailed,
    TurnInterrupted,
    UnknownEvent,
    WorkflowCommanded,
)
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.contract.report import Client, Limit, ToolRun
from upbeat.core.engine.handle import adopt_session, handle_event
from upbeat.core.engine.prompts import HOOK_BUDGET_MS
from upbeat.core.engine.runtime import TurnRequest
from upbeat.core.sanitize.truncate import TextLimit
from upbeat.core.settings import Activation, ExecutionMode
from upbeat.core.turn.fuse import ALREADY_SHOWN
from upbeat.core.workflow.facts import apply_facts
from upbeat.core.workflow.state import NEW_SESSION, RunStatus


def _contexts(world: Any, *events: Event) -> list[str]:
    """Return what is injected at each of ``events``."""
    decisions = [handle_event(event, world.runtime) for event in events]
    return ["".join(effect.text for effect in d.effects if isinstance(effect, InjectContext)) for d in decisions]


ASK = PromptSubmitted(CLAUDE, PROMPT)
DONE = TurnEnding(CLAUDE, "done")
SOURCE_LINE = "4| def send"


def test_lines_are_shown_once_per_session() -> None:
    """The second turn names the location and says that its lines were shown; another session gets them."""
    world = fake_world(answers=ANSWERS)
    first, _, second = _contexts(world, ASK, DONE, ASK)
    [other] = _contexts(world, replace(ASK, source=replace(CLAUDE, session_id="s-2")))

    assert [True, False, True] == [SOURCE_LINE in text for text in (first, second, other)]
    assert ALREADY_SHOWN in second
    assert first == other


def test_a_follow_up_is_about_what_was_shown() -> None:
    """A prompt that refers to the turn before is searched with what that turn's block led with."""
    world = fake_world(answers=ANSWERS)
    follow_up = PromptSubmitted(CLAUDE, "and where is it called?")
    _contexts(world, ASK, DONE, follow_up)
    [search] = [tool for tool in world.runner.calls[-1][0] if tool.tool == "ci_search"]

    assert "and where is it called?\nshop/retry.py\nsend_with_retry" == search.args["query"]
    assert (["shop/retry.py"], ["send_with_retry"]) == (search.args["files"], search.args["symbols"])
    assert "prior" not in search.args


@pytest.mark.parametrize(
    "event",
    [
        SessionStarted(CLAUDE, "compact"),
        SessionStarted(CLAUDE, "clear"),
        TurnFailed(CLAUDE, "rate_limit"),
    ],
)
def test_lines_that_the_model_may_have_lost_are_shown_again(event: Event) -> None:
    """After a compaction and after a failed turn, lines are shown again."""
    first, _, _, again = _contexts(fake_world(answers=ANSWERS), ASK, DONE, event, ASK)

    assert first == again


def test_a_renamed_session_keeps_what_it_was_shown() -> None:
    """A session that gets its client's ID keeps the excerpts that it was shown."""
    world = fake_world(answers=ANSWERS)
    handle_event(ASK, world.runtime)
    named = replace(CLAUDE, session_id="thread-1")
    adopt_session(named, CLAUDE.session_id, world.runtime)

    assert ALREADY_SHOWN in _contexts(world, replace(DONE, source=named), replace(ASK, source=named))[1]


@pytest.mark.parametrize("event", [ASK, TurnInterrupted(CLAUDE)])
def test_an_unanswered_prompt_has_shown_nothing(event: Event) -> None:
    """Lines injected with a prompt that was blocked or interrupted before the model acted are shown again."""
    texts = _contexts(fake_world(answers=ANSWERS), ASK, event, ASK)

    assert texts[0] == texts[2]


@pytest.mark.parametrize("event", [DONE, ToolStarting(CLAUDE, Call("c", "Read", {}))])
def test_a_model_that_acts_has_read_its_prompt(event: Event) -> None:
    """A call or the end of the turn proves that the injected lines were read, even if the turn is interrupted later."""
    texts = _contexts(fake_world(answers=ANSWERS), ASK, event, TurnInterrupted(CLAUDE), ASK)

    assert ALREADY_SHOWN in texts[3]


@dataclass
class _Index:
    """Implements ``core.engine.ports.CodeIndex``."""

    updated: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)

    def request_update(self, root: str) -> None:
        self.updated.append(root)

    def forget_check(self, root: str) -> None:
        self.forgotten.append(root)


@pytest.mark.parametrize(
    ("event", "settings", "expected"),
    [
        (SessionStarted(CLAUDE, "startup"), {}, ["/repo"]),
        (TurnEnding(CLAUDE, "done"), {}, ["/repo"]),
        (PromptSubmitted(CLAUDE, PROMPT), {}, []),
        (SessionStarted(CLAUDE, "startup"), {"enabled": Activation.OFF}, []),
        (SessionStarted(CLAUDE, "startup"), {"mode": ExecutionMode.PLAN}, []),
    ],
)
def test_the_index_is_updated(event: Event, settings: dict[str, Any], expected: list[str]) -> None:
    """The index is updated when a session begins and when a turn ends, unless tools are off."""
    index = _Index()
    world = fake_world(repo_context(**settings))
    handle_event(event, replace(world.runtime, index=index))

    assert expected == index.updated


@pytest.mark.parametrize(("kind", "expected"), [(ToolKind.SHELL, ["/repo"]), (ToolKind.READ, [])])
def test_a_tool_that_may_have_changed_files(kind: ToolKind, expected: list[str]) -> None:
    """After a call that may have changed files the next question checks the tree again."""
    index = _Index()
    handle_event(ToolFinished(CLAUDE, Call("c", "T", {}, kind)), replace(fake_world().runtime, index=index))

    assert expected == index.forgotten


def test_a_prompt_gets_its_context() -> None:
    """A user's prompt is answered with the context, and the record has the decision."""
    world = fake_world(answers=ANSWERS)
    decision = handle_event(PromptSubmitted(CLAUDE, PROMPT), world.runtime)

    assert InjectContext(CONTEXT) == decision.effects[0]
    assert decision.report
    assert Client(name="claude-code", event="UserPromptSubmit", session_id="s-1") == decision.report.client
    [record] = world.journal.records
    assert ("PromptSubmitted", "claude-code", "s-1", "/repo") == (
        record.event,
        record.client,
        record.session_id,
        record.root,
    )
    assert {"prompt": PROMPT, "origin": "user"} == record.event_fields
    assert {"kind": "inject_context", "text": CONTEXT, "part": "turn"} == record.effects[0]
    assert {
        "run_id": decision.report.run_id,
        "limits": ["tool_unavailable"],
        "tools": ["ci_search:ok", "ci_graph_rag:error"],
    } == record.turn
    assert [("turn", "inject")] == [(e.component, e.decision) for e in record.explanations]
    assert len(CONTEXT) == record.injected_chars


def test_a_hook_keeps_within_its_clients_timeout() -> None:
    """A prompt from a hook is prepared within the hook's time."""
    world = fake_world(repo_context(budget_wall_ms=60000), ANSWERS)
    handle_event(PromptSubmitted(CLAUDE, PROMPT), world.runtime)

    assert 100 + HOOK_BUDGET_MS / 1000 == world.runner.calls[0][2]


def test_the_cap_of_a_client_is_kept() -> None:
    """Context that exceeds the client's cap is not injected."""
    decision = handle_event(PromptSubmitted(CLAUDE, PROMPT), fake_world(answers=ANSWERS).runtime, TextLimit(10))

    assert () == decision.effects


@pytest.mark.parametrize(
    ("origin", "reason"),
    [
        (PromptOrigin.WRAPPED, LimitCode.PREPARED_ELSEWHERE),
        (PromptOrigin.TASK_NOTIFICATION, LimitCode.NOT_A_USER_PROMPT),
        (PromptOrigin.SUBAGENT, LimitCode.NOT_A_USER_PROMPT),
    ],
)
def test_prompts_of_others_are_skipped(origin: PromptOrigin, reason: LimitCode) -> None:
    """A prompt that no user wrote, or that is prepared already, gets no context; the record says why."""
    world = fake_world(answers=ANSWERS)

    assert Decision(skip_reason=reason) == handle_event(PromptSubmitted(CLAUDE, PROMPT, origin), world.runtime)
    assert [] == world.runner.calls
    assert [({"skip_reason": reason.value}, origin.value, 0)] == [
        (record.turn, record.event_fields["origin"], record.injected_chars) for record in world.journal.records
    ]


def test_an_invalid_configuration_is_reported() -> None:
    """With an invalid configuration a prompt gets no context, and the user is notified of the problems."""
    world = fake_world(repo_context(problems=("a: b", "c: d")), ANSWERS)

    assert (NotifyUser("upbeat: configuration invalid: a: b\nconfiguration invalid: c: d"),) == handle_event(
        PromptSubmitted(CLAUDE, PROMPT), world.runtime
    ).effects


@pytest.mark.parametrize(
    ("limits", "problems", "notices"),
    [
        ((), (), ()),
        ((Limit.of(LimitCode.NO_GIT_ROOT), Limit.of(LimitCode.CLAMPED, name="x", value=1)), (), ()),
        (
            (
                Limit.of(LimitCode.CONFIG_UNTRUSTED, "x"),
                Limit.of(LimitCode.CONFIG_MISPLACED, "y"),
                Limit.of(LimitCode.CONFIG_MISPLACED, "y"),
            ),
            ("a: b",),
            (
                NotifyUser(
                    "upbeat: configuration invalid: a: b\n"
                    "project configuration may only tighten until you trust it (upbeat trust): x\n"
                    "configuration not read: y"
                ),
            ),
        ),
    ],
    ids=["no problems", "nothing to report", "all at once"],
)
def test_a_session_start_reports_problems(
    limits: tuple[Limit, ...], problems: tuple[str, ...], notices: tuple[NotifyUser, ...]
) -> None:
    """At the start of a session the user is notified once of problems of the settings."""
    world = fake_world(repo_context(limits=limits, problems=problems))
    decision = handle_event(SessionStarted(CLAUDE, "startup"), world.runtime)

    assert Decision(notices) == decision
    assert [(CLAUDE, None, False)] == world.context_resolver.asked
    assert ["SessionStarted"] == [record.event for record in world.journal.records]


def test_other_events_are_recorded() -> None:
    """An event without proposals is recorded under its own name."""
    world = fake_world()

    assert EMPTY_DECISION == handle_event(UnknownEvent(CLAUDE, "Tea", ("cup",)), world.runtime)
    [record] = world.journal.records
    assert ("Tea", {"name": "Tea", "fields": ("cup",)}, (), ()) == (
        record.event,
        record.event_fields,
        record.facts,
        record.effects,
    )


def test_the_record_has_a_duration() -> None:
    """The duration is that of the whole event, in milliseconds."""
    world = fake_world()

    class SlowRunner(FakeRunner):
        def run(self, *args: Any) -> tuple[ToolRun, ...]:
            world.clock.advance(1.2346)
            return super().run(*args)

    slow = replace(world, runner=SlowRunner())
    handle_event(PromptSubmitted(CLAUDE, PROMPT), slow.runtime)

    assert [1234.6] == [record.duration_ms for record in world.journal.records]


# --- the workflow ---


def test_the_workflows_context_precedes_the_turns() -> None:
    """The workflow's text comes first, then the findings; the state is stored with the record."""
    world = fake_world(answers=ANSWERS)
    decision = handle_event(PromptSubmitted(CLAUDE, f"/upbeat:quick {PROMPT}"), world.runtime)
    kinds = [type(effect) for effect in decision.effects]
    run = world.journal.states["s-1"].run

    assert [InjectContext, InjectContext, NotifyUser] == kinds
    assert decision.effects[0].text.startswith("Run this workflow now")
    assert run is not None
    assert ("quick", PROMPT) == (run.workflow, run.goal)
    assert apply_facts(world.journal.records[0].facts, NEW_SESSION) == world.journal.states["s-1"]


def test_the_workflow_and_the_turn_share_the_cap() -> None:
    """Both contexts together stay within the client's cap."""
    world = fake_world(answers={"ci_search": ToolOutput("", tuple(replace(FOUND, path=f"{n}.py") for n in range(200)))})
    decision = handle_event(PromptSubmitted(CLAUDE, f"/upbeat:standard {PROMPT}"), world.runtime, TextLimit(9800))

    assert sum(len(effect.text) + 1 for effect in decision.effects) <= 9800


def test_switched_off_no_workflow_starts() -> None:
    """If upbeat is switched off, a workflow command starts nothing."""
    world = fake_world(repo_context(enabled=Activation.OFF))
    decision = handle_event(PromptSubmitted(CLAUDE, "/upbeat:quick x"), world.runtime)

    assert ((), {}) == (decision.effects, {k: v for k, v in world.journal.states.items() if v.run})


def test_the_tree_is_read_only_when_it_matters() -> None:
    """Without a workflow no event computes a tree digest."""
    world = fake_world()
    call = Call("c", "Bash", {"command": "pytest"})
    for event in (ToolFinished(CLAUDE, call, "", "pytest", 0), TurnEnding(CLAUDE, "Done."), ToolStarting(CLAUDE, call)):
        handle_event(event, world.runtime)
    without = list(world.workspace.looked_at)
    handle_event(PromptSubmitted(CLAUDE, "/upbeat:quick x"), world.runtime)
    handle_event(ToolFinished(CLAUDE, call, "", "pytest", 0), world.runtime)

    assert ([], ["/repo"]) == (without, world.workspace.looked_at)


def test_an_exit_code_comes_from_the_clients_transcript() -> None:
    """If a client does not report an exit code, its transcript is read."""
    world = fake_world()
    world.transcripts.codes["c"] = 3
    handle_event(PromptSubmitted(CLAUDE, "/upbeat:quick x"), world.runtime)
    handle_event(ToolFinished(CLAUDE, Call("c", "Bash", {"command": "pytest"}), "", "pytest"), world.runtime)

    assert [3] == [evidence.exit_code for evidence in world.journal.states["s-1"].evidence]


def test_a_run_has_one_owner() -> None:
    """A session loses its run in the transaction in which another adopts it."""
    world = fake_world()
    codex = EventSource(ClientName.CODEX_CLI, "/repo", "s-2")
    handle_event(PromptSubmitted(CLAUDE, "/upbeat:quick x"), world.runtime)
    handle_event(WorkflowCommanded(CLAUDE, "hand-over", "codex-cli"), world.runtime)
    handle_event(SessionStarted(codex, "startup"), world.runtime)
    ours, theirs = world.journal.states["s-1"].run, world.journal.states["s-2"].run

    assert ours is not None
    assert theirs is not None
    assert (RunStatus.HANDED_OVER, RunStatus.RUNNING, ours.id) == (ours.status, theirs.status, theirs.id)


def test_degraded_effects_are_recorded() -> None:
    """An effect that the client cannot execute is recorded as degraded."""
    world = fake_world(repo_context(problems=("a: b",)))
    handle_event(
        SessionStarted(CLAUDE, "startup"), world.runtime, degradations=lambda _event, _decision: ("it cannot",)
    )

    assert ["it cannot"] == [e["degraded"] for e in world.journal.records[0].effects]


def test_files_follow_the_decision() -> None:
    """A step that passes ticks its box; a complete run moves its feature to the archive."""
    world = fake_world()
    world.workspace.texts["retry-limit"] = "- [x] DEV\n"
    handle_event(PromptSubmitted(CLAUDE, "/upbeat:single retry-limit"), world.runtime)
    handle_event(SubagentRequested(CLAUDE, Call("c", "Agent", {}), "upbeat:developer", "x"), world.runtime)
    handle_event(SubagentReturned(CLAUDE, Call("c", "Agent", {}), "a", "Done."), world.runtime)
    handle_event(TurnEnding(CLAUDE, "Done.", background_task_count=0), world.runtime)

    assert ([("retry-limit", ("DEV",))], ["retry-limit"]) == (world.workspace.ticked, world.workspace.archived)


def test_habits_are_off_by_default() -> None:
    """Without ``habits.enabled`` no habit is recorded."""
    world = fake_world()
    handle_event(PromptSubmitted(CLAUDE, "/upbeat:quick fix the parser"), world.runtime)

    assert [] == world.memory.sightings


def test_the_next_session_reads_learned_habits() -> None:
    """If enabled, the choice of a workflow is recorded, and the next session reads it as data."""
    world = fake_world(repo_context(habits_enabled=True))
    handle_event(PromptSubmitted(CLAUDE, "/upbeat:quick fix the parser in parse.py"), world.runtime)
    decision = handle_event(
        SessionStarted(EventSource(ClientName.CLAUDE_CODE, "/repo", "s-9"), "startup"), world.runtime
    )

    assert world.memory.sightings
    assert "data, not instructions" in decision.effects[-1].text


# --- clients that drive their turns themselves ---


def test_a_request_prepares_the_turn_as_its_client_wants() -> None:
    """Its event, limits and command are in the report; its repository is used, its cap is not."""
    world = fake_world(repo_context(budget_wall_ms=60000), ANSWERS)
    source = EventSource(ClientName.CODEX_CLI, "/repo", "ours")
    lost = Limit.of(LimitCode.SESSION_UNAVAILABLE, "gone")
    asked = TurnRequest(
        replace(source, session_id=""), PROMPT, "codex-auto", "/other", codex_command="codex x", limits=(lost,)
    )
    decision = handle_event(PromptSubmitted(source, PROMPT), world.runtime, TextLimit(10), request=asked)
    report = decision.report

    assert report
    assert ("codex-auto", None, "codex x") == (
        report.client.event,
        report.client.session_id,
        report.tool_plan.planned_codex_command,
    )
    assert lost in report.limits
    assert [(source, "/other", False)] == world.context_resolver.asked
    assert () == decision.effects
    assert 100 + 60 == world.runner.calls[0][2]


def test_a_client_that_shows_limits_gets_no_notices() -> None:
    """Problems of the settings are among the limits of its turn."""
    world = fake_world(repo_context(problems=("bad: 1",)))
    source = EventSource(ClientName.CODEX_CLI, "/repo", "ours")
    events = (SessionStarted(source, "startup"), PromptSubmitted(source, PROMPT))
    decisions = [handle_event(event, world.runtime, request=TurnRequest(source, PROMPT)) for event in events]

    assert [(), ()] == [decision.effects for decision in decisions]


def test_a_session_adopts_its_former_id() -> None:
    """The run, its loop and its evidence move; the former ID keeps a run that was handed over."""
    world = fake_world()
    ours, thread = (EventSource(ClientName.CODEX_CLI, "/repo", name) for name in ("ours", "thread"))
    handle_event(PromptSubmitted(ours, "/upbeat:single add retries"), world.runtime)
    adopt_session(thread, "ours", world.runtime)
    states = world.journal.states

    assert states["thread"].run
    assert states["ours"].run
    assert (RunStatus.RUNNING, RunStatus.HANDED_OVER) == (states["thread"].run.status, states["ours"].run.status)
    assert ("/repo", states["ours"].loop) == (states["thread"].root, states["thread"].loop)
    assert (True, False) == (states["ours"].has_ended, states["thread"].has_ended)
    assert ["SessionAdopted", "SessionRenamed"] == [record.event for record in world.journal.records[-2:]]


def test_an_unknown_session_is_not_adopted() -> None:
    """Adopting an unknown session leaves no record."""
    world = fake_world()
    adopt_session(EventSource(ClientName.CODEX_CLI, "/repo", "thread"), "ours", world.runtime)

    assert ([], {}) == (world.journal.records, world.journal.states)


def test_peer_sessions_are_read_only_when_they_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The most frequent event, a finished tool, does not read the states of all sessions of the repository."""
    read: list[str] = []
    monkeypatch.setattr(MemoryTransaction, "peer_sessions", lambda _self, root: read.append(root) or ())
    world = fake_world()
    handle_event(PromptSubmitted(CLAUDE, "/upbeat:single add retries"), world.runtime)
    handle_event(ToolFinished(CLAUDE, Call("c", "Bash", {}), "", "pytest", 0), world.runtime)
    handle_event(TurnEnding(CLAUDE, "Done so far."), world.runtime)

    assert ["/repo", "/repo"] == read


def test_a_session_does_not_adopt_from_itself() -> None:
    """A workflow that a session offers to its own client is not for itself."""
    world = fake_world()
    handle_event(PromptSubmitted(CLAUDE, "/upbeat:single add retries"), world.runtime)
    for number in range(3):
        call = Call(f"c{number}", "Agent", {})
        handle_event(SubagentRequested(CLAUDE, call, "upbeat:developer", "do it"), world.runtime)
        handle_event(SubagentReturned(CLAUDE, call, "a", '<!-- VERDICT: {"result": "FAIL"} -->'), world.runtime)
    handle_event(WorkflowCommanded(CLAUDE, "hand-over", "claude-code"), world.runtime)
    handle_event(PromptSubmitted(CLAUDE, "look at it"), world.runtime)
    with world.journal.transaction() as transaction:
        state = transaction.state(CLAUDE.session_id)

    assert state.run
    assert (RunStatus.NEEDS_HUMAN, "claude-code") == (state.run.status, state.handover_client)
