"""``upbeat mcp`` as the official SDK's client sees it: a real process, every method that it offers, in both eras.

How soon ``initialize`` is answered is in ``tests/adapters/mcp_server/test_server.py``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_pipe import SERVE
from processes import environment
from repositories import PROMPT, make_repository

from upbeat.adapters.mcp_server.protocol import INSTRUCTIONS
from upbeat.core.turn.plan import TOOL_TIMEOUTS_MS

HANGING = Path(__file__).parents[1] / "hanging.py"
ERAS = ["legacy", "2026-07-28", "auto"]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "ci_index_status": {},
    "ci_search": {"query": "retry limit"},
    "ci_graph_rag": {"query": "retry limit"},
    "ci_call_chain": {"symbol": "send_with_retry"},
    "ci_bug_locate": {"query": "send_with_retry gives up"},
    "ci_impact": {"symbols": ["send_with_retry"]},
    "ci_complexity": {"files": ["shop/retry.py"]},
    "ci_hotspot": {},
}
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("ci_search", {"query": 5}),
    ("ci_search", {}),
    ("ci_search", {"query": "x", "nothing": 1}),
    ("ci_complexity", {"files": ["../../etc/passwd"]}),
    ("ci_call_chain", {"symbol": "x", "direction": "sideways"}),
]


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("r") / "repo")


def talk(
    repo: Path, home: Path, era: str, work: Callable[[Client], Awaitable[Any]], command: list[str] | None = None
) -> Any:
    """What ``work`` gives with a client of a new server."""
    args = command or [*SERVE, "codex-cli"]
    parameters = StdioServerParameters(command=sys.executable, args=args, env=environment(home), cwd=str(repo))

    async def session() -> Any:
        async with Client(parameters, mode=era) as client:
            return await work(client)

    return asyncio.run(session())


@dataclass(frozen=True)
class Session:
    """What a client of one era got from a server, in one session."""

    era: str
    server_name: str | None
    instructions: str | None
    tools: list[Any]
    answers: dict[str, Any]
    unknown: Any
    wrong: list[Any]
    hook: dict[str, Any]
    refused_code: int
    answer_after_refusal: Any


@pytest.fixture(scope="module", params=ERAS)
def session(request: pytest.FixtureRequest, repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session with everything that the server offers, once for each era."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(repo), "prompt": PROMPT}

    async def work(client: Client) -> Session:
        answers = {name: await client.call_tool(name, arguments) for name, arguments in ARGUMENTS.items()}
        hook = await client.call_tool("hook", event)
        with pytest.raises(MCPError) as refused:
            await client.list_resources()
        return Session(
            era=request.param,
            server_name=client.server_info and client.server_info.name,
            instructions=client.instructions,
            tools=(await client.list_tools()).tools,
            answers=answers,
            unknown=await client.call_tool("ci_nothing", {}),
            wrong=[await client.call_tool(name, arguments) for name, arguments in WRONG],
            hook=json.loads(hook.content[0].text),
            refused_code=refused.value.code,
            answer_after_refusal=await client.call_tool("ci_index_status", {}),
        )

    talked: Session = talk(repo, tmp_path_factory.mktemp("home"), request.param, work)
    return talked


def test_what_it_says_of_itself(session: Session) -> None:
    """Name, instructions and tools, each with an object as its schema; only ``start_workflow`` is not read-only."""
    if session.era != "2026-07-28":  # a client that names the new era does not ask who is there
        assert ("upbeat", INSTRUCTIONS) == (session.server_name, session.instructions)
    names = [*TOOL_TIMEOUTS_MS, "workflow", "start_workflow"]
    assert names == [tool.name for tool in session.tools]
    assert {name: (name != "start_workflow", False, "object") for name in names} == {
        tool.name: (tool.annotations.read_only_hint, tool.annotations.open_world_hint, tool.input_schema["type"])
        for tool in session.tools
    }
    assert all(tool.description for tool in session.tools)


def test_every_tool_answers(session: Session) -> None:
    """Each ``ci_*`` tool answers with text; what is unknown or wrong is an error of the tool with its code."""
    assert set(TOOL_TIMEOUTS_MS) == set(ARGUMENTS)
    assert dict.fromkeys(ARGUMENTS, (False, True)) == {
        name: (answer.is_error, bool(answer.content[0].text)) for name, answer in session.answers.items()
    }
    assert "shop/retry.py" in session.answers["ci_search"].content[0].text
    assert (True, True) == (
        session.unknown.is_error,
        session.unknown.content[0].text.startswith("E_TOOL_UNAVAILABLE: "),
    )
    assert [(True, "E_INVALID_ARGS")] * len(WRONG) == [
        (answer.is_error, answer.content[0].text.partition(":")[0]) for answer in session.wrong
    ]


def test_the_hook_answers(session: Session) -> None:
    """The hook tool, which is not listed, answers a prompt."""
    assert "send_with_retry" in session.hook["hookSpecificOutput"]["additionalContext"]


def test_the_schemas_are_what_the_tools_take(session: Session) -> None:
    """Arguments that fit a tool's schema are taken: the examples here do, and use nothing that it does not name."""
    schemas = {tool.name: tool.input_schema for tool in session.tools}

    assert all(set(args) <= set(schemas[name]["properties"]) for name, args in ARGUMENTS.items())
    assert all(set(schemas[name].get("required", ())) <= set(args) for name, args in ARGUMENTS.items())


def test_an_unknown_method_is_an_error(session: Session) -> None:
    """What the server does not offer is refused as the protocol has it, and the connection goes on."""
    assert (-32601, False) == (session.refused_code, session.answer_after_refusal.is_error)


def test_ping_and_many_calls_at_once(repo: Path, tmp_path: Path) -> None:
    """A ping is answered in the era that has it; calls that are made together each get their own answer."""
    words = ["send_with_retry", "total_price", "RETRY_LIMIT", "Cart"] * 3

    async def work(client: Client) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ping = await client.send_ping()
        return ping, await asyncio.gather(*(client.call_tool("ci_search", {"query": word}) for word in words))

    ping, answers = talk(repo, tmp_path, "legacy", work)

    assert {} == ping.model_dump(exclude_none=True, exclude={"result_type"})
    assert [True] * len(words) == [word in answer.content[0].text for word, answer in zip(words, answers, strict=True)]


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_cancelling_a_call(repo: Path, tmp_path: Path, era: str) -> None:
    """A call that its client gives up does not hold up the next one, and its late answer disturbs nobody."""
    done = tmp_path / "done"
    command = [str(HANGING), str(done), "mcp", "--client", "codex-cli"]

    async def work(client: Client) -> Any:
        slow = asyncio.create_task(client.call_tool("ci_search", {"query": "x"}))
        await asyncio.sleep(0.1)
        slow.cancel()
        await asyncio.wait([slow])
        after = await client.call_tool("hook", {"hook_event_name": "SessionEnd", "cwd": str(repo), "session_id": "s"})
        done.touch()
        await asyncio.sleep(0.2)
        return slow.cancelled(), json.loads(after.content[0].text), len((await client.list_tools()).tools)

    assert (True, {}, len(TOOL_TIMEOUTS_MS) + 2) == talk(repo, tmp_path, era, work, command)
