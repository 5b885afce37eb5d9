"""Which commands a named task of a project runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.shell.paths import Script
from upbeat.core.workflow.evidence import task_files as files


def lines(scripts: list[Script] | None) -> list[tuple[str, bool]] | None:
    return None if scripts is None else [(script.text, script.ignores_failure) for script in scripts]


def test_package_scripts() -> None:
    """A script of package.json runs between its pre and post scripts, with the arguments."""
    text = '{"scripts": {"pretest": "tsc", "test": "jest", "posttest": "x"}}'

    assert [("tsc", False), ("jest -t 'a b'", False), ("x", False)] == lines(
        files.package_scripts(text, "test", ["-t", "a b"], "/repo")
    )
    assert files.package_scripts("{", "test", [], "/repo") is None


def test_composer_and_deno() -> None:
    """Scripts of Composer may call others; a task of Deno is a line or a table."""
    text = '{"scripts": {"test": ["@lint", "phpunit"]}}'

    assert [("composer lint", False), ("phpunit", False)] == lines(files.composer_scripts(text, "test", [], "/repo"))
    assert [("deno test", False)] == lines(
        files.deno_tasks('{"tasks": {"test": {"command": "deno test"}}}', "test", [], "/")
    )


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ('test = "pytest {args:tests}"', [("pytest tests", False)]),
        ('test = "- pytest"', [("pytest", True)]),
        ('test = ["pytest -q", "ruff ."]', [("pytest -q", False), ("ruff .", False)]),
        ('test = { cmd = "pytest", ignore_fail = true }', [("pytest", True)]),
        ('test = { composite = ["unit"] }\nunit = "pytest"', [("pytest", False)]),
        (
            'test = { cmd = ["pytest", "a b"], depends-on = ["x"] }\nx = "tsc"',
            [("tsc", False), ("pytest 'a b'", False)],
        ),
        ('other = "pytest"', None),
    ],
)
def test_toml_tasks(task: str, expected: list[tuple[str, bool]] | None) -> None:
    """Tasks of pyproject.toml, pixi.toml and mise.toml are lines, lists or tables."""
    assert expected == lines(files.toml_tasks(f"[tool.x]\n{task}\n", ("tool.y", "tool.x"), "test", (), "/repo"))


def test_recipes_of_just() -> None:
    """A recipe runs its dependencies first; a minus ignores a failure, and a shebang makes one script."""
    text = (
        "v := 'unit'\n"
        "test *args='-q': build\n"
        "    @pytest {{args}} {{v}}\n"
        "    -ruff .\n"
        "build:\n"
        "    tsc\n"
        "b:\n"
        "    #!/bin/sh\n"
        "    a\n"
        "    c\n"
    )

    assert [("tsc", False), ("pytest -q unit", False), ("ruff .", True)] == lines(
        files.just_recipe(text, "test", (), "/")
    )
    assert [("tsc", False), ("pytest -x unit", False), ("ruff .", True)] == lines(
        files.just_recipe(text, "", ("-x",), "/")
    )
    assert [("a\nc", False)] == lines(files.just_recipe(text, "b", (), "/"))
    assert files.just_recipe(text, "none", (), "/") is None


def test_tasks_of_a_taskfile() -> None:
    """A task runs its dependencies and calls other tasks."""
    text = (
        "tasks:\n"
        "  test:\n"
        "    deps: [b]\n"
        "    cmds: [{task: u}, {cmd: x, ignore_error: true}]\n"
        "  b: tsc\n"
        "  u: {cmds: ['pytest {{.CLI_ARGS}}']}\n"
    )

    assert [("tsc", False), ("pytest ", False), ("x", True)] == lines(files.taskfile_task(text, "test", (), "/"))
    assert files.taskfile_task("tasks: 3", "test", (), "/") is None


def test_environments_of_tox() -> None:
    """An environment has its own commands or those of testenv."""
    text = (
        "[tox]\n"
        "envlist = py, lint\n"
        "[testenv]\n"
        "commands =\n"
        "    - a\n"
        "    pytest {posargs:tests}\n"
        "[testenv:lint]\n"
        "commands = ruff\n"
    )

    assert [("a", True), ("pytest tests", False)] == lines(files.tox_commands(text, ["py311"], [], "/"))
    assert [("a", True), ("pytest tests", False), ("ruff", False)] == lines(files.tox_commands(text, [], [], "/"))
    assert files.tox_commands("[tox", [], [], "/") is None


def test_sessions_of_nox_and_tasks_of_invoke() -> None:
    """The literal words of run calls are the commands; one that accepts other exit codes is not proven."""
    nox = (
        "import nox\n"
        "@nox.session\n"
        "def tests(s):\n"
        "    s.install('x')\n"
        "    s.run('pytest', '-q')\n"
        "    s.run('a', success_codes=[0, 5])\n"
    )
    invoke = "@task\ndef unit_test(c):\n    c.run('pytest -q', pty=True)\n"

    assert [("pytest -q", False), ("a", True)] == lines(files.python_tasks(nox, ["tests-3.12"], "/", "nox"))
    assert [("pytest -q", False)] == lines(files.python_tasks(invoke, ["unit-test"], "/", "invoke"))
    assert files.python_tasks(nox, ["none"], "/", "nox") is None
    assert files.python_tasks("def (", ["none"], "/", "nox") is None


@given(st.text("{}[]:\"',-\n atestk", max_size=60))
def test_any_text(text: str) -> None:
    """Any text can be read."""
    files.package_scripts(text, "test", [], "/")
    files.toml_tasks(text, ("tasks",), "test", (), "/")
    files.just_recipe(text, "test", (), "/")
    files.taskfile_task(text, "test", (), "/")
    files.tox_commands(text, [], [], "/")
    files.python_tasks(text, ["test"], "/", "nox")
