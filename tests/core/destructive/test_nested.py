"""Commands in the arguments of other programs."""

from __future__ import annotations

import pytest

from upbeat.core.destructive import ShellLocation, find_hazards
from upbeat.core.destructive.nested import find_nested_lines, recipe_lines
from upbeat.core.shell import SimpleCommand


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("docker", "exec", "-it", "db", "psql", "-c", "drop table a"), ["psql -c 'drop table a'"]),
        (("kubectl", "exec", "web", "--", "rm", "-rf", "/data"), ["rm -rf /data"]),
        (("tmux", "new-session", "-d", "rm -rf ~"), ["rm -rf ~"]),
        (("git", "bisect", "run", "make test"), ["make test"]),
        (("git", "-c", "alias.z=!rm -rf ~", "z"), ["rm -rf ~"]),
        (("echo", "rm", "-rf", "/"), []),
        (("docker", "run", "--name", "mysql", "mysql:8"), []),
    ],
)
def test_lines(words: tuple[str, ...], lines: list[str]) -> None:
    """What a program runs elsewhere or later is found; text that it prints is not."""
    assert lines == [nested.line for nested in find_nested_lines(SimpleCommand(words))]


def test_containers() -> None:
    """A container without mounts is disposable; a mounted folder is that of this machine."""
    [alone] = find_nested_lines(SimpleCommand(("docker", "run", "--rm", "alpine", "rm", "-rf", "/x")))
    [mounted] = find_nested_lines(
        SimpleCommand(("docker", "run", "-v", "/:/host", "alpine", "rm", "-rf", "/host/home"))
    )

    assert alone.is_disposable
    assert (False, {"/host": "/"}) == (mounted.is_disposable, dict(mounted.mounts))


def test_recipes() -> None:
    """Recipes of a Makefile are lines in the notation of the shell."""
    assert ["rm -rf ${HOME} $x"] == recipe_lines("all:\n\t@rm -rf $(HOME) $$x\n")


@pytest.mark.parametrize(
    "line",
    [
        "echo rm -rf ~ | tee /tmp/run.sh | sh",
        "rm -rf $(printenv HOME)",
        'rm -rf "$(printenv HOME)"',
        "git -c alias.z='push --force origin main' z",
        "hyperfine 'rm -rf ~'",
        "hyperfine -w 3 'make' 'rm -rf ~'",
    ],
)
def test_what_another_program_passes_on(line: str) -> None:
    """What tee passes on, printenv prints, an alias of one call means and hyperfine measures is followed."""
    assert find_hazards(line, ShellLocation("/work/project", "/work/project"))
