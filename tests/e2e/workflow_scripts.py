"""A run of a root agent and its subagents, told once, is a script for the stub model of each client.

A run is a list of rounds, one for each request of the root agent. In a round it delegates to subagents, which work side
by side, or it says something and so ends its turn, until a hook or the user makes it go on; the last round is of that
kind. A subagent runs its commands one after the other, and then answers.

    rounds = [
        (
            Delegation("developer", "Add retries to save_order.", "Retries are in.", ("touch shop/retries.py",)),
            Delegation("tester", "Write a test for them.", "The test is there.", ("touch tests/retries.py", "false")),
        ),
        (Delegation("reviewer", "Look at the retries.", "Nothing to say."),),
        "save_order now tries three times.",
    ]
    run(sandbox, ["claude", "-p", "--allowedTools", "Agent,Bash"], stdin="add retries", script=claude_script(rounds))
    run(sandbox, ["codex", "exec", "--json", "-"], stdin="add retries", script=codex_script(rounds))

Who is asked more often than the run tells, because a hook makes it go on, repeats its last answer. A hook may put words
around a delegated prompt but must leave the prompt in there, because subagents are told apart by it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

LOOKS = 200
"""How often Codex's root agent looks whether its subagents have answered."""
LOOK_AGAIN = 0.2
"""How long it waits before each look, in seconds."""
PATIENCE = 30_000
"""How long Codex lets a command run before it hands it back unfinished, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Delegation:
    """A subagent's part in a run. It never starts if it is ``refused``, by the client or by a hook."""

    agent: str
    prompt: str
    answer: str
    commands: tuple[str, ...] = ()
    refused: bool = False


Round = Sequence[Delegation] | str
Rules = list[dict[str, Any]]
"""The stub's rules, as ``stubs/script.py`` describes them."""
Spelling = Callable[[str], str]
"""What a client calls an agent: ``"upbeat:{}".format`` makes ``upbeat:developer`` of ``developer``."""


def claude_script(rounds: Sequence[Round], spelling: Spelling = str) -> Rules:
    """The script for Claude Code, whose root agent gets the answers of a round together, as results of its calls.

    Raises ``ValueError`` if a text of the run cannot be told from another one.
    """
    _require_texts_apart(rounds)

    def delegate(part: Delegation) -> dict[str, Any]:
        return _call(
            "Agent",
            description=part.agent,
            prompt=part.prompt,
            subagent_type=spelling(part.agent),
            run_in_background=False,
        )

    subagents = _subagents(rounds, lambda command: _call("Bash", command=command, description="run it"))
    root = [{"reply": _round_reply(number, this, delegate)} for number, this in enumerate(rounds)]
    return [*subagents, *root, _repeat_the_end(rounds)]


def codex_script(rounds: Sequence[Round], spelling: Spelling = str, earlier: int = 0) -> Rules:
    """The script for Codex with a model that has ``multi_agent_v1``, such as gpt-5.5.

    Its subagents work in the background. Until all of a round have answered, the root agent runs ``true`` now and then.
    ``earlier`` is how many rounds at most a session that is resumed has in its conversation already.
    Raises ``ValueError`` if a text of the run cannot be told from another one.
    """
    _require_texts_apart(rounds)

    def delegate(part: Delegation) -> dict[str, Any]:
        call = _call("spawn_agent", message=part.prompt, agent_type=spelling(part.agent))
        return {**call, "namespace": "multi_agent_v1"}

    rules = _subagents(rounds, lambda command: _call("exec_command", cmd=command, yield_time_ms=PATIENCE))
    rules.append(_repeat_the_end(rounds))
    look = [{"wait": LOOK_AGAIN}, _call("exec_command", cmd="true")]
    numbered = list(enumerate(rounds, earlier))
    for number, this in reversed(numbered):  # the latest round that has begun is the one that counts
        if not isinstance(this, str):
            rules.append({"said": [_heading(number, this)], "times": LOOKS, "reply": look})
        before = numbered[number - earlier - 1] if number > earlier else None
        rules.append(
            {"said": _signs_of_the_end(*before) if before else [], "reply": _round_reply(number, this, delegate)}
        )
    return rules


def _subagents(rounds: Sequence[Round], run: Callable[[str], dict[str, Any]]) -> Rules:
    """What each subagent does, whichever request of its thread comes when."""
    rules: Rules = []
    for part in _delegations(rounds):
        if not part.refused:
            rules += [{"said": [part.prompt], "reply": [run(command)]} for command in part.commands]
            rules.append({"said": [part.prompt], "times": 0, "reply": [{"text": part.answer}]})
    return rules


def _round_reply(number: int, this: Round, delegate: Callable[[Delegation], dict[str, Any]]) -> list[dict[str, Any]]:
    calls = [] if isinstance(this, str) else [delegate(part) for part in this]
    return [{"text": _heading(number, this)}, *calls]


def _heading(number: int, this: Round) -> str:
    """The root agent's own words in a round; they stay in its conversation and show that the round has begun."""
    return this if isinstance(this, str) else f"Round {number + 1}: {len(this)} delegated."


def _signs_of_the_end(number: int, this: Round) -> list[str]:
    """What Codex's root agent has in its conversation when everybody in a round has answered."""
    answers = [] if isinstance(this, str) else [part.answer for part in this if not part.refused]
    return [_heading(number, this), *(f'"completed":{json.dumps(answer, ensure_ascii=False)}' for answer in answers)]


def _repeat_the_end(rounds: Sequence[Round]) -> dict[str, Any]:
    return {"said": [rounds[-1]], "times": 0, "reply": [{"text": rounds[-1]}]}


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "input": arguments}


def _delegations(rounds: Sequence[Round]) -> Iterator[Delegation]:
    for this in rounds:
        if not isinstance(this, str):
            yield from this


def _require_texts_apart(rounds: Sequence[Round]) -> None:
    """The stub tells requests apart by the words in them, so none of the run's texts may occur in another."""
    if not isinstance(rounds[-1], str):
        raise ValueError("the last round must be what the root agent says in the end")
    texts = [this for this in rounds if isinstance(this, str)]
    for part in _delegations(rounds):
        texts += [part.prompt, part.answer]
    for place, text in enumerate(texts):
        for other in texts[:place] + texts[place + 1 :]:
            if text in other:
                raise ValueError(f"{text!r} occurs in {other!r}; word one of them otherwise")
