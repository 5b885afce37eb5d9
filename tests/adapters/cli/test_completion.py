"""A shell completes commands, options and choices from the script that ``upbeat completion`` prints."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import Here

from upbeat.adapters.cli.completion import SHELLS, build_program_parser
from upbeat.adapters.cli.main import COMMANDS

ASK = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
function=$(complete -p "$1" | sed 's/.*-F \([^ ]*\).*/\1/')
"$function" "$1" "${@: -1}" "${@: -2:1}"
echo "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["upbeat", "workf"], ["workflow"]),
        (["upbeat", "workflow", "s"], ["show", "start", "stop"]),
        (["upbeat", "status", "--j"], ["--json"]),
        (["upbeat", "install", ""], ["claude", "codex"]),
        (["upbeat", "install", "claude", "--route", "m"], ["mcp"]),
        (["codex-auto", "--eff"], ["--effort"]),
        (["codex-auto", "--effort", "x"], ["xhigh"]),
    ],
    ids=" ".join,
)
def test_bash(here: Here, tmp_path: Path, words: list[str], expected: list[str]) -> None:
    """Bash completes what is typed to what there is."""
    script = tmp_path / "completion.bash"
    script.write_bytes(here("completion", "bash", cwd=tmp_path).stdout)
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run([bash, "-c", ASK, "bash", script, *words], capture_output=True, text=True, check=True)

    assert expected == done.stdout.split()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_same_version_prints_the_same_script(here: Here, tmp_path: Path, shell: str) -> None:
    """The script names every command, and has no date."""
    script, again = (here("completion", shell, cwd=tmp_path).stdout.decode() for _ in range(2))

    assert script == again
    assert all(name in script for name in COMMANDS)


def test_every_command_with_options_has_a_parser() -> None:
    """The completion and the manual know the options of every command; three have none."""
    actions = build_program_parser()._actions
    [commands] = [action for action in actions if isinstance(action, argparse._SubParsersAction)]

    assert {"hook", "exec", "statusline"} == {
        name for name, parser in commands.choices.items() if len(parser._actions) == 1
    }
