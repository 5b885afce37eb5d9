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

from upbeat.adapters.doctor import canary
from upbeat.adapters.system.process.run import ProgramResult
from upbeat.core.destructive import ShellLocation, find_hazards


@pytest.fixture
def stub() -> Iterator[canary.StubModelServer]:
    """One that says how many messages it got."""
    server = canary.StubModelServer("/v1/messages", lambda body: [("said", {"messages": len(body["messages"])})])
    with server.serve():
        yield server


def post(url: str, body: Any) -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, data), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def test_a_request_to_the_model_is_answered(stub: canary.StubModelServer) -> None:
    """It gets its events and is kept; a request below the path that is not to the model gets an empty object."""
    request = {"messages": [{"role": "user"}]}

    assert (200, 'event: said\ndata: {"messages": 1}\n\n') == post(f"{stub.url}/v1/messages?beta=true", request)
    assert (200, "{}") == post(f"{stub.url}/v1/metrics", {})
    assert [request] == stub.requests


def test_every_other_request_is_refused(stub: canary.StubModelServer) -> None:
    """A program that does not know the path, and a tunnel to anywhere, are refused and kept apart."""
    with socket.create_connection(("127.0.0.1", stub.port), timeout=10) as tunnel:
        tunnel.sendall(b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
        answer = tunnel.recv(100)

    assert 403 == post(f"{stub.address}/v1/messages", {"messages": []})[0]
    assert answer.startswith(b"HTTP/1.1 403")
    assert ["CONNECT example.org:443", "POST /v1/messages"] == stub.refused_requests
    assert [] == stub.requests


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_object_is_an_error(stub: canary.StubModelServer, body: bytes) -> None:
    """The stub answers 400."""
    assert 400 == post(f"{stub.url}/v1/messages", body)[0]


def test_a_client_in_a_loop_is_ended(stub: canary.StubModelServer) -> None:
    """After the maximum of requests the stub answers 400."""
    stub.requests.extend([{}] * canary.MAX_REQUESTS)

    assert 400 == post(f"{stub.url}/v1/messages", {"messages": []})[0]


def test_the_port_is_closed_afterwards() -> None:
    """Each stub has a random path of its own."""
    first, second = (canary.StubModelServer("/", lambda _body: []) for _ in range(2))
    with first.serve():
        port = first.port

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)
    assert first.token != second.token
    assert len(first.token) > 16


def test_the_stub_is_every_proxy(stub: canary.StubModelServer) -> None:
    """The variables name it in both spellings, and exclude this machine."""
    variables = stub.variables

    assert {stub.address} == {value for name, value in variables.items() if not name.lower().startswith("no_")}
    assert {"http_proxy", "HTTPS_PROXY", "all_proxy", "no_proxy"} <= set(variables)


def test_the_destructive_command_can_only_destroy_the_repository() -> None:
    """upbeat denies it, and it names an absolute path in a repository that is removed afterwards."""
    with canary.empty_repository() as repository:
        *_, destroys = canary.canary_commands(repository)
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
def test_a_run_without_a_request_or_an_end_has_a_problem(
    bodies: list[dict[str, Any]], ended: ProgramResult, problem: str
) -> None:
    """The problem is the client's last line of error, or how it ended."""
    stub = canary.StubModelServer("/", lambda _body: [])
    stub.requests.extend(bodies)

    assert canary.CanaryRun("s-1", json.dumps(bodies[-1:]), problem) == canary.summarize_run("s-1", stub, ended)
