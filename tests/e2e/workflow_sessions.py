"""Sessions of the real clients that work through a workflow, and what their journals have in common.

    prepare(sandbox, client)
    done = carry_out(sandbox, client, "[workflow:tdd] add retries", [[spec], [developer], [tester], "All is done."])
    assert course(read_log(sandbox.home)) == […]

The agents are the plugin's own in Claude Code; Codex has no agents of plugins, so there each message is opened by the
marker that stands for one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import tomli
from processes import read_log

from .clients import CLIENTS
from .received import Request
from .runs import Finished, ScriptRules, prepare_launch, run
from .sandbox import Sandbox
from .workflow_scripts import Delegation, Round, claude_script, codex_script

PLUGIN = Path(__file__).parents[2] / "adapters" / "claude" / "plugin"
CLAUDES = ("claude", "claude-oldest")
TRUSTED = "--dangerously-bypass-hook-trust"
TOOLS = "Agent,Task,Bash,Edit,Write,AskUserQuestion"
TEST = "python3 -m unittest discover -s checks"
"""The command that is evidence; it needs nothing but Python."""
READ = "cat checks/test_it.py"
"""The command by which a reviewer reads what the developer wrote."""
GREEN, RED = "self.assertEqual(4, 2 + 2)", "self.assertEqual(500, 2 + 2)"
"""Of different length: Python takes a file of the same size and second for the one that it has compiled."""
TURN_LINE = re.compile(r"^upbeat[:：].* · \d+ (?:ms|毫秒)$", re.DOTALL)
"""What a user sees of a turn that got context."""
FOREIGN = "general-purpose"
"""An agent that is none of ours."""


def verdict(result: str, why: str = "") -> str:
    """The end of an agent's answer."""
    return f'{why}\n<!-- VERDICT: {{"result": "{result}"}} -->'


def part(agent: str, prompt: str, result: str = "PASS", *commands: str, refused: bool = False) -> Delegation:
    """An agent that works on ``prompt`` and ends with ``result``; its answer tells it from all others."""
    return Delegation(agent, prompt, verdict(result, f"On «{prompt.upper()}»: see above."), commands, refused)


def write_test(line: str) -> str:
    """The command that writes the test whose one line is ``line``."""
    body = f"import unittest\\n\\n\\nclass T(unittest.TestCase):\\n    def test_it(self):\\n        {line}\\n"
    return f"mkdir -p checks && printf '{body}' > checks/test_it.py"


def rounds_of(name: str) -> list[Round]:
    """The rounds that are called ``name`` in ``rounds.toml``."""
    return read_rounds(tomli.loads(Path(__file__).with_name("rounds.toml").read_text(encoding="utf-8"))[name])


def read_rounds(rounds: Sequence[Any]) -> list[Round]:
    """The rounds of a list in the form of ``rounds.toml``."""
    return [this if isinstance(this, str) else [_read_part(*row) for row in this] for this in rounds]


def _read_part(agent: str, prompt: str, result: str = "PASS", *commands: str) -> Delegation:
    known = {"READ": READ, "GREEN": write_test(GREEN), "RED": write_test(RED), "TEST": TEST}
    written = [known.get(command, command) for command in commands]
    return part(agent, prompt, result, *written, refused=result == "REFUSED")


def shell_call(client: str, command: str) -> dict[str, Any]:
    """A call of the client's shell tool."""
    if client == "codex":
        return {"tool": "exec_command", "input": {"cmd": command}}
    return {"tool": "Bash", "input": {"command": command, "description": "run it"}}


def install(sandbox: Sandbox, client: str, route: str = "mcp") -> None:
    """Install the plugin of ``client``; the review of Codex's hooks is left.

    The oldest Claude Code makes itself acquainted with it in one session, and has it in the next.
    """
    name = "codex" if client == "codex" else "claude"
    done = run(sandbox, ["upbeat", "install", name, "--yes", "--route", route])
    assert (0, "") == (done.exit_code, done.stderr)
    if client == "claude-oldest":
        run(sandbox, [client, "-p", "hello"])


def prepare(sandbox: Sandbox, client: str) -> None:
    """Give the client its plugin. Claude Code gets it on each command line instead."""
    if client == "codex":
        install(sandbox, client)


def set_up(sandbox: Sandbox, settings: str) -> None:
    """Give the sandbox's user this settings file."""
    file = sandbox.home / ".config" / "upbeat" / "auto-tools.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(settings, encoding="utf-8")


def script_of(client: str, rounds: Sequence[Round], *, resumed: bool = False) -> list[dict[str, Any]]:
    """The stub's rules by which ``client`` carries out ``rounds``."""
    if client == "codex":
        return codex_script([_marked(one) for one in rounds], lambda _agent: "default", 20 if resumed else 0)
    return claude_script(rounds, lambda agent: agent if agent == FOREIGN else f"upbeat:{agent}")


def _marked(this: Round) -> Round:
    if isinstance(this, str):
        return this
    return [each if _is_clear(each) else replace(each, prompt=f"[upbeat:{each.agent}] {each.prompt}") for each in this]


def _is_clear(each: Delegation) -> bool:
    """Whether no marker is needed: it is no agent of ours, or the prompt has one."""
    return each.agent == FOREIGN or each.prompt.startswith("[")


def command_of(client: str, session: str = "", *, is_installed: bool = False) -> list[str]:
    """The headless command that reads a prompt from stdin, in a new session or in ``session``.

    Claude Code uses the plugin as it lies in the checkout, unless one ``is_installed``.
    """
    if client == "codex":
        resumed = ["resume", TRUSTED, session] if session else [TRUSTED]
        return ["codex", "exec", "--json", *resumed, "-"]
    resumed = ["--resume", session] if session else []
    plugin = [] if is_installed else ["--plugin-dir", str(PLUGIN)]
    return [client, "-p", *plugin, "--allowedTools", TOOLS, *resumed]


def carry_out(
    sandbox: Sandbox,
    client: str,
    prompt: str,
    rounds: Sequence[Round],
    *,
    session: str = "",
    first: ScriptRules = (),
    **env: str,
) -> Finished:
    """One headless turn on ``client``; ``first`` are rules of the stub that come before those of the rounds."""
    script = [*first, *script_of(client, rounds, resumed=bool(session))]
    return run(sandbox, command_of(client, session), stdin=prompt, script=script, env=env)


def carry_out_until(
    sandbox: Sandbox, client: str, prompt: str, rounds: Sequence[Round], until: Callable[[], bool]
) -> None:
    """A new session of ``client`` that is killed as soon as ``until`` holds."""
    launch = prepare_launch(sandbox, command_of(client), script_of(client, rounds))
    pipe = subprocess.PIPE
    with subprocess.Popen(launch.argv, stdin=pipe, stdout=pipe, stderr=pipe, env=sandbox.environment()) as launcher:
        assert launcher.stdin
        launcher.stdin.write(prompt.encode())
        launcher.stdin.close()
        end = time.monotonic() + 60
        while not until():
            assert time.monotonic() < end, f"{client} did not come so far in a minute"
            time.sleep(0.1)
        children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text(encoding="ascii")
        os.kill(int(children.split()[0]), signal.SIGKILL)
        launcher.wait(30)


def status(sandbox: Sandbox) -> list[dict[str, Any]]:
    """The sessions of the repository, as ``upbeat status --json`` has them."""
    sessions: list[dict[str, Any]] = json.loads(run(sandbox, ["upbeat", "status", "--json"]).stdout)["sessions"]
    return sessions


def facts(records: Iterable[Mapping[str, Any]], kind: str) -> list[dict[str, Any]]:
    """All facts of this kind, in order."""
    return [fact for record in records for fact in record.get("facts", ()) if fact["kind"] == kind]


def said(records: Iterable[Mapping[str, Any]], part: str) -> list[str]:
    """What this part decided, in order."""
    return [one["decision"] for record in records for one in record.get("explanations", ()) if one["component"] == part]


def effects(records: Iterable[Mapping[str, Any]], kind: str) -> list[str]:
    """The texts of all effects of this kind, in order, without the line that a turn with context shows."""
    every = [one["text"] for record in records for one in record.get("effects", ()) if one["kind"] == kind]
    return [text for text in every if kind != "notify_user" or not TURN_LINE.search(text)]


def subagent_turns(done: Finished, prompt: str) -> list[Request]:
    """The requests of the agent that was given ``prompt``, in order."""
    return [turn for turn in done.turns if turn.from_subagent and "user" in turn.roles_with(prompt)]


@dataclass(frozen=True, slots=True)
class Played:
    """A session that has ended, or the turn of one."""

    sandbox: Sandbox
    done: Finished
    records: Sequence[Mapping[str, Any]]


def play(sandbox: Sandbox, client: str, prompt: str, rounds: Sequence[Round], first: ScriptRules = ()) -> Played:
    """One new session of ``client`` with the plugin, and the records that it left."""
    prepare(sandbox, client)
    done = carry_out(sandbox, client, prompt, rounds, first=first)
    return Played(sandbox, done, read_log(sandbox.home))


def shared_session(prompt: str, rounds: Sequence[Round], first: ScriptRules = ()) -> Any:
    """A fixture: a new session with the plugin as it went on ``client``."""
    return shared(lambda sandbox, client: play(sandbox, client, prompt, rounds, first))


def shared(work: Callable[[Sandbox, str], Any]) -> Any:
    """A fixture: what ``work`` returned for ``client``. It is done once on every client, for all tests of a file.

    Two clients work at a time, because they mostly wait. With more of them the oldest one, which gives a plugin's
    server two seconds to start, would do without it.
    """
    results: dict[str, Any] = {}

    @pytest.fixture
    def result(fresh: Callable[[], Sandbox], client: str) -> Any:
        if not results:
            with ThreadPoolExecutor(2) as pool:
                done = pool.map(lambda name: work(fresh(), name), CLIENTS)
                results.update(zip(CLIENTS, done, strict=True))
        return results[client]

    return result


def course(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """What happened in a journal, without ids and times, whichever client it was: ``DEV allow``, ``DEV pass``.

    What happened to the members of one parallel group is told one member after the other.
    """
    groups: dict[str, tuple[str, ...]] = {}
    events = list(_steps(records, groups))
    lines: list[str] = []
    for _, steps in groupby(events, key=lambda event: groups.get(event[0], event[0])):
        lines += [f"{key} {how}" for key, how in sorted(steps, key=lambda event: event[0])]
    return lines


def ended(key: str, how: str = "pass") -> list[str]:
    """The course of one step that is delegated once."""
    return [f"{key} allow", f"{key} started", f"{key} {how}"]


def passed(*keys: str) -> list[str]:
    """The course of a group whose members all pass."""
    return [line for key in sorted(keys) for line in ended(key)]


def _steps(records: Iterable[Mapping[str, Any]], groups: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Each thing that happened: to which step, or to the run, and what."""
    for record in records:
        for one in record.get("explanations", ()):
            if one["component"] == "step_guard" and one["decision"] != "pass":
                looked = one.get("inputs", {})
                yield (
                    looked.get("step", "step_guard"),
                    one["decision"] + (f" {one['reason']}" if "missing" in looked else ""),
                )
        for fact in record.get("facts", ()):
            _note_groups(fact, groups)
            yield from _step(fact)


def _step(fact: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    match fact["kind"]:
        case "workflow_started" | "workflow_adopted" as kind:
            yield "run", f"{kind.partition('_')[2]} {fact['run']['workflow']}"
        case "workflow_ended":
            yield "run", f"{fact['status']} {fact.get('reason', '')}".rstrip()
        case "step_started":
            yield fact["step_key"], "started"
        case "step_finished":
            yield fact["step_key"], fact["verdict"]
        case "call_lost":
            yield "call", "lost"
        case "repair_planned":
            steps = ", ".join(step["key"] for step in fact["repair_steps"])
            yield "repair", f"{steps} for {', '.join(fact['retried_step_keys'])}"


def _note_groups(fact: Mapping[str, Any], groups: dict[str, tuple[str, ...]]) -> None:
    run_steps = (
        fact["run"]["steps"] if "run" in fact else fact.get("repair_steps", ()) if "repair_steps" in fact else ()
    )
    for number in {step["group"] for step in run_steps}:
        keys = tuple(step["key"] for step in run_steps if step["group"] == number)
        groups.update(dict.fromkeys(keys, keys))
