"""Threads that are too long or refused: the attempts, their messages, and how to disable them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fakes.codex.app_server_bench import Bench, app_server_bench
from fakes.codex.conversation import ENGLISH, FIRST, SECOND, Scene, open_scene

from upbeat.adapters.codex.transport import base as transport
from upbeat.adapters.codex_auto.conversation.turns import DEFAULT_EFFORT, EffortSettings

PROMPT = "rename the retry limit"
FULL = transport.Failed(transport.FailureReason.CONTEXT_FULL, "Codex ran out of room in the model's context window.")
REFUSED = transport.Failed(
    transport.FailureReason.BAD_REQUEST, '{"error": {"message": "No tool output found for function call call_9."}}'
)
DONE = transport.Completed(transport.TokenUsage(100, 0, 0))


def good(thread_id: str = FIRST, *more: transport.TurnEvent) -> list[transport.TurnEvent]:
    return [transport.ThreadStarted(thread_id), transport.Message("answer"), *more, DONE]


def bad(failed: transport.Failed, *before: transport.TurnEvent) -> list[transport.TurnEvent]:
    return [transport.ThreadStarted(FIRST), *before, failed]


@dataclass
class Recovered(Scene):
    """A scene that counts the seconds it waited."""

    rests: list[float] = field(default_factory=list)


def make_scene(root: Path, *turns: Sequence[transport.TurnEvent], **options: Any) -> Recovered:
    """A conversation at ``root``, by a transport that does as it is told, or by an app-server."""
    scene = open_scene(root, *turns, **options)
    made = Recovered(scene.conversation, scene.transport, scene.world, scene.printer, root)
    made.conversation.turns.sleep_for = made.rests.append
    return made


# --- too long ---


def test_a_full_thread_is_retried(tmp_path: Path) -> None:
    """The retry refers to the request on the same thread, and does not send the prompt itself again."""
    scene = make_scene(tmp_path, bad(FULL), good())
    ending = scene.turn(PROMPT)
    first, second = scene.transport.asked

    assert (DONE, [2.0]) == (ending, scene.rests)
    assert (PROMPT, FIRST, ENGLISH["prompt_after_compaction"].format(prompt=PROMPT)) == (
        first.prompt,
        second.thread_id,
        second.prompt,
    )
    assert "retrying with a summary in 2 s (1 of 2)" in scene.printed


def test_a_full_thread_is_retried_twice(tmp_path: Path) -> None:
    """After two retries with longer pauses the failure is final."""
    scene = make_scene(tmp_path, bad(FULL), bad(FULL), bad(FULL))

    assert (FULL, [2.0, 4.0], 3) == (scene.turn(PROMPT), scene.rests, len(scene.transport.asked))


def test_a_long_prompt_is_repeated_in_part(tmp_path: Path) -> None:
    """The retry does not repeat a long prompt completely."""
    scene = make_scene(tmp_path, bad(FULL), good())
    scene.turn("x" * 5000)

    assert 2200 > len(scene.transport.asked[1].prompt)


@pytest.mark.parametrize("off", ["recover-from-full-context"])
def test_the_retry_can_be_disabled(tmp_path: Path, off: str) -> None:
    """The name of the policy disables the retry."""
    scene = make_scene(tmp_path, bad(FULL), policies_off=(off,))

    assert (FULL, 1, []) == (scene.turn(PROMPT), len(scene.transport.asked), scene.rests)


def test_ctrl_c_ends_the_pause(tmp_path: Path) -> None:
    """Ctrl-C during the pause ends the turn, and nothing follows."""

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    scene = make_scene(tmp_path, bad(FULL))
    scene.conversation.turns.sleep_for = interrupted

    assert ("Interrupted", 1) == (type(scene.turn(PROMPT)).__name__, len(scene.transport.asked))


# --- refused ---


def test_a_refused_history_is_abandoned(tmp_path: Path) -> None:
    """If the model has not acted, the prompt is sent to a new thread, and the reason is shown."""
    scene = make_scene(tmp_path, good(), bad(REFUSED), good(SECOND))
    scene.turn(PROMPT)
    ending = scene.turn("and now?")

    assert [(PROMPT, ""), ("and now?", FIRST), ("and now?", "")] == [
        (ask.prompt, ask.thread_id) for ask in scene.transport.asked
    ]
    assert (DONE, SECOND) == (ending, scene.conversation.session and scene.conversation.session.thread_id)
    assert "no longer accepts the history" in scene.printed
    assert "No tool output found" in scene.printed


def test_work_that_was_begun_is_not_repeated(tmp_path: Path) -> None:
    """If the model has acted before the refusal, the new thread is told to check that first."""
    ran = transport.CommandFinished("1", "make", "", 0)
    scene = make_scene(tmp_path, good(), bad(REFUSED, ran), good(SECOND))
    scene.turn(PROMPT)
    scene.turn("and now?")

    assert ENGLISH["prompt_on_new_thread"].format(prompt="and now?") == scene.transport.asked[-1].prompt


@pytest.mark.parametrize(
    ("turns", "settings"),
    [
        ([bad(REFUSED)], {}),
        ([good(), bad(transport.Failed(transport.FailureReason.BAD_REQUEST, "mock error 400"))], {}),
        ([good(), bad(transport.Failed(transport.FailureReason.TURN_FAILED, REFUSED.text))], {}),
        ([good(), bad(REFUSED)], {"policies_off": ("leave-refused-history",)}),
    ],
)
def test_other_threads_are_kept(
    tmp_path: Path, turns: list[list[transport.TurnEvent]], settings: dict[str, Any]
) -> None:
    """A new thread, another failure and a disabled policy leave the failure as it is."""
    scene = make_scene(tmp_path, *turns, **settings)
    ending = [scene.turn(PROMPT) for _ in turns][-1]

    assert (turns[-1][-1], len(turns)) == (ending, len(scene.transport.asked))


# --- nearly full, by the app-server ---


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    folder = tmp_path / "codex"
    folder.mkdir()
    with app_server_bench(folder) as made:
        yield made


def requests(bench: Bench) -> list[str]:
    """What the server was asked about threads and turns, in order."""
    lines = (bench.folder / "received.jsonl").read_text().split("\n")
    methods = [json.loads(line).get("method", "") for line in lines if line]
    return [method for method in methods if method in ("turn/start", "thread/compact/start")]


def test_a_nearly_full_thread_is_summarized_first(bench: Bench, tmp_path: Path) -> None:
    """The thread is compacted once before the next turn, and again only after it was smaller."""
    full, small = [{"usage": 770}], [{"usage": 100}]  # with the answer 780 and 110 tokens of a window of 1000
    bench.script(full, full, full, small, full, small, small)
    scene = make_scene(tmp_path, server=bench.open())
    for _ in range(5):
        scene.turn(PROMPT)

    turn, compaction = "turn/start", "thread/compact/start"
    assert [turn, compaction, turn, turn, turn, compaction, turn] == requests(bench)
    assert "uses 78% of the model's context window" in scene.printed


@pytest.mark.parametrize(("usage", "off"), [(769, ()), (900, ("compact-before-full",))])
def test_a_smaller_thread_is_not_compacted(bench: Bench, tmp_path: Path, usage: int, off: tuple[str, ...]) -> None:
    """Below the threshold, or with the policy disabled, the next turn follows directly."""
    bench.script([{"usage": usage}], [{"usage": usage}])
    scene = make_scene(tmp_path, server=bench.open(), policies_off=off)
    scene.turn(PROMPT)
    scene.turn(PROMPT)

    assert ["turn/start"] * 2 == requests(bench)


def test_the_app_server_compacts_a_full_thread(bench: Bench, tmp_path: Path) -> None:
    """A turn that did not fit is followed by a compaction and another turn."""
    bench.script([{"fail": "too long", "info": "contextWindowExceeded"}], [{"say": "summary"}], [{"say": "answer"}])
    scene = make_scene(tmp_path, server=bench.open())
    ending = scene.turn(PROMPT)

    assert ("Completed", ["turn/start", "thread/compact/start", "turn/start"]) == (
        type(ending).__name__,
        requests(bench),
    )
    assert PROMPT in bench.received("turn/start")[1]["input"][0]["text"]


def test_a_failed_compaction_ends_the_retry(bench: Bench, tmp_path: Path) -> None:
    """If the compaction fails, the first failure is final."""
    full = [{"fail": "too long", "info": "contextWindowExceeded"}]
    bench.script(full, full, full)
    scene = make_scene(tmp_path, server=bench.open())

    assert (transport.FailureReason.CONTEXT_FULL, ["turn/start", "thread/compact/start"]) == (
        getattr(scene.turn(PROMPT), "reason", None),
        requests(bench),
    )


# --- effort ---


@pytest.mark.parametrize(
    ("prompt", "effort", "settings", "sent"),
    [
        (PROMPT, DEFAULT_EFFORT, {}, ""),
        (f"think hard: {PROMPT}", DEFAULT_EFFORT, {}, "high"),
        (f"think hard: {PROMPT}", DEFAULT_EFFORT, {"policies_off": ("think-hard",)}, ""),
        (PROMPT, EffortSettings("low"), {}, "low"),
        (f"think hard: {PROMPT}", EffortSettings("low"), {}, "high"),
        (f"think hard: {PROMPT}", EffortSettings("xhigh"), {}, "xhigh"),
        (f"think hard: {PROMPT}", EffortSettings("", "xhigh"), {}, ""),
    ],
)
def test_the_effort_of_a_turn(
    tmp_path: Path, prompt: str, effort: EffortSettings, settings: dict[str, Any], sent: str
) -> None:
    """``--effort`` applies to every turn, a prompt can raise it for one turn, and nothing lowers it."""
    scene = make_scene(tmp_path, good(), good(), effort=effort, **settings)
    scene.turn(prompt)
    scene.turn("thank you")

    assert [sent, effort.requested] == [ask.effort for ask in scene.transport.asked]
    assert ("raised the reasoning effort" in scene.printed) == (sent not in ("", effort.requested))


# --- what the model lists ---


def test_an_unfinished_plan_of_the_model_continues_the_turn(tmp_path: Path) -> None:
    """Open steps in the model's plan continue the turn."""
    plan = transport.PlanUpdated(
        (transport.PlanStep("write tests", "pending"), transport.PlanStep("rename it", "completed"))
    )
    scene = make_scene(
        tmp_path,
        good(FIRST, plan, transport.CommandFinished("1", "make", "", 0)),
        good(FIRST, transport.PlanUpdated((transport.PlanStep("x", "completed"),))),
    )
    scene.turn(PROMPT)
    asked = [ask.prompt for ask in scene.transport.asked]

    assert 2 == len(asked)
    assert 'open items (1): "write tests"' in asked[1]
