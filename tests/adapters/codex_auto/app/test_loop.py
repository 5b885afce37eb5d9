"""codex-auto at a terminal: the real program on a pty, with a fake Codex."""

from __future__ import annotations

import os
import signal

import pytest
from fakes.codex.terminal import CTRL_C, ENTER, UP, Terminal
from fakes.codex.workbench import Workbench
from repositories import PROMPT

from upbeat.core.turn.fuse import ALREADY_SHOWN

pytestmark = pytest.mark.terminal

OFF = {"CI_AUTO_TOOLS": "off"}
WAITING = [{"spawn": 60}, {"begin": "sleep 60"}, {"sleep": 60}]
THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"


def test_three_turns_and_a_restart_are_one_thread(bench: Workbench) -> None:
    """AC-002: the thread goes on from turn to turn and from run to run; the context is there before each prompt.

    Lines that the thread has already are named and not repeated.
    """
    bench.script(*[[{"say": f"answer {number}"}] for number in (1, 2, 3)])
    with Terminal(bench) as terminal:
        terminal.ask(PROMPT, "answer 1")
        terminal.ask(PROMPT, "answer 2")
        assert terminal.leave() == 0
    with Terminal(bench) as terminal:
        terminal.ask("thanks", "answer 3")
        assert terminal.leave() == 0
    first, second, third = bench.calls()
    thread_id = bench.sessions()["default"]

    assert ["exec", "--json", "-"] == first["argv"]
    assert [["exec", "--json", "resume", thread_id, "-"]] * 2 == [second["argv"], third["argv"]]
    assert [1, 0] == [call["stdin"].count("RETRY_LIMIT = 3") for call in (first, second)]
    assert [0, 1] == [min(call["stdin"].count(ALREADY_SHOWN), 1) for call in (first, second)]
    assert first["stdin"].endswith(f"\n\n{PROMPT}")
    assert third["stdin"] == "thanks"


def test_a_workflow_is_driven_from_the_terminal(bench: Workbench) -> None:
    """/workflow start continues with the first step, the status line shows it, and Ctrl-C pauses it."""
    bench.script([{"say": "Begun."}], WAITING, [{"say": "Per host?"}])
    with Terminal(bench) as terminal:
        terminal.send("/workflow start single add retries" + ENTER)
        terminal.wait_for("upbeat continues: [upbeat 1/30] workflow single: DEV")
        terminal.wait_for("$ sleep 60")
        terminal.send(CTRL_C)
        terminal.wait_for("Turn interrupted")
        terminal.wait_for_prompt()
        terminal.wait_for("stage: DEV")
        terminal.ask("go ahead", "Per host?")
        terminal.ask("/workflow stop", "stopped workflow single")
        terminal.wait_for("lookup: auto · budget:")  # no stage between them
        assert terminal.leave() == 0

    signs = ("/upbeat:single add retries", "[upbeat 1/30]", "go ahead")
    assert [True, True, True] == [sign in prompt for sign, prompt in zip(signs, bench.prompts(), strict=True)]


def test_a_saved_prompt_is_called_by_its_name(bench: Workbench) -> None:
    """The name of one of the user's saved prompts is sent as a prompt, with the content of its file."""
    file = bench.home / ".codex/prompts/audit.md"
    file.parent.mkdir(parents=True)
    file.write_text("Audit $1 for races.")
    bench.script([{"say": "audited"}])
    with Terminal(bench) as terminal:
        terminal.ask("/audit a.py", "audited")
        terminal.ask("/audits a.py", "/audits")
        assert terminal.leave() == 0
    [prompt] = bench.prompts()

    assert ("Audit a.py for races." in prompt, prompt.endswith("/audit a.py")) == (True, True)


def test_ctrl_c_stops_the_turn_and_nothing_else(bench: Workbench) -> None:
    """The turn ends with its processes, and the next prompt continues the thread."""
    bench.script(WAITING, [{"say": "still here"}])
    with Terminal(bench, **OFF) as terminal:
        terminal.send("wait" + ENTER)
        terminal.wait_for("$ sleep 60")
        terminal.send(CTRL_C)
        terminal.wait_for("Turn interrupted")
        terminal.wait_for_prompt()
        assert [] == bench.processes()
        terminal.ask("go on", "still here")
        assert terminal.leave() == 0
    first, second = bench.calls()

    assert ["wait", "go on"] == [first["stdin"], second["stdin"]]
    assert bench.sessions()["default"] in second["argv"]


def test_ctrl_c_at_the_prompt_does_not_leave(bench: Workbench) -> None:
    """At an empty prompt Ctrl-C shows how to leave; typed text is cleared."""
    with Terminal(bench, **OFF) as terminal:
        terminal.send(CTRL_C)
        terminal.wait_for("Ctrl-D or type /quit to leave")
        terminal.wait_for_prompt()
        terminal.send("never sent")
        terminal.wait_for("never sent")
        terminal.send(CTRL_C)
        terminal.wait_for_prompt()
        terminal.ask("sent", "plain answer")
        assert terminal.leave() == 0

    assert ["sent"] == bench.prompts()


def test_slash_commands_are_not_sent(bench: Workbench) -> None:
    """Commands and unknown words are not sent; a path is a prompt."""
    with Terminal(bench, **OFF) as terminal:
        terminal.ask("/help", "Enter sends")
        terminal.ask("/status", "codex exec --json -")
        terminal.ask("/nonsense", "unknown command /nonsense")
        terminal.ask("/etc/hosts is wrong", "plain answer")
        terminal.ask("/new", "starts a new session")
        terminal.ask("again", "plain answer", times=2)
        terminal.send("/quit" + ENTER)
        assert terminal.wait_for_exit() == 0
    first, second = bench.calls()

    assert ["/etc/hosts is wrong", "again"] == [first["stdin"], second["stdin"]]
    assert ["exec", "--json", "-"] == second["argv"]


def test_plan_mode_can_be_toggled(bench: Workbench) -> None:
    """/plan shows what would be done, and a second one sends prompts again."""
    with Terminal(bench, **OFF) as terminal:
        terminal.ask("/plan", "nothing is sent")
        terminal.ask("what now", '"planned_codex_command": "codex exec --json -"')
        terminal.ask("/plan", "prompts go to Codex")
        assert [] == bench.calls()
        terminal.ask("really", "plain answer")

    assert ["really"] == bench.prompts()


def test_a_prompt_on_the_command_line_is_the_first_turn(bench: Workbench) -> None:
    """PROMPT is the first turn, and the terminal stays; --new starts another thread."""
    bench.remember(bench.add_thread(THREAD))
    with Terminal(bench, "hello", "--new", **OFF) as terminal:
        assert terminal.leave() == 0

    assert [("hello", ["exec", "--json", "-"])] == [(call["stdin"], call["argv"]) for call in bench.calls()]


def test_a_failed_turn_does_not_end_the_conversation(bench: Workbench) -> None:
    """The failure is shown, and the prompt comes back."""
    bench.script([{"fail": "Quota exceeded."}])
    with Terminal(bench, **OFF) as terminal:
        terminal.ask("one", "turn failed")
        terminal.ask("two", "plain answer")


@pytest.mark.parametrize("during_turn", [False, True], ids=["at the prompt", "in a turn"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["TERM", "HUP"])
def test_a_signal_ends_everything(bench: Workbench, number: int, code: int, during_turn: bool) -> None:
    """SIGTERM and SIGHUP end Codex first, and codex-auto with their exit code."""
    bench.script(WAITING)
    with Terminal(bench, **OFF) as terminal:
        if during_turn:
            terminal.send("wait" + ENTER)
            terminal.wait_for("$ sleep 60")
        os.kill(terminal.program.pid, number)

        assert (code, []) == (terminal.wait_for_exit(), bench.processes())
        assert "Traceback" not in terminal.raw


def test_a_closed_window_ends_everything(bench: Workbench) -> None:
    """When the terminal is closed during a turn, no Codex process remains."""
    bench.script(WAITING)
    with Terminal(bench, **OFF) as terminal:
        terminal.send("wait" + ENTER)
        terminal.wait_for("$ sleep 60")
        terminal.hang_up()
        _, status = os.waitpid(terminal.program.pid, 0)

    assert (129, []) == (os.waitstatus_to_exitcode(status), bench.processes())


def test_the_history_is_private_and_has_no_secrets(bench: Workbench) -> None:
    """The arrow key recalls prompts of an earlier run, whose secrets were redacted."""
    secret = "AKIA" + "Q3EXAMPLE7TESTKY"
    with Terminal(bench, **OFF) as terminal:
        terminal.ask(f"use {secret} here", "plain answer")
        terminal.leave()
    path = bench.home / ".local/state/upbeat/codex-auto-history"
    with Terminal(bench, **OFF) as terminal:
        terminal.send(UP)
        terminal.wait_for(" here")
        terminal.ask("", "plain answer")
    first, second = bench.prompts()

    assert (0o600, False) == (path.stat().st_mode & 0o777, secret in path.read_text())
    assert f"use {secret} here" == first
    assert second.startswith("use ")
    assert secret not in second


def test_a_plan_at_a_terminal_writes_nothing(bench: Workbench) -> None:
    """AC-003: a dry run stores no history either."""
    before = bench.files()
    with Terminal(bench, "--plan") as terminal:
        terminal.ask("explain send_with_retry", '"recommended_tools"')
        assert terminal.leave() == 0

    assert ([], before) == (bench.calls(), bench.files())


@pytest.mark.parametrize(("extra", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_color_can_be_disabled(bench: Workbench, extra: dict[str, str], coloured: bool) -> None:
    """With NO_COLOR or a dumb terminal, codex-auto writes no color."""
    bench.script([{"run": "ls"}, {"say": "done"}])
    with Terminal(bench, **OFF, **extra) as terminal:
        terminal.ask("x", "done")

    assert coloured == ("\x1b[1m$ ls" in terminal.raw)
