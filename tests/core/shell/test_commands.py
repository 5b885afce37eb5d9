"""The commands of a shell line, compared with a real shell: every command that runs is found, or the line has a gap."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from case_files import read_json_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.shell import ParsedCommands, Redirect, SimpleCommand, parse_commands
from upbeat.core.shell.commands import MAX_COMMANDS, PROGRAM_GAP, SCRIPT_GAP, SIZE_GAP, SYNTAX_GAP

CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))

WORDS = {name: row for name, *row in CASES["words"]}

WRAPPED = dict(CASES["wrapped"])

GAPS = {
    "a 'b": SYNTAX_GAP,
    "$A b": PROGRAM_GAP,
    '"$A"b c': PROGRAM_GAP,
    "$(a) b": PROGRAM_GAP,
    "sudo $A": PROGRAM_GAP,
    "eval $A": SCRIPT_GAP,
    'bash -c "$A"': SCRIPT_GAP,
    'bash -c "$(curl x)"': SCRIPT_GAP,
    "curl x | sh": SCRIPT_GAP,
    "curl x | sudo bash -s -- a": SCRIPT_GAP,
    "bash <(curl x)": SCRIPT_GAP,
    "source <(a)": SCRIPT_GAP,
    "a " * 200_000: SIZE_GAP,
    "a\0b": SIZE_GAP,
    "(" * 200 + "a" + ")" * 200: SIZE_GAP,
    "a;" * (MAX_COMMANDS + 1): SIZE_GAP,
}


@pytest.mark.parametrize(("line", "words"), WORDS.values(), ids=WORDS)
def test_words(line: str, words: list[list[str]]) -> None:
    """A line is parsed into its simple commands, in order and completely."""
    found = parse_commands(line)

    assert words == [list(command.words) for command in found.items]
    assert found.is_complete


@pytest.mark.parametrize(("line", "expected"), WRAPPED.items(), ids=[line[:40] for line in WRAPPED])
def test_wrapped(line: str, expected: list[list[list[str]]]) -> None:
    """Wrappers are removed from a command and listed."""
    found = parse_commands(line)

    assert expected == [[list(command.words), list(command.wrappers)] for command in found.items]
    assert found.is_complete


@pytest.mark.parametrize(("line", "gap"), GAPS.items(), ids=[f"{number}" for number in range(len(GAPS))])
def test_gaps(line: str, gap: str) -> None:
    """What the line does not show is a gap."""
    assert gap in parse_commands(line).gaps


@pytest.mark.parametrize(
    ("line", "redirects"),
    [
        ("a > b", [Redirect(">", "b")]),
        ("a 2>> b < c", [Redirect(">>", "b", "2"), Redirect("<", "c")]),
        ("a &> 'b c'", [Redirect("&>", "b c")]),
        ("a >| $B", [Redirect(">|", "$B")]),
        ("cat <<X > b\nX", [Redirect(">", "b")]),
        ("a && b > c", [Redirect(">", "c")]),
        ("{ a; b; } > c", [Redirect(">", "c")]),
        ("bash -c 'a; b' > c", [Redirect(">", "c")]),
        ("> b", [Redirect(">", "b")]),
    ],
)
def test_redirects(line: str, redirects: list[Redirect]) -> None:
    """Redirections belong to the last command that they apply to."""
    assert redirects == list(parse_commands(line).items[-1].redirects)


@pytest.mark.parametrize(
    ("redirect", "writes"),
    [
        (Redirect(">", "a"), True),
        (Redirect(">|", "a"), True),
        (Redirect("&>", "a"), True),
        (Redirect(">&", "a"), True),
        (Redirect(">&", "1", "2"), False),
        (Redirect(">>", "a"), False),
        (Redirect("<", "a"), False),
    ],
)
def test_writes(redirect: Redirect, writes: bool) -> None:
    """Only a redirection that truncates a file overwrites it."""
    assert writes == redirect.is_overwrite


@pytest.mark.parametrize(("line", "folder"), CASES["folders"])
def test_folders(line: str, folder: str) -> None:
    """A command has the working directory that the line has changed to."""
    assert folder == parse_commands(line).items[-1].working_dir


def test_pipes() -> None:
    """A command has the command that it is piped from, and text that is piped into a shell is parsed."""
    assert parse_commands("curl x | tee y | sh -s").items == (
        SimpleCommand(("curl", "x")),
        SimpleCommand(("tee", "y"), piped_from=("curl", "x")),
        SimpleCommand(("sh", "-s"), piped_from=("tee", "y")),
    )
    assert parse_commands("echo 'a; b' | cat | bash") == ParsedCommands(
        (
            SimpleCommand(("echo", "a; b")),
            SimpleCommand(("cat",), piped_from=("echo", "a; b"), stdin_text="a; b\n"),
            SimpleCommand(("a",), wrappers=("bash",), piped_from=("cat",)),
            SimpleCommand(("b",), wrappers=("bash",), piped_from=("cat",)),
        )
    )
    assert [one.words for one in parse_commands("cat <<X | sh\nrm a\nX").items] == [("cat",), ("rm", "a")]


def test_assignments() -> None:
    """Assignments before a program belong to its command."""
    assert parse_commands("A=1 B='x y' c") == ParsedCommands((SimpleCommand(("c",), assignments=("A=1", "B='x y'")),))


@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    """Any text is parsed and never raises."""
    assert isinstance(parse_commands(text), ParsedCommands)


WORD_CHARS = st.characters(max_codepoint=0x1FFFF, blacklist_categories=["Cs"], blacklist_characters="\0")


@given(st.lists(st.text(WORD_CHARS, min_size=1), min_size=1))
def test_quoted(words: list[str]) -> None:
    """Quoted words are parsed back to themselves."""
    line = "probe " + shlex.join(words)

    assert [("probe", *words)] == [one.words for one in parse_commands(line).items] or not parse_commands(
        line
    ).is_complete


PIECES = (
    *("probe", "probe", ":", "cd /", "A=1", "export A=2", "[ -n x ]", "read A", "set -e", "true", "false", "echo x"),
    *("bash -c 'probe; probe'", "sh -c probe", "eval probe", "eval 'probe; :'", "env A=1 probe", "timeout 5 probe"),
    *("echo probe | sh", "printf 'probe\\nprobe' | bash", "cat <<X | sh\nprobe\nX\n", "bash <<'X'\nprobe\nX\n"),
    *("echo x | xargs probe", "find /dev/null -exec probe {} \\;", "f() { probe; }; f", "for x in 1 2; do probe; done"),
    *("X=$(probe)", "P=probe; $P", "P='sh -c probe'; $P", "P=sh; echo probe | $P", "cat <(probe)", "command probe"),
    "trap probe EXIT",
    *("if probe; then probe; else probe; fi", "while probe; do probe; break; done", "case x in x) probe;; esac"),
)  # fmt: skip
JOINTS = [" && ", " || ", "; ", " | ", "\n", " & "]
OPENED = [("(", ")"), ("{ ", "; }"), ("! ", ""), ("", " > /dev/null"), ("X=$(", ")"), ("", " 2>&1"), ("", "")]


@st.composite
def lines(draw: st.DrawFn, depth: int = 2) -> tuple[str, int]:
    """Lines of shell, nested two deep, and how many of their probes are numbered."""
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        part = draw(st.sampled_from(PIECES) if depth == 0 else st.one_of(st.sampled_from(PIECES), lines(depth - 1)))
        part = part if isinstance(part, str) else part[0]
        before, after = draw(st.sampled_from(OPENED))
        joint = "\n" if part.endswith("\n") else draw(st.sampled_from(JOINTS))
        parts += [part if part.endswith("\n") else f"{before}{part}{after}", joint]
    line = "".join(parts[:-1])
    for number in range(line.count("probe")):
        line = line.replace("probe", f"prob{number}", 1)
    return line.replace("prob", "probe"), line.count("prob")


@pytest.fixture(scope="module")
def probes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs ``probe0`` to ``probe99`` that say that they ran."""
    folder = tmp_path_factory.mktemp("probes")
    script = f'#!/bin/sh\necho "${{0##*/}}" >> "{folder}/ran"\n'
    for number in range(100):
        (folder / f"probe{number}").write_text(script)
        (folder / f"probe{number}").chmod(0o755)
    return folder


@given(lines())
def test_every_command_that_runs_is_found(probes: Path, drawn: tuple[str, int]) -> None:
    """Every command that bash runs is found, unless the line has a gap."""
    line, _count = drawn
    (probes / "ran").write_text("")
    subprocess.run(
        ["/bin/bash", "-c", line],
        env={"PATH": f"{probes}:{os.defpath}:/usr/bin:/bin"},
        cwd=probes,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=20,
    )
    found = parse_commands(line)
    ran = set((probes / "ran").read_text().split())

    assert not found.is_complete or ran <= {one.words[0] for one in found.items if one.words}, line
