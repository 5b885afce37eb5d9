"""``upbeat workflow`` lists and shows the workflows that apply, and reports problems of workflow files."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from commands import Here
from repositories import write

STEP = Path(__file__).with_name("workflow_step.json")
SKIPPED = "upbeat: .upbeat/workflows.toml is skipped until you trust it; run `upbeat trust` here"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", {"a.py": ""}).resolve()


def test_list(here: Here, repo: Path, home: Path) -> None:
    """Each workflow is listed with its sentence in the user's language and its stages."""
    english = here("workflow", "list", cwd=repo, home=home, COLUMNS="200")
    chinese = here("workflow", "list", cwd=repo, home=home, LANG="zh_TW.UTF-8")
    lines = english.stdout.decode().splitlines()

    assert (0, "", 36) == (english.code, english.stderr, len(lines))
    assert [
        "tdd            Test-driven: specify the behavior, write the code, verify it.",
        "               TEST → DEV → TEST:2",
    ] == lines[10:12]
    assert "tdd            测试驱动：先写明行为，再写代码，最后验证。" in chinese.stdout.decode()


def test_list_as_data(here: Here, repo: Path, home: Path) -> None:
    """The JSON list is versioned and has every attribute of a step."""
    listed = json.loads(here("workflow", "list", "--json", cwd=repo, home=home).stdout)

    assert ("1.0", 18) == (listed["schema_version"], len(listed["workflows"]))
    assert ["single", "quick"] == [workflow["name"] for workflow in listed["workflows"][:2]]
    assert json.loads(STEP.read_text(encoding="utf-8")) == listed["workflows"][1]["groups"][1][1]


def test_show(here: Here, repo: Path, home: Path) -> None:
    """A workflow is shown with its groups, agents, modes and repairs."""
    write(
        home,
        {
            ".config/upbeat/workflows.toml": dedent("""\
            [workflows.mine]
            stages = ["TEST", "DEV", ["TEST", "LOOK"]]
            files = ["tasks"]
            text.en = "Mine."
            [stages.LOOK]
            agent = "qa"
            text.zh = "看。"
            [stages.TEST]
            text.en = "Test."
            [stages.DEV]
            text.en = "Write."
            """)
        },
    )
    origin = home / ".config/upbeat/workflows.toml"
    done = here("workflow", "show", "mine", cwd=repo, home=home, COLUMNS="200")

    assert (0, "") == (done.code, done.stderr)
    assert (
        dedent(f"""\
        mine: 4 steps, from TEST to LOOK
        Mine.

          · TEST (spec)      tester     Test.
                                        evidence: a test run · failed: DEBUG → DEV, then again · at most 3 tries
          · DEV              developer  Write.
        ┌ · TEST:2 (verify)  tester     Test.
                                        evidence: a test run · failed: DEBUG → DEV, then again · at most 3 tries
        └ · LOOK             qa         看。

        start it with `upbeat workflow start mine GOAL` · files: tasks · defined at {origin}:1
        """)
        == done.stdout.decode()
    )


def test_show_as_data(here: Here, repo: Path, home: Path) -> None:
    """The JSON of one workflow is the same as in the list."""
    listed = json.loads(here("workflow", "list", "--json", cwd=repo, home=home).stdout)["workflows"]
    shown = json.loads(here("workflow", "show", "secure", "--json", cwd=repo, home=home).stdout)

    assert {
        "schema_version": "1.0",
        "workflow": next(workflow for workflow in listed if workflow["name"] == "secure"),
    } == shown


@pytest.mark.parametrize(
    ("name", "hint"), [("standart", "did you mean 'standard'?"), ("xyz", "run `upbeat workflow list` to see them all")]
)
def test_show_an_unknown_workflow(here: Here, repo: Path, home: Path, name: str, hint: str) -> None:
    """An unknown name is an error with the nearest one."""
    done = here("workflow", "show", name, cwd=repo, home=home)

    assert (2, b"", f"upbeat: no workflow '{name}'; {hint}\n") == (done.code, done.stdout, done.stderr)


def test_check_without_problems(here: Here, repo: Path, home: Path) -> None:
    """Without problems, the checked files are named."""
    done = here("workflow", "check", cwd=repo, home=home)

    assert (0, f"no problems found in {home}/.config/upbeat/workflows.toml and .upbeat/workflows.toml\n", "") == (
        done.code,
        done.stdout.decode(),
        done.stderr,
    )


def test_check_with_problems(here: Here, repo: Path, home: Path) -> None:
    """All problems are reported; the other commands report them, too, and use the valid files."""
    write(home, {".config/upbeat/workflows.toml": '[workflows.x]\nstages = ["DVE"]\ntxet.en = "x"\n'})
    write(repo, {".upbeat/workflows.toml": '[workflows.y]\nstages = ["DEV"]\n'})
    checked = here("workflow", "check", cwd=repo, home=home)
    shown = here("workflow", "show", "tdd", cwd=repo, home=home)
    mine = home / ".config/upbeat/workflows.toml"
    problems = [
        f"upbeat: {mine}:3: unknown key 'workflows.x.txet'; did you mean 'text'?",
        f"upbeat: {mine}:2: workflows.x.stages names no stage: 'DVE'; did you mean 'DEV'?",
        "upbeat: a file with a mistake is ignored until you fix it",
        SKIPPED,
    ]

    assert (1, b"", problems) == (checked.code, checked.stdout, checked.stderr.splitlines())
    assert (0, problems) == (shown.code, shown.stderr.splitlines())


def test_check_skips_an_untrusted_file(here: Here, repo: Path, home: Path) -> None:
    """An untrusted project file is skipped, and the output says so and how to trust it."""
    write(repo, {".upbeat/workflows.toml": '[workflows.y]\nstages = ["DEV"]\n'})
    checked = here("workflow", "check", cwd=repo, home=home)

    assert (0, f"no problems found in {home}/.config/upbeat/workflows.toml\n", f"{SKIPPED}\n") == (
        checked.code,
        checked.stdout.decode(),
        checked.stderr,
    )


def test_another_project(here: Here, tmp_path: Path, repo: Path, home: Path) -> None:
    """``--repo`` selects another project than the one around this folder."""
    write(repo, {".upbeat/workflows.toml": "workflows = "})

    assert 0 == here("workflow", "check", cwd=tmp_path, home=home).code
    assert 1 == here("workflow", "check", "--repo", str(repo), cwd=tmp_path, home=home).code
