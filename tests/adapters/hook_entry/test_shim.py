"""The command hook is small, finds the server or does without, and never fails its client."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_pipe import Pipe
from processes import SHIM, Finished, Fork, environment, read_log, run, upbeat, wait_until
from repositories import PROMPT, make_repository

from upbeat.adapters.hook_entry.shim import EXIT_AFTER_SECONDS, SERVER_TIMEOUT_SECONDS, main, socket_path
from upbeat.adapters.install.plugin import HOOK_TIMEOUT_SECONDS
from upbeat.core.engine.prompts import HOOK_BUDGET_MS

COMMAND = [sys.executable, "-I", "-S", str(SHIM)]
MOST_MODULES = 3
"""Modules that the shim may load beyond a bare interpreter: what it needs for one Unix socket."""


def payload(repo: Path, prompt: str = PROMPT, **fields: Any) -> bytes:
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(repo), "prompt": prompt}
    return json.dumps(event | fields).encode()


def shim(stdin: bytes | int, home: Path, client: str = "claude-code", **extra: str) -> Finished:
    """The shim in a fork; ``COMMAND`` starts it as a client does."""
    with Fork(lambda words: main(*words), [client], home, environment(home, extra), stdin) as fork:
        return fork.wait()


def context(finished: Finished) -> str:
    return str(json.loads(finished.stdout)["hookSpecificOutput"]["additionalContext"])


@contextmanager
def listening_socket() -> Iterator[socket.socket]:
    """Yield the socket where the hooks of this very process look for their server."""
    path = Path(socket_path(os.getuid(), "claude-code", os.getpid()))
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()
        yield listening
        path.unlink()


@pytest.fixture
def server() -> Iterator[list[bytes]]:
    """A server of this very process's hooks that answers ``from the server``; it gives the payloads it got."""
    got: list[bytes] = []
    with listening_socket() as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):  # the test has ended
                while True:
                    connection, _ = listening.accept()
                    with connection, connection.makefile("rb") as stream:
                        got.append(stream.read(int.from_bytes(stream.read(8), "big")))
                        connection.sendall((15).to_bytes(8, "big") + b"from the server")

        threading.Thread(target=serve, daemon=True).start()
        yield got


def loaded(command: list[str], stdin: bytes = b"{}", home: Path = Path("/")) -> set[str]:
    """The modules that a command loads, by the interpreter's own account."""
    done = subprocess.run(
        [command[0], "-X", "importtime", *command[1:]],
        input=stdin,
        env=environment(home),
        capture_output=True,
        check=True,
    )
    return {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines() if b"|" in line} - {
        "imported package"
    }


def test_it_loads_hardly_more_than_a_bare_interpreter(server: list[bytes]) -> None:
    """With a server to ask, only the modules for one Unix socket are added."""
    bare = loaded([sys.executable, "-I", "-S", "-c", ""])
    more = loaded([*COMMAND, "claude-code"]) - bare

    assert [b"{}"] == server
    assert len(more) <= MOST_MODULES, sorted(more)
    assert more <= {"_socket", "posix", "__future__"}


NOT_FOR_GUARDS = re.compile(
    r"pydantic|asyncio|dulwich|dataclasses|inspect|subprocess|secrets$"
    r"|upbeat\.(adapters\.(code|mcp_client)\.|core\.(turn|prompt)\.)"
)
"""What takes long to import, and what only prompts need."""


def test_a_guard_without_a_server_loads_only_what_judges_the_call(tmp_path: Path) -> None:
    """Imports are most of its processor time; ``benchmarks/hooks.py`` measures it."""
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(make_repository(tmp_path / "repo"))}
    payload |= {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "tool_use_id": "t"}
    modules = loaded([*COMMAND, "claude-code"], json.dumps(payload).encode(), tmp_path)

    assert [] == sorted(filter(NOT_FOR_GUARDS.match, modules))
    assert "upbeat.core.destructive" in modules
    assert "upbeat.core.policy.comments" not in modules


@pytest.mark.parametrize("size", [0, 10, 1_000_000])
def test_the_servers_answer_is_the_output(server: list[bytes], tmp_path: Path, size: int) -> None:
    """The payload reaches the server as it came, and its answer is printed as it is."""
    done = shim(b"x" * size, tmp_path)

    assert (0, b"from the server", "") == (done.code, done.stdout, done.stderr)
    assert [b"x" * size] == server


def test_a_real_server_answers(repo: Path, tmp_path: Path) -> None:
    """The session's server answers its client's hooks; other clients and five megabytes are answered without it."""
    with Pipe(repo, home=tmp_path) as pipe:
        pipe.answer("ping")
        served = shim(payload(repo), tmp_path, CI_AUTO_TOOLS="off")
        other = shim(payload(repo), tmp_path, "codex-cli", CI_AUTO_TOOLS="off")
        large = shim(payload(repo, padding="x" * 5_000_000), tmp_path)

    assert "send_with_retry" in context(served)
    assert b"" == other.stdout
    assert "send_with_retry" in context(large)


def test_without_a_server_the_core_answers(repo: Path, tmp_path: Path) -> None:
    """The answer is the same, and it is recorded."""
    done = shim(payload(repo), tmp_path)

    assert (0, "") == (done.code, done.stderr)
    assert "send_with_retry" in context(done)
    assert [("PromptSubmitted", "claude-code", ["inject_context", "notify_user"])] == [
        (record["event"], record["client"], [effect["kind"] for effect in record["effects"]])
        for record in read_log(tmp_path)
    ]


def test_an_invalid_payload_is_recorded(tmp_path: Path) -> None:
    """There is nothing on stdout, the exit code is 0, and the journal has a record of it."""
    done = shim(b"not JSON", tmp_path)

    assert (0, b"", "") == (done.code, done.stdout, done.stderr)
    assert ["invalid_payload"] == [record["event"] for record in read_log(tmp_path)]


def test_stdin_may_be_anything(server: list[bytes], tmp_path: Path) -> None:
    """Closed, a file, a socket: no difference to a pipe, and no failure."""
    closed = run(["/bin/sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, "claude-code"], tmp_path, home=tmp_path)
    (tmp_path / "p").write_bytes(b"in a file")
    with (tmp_path / "p").open() as file:
        from_file = shim(file.fileno(), tmp_path)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"in a socket")
        ours.shutdown(socket.SHUT_WR)
        from_socket = shim(theirs.fileno(), tmp_path)

    assert [(0, b"from the server")] * 3 == [(done.code, done.stdout) for done in (closed, from_file, from_socket)]
    assert [b"", b"in a file", b"in a socket"] == server


@pytest.mark.parametrize("answer", [b"", (99).to_bytes(8, "big") + b"half", (2**40).to_bytes(8, "big")])
def test_if_the_server_dies_the_core_answers(repo: Path, tmp_path: Path, answer: bytes) -> None:
    """A server that ends in the middle of its answer costs nothing."""
    with listening_socket() as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(100_000)
                connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        done = shim(payload(repo), tmp_path)

    assert "send_with_retry" in context(done)


@pytest.mark.usefixtures("server")
def test_a_closed_stdout_is_no_failure(tmp_path: Path) -> None:
    """The client closed its end of stdout, or gave none."""
    reader, writer = os.pipe()
    os.close(reader)
    gone = subprocess.run(
        [*COMMAND, "claude-code"], input=b"{}", stdout=writer, stderr=subprocess.PIPE, env=environment(tmp_path)
    )
    os.close(writer)
    none = run(["/bin/sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "claude-code"], tmp_path, b"{}", tmp_path)

    assert (0, b"") == (gone.returncode, gone.stderr)
    assert (0, "") == (none.code, none.stderr)


def test_it_ends_by_itself(tmp_path: Path) -> None:
    """A client that leaves stdin open, or reads no answer, gets exit code 0 before it would give up."""
    code = f"import sys; sys.path.insert(0, {str(SHIM.parent)!r}); import shim; shim.EXIT_AFTER_SECONDS = 1; "
    code += "shim.request_from_server = lambda *_: b'x' * 1_000_000; sys.exit(shim.main('claude-code'))"
    reader, writer = os.pipe()
    stdin_reader, stdin_writer = os.pipe()
    processes = [
        subprocess.Popen(
            [*COMMAND[:3], "-c", code], stdin=stdin, stdout=writer, stderr=subprocess.PIPE, env=environment(tmp_path)
        )
        for stdin in (stdin_reader, subprocess.DEVNULL)
    ]
    errors = [process.communicate(timeout=20)[1] for process in processes]
    for descriptor in (reader, writer, stdin_reader, stdin_writer):
        os.close(descriptor)

    assert [0, 0] == [process.returncode for process in processes]
    assert [b"upbeat: hook not answered in 1 seconds\n"] * 2 == errors


def test_a_large_answer_arrives_whole(tmp_path: Path) -> None:
    """An answer that is larger than its pipe is written completely, also to a non-blocking pipe."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    code = f"import sys; sys.path.insert(0, {str(SHIM.parent)!r}); import shim; shim.write_stdout(b'x' * 1_000_000)"
    with subprocess.Popen([*COMMAND[:3], "-c", code], stdout=writer, env=environment(tmp_path)) as process:
        os.close(writer)
        with open(reader, "rb") as stream:
            got = stream.read()

    assert (0, 1_000_000) == (process.returncode, len(got))


def test_without_a_journal_the_context_is_still_added(repo: Path) -> None:
    """A home that cannot be written costs only the record."""
    done = shim(payload(repo), Path("/proc"))

    assert (0, "") == (done.code, done.stderr)
    assert "send_with_retry" in context(done)


def test_a_core_that_cannot_be_loaded_is_no_failure(tmp_path: Path) -> None:
    """If the core is not installed, the hook says so on stderr, and its exit code is 0."""
    python = Path(sys.executable).resolve()
    done = run([str(python), "-I", "-S", str(SHIM), "claude-code"], tmp_path, b"{}")

    if not done.stderr:
        pytest.skip("the core is installed for the bare interpreter, too")

    assert (0, b"", True) == (done.code, done.stdout, done.stderr.startswith("upbeat: hook not answered: "))


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_upbeat_hook_answers_as_the_shim_does(repo: Path, tmp_path: Path, name: str) -> None:
    """``upbeat hook NAME`` adds the same context."""
    done = upbeat("hook", name, cwd=repo, stdin=payload(repo), home=tmp_path)

    assert (0, True) == (done.code, "send_with_retry" in context(done))


def test_under_codex_auto_the_hook_is_silent(repo: Path, tmp_path: Path) -> None:
    """A prompt that codex-auto has prepared is not prepared again; the record says why."""
    done = shim(payload(repo), tmp_path, "codex-cli", UPBEAT_WRAPPED="1")

    assert (0, b"") == (done.code, done.stdout)
    assert ["prepared_elsewhere"] == [record["turn"]["skip_reason"] for record in read_log(tmp_path)]


def test_the_shim_gives_up_before_its_clients() -> None:
    """First the server that hangs, then the whole hook."""
    assert HOOK_BUDGET_MS / 1000 < SERVER_TIMEOUT_SECONDS < EXIT_AFTER_SECONDS < HOOK_TIMEOUT_SECONDS


def test_a_hook_that_is_killed_is_recorded(repo: Path, tmp_path: Path) -> None:
    """A client that gives up kills the hook: the next reader of the journal finds a record of it."""
    event = payload(repo, hook_event_name="PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    with subprocess.Popen([*COMMAND, "claude-code"], stdin=subprocess.PIPE, env=environment(tmp_path)) as process:
        assert process.stdin
        process.stdin.write(event)
        process.stdin.close()
        folder = tmp_path / ".local/state/upbeat/pending"
        wait_until(lambda: folder.is_dir() and any(folder.iterdir()))
        process.kill()

    assert [("hook_unanswered", "PreToolUse", "Bash")] == [
        (record["event"], record["event_fields"]["hook"], record["event_fields"]["tool"])
        for record in read_log(tmp_path)
    ]
