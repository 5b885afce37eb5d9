"""The small commands, as real processes: what they print, change and exit with."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from case_files import read_cases
from commands import Here
from processes import UPBEAT, run, upbeat
from repositories import make_repository, write

from upbeat import __version__
from upbeat.adapters.cli.main import _GUARDED, COMMANDS, main
from upbeat.core.package_data import load_toml


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("r") / "repo")


@pytest.mark.parametrize(
    ("arguments", "code", "stdout", "stderr"),
    [
        (["--version"], 0, f"upbeat {__version__}\n", ""),
        (["-V", "x"], 0, f"upbeat {__version__}\n", ""),
        (["version"], 0, f"upbeat {__version__}\n", ""),
        (["prepair"], 2, "", "upbeat: no command 'prepair'; did you mean 'prepare'?\n"),
        (["xyz"], 2, "", "upbeat: no command 'xyz'; run `upbeat help` to list the commands\n"),
        (["hook"], 0, "", "usage: upbeat hook claude|codex < payload.json\n"),
        (["hook", "claude-code"], 0, "", ""),
        (["hook", "vim"], 0, "", "usage: upbeat hook claude|codex < payload.json\n"),
    ],
    ids=str,
)
def test_the_command_line(
    here: Here, tmp_path: Path, arguments: list[str], code: int, stdout: str, stderr: str
) -> None:
    """A request prints its answer, a mistake prints how to fix it, and a hook never fails."""
    done = here(*arguments, cwd=tmp_path)

    assert (code, stdout, stderr) == (done.code, done.stdout.decode(), done.stderr)


@pytest.mark.parametrize(("line", "message"), read_cases(Path(__file__).with_name("wrong_usages.tsv")))
def test_a_wrong_usage_names_the_right_one(here: Here, tmp_path: Path, line: str, message: str) -> None:
    """A mistake changes nothing: its first line says what is wrong and what there is, and the exit code is 2."""
    done = here(*line.split(), cwd=tmp_path)

    assert (2, b"") == (done.code, done.stdout)
    assert message in done.stderr.split("\n")[0].partition(": ")[2]


def test_help_of_a_command(here: Here, tmp_path: Path) -> None:
    """``upbeat help COMMAND`` prints what ``upbeat COMMAND --help`` prints."""
    asked, told = here("help", "rules", "add", cwd=tmp_path), here("rules", "add", "--help", cwd=tmp_path)

    assert (0, asked.stdout) == (told.code, told.stdout)


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["help"], 0), ([], 2)])
def test_help_lists_every_command(here: Here, tmp_path: Path, arguments: list[str], code: int) -> None:
    """The help has a line for each command."""
    done = here(*arguments, cwd=tmp_path)

    assert code == done.code
    assert sorted(COMMANDS) == sorted(
        line.split()[0] for line in done.stdout.decode().split("\n") if line.startswith("  ")
    )


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "hook"])
def test_every_command_has_help(here: Here, tmp_path: Path, command: str) -> None:
    """--help of each command says how it is used."""
    done = here(command, "--help", cwd=tmp_path)

    assert (0, True) == (done.code, done.stdout.decode().startswith(f"usage: upbeat {command}"))


def test_python_m(tmp_path: Path) -> None:
    """``python -m upbeat`` is the same command."""
    assert f"upbeat {__version__}\n" == run([sys.executable, "-I", "-m", "upbeat", "-V"], tmp_path).stdout.decode()


def test_tools_list(here: Here, tmp_path: Path) -> None:
    """Every tool is listed with tier and time, and whether it is there."""
    listed = json.loads(here("tools", "list", "--json", cwd=tmp_path).stdout)
    lines = here("tools", "list", cwd=tmp_path).stdout.decode().splitlines()

    assert "1.0" == listed["schema_version"]
    [search] = [tool for tool in listed["tools"] if tool["name"] == "ci_search"]

    assert (1, 2000, True) == (search["tier"], search["timeout_ms"], search["available"])
    assert search["description"]
    assert ["query"] == search["input_schema"]["required"]
    assert [tool["name"] for tool in listed["tools"]] == [line.split()[1] for line in lines[1:] if "≤" in line]
    assert "8 of 8 tools are available here." == lines[0]
    assert any(line.startswith("  ✓ ci_hotspot       tier 2      ≤ 2000 ms  Ranks the files that ") for line in lines)


@pytest.mark.parametrize(
    ("words", "status", "error", "stderr"), read_cases(Path(__file__).with_name("tools_call_cases.tsv"))
)
def test_tools_call(here: Here, repo: Path, tmp_path: Path, words: str, status: str, error: str, stderr: str) -> None:
    """One item of the contract's tool_results is printed; exit 40 when there is no answer."""
    arguments = json.loads(words)
    done = here("tools", "call", *arguments, "--json", cwd=repo, home=tmp_path)
    result = json.loads(done.stdout)

    code = 0 if status == "ok" else 40
    assert (code, arguments[0], status, stderr) == (done.code, result["tool"], result["status"], done.stderr)
    assert error == (result["error"]["code"] if result["error"] else "")


def test_tools_call_prints_text(here: Here, repo: Path, tmp_path: Path) -> None:
    """Without ``--json`` the answer is what an agent reads: paths with lines, and the lines; an error is on stderr."""
    found = here(
        "tools", "call", "ci_search", "--args", '{"query": "where is the retry limit?"}', cwd=repo, home=tmp_path
    )
    failed = here("tools", "call", "ci_serch", cwd=repo, home=tmp_path)

    assert 0 == found.code
    assert re.search(r"^shop/retry\.py:1 RETRY_LIMIT$(.*\n)*1\| RETRY_LIMIT = 3", found.stdout.decode(), re.MULTILINE)
    assert (40, b"", True) == (failed.code, failed.stdout, failed.stderr.startswith("E_TOOL_UNAVAILABLE: "))
    assert "upbeat: no tool 'ci_serch'; did you mean 'ci_search'?\n" in failed.stderr


@pytest.mark.parametrize("args", ["{", "5", "[]"])
def test_tools_call_with_other_arguments(here: Here, tmp_path: Path, args: str) -> None:
    """Arguments that are no JSON object are the caller's mistake."""
    done = here("tools", "call", "ci_search", "--args", args, cwd=tmp_path)

    assert (2, b"", True) == (done.code, done.stdout, done.stderr.startswith("upbeat: --args "))


def test_trust(here: Here, tmp_path: Path) -> None:
    """``trust`` shows the file, and its settings then apply until they change."""
    repo = make_repository(tmp_path / "repo")
    write(repo, {"config/auto-tools.toml": "[budget]\nwall_ms = 9000\n"})

    def wall() -> int:
        report = here("prepare", "--plan", "--prompt", "fix retry.py", cwd=repo, home=tmp_path).report
        return int(report["tool_plan"]["budget"]["wall_ms"])

    before = wall()
    done = here("trust", "--yes", cwd=repo / "shop", home=tmp_path)
    trusted = wall()
    write(repo, {"config/auto-tools.toml": "[budget]\nwall_ms = 9001\n"})

    assert (0, b"# config/auto-tools.toml\n  | [budget]\n  | wall_ms = 9000\n") == (done.code, done.stdout)
    assert (
        "upbeat: with your trust config/auto-tools.toml sets budget.wall_ms = 9000 (without trust: 5000)\n"
        f"upbeat: {repo}/config/auto-tools.toml is trusted until its content changes\n"
    ) == done.stderr
    assert (5000, 9000, 5000) == (before, trusted, wall())


def test_trust_is_for_all_files_of_the_project(here: Here, tmp_path: Path) -> None:
    """Settings and workflows are shown and trusted together; what would hide in a terminal is escaped."""
    repo = make_repository(tmp_path / "repo")
    write(
        repo,
        {
            ".upbeat/auto-tools.toml": 'mode = "plan"\n',
            ".upbeat/workflows.toml": '# \u202ered\n[workflows.mine]\nstages = ["DEV"]\n',
        },
    )
    before = here("workflow", "show", "mine", cwd=repo, home=tmp_path)
    done = here("trust", "--yes", cwd=repo, home=tmp_path)
    after = here("workflow", "show", "mine", cwd=repo, home=tmp_path)

    assert (2, 0) == (before.code, after.code)
    assert (
        '# .upbeat/auto-tools.toml\n  | mode = "plan"\n'
        '# .upbeat/workflows.toml\n  | # \\u{202e}red\n  | [workflows.mine]\n  | stages = ["DEV"]\n'
    ) == done.stdout.decode()
    assert [
        "upbeat: with your trust .upbeat/auto-tools.toml changes nothing: its settings are already in effect",
        "upbeat: with your trust .upbeat/workflows.toml adds workflows and agents that count like your own",
        *(
            f"upbeat: {repo}/.upbeat/{name}.toml is trusted until its content changes"
            for name in ("auto-tools", "workflows")
        ),
    ] == done.stderr.splitlines()


def test_nothing_to_trust(here: Here, repo: Path, tmp_path: Path) -> None:
    """Without a file of its own a project has nothing to trust."""
    done = here("trust", "--yes", cwd=repo, home=tmp_path)
    names = (
        "config/auto-tools.toml, .upbeat/auto-tools.toml, .upbeat/workflows.toml, .upbeat/rules/*.md, .claude/commands"
    )

    assert (2, f"upbeat: nothing to trust: {repo} has none of {names}\n") == (done.code, done.stderr)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """If nothing can be stored, the command reports it in one sentence."""
    repo = make_repository(tmp_path / "repo", {"config/auto-tools.toml": "enabled = 'off'\n"})
    trust = upbeat("trust", "--yes", cwd=repo, home=Path("/proc"))
    install = upbeat("install", "claude", "--yes", cwd=repo, home=Path("/proc"))

    assert [(1, False), (1, False)] == [(done.code, "Traceback" in done.stderr) for done in (trust, install)]
    assert trust.stderr.startswith("upbeat: ")
    assert install.stderr.startswith("upbeat: ")


def test_the_console_script_is_where_python_is() -> None:
    """The command under test is the one of this environment."""
    assert Path(UPBEAT).exists()


@pytest.mark.parametrize(
    "words",
    [("doctor",), ("doctor", "--json"), ("status", "--json"), ("learned", "list"), ("tools", "call", "ci_search")],
    ids=" ".join,
)
def test_a_working_directory_that_is_gone(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A removed working directory is one sentence on stderr that says what to do, and nothing on stdout."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert 1 == main(words)
    said = capsys.readouterr()
    assert ("", 1) == (said.out, len(said.err.splitlines()))
    assert said.err.startswith("upbeat: the working directory does not exist (")
    assert said.err.endswith("); change to an existing one\n")


@pytest.mark.parametrize(
    "line",
    [
        "trust --yes",
        "install claude --yes",
        "uninstall",
        "log prune",
        "log --session x prune",
        "rules add x --text y",
        "rules remove x",
        "tools approve server",
        "learned clear",
        "workflow stop",
        "workflow continue",
        "workflow resume codex --force",
    ],
)
def test_an_agent_does_not_loosen(here: Here, tmp_path: Path, line: str) -> None:
    """A command that loosens something is refused to an agent's shell, with or without --yes, and says why."""
    done = here(*line.split(), cwd=tmp_path, CLAUDE_CODE_SESSION_ID="s")

    assert (1, b"") == (done.code, done.stdout)
    assert "is the user's to run, and this shell belongs to an agent of Claude Code" in done.stderr
    assert [] == list(tmp_path.iterdir())


def test_every_reserved_command_is_guarded() -> None:
    """The commands that refuse an agent are those of the table of reserved ones; hooks and servers are a client's."""
    reserved = {words.split()[0] for words in load_toml("upbeat.core.policy", "own_controls.toml")["reserved"]}

    assert reserved - {"hook", "mcp"} == _GUARDED


@pytest.mark.parametrize("line", ["trust --list", "log", "log verify", "rules list", "workflow list", "status"])
def test_an_agent_reads(here: Here, tmp_path: Path, line: str) -> None:
    """Commands that show something are an agent's, too."""
    assert "agent of" not in here(*line.split(), cwd=tmp_path, CODEX_SESSION_ID="s").stderr
