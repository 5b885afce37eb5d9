"""What a line proves, compared with a real shell: a test run that failed is never taken for one that succeeded."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.shell import SuccessProof, prove_success
from upbeat.core.shell.execute import execute

PIECES = (
    *("pytest", "pytest", "true", "false", ":", "cd /", "exit 0", "exit 3", "set -e", "set +e", "set -o pipefail"),
    *("set +o pipefail", "bash -c 'pytest'", "bash -c 'pytest | cat'", "bash -o pipefail -c 'pytest | cat'", "cat"),
    *("env A=1 pytest", "out=$(pytest)", "A=1", "timeout 5 pytest", "if pytest; then :; fi", "eval pytest"),
    *("pytest; rc=$?", "exit $rc", "pytest || exit 1", "if ! pytest; then exit 2; fi", "[ $? -eq 0 ]"),
    *("for i in 1 2; do pytest || exit 1; done", "for i in 1 2; do pytest; done", "exit ${PIPESTATUS[0]}"),
    *("while ! pytest; do break; done", "f() { pytest; }; f", "case a in a) pytest;; esac", "out=$(pytest) && :"),
)
JOINTS = [" && ", " || ", "; ", " | ", " |& ", "\n", " & "]
OPENED = [("(", ")"), ("{ ", "; }"), ("! ", ""), ("time ", ""), ("", " > /dev/null"), ("", " 2>&1"), ("", "")]


@st.composite
def lines(draw: st.DrawFn, depth: int = 2) -> str:
    """Lines of shell, nested two deep."""
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        part = draw(st.sampled_from(PIECES) if depth == 0 else st.one_of(st.sampled_from(PIECES), lines(depth - 1)))
        before, after = draw(st.sampled_from(OPENED))
        parts += [f"{before}{part}{after}", draw(st.sampled_from(JOINTS))]
    return "".join(parts[:-1])


@pytest.fixture(scope="module")
def runners(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a pytest that says that it ran, and ends as the file ``code`` says."""
    folder = tmp_path_factory.mktemp("runners")
    script = f'#!/bin/sh\ncat > /dev/null < /dev/null\necho ran >> "{folder}/ran"\nexit $(cat "{folder}/code")\n'
    (folder / "pytest").write_text(script)
    (folder / "pytest").chmod(0o755)
    return folder


def run_in_bash(line: str, runners: Path, code: int) -> tuple[int, bool]:
    """The exit code of ``line`` and whether pytest ran, when pytest ends with ``code``."""
    (runners / "code").write_text(str(code))
    (runners / "ran").unlink(missing_ok=True)
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        env={"PATH": f"{runners}:{os.defpath}:/usr/bin:/bin"},
        cwd=runners,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode, (runners / "ran").exists()


@given(lines())
def test_a_failed_test_run_is_no_evidence(runners: Path, line: str) -> None:
    """When a line is taken as evidence, its exit code is 0 only if the tests ran and succeeded."""
    execution = execute(line)
    runs = [one for one in execution.invocations if one.words[:1] == ("pytest",)]
    if runs and any(one in execution.proven for one in runs) and not any(one in execution.masked for one in runs):
        failed, _ = run_in_bash(line, runners, 1)
        passed, ran = run_in_bash(line, runners, 0)

        assert failed != 0, line
        assert passed != 0 or ran, line


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("", SuccessProof()),
        ("a 'b c' \"d\" e\\ f", SuccessProof((("a", "b c", "d", "e f"),), (), (("a", "b c", "d", "e f"),))),
        ("a && b", SuccessProof((("a",), ("b",)), (), (("a",), ("b",)))),
        ("a | b", SuccessProof((("b",),), (("a",),), (("a",), ("b",)))),
        ("a || b", SuccessProof((), (("a",), ("b",)), (("a",), ("b",)))),
        ("a; b", SuccessProof((("b",),), (("a",),), (("a",), ("b",)))),
        ("bash -c 'a; b'", SuccessProof((("b",),), (("a",),), (("a",), ("b",)))),
        ("a 'b", SuccessProof()),
        ("a\0b", SuccessProof()),
        ("a " * 200_000, SuccessProof()),
    ],
)
def test_read_line(command: str, line: SuccessProof) -> None:
    """A line is its commands as words, with what its exit code 0 proves of them."""
    assert line == prove_success(command)
