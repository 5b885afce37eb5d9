"""codex-auto for scripts: signals, and sessions in use."""

from __future__ import annotations

import json
import signal

import pytest
from fakes.codex.workbench import Workbench
from processes import wait_until

THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
OFF = {"CI_AUTO_TOOLS": "off"}


def test_no_loop_is_one_turn(bench: Workbench) -> None:
    """With --no-loop the workflow waits for the next prompt."""
    done = bench.run("--once", "--no-loop", "/upbeat:single add retries")

    assert (0, 1) == (done.code, len(bench.calls()))


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["INT", "TERM", "HUP"]
)
@pytest.mark.parametrize("json_lines", [True, False], ids=["json", "text"])
def test_a_signal_leaves_no_process_and_names_the_resume_command(
    bench: Workbench, number: signal.Signals, code: int, json_lines: bool
) -> None:
    """The command that is named continues the same thread."""
    bench.script([{"spawn": 60}, {"spawn_apart": 60}, {"sleep": 60}], [{"say": "on"}])
    arguments = ["--session", "night"] + (["--json"] if json_lines else [])
    with bench.start("--once", "x", *arguments, **OFF) as fork:
        assert wait_until(lambda: bench.sessions() and len(bench.processes()) >= 3)
        fork.send(number)
        done = fork.wait(15)
    thread_id = bench.sessions()["night"]
    go_on = "codex-auto --session night"

    assert (code, []) == (done.code, bench.processes())
    assert f"{go_on} in this folder, or codex resume {thread_id}" in done.stderr
    if json_lines:
        last = json.loads(done.stdout.strip().split(b"\n")[-1])
        assert ("interrupted", code, thread_id, go_on) == tuple(
            last[name] for name in ("status", "exit_code", "thread_id", "resume_command")
        )
    assert 0 == bench.run("--once", "go on", *go_on.split()[1:], **OFF).code
    assert thread_id == bench.calls()[-1]["argv"][-2]


def test_two_at_once_have_their_own_threads(bench: Workbench) -> None:
    """The second run reports the first and how to resume it; afterwards the name is free."""
    bench.script([{"sleep": 60}], [{"say": "second"}], [{"say": "third"}])
    with bench.start("--once", "x", **OFF) as fork:
        assert wait_until(lambda: bench.calls() and bench.sessions())
        second = bench.run("--once", "y", **OFF)
        named = bench.run("--once", "z", "--session", "default", **OFF)
        fork.send(signal.SIGTERM)
        fork.wait(15)
    third = bench.run("--once", "x", **OFF)
    threads = bench.sessions()

    assert (0, b"second\n") == (second.code, second.stdout)
    assert (
        f"session default is open in another codex-auto (process {fork.pid}), so this is session default-2; "
        "once the other one is closed, resume it with codex-auto --session default"
    ) in second.stderr
    assert (1, b"") == (named.code, named.stdout)
    assert "another program has this session open" in named.stderr
    assert {"default", "default-2"} == set(threads)
    assert threads["default"] != threads["default-2"]
    assert (b"third\n", threads["default"]) == (third.stdout, bench.calls()[-1]["argv"][-2])


def test_the_session_of_a_killed_run_is_taken_over(bench: Workbench) -> None:
    """The next run continues the session, and says so."""
    bench.script([{"sleep": 60}], [{"say": "on"}])
    with bench.start("--once", "x", **OFF) as fork:
        assert wait_until(lambda: bench.calls() and bench.sessions())
        fork.send(signal.SIGKILL)
    done = bench.run("--once", "y", **OFF)
    left = f"session default was left open by process {fork.pid}, which is no longer running"

    assert (0, b"on\n") == (done.code, done.stdout)
    assert f"{left}; this codex-auto continues it" in done.stderr
    assert bench.sessions()["default"] == bench.calls()[-1]["argv"][-2]
