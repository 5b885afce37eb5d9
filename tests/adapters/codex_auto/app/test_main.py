"""codex-auto as a script uses it: a process with pipes, and a fake Codex."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from fakes.codex.workbench import CODEX_AUTO, Turn, Workbench, make_workbench
from own_servers import PATIENT_TURN, odd, settings
from processes import read_log, wait_until
from repositories import PROMPT

THREAD = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
OFF = {"CI_AUTO_TOOLS": "off"}


def test_once_prints_the_answer_and_nothing_else(bench: Workbench) -> None:
    """AC-015: the answer goes to stdout, the rest to stderr, and the context precedes the prompt."""
    bench.script([{"run": "ls", "output": "a\n"}, {"say": "it is in retry.py"}])
    done = bench.run("--once", PROMPT)
    [call] = bench.calls()

    assert (0, b"it is in retry.py\n") == (done.code, done.stdout)
    assert "$ ls\n  a\n" in done.stderr
    assert call["stdin"].startswith("<upbeat-data id=")
    assert call["stdin"].endswith(f"\n\n{PROMPT}")
    assert call["stdin"].count("RETRY_LIMIT = 3") == 1
    assert "1" == call["wrapped"]


def test_switched_off_the_prompt_arrives_byte_for_byte(bench: Workbench) -> None:
    """AC-013: with CI_AUTO_TOOLS=off Codex reads exactly what codex-auto read; the session continues."""
    prompts = [b"fix it\n", "\ufeffa\r\nb\u2028\x00 店".encode(), b"-x", b"resume", b" \n x \n"]

    assert [0] * len(prompts) == [bench.run(stdin=prompt, **OFF).code for prompt in prompts]
    assert prompts == [call["stdin"].encode() for call in bench.calls()]
    assert ["exec", "--json", "resume", bench.sessions()["default"], "-"] == bench.calls()[1]["argv"]


def test_turns_of_different_processes_are_one_thread(bench: Workbench) -> None:
    """AC-002: runs continue one thread; --session has its own, and --new starts another."""
    for arguments in ([], [], ["--session", "other"], ["--new"]):
        bench.run("--once", "x", *arguments, **OFF)
    resumed = [call["argv"][2:-1] for call in bench.calls()]
    threads = sorted((bench.codex_home / "threads").iterdir())

    assert [False, True, False, False] == [bool(words) for words in resumed]
    assert 3 == len(threads)
    assert {"default", "other"} == set(bench.sessions())


@pytest.mark.parametrize(
    ("turn", "code", "message"),
    [
        ([{"fail": "Quota exceeded."}], 1, "turn failed: Codex reports"),
        ([{"say": "half"}, {"end": 0}], 1, "Codex exited during the turn"),
        ([{"refuse": "Error loading config.toml:\nf:1:9: bad"}], 1, "f:1:9: bad"),
        ([{"warn": "odd"}], 0, "the turn ended without an answer"),
    ],
)
def test_each_ending_has_its_exit_code_and_sentence(bench: Workbench, turn: Turn, code: int, message: str) -> None:
    """A failed turn exits with 1 and its reason, a turn without an answer with 0 and a note."""
    bench.script(turn)
    done = bench.run("--once", "x", **OFF)

    assert code == done.code
    assert message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["--once"], b"", "no prompt"),
        (["--once", " "], b"", "no prompt"),
        ([], b"a\xffb", "not valid UTF-8 (byte 1)"),
        ([], b"x" * 1_048_577, "1,048,577 characters"),
        (["--transport", "app-server", "x"], b"", "use --transport exec"),
        (["--session", "a b", "x"], b"", "--session accepts"),
        (["--repo", "nowhere", "x"], b"", "no such folder"),
        (["x", "--", "--json"], b"", "--json is set by codex-auto"),
        (["x", "--idle-timeout", "-1"], b"", "--idle-timeout accepts"),
        (["x", "--onc"], b"", "no option '--onc'"),
        (["x", "--effort", "hgih"], b"", "did you mean 'high'?"),
    ],
)
def test_usage_errors_start_nothing(bench: Workbench, arguments: list[str], stdin: bytes, message: str) -> None:
    """A usage error exits with 2 and a sentence; Codex is not started and no session is held."""
    done = bench.run(*arguments, stdin=stdin)

    assert (2, b"") == (done.code, done.stdout)
    assert message in done.stderr
    assert ([], ()) == (bench.calls(), bench.store.read(0))


def test_all_configuration_errors_are_reported_at_once(bench: Workbench) -> None:
    """Configuration errors exit with 20, and nothing is sent."""
    done = bench.run("--once", "x", CI_AUTO_TOOLS="perhaps", CI_AUTO_TOOLS_BUDGET_WALL_MS="soon")

    assert 20 == done.code
    assert all(word in done.stderr for word in ("perhaps", "soon"))
    assert [] == bench.calls()


def test_without_codex_the_installation_is_explained(bench: Workbench) -> None:
    """Exit 127 names the command that installs Codex; a program in the working directory is not used."""
    bench.program.rename(bench.repository / "codex")
    for path in ("/usr/bin:/bin", ":/usr/bin:/bin", ".:/usr/bin:/bin"):
        done = bench.run("--once", "x", PATH=path)

        assert 127 == done.code
        assert "npm i -g @openai/codex" in done.stderr
    assert 0 == bench.run("--once", "x", "--codex", "./codex", **OFF).code


def test_a_path_without_a_program_is_explained(bench: Workbench) -> None:
    """Exit 127 says what is wrong with the path of ``--codex``, or which name is not on PATH."""
    (bench.folder / "text").write_text("x")
    problems = {
        "/nowhere/codex": "--codex /nowhere/codex: no such file",
        f"{bench.folder}/": f"--codex {bench.folder}/: it is a folder; name the program in it",
        f"{bench.folder}/text": f"--codex {bench.folder}/text: it is not executable",
        "my-codex": "my-codex is not on PATH. Install it with",
    }
    for path, problem in problems.items():
        done = bench.run("--once", "x", "--codex", path)

        assert 127 == done.code
        assert done.stderr.startswith(f"codex-auto: {problem}")


def test_flags_and_folder_are_passed_on(bench: Workbench) -> None:
    """Arguments after -- go to codex exec, and --repo is its folder, wherever codex-auto starts."""
    arguments = ("--once", "x", "--repo", str(bench.repository), "--", "-m", "gpt-5.5", "-s", "read-only")
    bench.run(*arguments, cwd=bench.folder, **OFF)

    expected = ["exec", "-C", str(bench.repository), "-m", "gpt-5.5", "-s", "read-only", "--json", "-"]
    assert expected == bench.calls()[0]["argv"]
    assert bench.sessions()


def test_outside_git_the_check_of_codex_is_skipped(tmp_path: Path) -> None:
    """AC-005: outside of Git, Codex's check is skipped, and a limit reports that."""
    bench = make_workbench(tmp_path / "b", git=False)
    done = bench.run("--once", "x", **OFF)

    assert ["exec", "--skip-git-repo-check", "--json", "-"] == bench.calls()[0]["argv"]
    assert "[Limits] no-git-root: Codex is started with --skip-git-repo-check" in done.stderr


# --- plan ---


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["--plan"], {}),
        (["--plan", "--new"], {}),
        (["--plan", "--once"], {}),
        (["--once"], {"CI_AUTO_TOOLS_MODE": "plan"}),
        ([], {"CI_AUTO_TOOLS_DRY_RUN": "1"}),
    ],
)
def test_a_plan_starts_nothing_and_writes_nothing(
    bench: Workbench, arguments: list[str], extra: dict[str, str]
) -> None:
    """AC-003: two dry runs print the same bytes, start no Codex and change no file."""
    bench.remember(bench.add_thread(THREAD))
    before = bench.files()
    first = bench.run(PROMPT, *arguments, **extra)
    second = bench.run(PROMPT, *arguments, **extra)
    resumed = "" if "--new" in arguments else f"resume {THREAD} "

    assert (0, first.stdout) == (second.code, second.stdout)
    assert f"codex exec --json {resumed}-" == first.report["tool_plan"]["planned_codex_command"]
    assert ([], before) == (bench.calls(), bench.files())


def test_a_plan_shows_the_whole_command(bench: Workbench) -> None:
    """AC-002: the plan has the session and the flags, quoted for a shell; Codex need not exist."""
    done = bench.run(PROMPT, "--plan", "--codex", "no-such", "--", "-m", "a b")

    assert "no-such exec -m 'a b' --json -" == done.report["tool_plan"]["planned_codex_command"]


@pytest.mark.parametrize(
    ("prompt", "extra", "code"), [(" ", {}, 30), ("x", {"CI_AUTO_TOOLS": "perhaps"}, 20), ("x", OFF, 0)]
)
def test_a_plan_exits_as_prepare_does(bench: Workbench, prompt: str, extra: dict[str, str], code: int) -> None:
    """AC-012: whatever the exit code, stdout is one valid v1 object."""
    done = bench.run("--plan", prompt, **extra)

    assert code == done.code
    assert "codex-auto" == done.report["client"]["event"]


# --- ends from outside ---


def test_a_killed_codex_auto_ends_codex(bench: Workbench) -> None:
    """The kernel ends Codex when codex-auto gets SIGKILL."""
    bench.script([{"sleep": 60}])
    with bench.start("--once", "x", **OFF) as fork:
        wait_until(bench.calls)
        fork.send(signal.SIGKILL)

    assert bench.has_ended()


def test_a_reader_that_leaves_ends_the_turn(bench: Workbench) -> None:
    """In ``codex-auto … | head -1`` the turn ends quietly when nobody reads the answer."""
    bench.script([{"say": "one"}, {"sleep": 0.2}, {"say": "two"}, {"sleep": 60}])
    with bench.start_program("--once", "x", **OFF) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        code = process.wait(timeout=10)
        err = process.stderr.read().decode()

    assert (141, False) == (code, "Traceback" in err)
    assert bench.has_ended()


def test_a_closed_standard_input_is_no_crash(bench: Workbench) -> None:
    """Without standard input a prompt on the command line works, and a missing prompt is an error."""
    done = subprocess.run(
        ["sh", "-c", '"$0" --once x <&-; "$0" <&-', CODEX_AUTO],
        cwd=bench.repository,
        env=bench.environment(**OFF),
        capture_output=True,
        timeout=60,
    )

    assert (2, b"plain answer\n") == (done.returncode, done.stdout)
    assert b"no prompt" in done.stderr
    assert b"Traceback" not in done.stderr


def test_the_journal_has_the_turn(bench: Workbench) -> None:
    """The journal has the session from start to end; the records of the turn belong to the thread."""
    bench.run("--once", PROMPT)
    records = read_log(bench.home)
    thread_id = bench.sessions()["default"]

    named = ["SessionAdopted", "TurnEnding", "SessionEnded"]
    assert ["SessionStarted", "PromptSubmitted", *named[:1], "SessionRenamed", *named[1:]] == [
        record["event"] for record in records
    ]
    assert named == [record["event"] for record in records if record["session_id"] == thread_id]


def test_a_hostile_repository_is_not_imported(bench: Workbench) -> None:
    """None of the code of a checkout with modules of the same names is run."""
    for name in ("core", "adapters", "prompt_toolkit"):
        (bench.repository / name).mkdir()
        (bench.repository / name / "__init__.py").write_text("raise SystemExit(66)")
    with bench.start_program("--once", "x", **OFF) as process:
        out, _ = process.communicate()

    assert (0, b"plain answer\n") == (process.returncode, out)


# --- the user's own servers ---


def test_own_servers_are_asked_and_ended(tmp_path: Path) -> None:
    """The answer of a server goes to Codex with the prompt, and no process of the server remains."""
    bench = make_workbench(tmp_path / "b")
    file = tmp_path / "starts"
    settings(bench.home, PATIENT_TURN + odd("stubborn", str(file)))
    bench.script([{"say": "it is in retry.py"}])
    done = bench.run("--once", PROMPT)

    assert 0 == done.code, done.stderr
    assert "mcp:odd/search — answer of your server odd (odd.search 0.50)\n| found" in bench.prompts()[0]

    (pid,) = map(int, file.read_text().split())

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_plan_starts_no_server(tmp_path: Path) -> None:
    """A plan names the tool and starts no server."""
    bench = make_workbench(tmp_path / "b")
    file = tmp_path / "starts"
    settings(bench.home, odd("fine", str(file)))
    done = bench.run("--plan", PROMPT)

    assert b'"odd.search"' in done.stdout
    assert not file.exists()
