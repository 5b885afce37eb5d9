"""What the plugins register arrives: every hook is seen in the journal, also at a compaction and an interrupt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from processes import read_log

from .codex_trust import trust_all_hooks
from .sandbox import Sandbox, add_codex_settings
from .terminal import CTRL_C, CTRL_D, ESCAPE, Terminal
from .workflow_sessions import (
    CLAUDES,
    PLUGIN,
    Played,
    carry_out,
    effects,
    install,
    prepare,
    rounds_of,
    shared_session,
)

Record = Mapping[str, Any]

SEEN_AS: dict[str, tuple[str, ...]] = {
    "SessionStart": ("SessionStarted",),
    "SessionEnd": ("SessionEnded",),
    "UserPromptSubmit": ("PromptSubmitted",),
    "PreToolUse": ("ToolStarting", "SubagentRequested"),
    "PostToolUse": ("ToolFinished", "SubagentReturned"),
    "PostToolUseFailure": ("ToolFinished that failed",),
    "PostToolBatch": (),  # tells only of calls that were refused
    "SubagentStart": ("SubagentStarted",),
    "SubagentStop": ("SubagentEnding",),
    "Stop": ("TurnEnding",),
    "StopFailure": ("TurnFailed",),
    "Interrupt": ("TurnInterrupted",),
}
"""Hook -> the events that its calls become."""

IN_TERMINALS = {"Interrupt", "StopFailure"}
"""These are looked for in the terminal programs: an interrupt needs a user, and ``claude -p`` leaves at an error."""


seen = shared_session("[workflow:tdd] add retries to save_order", rounds_of("asking"))
"""A turn with an agent, whose second command fails."""


def registered(sandbox: Sandbox, client: str) -> set[str]:
    """The hooks of the plugin that the client uses."""
    folder = next(sandbox.codex_home.glob("plugins/cache/upbeat/upbeat/*")) if client == "codex" else PLUGIN
    return set(json.loads((folder / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"])


def names(records: list[Record]) -> set[str]:
    """What was seen."""
    return {record["event"] + " that failed" * bool(record["event_fields"].get("has_failed")) for record in records}


def test_every_registered_hook_is_recorded(seen: Played, client: str) -> None:
    """Each hook that the plugin registers has left its events, and nothing else has."""
    hooks = registered(seen.sandbox, client) - IN_TERMINALS

    events_seen = names(list(seen.records))
    assert {} == {hook: SEEN_AS[hook] for hook in hooks if not set(SEEN_AS[hook]) <= events_seen}
    assert set() == events_seen - {event for events in SEEN_AS.values() for event in events}


def test_an_interrupt_of_codex_is_recorded(sandbox: Sandbox) -> None:
    """A turn that its user interrupts is not continued."""
    install(sandbox, "codex")
    trust_all_hooks(sandbox)
    slow = [{"reply": [{"text": "Thinking"}, {"wait": 60}]}]
    with Terminal(sandbox, ["codex", "--no-daemon"], slow) as terminal:
        terminal.wait_for("Ask Codex")
        terminal.submit("[workflow:single] add retries to save_order")
        terminal.wait_for("Thinking")
        terminal.send(ESCAPE)
        terminal.wait_until(
            lambda: "TurnInterrupted" in names(list(read_log(sandbox.home))), "interrupt in the journal"
        )
        terminal.send(CTRL_D)
        terminal.wait_for_exit()

    records = read_log(sandbox.home)
    assert [] == effects(records, "continue_turn")
    assert "SessionEnded" in names(list(records))


STATE = (
    "upbeat · workflow tdd: TEST ✓ → DEV → TEST:2\n"
    "Goal: add retries to save_order\n"
    "Next step: delegate DEV to the subagent"
)

OPTIONS = [{"label": name, "description": name} for name in ("This", "That")]
QUESTION = {"questions": [{"question": "Which one?", "header": "One", "options": OPTIONS, "multiSelect": False}]}


def test_codex_gets_the_state_back_after_a_compaction(sandbox: Sandbox) -> None:
    """Codex compacts in the middle of the turn; its next request has the state, within 2,000 characters."""
    prepare(sandbox, "codex")
    add_codex_settings(sandbox, "model_auto_compact_token_limit = 14000")
    large = {"tool": "exec_command", "input": {"cmd": "seq 1 9000", "max_output_tokens": 9000}}
    first = ({"said": ['"completed":"On'], "reply": [{"text": "Now for much text."}, large]},)
    done = carry_out(sandbox, "codex", "[workflow:tdd] add retries to save_order", rounds_of("asking"), first=first)

    records = read_log(sandbox.home)
    [again] = [record for record in records if record["event_fields"].get("trigger") == "compact"]
    [state] = [text for text in effects([again], "inject_context") if text.startswith("upbeat")]
    assert (True, True) == (state.startswith(STATE), len(state) <= 2000)
    after = [turn for turn in done.turns if turn.texts_with(state)]
    assert ["developer"] == after[0].roles_with(state)
    assert [] == after[0].texts_with("8999")


@pytest.mark.parametrize("client", CLAUDES)
def test_claude_gets_the_state_back_after_a_compaction(sandbox: Sandbox, client: str) -> None:
    """After ``/compact`` the next prompt has the state beside it, and the user is shown nothing of the hook.

    A turn that ends by an error is seen as well, and a question that the agent asks with the client's own tool.
    """
    carry_out(sandbox, client, "[workflow:tdd] add retries to save_order", rounds_of("asking"))
    session = read_log(sandbox.home)[-1]["session_id"]
    command = [client, "--plugin-dir", str(PLUGIN), "--resume", session]
    script = [
        {"when": "and now ask", "reply": [{"tool": "AskUserQuestion", "input": QUESTION}]},
        {"when": "and now fail", "times": 0, "reply": [{"error": 400}]},
    ]
    with Terminal(sandbox, command, script) as terminal:
        terminal.wait_for("❯")
        terminal.submit("/compact")
        wait_for(terminal, sandbox, "SessionStarted", trigger="compact")
        terminal.read(1)
        shown = terminal.shown
        terminal.submit("why is DEV next?")
        terminal.wait_until(lambda: "TurnEnding" == read_log(sandbox.home)[-1]["event"], "end of the turn")
        terminal.submit("and now fail")
        wait_for(terminal, sandbox, "TurnFailed")
        terminal.submit("and now ask")
        wait_for(terminal, sandbox, "UserQuestionRequested")
        terminal.wait_for("Which one?")
        terminal.send(ESCAPE)
        terminal.send(CTRL_C)
        terminal.send(CTRL_C)
        terminal.wait_for_exit()

    [again] = [record for record in read_log(sandbox.home) if record["event_fields"].get("trigger") == "compact"]
    [state] = [text for text in effects([again], "inject_context") if text.startswith("upbeat")]
    assert (True, True) == (state.startswith(STATE), len(state) <= 2000)
    assert "system" in terminal.launch.turns()[-1].roles_with(state)
    assert "hook" not in shown


def wait_for(terminal: Terminal, sandbox: Sandbox, event: str, **about: str) -> None:
    """Go on when the journal has ``event``."""

    def is_there() -> bool:
        recorded = [record["event_fields"] for record in read_log(sandbox.home) if record["event"] == event]
        return any(about.items() <= fields.items() for fields in recorded)

    terminal.wait_until(is_there, f"{event} in the journal")
