"""A mistake on a command line is one sentence that names the right word."""

from __future__ import annotations

import pytest

from upbeat.adapters.system.option_parser import OptionParser


def parser() -> OptionParser:
    made = OptionParser(prog="p", description="One.\n\nTwo.")
    made.add_argument("--quiet", action="store_true")
    made.add_argument("--level", choices=("low", "high"))
    commands = made.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("show").add_argument("--all", action="store_true")
    return made


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--qiet", "p: no option '--qiet'; did you mean '--quiet'? (options: --help, --level, --quiet)"),
        ("--qu", "p: no option '--qu'; did you mean '--quiet'? (options: --help, --level, --quiet)"),
        ("--level hgih", "p: --level takes no 'hgih'; did you mean 'high'? (choices: low, high)"),
        ("shwo", "p: command takes no 'shwo'; did you mean 'show'? (choices: show)"),
        ("show --al", "p show: no option '--al'; did you mean '--all'? (options: --all, --help)"),
        ("show this", "p show: unexpected argument 'this'"),
        ("show -x=1", "p show: no option '-x' (options: --all, --help)"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], line: str, message: str) -> None:
    """The sentence is that of the parser which knows the options; then comes its usage, and the exit code is 2."""
    with pytest.raises(SystemExit) as raised:
        parser().parse_args(line.split())
    said = capsys.readouterr()

    assert (2, "") == (raised.value.code, said.out)
    first, second, *_ = said.err.split("\n")
    assert message == first
    assert second.startswith(f"usage: {message.partition(':')[0]} ")


def test_paragraphs_stay_apart() -> None:
    """The help fills the paragraphs of a description one by one."""
    assert "\nOne.\n\nTwo.\n" in parser().format_help()
