"""``upbeat prepare`` as a real process: whatever comes in, one valid v1 object goes out, with the documented code."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fakes.provider import FakeProvider
from processes import REPORT_SCHEMA, UPBEAT, Finished, environment, run, upbeat
from repositories import PROMPT, git, make_repository, write
from turns import turn

from upbeat.adapters.cli.prepare import exit_code
from upbeat.core.contract.codes import ExitCode

HANGING = Path(__file__).parents[2] / "hanging.py"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("r") / "a repo 仓库")


def paths(finished: Finished) -> list[str]:
    items = finished.report["fused_context"]["for_model"]["structured"]["items"]
    return list(dict.fromkeys(item["path"] for item in items))


def assert_prepared(finished: Finished) -> None:
    assert (0, ["shop/retry.py"]) == (finished.code, paths(finished)[:1]), finished.stderr


# --- what comes in ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stdin",
    [
        pytest.param(PROMPT.encode(), id="text"),
        pytest.param(b"\xef\xbb\xbf" + PROMPT.encode() + b"\r\n", id="text with a byte order mark"),
        pytest.param(json.dumps({"prompt": PROMPT}).encode(), id="request"),
        pytest.param(json.dumps({"schema_version": "1.7", "prompt": PROMPT}).encode(), id="a newer minor version"),
        pytest.param(
            b"\xef\xbb\xbf  "
            + json.dumps({"prompt": PROMPT, "new": {"a": [1]}, "client": {"name": "codex-cli", "x": 1}}).encode(),
            id="unknown fields",
        ),
    ],
)
def test_a_request(repo: Path, tmp_path: Path, stdin: bytes) -> None:
    """A prompt, or a request, on stdin is prepared."""
    assert_prepared(upbeat("prepare", cwd=repo, stdin=stdin, home=tmp_path))


def test_the_command_line(repo: Path, tmp_path: Path) -> None:
    """Options outweigh the request, and stdin is not waited for when the prompt is given."""
    request = json.dumps(
        {"prompt": PROMPT, "client": {"name": "cli", "session_id": "s1"}, "repo_root": "/nowhere"}
    ).encode()
    done = upbeat("prepare", "--client", "codex-cli", "--repo", str(repo), cwd=tmp_path, stdin=request)
    waiting, _writer = os.pipe()

    assert_prepared(done)
    assert {"name": "codex-cli", "event": "cli", "session_id": "s1"} == done.report["client"]
    assert (str(repo), "config") == (done.report["inputs"]["repo_root"], done.report["inputs"]["repo_root_source"])
    assert_prepared(upbeat("prepare", "--prompt", PROMPT, cwd=repo, stdin=waiting, home=tmp_path))

    os.close(waiting)
    os.close(_writer)


@pytest.mark.parametrize(
    ("stdin", "problem"),
    [
        pytest.param(b"", "no prompt; pass --prompt TEXT, or a request or a prompt on stdin\n", id="empty"),
        pytest.param(b" \n\t", "no prompt; pass --prompt TEXT", id="blank"),
        pytest.param(b"\xef\xbb\xbf", "no prompt; pass --prompt TEXT", id="a byte order mark alone"),
        pytest.param(b'{"prompt": "x"', "stdin starts with '{' but is not JSON (", id="torn JSON"),
        pytest.param(b"{" * 100_000, "stdin starts with '{' but is not JSON (", id="no JSON"),
        pytest.param(b'{"a":' * 100_000, "stdin starts with '{' but is not JSON (", id="deep JSON"),
        pytest.param(b"fix \xff it", "stdin is not UTF-8 (byte 4); send UTF-8\n", id="not UTF-8"),
        pytest.param(b"{}", "stdin is not a v1 request: prompt: Field required\n", id="no prompt"),
        pytest.param(
            b'{"schema_version": "9.0", "prompt": "x"}',
            "stdin is not a v1 request: schema_version: String should match",
            id="another version",
        ),
        pytest.param(
            b'{"prompt": null}', "stdin is not a v1 request: prompt: Input should be a valid string", id="null"
        ),
    ],
)
def test_unreadable_input(tmp_path: Path, stdin: bytes, problem: str) -> None:
    """An unreadable request gives exit code 30, an empty report and one sentence that names the mistake."""
    done = upbeat("prepare", cwd=tmp_path, stdin=stdin)
    reason = done.stderr.removeprefix("[Limits] ").rstrip()

    assert (30, ["input_unreadable"]) == (done.code, done.limits)
    assert done.stderr.startswith(f"[Limits] request not readable: {problem}")
    assert {"is_degraded": True, "reason": reason, "degraded_to": "empty", "error": "E_PARSE"} == done.report[
        "degraded"
    ]


def test_all_mistakes_of_a_request_at_once(tmp_path: Path) -> None:
    """A request with several wrong types names every one of them."""
    request = b'{"prompt": 5, "client": {"name": "vim"}, "repo_root": []}'
    done = upbeat("prepare", cwd=tmp_path, stdin=request)

    assert (30, True) == (done.code, "stdin is not a v1 request: " in done.stderr)
    assert all(f"{field}: Input should be " in done.stderr for field in ("prompt", "client.name", "repo_root"))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--nope"], "no option '--nope'"),
        (["--prompt"], "argument --prompt: expected one argument"),
        (["--client", "vim"], "--client takes no 'vim'"),
        (["--pro", "x"], "no option '--pro'; did you mean '--prompt'?"),
    ],
    ids=str,
)
def test_a_wrong_command_line(tmp_path: Path, arguments: list[str], problem: str) -> None:
    """A wrong command line is an unreadable request like any other: exit 30, one valid object."""
    done = upbeat("prepare", *arguments, cwd=tmp_path, stdin=b"x")

    assert (30, ["input_unreadable"]) == (done.code, done.limits)
    assert done.stderr.startswith(f"[Limits] request not readable: {problem}")
    assert done.stderr.endswith("; see upbeat prepare --help\n")


def test_a_prompt_that_is_no_text(tmp_path: Path) -> None:
    """Arguments that are not UTF-8 are reported as such."""
    done = run([UPBEAT, "prepare", "--prompt", os.fsdecode(b"fix \xff")], tmp_path)
    other = run([UPBEAT, "prepare", os.fsdecode(b"--\xff")], tmp_path)

    assert (30, ["input_unreadable"]) == (other.code, other.limits)
    assert (30, "[Limits] request not readable: --prompt is not UTF-8 (character 4); send UTF-8\n") == (
        done.code,
        done.stderr,
    )
    assert ["input_unreadable"] == done.limits


def test_characters_that_are_none(repo: Path, tmp_path: Path) -> None:
    """Lone surrogates, which some clients send, are replaced everywhere."""
    client = {"session_id": "\ud800", "event": "\udfff"}
    request = json.dumps({"prompt": "fix a.py \ud83d", "client": client, "repo_root": "\ud800"})
    done = upbeat("prepare", cwd=repo, stdin=request.encode(), home=tmp_path)

    assert (0, "fix a.py \ufffd", "\ufffd") == (
        done.code,
        done.report["inputs"]["prompt"],
        done.report["client"]["session_id"],
    )


def test_stdin_is_closed(repo: Path, tmp_path: Path) -> None:
    """Without any stdin there is no prompt; with --prompt none is missed."""
    shell = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", UPBEAT, "prepare"]
    done = run(shell, repo, home=tmp_path)

    assert (30, ["input_unreadable"]) == (done.code, done.limits)
    assert_prepared(run([*shell, "--prompt", PROMPT], repo, home=tmp_path))


def test_stdin_is_a_socket(repo: Path, tmp_path: Path) -> None:
    """A socket reads like a pipe."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(PROMPT.encode())
        ours.shutdown(socket.SHUT_WR)

        assert_prepared(upbeat("prepare", cwd=repo, stdin=theirs.fileno(), home=tmp_path))


def test_stdin_is_a_file(repo: Path, tmp_path: Path) -> None:
    """A file reads like a pipe."""
    (tmp_path / "p").write_text(PROMPT)
    with (tmp_path / "p").open() as file:
        assert_prepared(upbeat("prepare", cwd=repo, stdin=file.fileno(), home=tmp_path))


def test_five_megabytes(repo: Path, tmp_path: Path) -> None:
    """A prompt of five megabytes is prepared like a short one, and the report has all of it."""
    prompt = PROMPT + "\n" + "some more words. " * 300_000
    done = upbeat("prepare", cwd=repo, stdin=prompt.encode(), home=tmp_path, CI_AUTO_TOOLS_BUDGET_WALL_MS="60000")

    assert_prepared(done)
    assert prompt == done.report["inputs"]["prompt"]


def test_more_than_can_be_read(tmp_path: Path) -> None:
    """Over 32 megabytes the request is refused, not swallowed."""
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(32 * 1024 * 1024 + 1)
    with (tmp_path / "zeros").open("rb") as file:
        done = upbeat("prepare", cwd=tmp_path, stdin=file.fileno())

    assert (30, "[Limits] request not readable: stdin has more than 33554432 bytes; send the prompt alone\n") == (
        done.code,
        done.stderr,
    )


# --- where it happens -------------------------------------------------------------------------------------


def test_no_git(tmp_path: Path) -> None:
    """A folder without git is searched, and a limit reports it."""
    write(tmp_path / "无 git")
    done = upbeat("prepare", "--prompt", PROMPT, cwd=tmp_path / "无 git", home=tmp_path)

    assert_prepared(done)
    assert (["no_git_root"], "no-git-root") == (
        done.limits,
        done.report["inputs"]["repo_root_source"],
    )


def test_a_bare_repository(tmp_path: Path) -> None:
    """In a bare repository every tool is skipped, and the error says what to pass instead."""
    git(tmp_path, "init", "-q", "--bare", "x.git")
    done = upbeat("prepare", "--prompt", PROMPT, cwd=tmp_path / "x.git", home=tmp_path)

    assert (0, ["repo_unreadable"]) == (done.code, done.limits)
    assert {"E_REPO_ROOT"} == {result["error"]["code"] for result in done.report["tool_results"]}
    assert (
        "without a working tree; pass --repo with a checkout of it"
        in done.report["tool_results"][0]["error"]["message"]
    )


def test_a_worktree_and_a_submodule(repo: Path, tmp_path: Path) -> None:
    """A linked worktree and a submodule are repositories of their own."""
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    make_repository(tmp_path / "outer", {"a.txt": "x"})
    git(tmp_path / "outer", "submodule", "--quiet", "add", str(repo), "inner")
    tree = upbeat("prepare", "--prompt", PROMPT, cwd=tmp_path / "tree" / "shop", home=tmp_path)
    inner = upbeat("prepare", "--prompt", PROMPT, cwd=tmp_path / "outer" / "inner", home=tmp_path)

    assert_prepared(tree)
    assert_prepared(inner)
    assert ["git", "git"] == [done.report["inputs"]["repo_root_source"] for done in (tree, inner)]


@pytest.mark.parametrize("place", ["/nowhere/at/all", "a\u0000b"])
def test_a_repository_that_is_not_there(repo: Path, tmp_path: Path, place: str) -> None:
    """Each tool reports that the repository is not a folder; no other folder is searched."""
    done = upbeat("prepare", cwd=repo, stdin=json.dumps({"prompt": PROMPT, "repo_root": place}).encode(), home=tmp_path)

    assert (0, {"E_REPO_ROOT"}) == (done.code, {result["error"]["code"] for result in done.report["tool_results"]})
    assert "repo_unreadable" in done.limits


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    """A working directory that was removed is an unreadable request with that reason."""
    (tmp_path / "gone").mkdir()
    done = run(
        ["/bin/sh", "-c", 'rmdir ../gone && exec "$@"', "sh", UPBEAT, "prepare", "--prompt", "x"],
        tmp_path / "gone",
        home=tmp_path,
    )

    assert (30, ["input_unreadable"]) == (done.code, done.limits)
    assert "the working directory does not exist" in done.stderr


as_nobody = pytest.mark.skipif(
    os.getuid() != 0 or not shutil.which("setpriv"),
    reason="needs root and setpriv to switch to a user without read access",
)
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def readable_by_nobody(folder: Path) -> bool:
    """Whether the program under test can be started by another user here."""
    command = [*NOBODY, UPBEAT, "--version"]
    return not subprocess.run(command, cwd="/", env=environment(folder), capture_output=True, check=False).returncode


@as_nobody
def test_unreadable_files(request: pytest.FixtureRequest) -> None:
    """Files and folders that may not be read are left out; the rest is searched."""
    folder = TemporaryDirectory()  # pytest's own folders are closed to other users
    request.addfinalizer(folder.cleanup)
    top = Path(folder.name)
    top.chmod(0o755)
    if not readable_by_nobody(top):
        pytest.skip("another user cannot start the program from this checkout")
    repo = write(
        top / "repo", {"locked/a.py": "def send_with_retry(): ...\n", "closed.py": "def send_with_retry(): ...\n"}
    )
    write(repo)
    (repo / "locked").chmod(0)
    (repo / "closed.py").chmod(0)
    done = run([*NOBODY, UPBEAT, "prepare", "--prompt", PROMPT], repo, home=top)
    repo.chmod(0)
    locked = run([*NOBODY, UPBEAT, "prepare", "--prompt", PROMPT, "--repo", str(repo)], top, home=top)
    repo.chmod(0o755)

    assert_prepared(done)
    assert not {"locked/a.py", "closed.py"} & set(paths(done))
    assert (0, "E_REPO_ROOT") == (locked.code, locked.report["tool_results"][0]["error"]["code"])


def test_a_home_that_cannot_be_written(repo: Path) -> None:
    """With a read-only home the turn is still prepared."""
    done = upbeat("prepare", "--prompt", PROMPT, cwd=repo, home=Path("/proc"))

    assert_prepared(done)
    assert "Traceback" not in done.stderr


# --- what it comes to -------------------------------------------------------------------------------------


def test_all_configuration_errors_at_once(repo: Path, tmp_path: Path) -> None:
    """A wrong configuration is exit 20 with all that is wrong; a mistake of the user's own stops the search."""
    shutil.copytree(repo, tmp_path / "r")
    write(tmp_path / "r", {"config/auto-tools.toml": "[budget]\nwall_ms = 'x'\nfoo = 1\n"})
    done = upbeat("prepare", "--prompt", PROMPT, cwd=tmp_path / "r", home=tmp_path, CI_AUTO_TOOLS="never")

    assert (20, []) == (done.code, done.report["tool_results"])
    assert ["config_ignored", "config_ignored", "config_invalid"] == sorted(done.limits)
    assert 3 == done.stderr.count("[Limits] configuration invalid")


def test_a_broken_file_of_a_clone(repo: Path, tmp_path: Path) -> None:
    """A project's file that the user does not trust cannot switch off the search, even if it is no TOML."""
    shutil.copytree(repo, tmp_path / "r")
    write(tmp_path / "r", {"config/auto-tools.toml": "[budget\n"})
    done = upbeat("prepare", "--prompt", PROMPT, cwd=tmp_path / "r", home=tmp_path)

    assert (20, ["config_ignored"]) == (done.code, [code for code in done.limits if code.startswith("config")])
    assert done.report["tool_results"]


def test_a_core_that_fails(repo: Path, tmp_path: Path) -> None:
    """If the core fails, the exit code is 10, the report is empty with the error, and the traceback is on stderr."""
    code = (
        "import sys\nfrom upbeat.adapters.cli import prepare\nfrom upbeat.adapters.cli.main import main\n"
        "def fails(*_args): raise RuntimeError('boom')\n"
        "prepare.prepare_turn = fails\nsys.exit(main(['prepare', '--prompt', 'x']))"
    )
    done = run([sys.executable, "-c", code], repo, home=tmp_path)

    assert (10, ["core_unavailable"], "E_UNKNOWN") == (done.code, done.limits, done.report["degraded"]["error"])
    assert "orchestrator unavailable: RuntimeError: boom" == done.report["limits"][0]["text"]
    assert "Traceback" in done.stderr


def prepare_with_endless_tools(repo: Path, home: Path) -> float:
    """Prepare a turn of 400 ms whose tools never end; return the seconds until the process has ended."""
    started = time.monotonic()
    command = [sys.executable, str(HANGING), "/never", "prepare", "--prompt", PROMPT, "--strict"]
    done = run(command, repo, home=home, CI_AUTO_TOOLS_BUDGET_WALL_MS="400")

    assert (50, ["budget_exceeded"]) == (done.code, done.limits)
    assert {"timeout"} == {result["status"] for result in done.report["tool_results"]}
    return time.monotonic() - started


def test_tools_that_never_end_do_not_keep_the_process(repo: Path, tmp_path: Path) -> None:
    """With tools that never end, the report has their timeouts and the process ends."""
    assert 0.4 <= prepare_with_endless_tools(repo, tmp_path) < 20


@pytest.mark.bench
def test_the_whole_process_keeps_to_the_budget(repo: Path, tmp_path: Path) -> None:
    """With tools that hang the process ends at most 250 ms after the wall clock, beyond its own start."""

    def late() -> float:
        started = time.monotonic()
        run([UPBEAT, "prepare", "--prompt", PROMPT, "--plan"], repo, home=tmp_path)
        bare = time.monotonic() - started
        return prepare_with_endless_tools(repo, tmp_path) - 0.4 - bare

    assert any(late() < 0.25 for _ in range(3)), "a busy machine may be late, but not three times"


def test_a_missing_tool_is_no_failure(repo: Path, tmp_path: Path) -> None:
    """Tools that are not available leave the exit code at 0, also with --strict."""
    report = turn(PROMPT, repo, FakeProvider({}), home=tmp_path)

    assert {"E_TOOL_UNAVAILABLE"} == {result.error.code for result in report.tool_results if result.error}
    assert ExitCode.OK is exit_code(report, strict=True)


@pytest.mark.parametrize(
    ("setup", "arguments", "code"),
    [
        pytest.param({"CI_AUTO_TOOLS_REPO_ROOT": "/nowhere"}, ["--strict", "--prompt", PROMPT], 40, id="a failure"),
        pytest.param({"CI_AUTO_TOOLS_REPO_ROOT": "/nowhere"}, ["--prompt", PROMPT], 0, id="a failure, not strict"),
        pytest.param({}, ["--prompt", PROMPT, "--repo", "/nowhere"], 30, id="a folder that does not exist"),
        pytest.param(
            {"CI_AUTO_TOOLS_MAX_INJECTED_CHARS": "400"}, ["--strict", "--prompt", PROMPT], 50, id="characters"
        ),
        pytest.param({"CI_AUTO_TOOLS_MAX_INJECTED_CHARS": "400"}, ["--prompt", PROMPT], 0, id="characters, not strict"),
        pytest.param({"CI_AUTO_TOOLS": "off"}, ["--strict", "--prompt", PROMPT], 0, id="switched off"),
    ],
)
def test_exit_codes(repo: Path, tmp_path: Path, setup: dict[str, str], arguments: list[str], code: int) -> None:
    """Only --strict makes what fell short an exit code; the object is valid whatever the code."""
    done = upbeat("prepare", *arguments, cwd=repo, home=tmp_path, **setup)

    REPORT_SCHEMA.validate(done.report)
    assert code == done.code


def test_text_for_people(repo: Path, tmp_path: Path) -> None:
    """``--text`` prints what was found, the tools and the places; ``--raw`` the exact text for the model."""
    done = upbeat("prepare", "--prompt", PROMPT, "--text", cwd=repo, home=tmp_path)
    raw = upbeat("prepare", "--prompt", PROMPT, "--raw", cwd=repo, home=tmp_path).stdout
    nothing = upbeat("prepare", "--prompt", "hello", "--text", cwd=repo, home=tmp_path).stdout.decode()
    plan = upbeat("prepare", "--prompt", PROMPT, "--text", "--plan", cwd=repo, home=tmp_path).stdout.decode()

    assert "of context, found in" in done.stdout.decode().splitlines()[0]
    assert "✓ ci_search" in done.stdout.decode()
    assert "" == done.stderr
    assert raw.startswith(b"<upbeat-data")
    assert nothing.startswith("Nothing is added to this prompt: the prompt is not about code;")
    assert "tools would run for this prompt; nothing was run." in plan


def test_a_reader_that_goes_away(repo: Path, tmp_path: Path) -> None:
    """``upbeat prepare | head -c 1`` ends without a complaint."""
    command = f"'{UPBEAT}' prepare --prompt '{'x' * 100_000}' | head -c 1"
    done = run(["/bin/sh", "-c", command], repo, home=tmp_path)

    assert (b"{", False) == (done.stdout, "Traceback" in done.stderr or "BrokenPipe" in done.stderr)


def test_the_cap_of_the_client(repo: Path, tmp_path: Path) -> None:
    """For a client the context stays inside what that client can carry."""
    write(
        tmp_path / "big",
        {f"retry_{n}.py": f"def send_with_retry_{n}():\n" + "    # retry limit 仓库仓库仓库\n" * 40 for n in range(12)},
    )
    sizes: dict[str, Any] = {}
    for client in ("cli", "codex-cli"):
        done = upbeat("prepare", "--prompt", PROMPT, "--client", client, cwd=tmp_path / "big", home=tmp_path)
        sizes[client] = len(done.report["fused_context"]["for_model"]["additional_context"].encode())

    assert sizes["codex-cli"] <= 9800
    assert sizes["codex-cli"] <= sizes["cli"]
