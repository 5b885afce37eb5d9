"""The stub model: who knows its path is answered, everything else is refused, and nothing listens afterwards."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from repositories import git

from upbeat.adapters.doctor.canary import (
    MAX_REQUESTS,
    CanaryRun,
    StubModelServer,
    canary_commands,
    empty_repository,
    summarize_run,
)
from upbeat.adapters.system.process.run import ProgramResult
from upbeat.core.destructive import ShellLocation, find_hazards


@pytest.fixture
def stub() -> Iterator[StubModelServer]:
    """One that says how many messages it got."""
    found = StubModelServer("/v1/messages", lambda body: [("said", {"messages": len(body["messages"])})])
    with found.serve():
        yield found


def post(url: str, body: Any) -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, data), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def test_who_knows_the_path_is_answered(stub: StubModelServer) -> None:
    """A request gets its events, and is remembered; what goes beside the model's path gets nothing."""
    asked = {"messages": [{"role": "user"}]}

    assert (200, 'event: said\ndata: {"messages": 1}\n\n') == post(f"{stub.url}/v1/messages?beta=true", asked)
    assert (200, "{}") == post(f"{stub.url}/v1/metrics", {})
    assert [asked] == stub.requests


def test_everything_else_is_refused(stub: StubModelServer) -> None:
    """Another program of this machine, and a tunnel to anywhere, get nothing; what was wanted is remembered."""
    with socket.create_connection(("127.0.0.1", stub.port), timeout=10) as tunnel:
        tunnel.sendall(b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
        answer = tunnel.recv(100)

    assert 403 == post(f"{stub.address}/v1/messages", {"messages": []})[0]
    assert answer.startswith(b"HTTP/1.1 403")
    assert ["CONNECT example.org:443", "POST /v1/messages"] == stub.refused_requests
    assert [] == stub.requests


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff"])
def test_what_is_no_request(stub: StubModelServer, body: bytes) -> None:
    """What is no JSON object is answered with an error."""
    assert 400 == post(f"{stub.url}/v1/messages", body)[0]


def test_it_does_not_go_round_in_circles(stub: StubModelServer) -> None:
    """A client that asks again and again is let go."""
    stub.requests.extend([{}] * MAX_REQUESTS)

    assert 400 == post(f"{stub.url}/v1/messages", {"messages": []})[0]


def test_nothing_listens_afterwards() -> None:
    """At the end of the block the port is closed; each stub has a path of its own."""
    first, second = (StubModelServer("/", lambda _body: []) for _ in range(2))
    with first.serve():
        port = first.port

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)
    assert first.token != second.token
    assert len(first.token) > 16


def test_proxies_lead_to_the_stub(stub: StubModelServer) -> None:
    """A client that goes elsewhere comes here instead, in either spelling of the variables."""
    variables = stub.variables

    assert {stub.address} == {value for name, value in variables.items() if not name.lower().startswith("no_")}
    assert {"http_proxy", "HTTPS_PROXY", "all_proxy", "no_proxy"} <= set(variables)


def test_the_destructive_command_can_destroy_nothing_else() -> None:
    """It is one that upbeat denies, names an absolute path below the temporary repository, and is gone with it."""
    with empty_repository() as repository:
        *_, destroys = canary_commands(repository)
        graded = [
            harm.severity.value for harm in find_hazards(destroys, ShellLocation(str(repository), str(repository)))
        ]
        is_one = git(repository, "status", "--porcelain=v2", "--branch").splitlines()[0]

    assert ["deny"] == graded
    assert destroys == f"rm -rf {repository}/.git"
    assert ("# branch.oid (initial)", False) == (is_one, Path(repository).exists())


@pytest.mark.parametrize(
    ("bodies", "ended", "problem"),
    [
        ([{}], ProgramResult(0, b""), ""),
        ([], ProgramResult(0, b""), "no request reached the model; exit 0"),
        ([], ProgramResult(1, b"", "Not logged in"), "no request reached the model; Not logged in"),
        ([{}], ProgramResult(None, b""), "it did not end"),
        ([{}], ProgramResult(1, b"", "panic"), "panic"),
    ],
)
def test_what_came_of_it(bodies: list[dict[str, Any]], ended: ProgramResult, problem: str) -> None:
    """Without a request, or an end of its own, the reason is told."""
    stub = StubModelServer("/", lambda _body: [])
    stub.requests.extend(bodies)

    assert CanaryRun("s-1", json.dumps(bodies[-1:]), problem) == summarize_run("s-1", stub, ended)
