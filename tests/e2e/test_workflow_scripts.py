"""A run of agents that is described once takes the same course in every client."""

from __future__ import annotations

import json

import pytest

from .runs import Finished, run
from .sandbox import Sandbox
from .workflow_scripts import Delegation, Round, claude_script, codex_script

AGENTS = {"claude": {"writer": "general-purpose"}, "codex": {"writer": "worker"}}


def carry_out(sandbox: Sandbox, client: str, rounds: list[Round]) -> Finished:
    """The run on ``client``, which knows nothing of it but what the stub model says."""
    if client == "codex":
        script = codex_script(rounds, AGENTS["codex"].__getitem__)
        command = ["codex", "exec", "--json", "--dangerously-bypass-hook-trust", "-"]
        return run(sandbox, command, stdin="add retries", script=script)
    script = claude_script(rounds, AGENTS["claude"].__getitem__)
    return run(sandbox, [client, "-p", "--allowedTools", "Agent,Bash"], stdin="add retries", script=script)


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_the_next_round_waits_for_every_answer(sandbox: Sandbox, client: str) -> None:
    """A subagent that takes its time is waited for: the third one starts when both others have answered."""
    slow = Delegation("writer", "Take your time.", "That took long.", ("sleep 2",))
    quick = Delegation("writer", "Be quick.", "That was fast.")
    after = Delegation("writer", "Go on.", "Gone on.")

    done = carry_out(sandbox, client, [(slow, quick), (after,), "All done."])

    began = next(turn.number for turn in done.turns if turn.from_subagent and turn.texts_with("Go on."))
    before = [turn for turn in done.turns if turn.number < began and not turn.from_subagent]
    assert [before[-1].count(answer) > 0 for answer in ("That took long.", "That was fast.")] == [True, True]


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_who_is_made_to_go_on_repeats_the_last_answer(sandbox: Sandbox, client: str) -> None:
    """A hook that lets no agent end at once gets the same answer again, from the subagent and from the root agent."""
    block = json.dumps({"decision": "block", "reason": "Look again."})
    hooks = {event: [{"hooks": [block_once(event, block)]}] for event in ("Stop", "SubagentStop")}
    settings = sandbox.codex_home / "hooks.json" if client == "codex" else sandbox.home / ".claude" / "settings.json"
    settings.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")

    done = carry_out(sandbox, client, [(Delegation("writer", "Go on.", "Gone on."),), "All done."])

    sent_back = [turn for turn in done.turns if turn.texts_with("Look again.")]
    assert [turn.from_subagent for turn in sent_back] == [True, False]
    assert [turn.count(answer) for turn, answer in zip(sent_back, ("Gone on.", "All done."), strict=True)] == [1, 1]
    assert done.stdout.count("All done.") == (2 if client == "codex" else 1)


def block_once(name: str, block: str) -> dict[str, str]:
    """A hook that prints ``block`` the first time it runs, and nothing afterwards."""
    return {"type": "command", "command": f"mkdir $HOME/{name} 2> /dev/null && echo '{block}'; true"}


@pytest.mark.parametrize(
    ("rounds", "complaint"),
    [
        ([(Delegation("writer", "Go on.", "Gone on."),)], "the last round must be what the root agent says in the end"),
        ([(Delegation("writer", "Go.", "Done."),), "Done."], "'Done.' occurs in 'Done.'; word one of them otherwise"),
        (
            [(Delegation("writer", "Go on.", "It is in."), Delegation("writer", "Go on. Now.", "It runs.")), "Done."],
            "'Go on.' occurs in 'Go on. Now.'; word one of them otherwise",
        ),
    ],
)
def test_a_run_that_cannot_be_told_apart_is_refused(rounds: list[Round], complaint: str) -> None:
    """What the stub could not tell apart is a mistake in the test, and the message says which."""
    for make in (claude_script, codex_script):
        with pytest.raises(ValueError, match=f"^{complaint}$"):
            make(rounds)
