"""Options, output and signals that several commands share."""

from __future__ import annotations

import io
import json
import signal
from pathlib import Path

import pytest
from repositories import make_repository

from upbeat.adapters.cli.command_line import (
    SCHEMA_VERSION,
    Subcommand,
    add_json_option,
    build_subcommand_parser,
    confirm,
    create_parser,
    exit_on_signals,
    print_json,
    print_problems,
    progress,
    project_root,
    run_subcommand,
)

SUBCOMMANDS = {"count": Subcommand("count", lambda options: 3 if options.json else 4, add_json_option)}


@pytest.mark.parametrize(("arguments", "code"), [(["count"], 4), (["count", "--json", "--repo", "/"], 3)])
def test_a_subcommand_gets_its_options(arguments: list[str], code: int) -> None:
    """The subcommand runs with its own options and --repo, and its result is the exit code."""
    assert code == run_subcommand(build_subcommand_parser("x", None, SUBCOMMANDS), arguments)


@pytest.mark.parametrize("arguments", [[], ["coun"], ["count", "--none"], ["count", "--repo", "/nowhere"]])
def test_wrong_arguments_exit_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A missing or unknown subcommand or option is a usage error, and so is a repository that does not exist."""
    with pytest.raises(SystemExit) as exited:
        run_subcommand(build_subcommand_parser("x", None, SUBCOMMANDS), arguments)

    assert (2, True) == (exited.value.code, "usage: upbeat x" in capsys.readouterr().err)


def test_help_is_plain_text() -> None:
    """The help of a command keeps its paragraphs, and shows neither links nor the markup and laws of the code."""
    text = create_parser("x", "``upbeat x``: does it.\n\nInvariant: fast.\n\n[How](x.md) to `y`.").format_help()

    assert "\n\n`upbeat x`: does it.\n\nHow to `y`.\n\n" in text


def test_json_has_a_version(capsys: pytest.CaptureFixture[str]) -> None:
    """Every JSON object begins with the version of its schema."""
    assert 0 == print_json({"name": "店"})
    printed = capsys.readouterr().out
    assert ({"schema_version": SCHEMA_VERSION, "name": "店"}, True) == (json.loads(printed), "店" in printed)


def test_problems_have_no_controls(capsys: pytest.CaptureFixture[str]) -> None:
    """Problems are printed on stderr, one a line, without terminal sequences."""
    print_problems(["a\x1b[31m", "b"])

    assert ("", "upbeat: a\nupbeat: b\n") == tuple(capsys.readouterr())


def test_the_root_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The root is the top of the working tree, or the folder itself without git."""
    repo = make_repository(tmp_path / "repo").resolve()
    (repo / "inner").mkdir()
    monkeypatch.chdir(repo / "inner")

    assert str(repo) == project_root(None) == project_root(".")
    assert str(tmp_path.resolve()) == project_root(str(tmp_path))


def test_a_signal_ends_the_command() -> None:
    """SIGTERM raises SystemExit with 128 and its number; an ignored SIGHUP stays ignored."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        exit_on_signals()
        assert signal.SIG_IGN is signal.getsignal(signal.SIGHUP)
        with pytest.raises(SystemExit) as exited:
            signal.raise_signal(signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

    assert 128 + signal.SIGTERM == exited.value.code


@pytest.mark.parametrize(
    ("typed", "is_yes", "is_yes_by_default"),
    [("y\n", True, True), ("YES\n", True, True), ("n\n", False, False), ("\n", False, True), ("", False, False)],
)
def test_the_end_of_the_input_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, typed: str, is_yes: bool, is_yes_by_default: bool
) -> None:
    """Enter takes the default; without an answer, at the end of the input, nothing is agreed to."""
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert is_yes == confirm("Go on?")
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert is_yes_by_default == confirm("Go on?", is_yes_default=True)


def test_progress_is_drawn_at_a_terminal_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal the line shows how much is done, and is gone afterwards."""
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", stream)
    with progress("files") as draw:
        assert draw
        draw(1, 2)

    assert f"\r[{'#' * 15}{'.' * 15}] 1/2 files\x1b[K\r\x1b[K" == stream.getvalue()


@pytest.mark.parametrize("is_shown", [True, False])
def test_no_progress_in_a_pipe(capsys: pytest.CaptureFixture[str], is_shown: bool) -> None:
    """In a pipe, or where it is not wanted, nothing is drawn."""
    with progress("files", is_shown=is_shown) as draw:
        assert draw is None

    assert ("", "") == capsys.readouterr()
