"""One app-server process runs all turns: what it is asked, and which threads it opens."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from fakes.codex.app_server_bench import DONE, THREAD, Bench, run_turn

from upbeat.adapters.codex.transport.base import Failed, FailureReason, ThreadStarted, TurnInput
from upbeat.adapters.codex.transport.exec.transport import MAX_PROMPT_CHARS

CASES = read_groups(Path(__file__).with_name("transport_cases.tsv"))


def test_three_turns_are_one_process_and_one_thread(bench: Bench) -> None:
    """The server is started once, and a thread that it holds is not resumed."""
    transport = bench.open()
    started = next(transport.send(TurnInput("zero")))
    assert isinstance(started, ThreadStarted)
    for prompt in ("one", "two"):
        assert DONE == list(transport.send(TurnInput(prompt, thread_id=started.thread_id)))[-1]
    [[_, arguments, wrapped]] = bench.starts()
    assert (["app-server"], "1") == (arguments, wrapped)
    assert [] == bench.received("thread/resume")
    assert [{"cwd": str(bench.folder)}] == bench.received("thread/start")


def test_the_handshake(bench: Bench) -> None:
    """The experimental API is requested, and notifications that nobody reads are not."""
    bench.open()
    [hello] = bench.received("initialize")
    assert {"name": "codex-auto", "title": "codex-auto", "version": "1.0"} == hello["clientInfo"]
    assert hello["capabilities"]["experimentalApi"] is True
    assert "item/commandExecution/outputDelta" in hello["capabilities"]["optOutNotificationMethods"]


def test_context_and_prompt_are_separate(bench: Bench) -> None:
    """The input is the user's prompt alone; the context is untrusted, and new with every turn."""
    transport = bench.open()
    for _ in range(2):
        list(transport.send(TurnInput("hello", "found this", THREAD)))
    list(transport.send(TurnInput("bye", "", THREAD)))
    first, second, third = bench.received("turn/start")
    assert [{"type": "text", "text": "hello"}] == first["input"]
    value = "[prepared for turn 1, part 1 of 1]\nfound this"
    assert {"upbeat-001": {"kind": "untrusted", "name": "upbeat_context", "value": value}} == first["additionalContext"]
    assert first["additionalContext"] != second["additionalContext"]
    assert "additionalContext" not in third


def test_a_thread_is_resumed_with_the_flags(bench: Bench) -> None:
    """A thread of an earlier process is resumed without its turns, with the folder and the model of the flags."""
    flags = ["-m", "gpt-5.5", "-s", "read-only", "-c", "a=b"]
    events = bench.turn({"say": "x"}, ask=TurnInput("hello", thread_id=THREAD), flags=flags)
    assert ThreadStarted(THREAD) == events[0]
    fields = {"cwd": str(bench.folder), "model": "gpt-5.5", "sandbox": "read-only"}
    assert [{"threadId": THREAD, "excludeTurns": True, **fields}] == bench.received("thread/resume")
    assert ["app-server", "--config", "a=b"] == bench.starts()[0][1]


def test_preopened_threads_are_used(bench: Bench) -> None:
    """A thread that was requested in advance is not requested again, and a new one is used once."""
    transport = bench.open()
    transport.preopen_thread(THREAD)
    run_turn(transport)
    transport.preopen_thread("")
    new = [next(transport.send(TurnInput("hello"))) for _ in range(2)]
    assert (1, 2) == (len(bench.received("thread/resume")), len(bench.received("thread/start")))
    assert 2 == len(set(new))


def test_the_model_can_be_changed(bench: Bench) -> None:
    """The chosen model is sent with the turn."""
    transport = bench.open()
    transport.model = "gpt-6"
    list(transport.send(TurnInput("hello")))
    assert ["gpt-6"] == [fields.get("model") for fields in bench.received("turn/start")]


def test_an_effort_is_for_one_turn(bench: Bench) -> None:
    """Codex keeps an effort for later turns, so the next turn without one restores the usual effort, once."""
    bench.script(starts=[{"effort": "medium"}])
    transport = bench.open()
    for effort in ("", "high", "xhigh", "", ""):
        run_turn(transport, effort=effort)

    assert [None, "high", "xhigh", "medium", None] == [fields.get("effort") for fields in bench.received("turn/start")]


def test_a_long_prompt_arrives(bench: Bench) -> None:
    """The longest prompt that Codex accepts is sent whole, and a longer one is not sent."""
    bench.turn({"say": "x"}, ask=TurnInput("店" * MAX_PROMPT_CHARS))
    [fields] = bench.received("turn/start")
    assert MAX_PROMPT_CHARS == len(fields["input"][0]["text"])
    assert [Failed(FailureReason.PROMPT_TOO_LONG)] == list(bench.open().send(TurnInput("x" * (MAX_PROMPT_CHARS + 1))))
    assert 1 == len(bench.received("turn/start"))


@pytest.mark.parametrize(("words", "why"), CASES["resume"])
def test_threads_that_cannot_be_resumed(bench: Bench, words: str, why: str) -> None:
    """Nothing is sent, and the reason is returned, also when the thread was requested in advance."""
    bench.script(starts=[{"resume": words}])
    transport = bench.open()
    transport.preopen_thread(THREAD)
    assert [Failed(FailureReason(why), words)] == run_turn(transport)
    assert [] == bench.received("turn/start")


def test_a_refused_turn(bench: Bench) -> None:
    """A refused turn was not sent, and the next one resumes the thread again."""
    bench.script(starts=[{"turn": "thread not found: x"}])
    transport = bench.open()
    for _ in range(2):
        assert [Failed(FailureReason.REQUEST_REFUSED, "thread not found: x")] == run_turn(transport)
    assert 2 == len(bench.received("thread/resume"))


def test_a_closed_thread_is_resumed(bench: Bench) -> None:
    """A thread that the server closed is resumed."""
    closed = {"tell": "thread/closed", "params": {"threadId": THREAD}}
    bench.script([closed, {"say": "x"}])
    transport = bench.open()
    for _ in range(2):
        assert DONE == run_turn(transport)[-1]
    assert 2 == len(bench.received("thread/resume"))
