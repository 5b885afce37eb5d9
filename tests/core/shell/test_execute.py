"""What exit code 0 of a line proves, with branches, loops, functions and kept exit codes."""

from __future__ import annotations

import pytest

from upbeat.core.shell.execute import MAX_STEPS, execute


def proven(line: str) -> list[str]:
    execution = execute(line)
    return [" ".join(one.words) for one in execution.proven if one.words[0] == "t" and one not in execution.masked]


@pytest.mark.parametrize(
    "line",
    [
        "t; rc=$?; echo done; exit $rc",
        'out=$(t 2>&1); rc=$?; echo "$out"; exit $rc',
        "t | tee log; exit ${PIPESTATUS[0]}",
        "t | tee log; test ${PIPESTATUS[0]} -eq 0",
        "set -o pipefail && t 2>&1 | tail -3",
        "t || { echo red; exit 1; }; echo green",
        "set -e; cd a; t; echo done",
        "trap 'rm -rf x' EXIT; t",
        "(cd a && t)",
        "eval t",
        "exec t",
        "t & pid=$!; wait $pid",
        "t > log & p=$!; wait $p; rc=$?; tail log; exit $rc",
        "t & wait $!",
        "t & wait %1",
        "bash <<'E'\ncd a\nt\nE",
        "bash -e <<< 't; echo done'",
    ],
)
def test_an_exit_code_that_reaches_the_end(line: str) -> None:
    """A command is proven if its failure is the failure of the line."""
    assert ["t"] == proven(line)


@pytest.mark.parametrize(
    "line",
    [
        "t; rc=$?; rc=0; exit $rc",
        "t; echo $?",
        "rc=0; t || rc=$?; exit 0",
        "set -e; t && true; echo done",
        "trap 'exit 0' EXIT; t",
        "alias t=true; t",
        "t() { true; }; t",
        "t & wait",
        "t & true & wait $!",
        "t & p=$!; wait $p; echo done",
        "t & wait -n",
        "t & wait $! || true",
        "a & b & c & d & t & wait $!",
        "bash <<'E'\nt\nexit 0\nE",
        "bash <<E\n$X\nt\nE",
        "bash -n <<< t",
        "set -n; t",
        "! t",
        "t || t",
        "false && t; true",
        "cd missing || exit 0; t",
        'eval "$X"; t',
        "time ! t",
        "! { { exit 0; }; } && t",
        "! true > /dev/null | (t)",
        "! true | (true) > /dev/null | (t)",
        "! if ! t; then exit 2; fi | (t)",
    ],
)
def test_an_exit_code_that_does_not(line: str) -> None:
    """A command is not proven if the line can succeed without it."""
    assert [] == proven(line)


def test_where_and_with_what_it_runs() -> None:
    """An invocation has its folder, the variables that the line sets, its wrappers and the words of the source."""
    [run] = [one for one in execute("export A=1; cd sub && B=2 timeout -k 5 9 t x").proven if one.words[0] == "t"]

    assert (("t", "x"), "/repo/sub", (("A", "1"), ("B", "2")), ("timeout",)) == (
        run.words,
        run.cwd,
        run.env,
        run.wrappers,
    )
    assert ("timeout", "-k", "5", "9", "t", "x") == run.source_words


def test_a_masked_command_may_have_failed() -> None:
    """A command that may have failed although the exit code is 0 is masked, also if it is proven elsewhere."""
    execution = execute("for f in a b; do t $f; done")

    assert ["t a"] == [" ".join(one.words) for one in execution.masked]


def test_a_line_that_is_too_long_proves_nothing() -> None:
    """A line with too many ways is not followed."""
    execution = execute("; ".join(["t"] * (MAX_STEPS + 1))[:19_000])

    assert ((), False) == (execution.proven, execution.is_followed) or len(execution.invocations) == 1
    assert not execute("t 'x").is_followed
