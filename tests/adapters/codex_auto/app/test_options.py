"""The command line: what is ours, what is Codex's, and what is refused."""

from __future__ import annotations

from io import BytesIO

import pytest
from fakes.codex.conversation import ENGLISH

from upbeat.adapters.codex.transport.exec.transport import MAX_PROMPT_CHARS
from upbeat.adapters.codex_auto.app.options import Options, parse_options, prompt_problem, read_prompt
from upbeat.core.errors import RequestError


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], Options()),
        (["fix it"], Options(prompt="fix it")),
        (["-"], Options(prompt="-")),
        (["--plan", "--new", "--once"], Options(is_plan_only=True, is_new_session=True, is_single_turn=True)),
        (
            ["--transport", "exec", "--session", "a", "--repo", "d"],
            Options(session_name="a", is_session_named=True, repo="d", transport="exec"),
        ),
        (["--transport", "app-server"], Options(transport="app-server")),
        (["--json"], Options(is_single_turn=True, is_json_output=True)),
        (["--no-loop", "x"], Options(prompt="x", is_loop_off=True)),
        (["x", "--", "-m", "y", "-c", "a=b"], Options(prompt="x", flags=("-m", "y", "-c", "a=b"))),
        (["--"], Options()),
        (["--effort", "xhigh"], Options(effort="xhigh")),
        (["--codex", "/x", "--idle-timeout", "0"], Options(codex_program="/x", idle_seconds=0)),
    ],
)
def test_words_become_options(words: list[str], options: Options) -> None:
    """Before -- stands what is ours, behind it what is Codex's."""
    assert options == parse_options(words)


@pytest.mark.parametrize(
    "words",
    [
        ["--json", "--transport", "app-server"],
        ["--json", "--plan"],
        ["--session", ""],
        ["--effort", "very high"],
        ["--effort", "x=y"],
        ["--", "word"],
        ["--", "--json"],
    ],
)
def test_what_cannot_be_done_is_refused(words: list[str]) -> None:
    """A request that cannot be carried out is told, with what to do."""
    with pytest.raises(RequestError):
        parse_options(words)


def test_help_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """--help is where a script's author looks."""
    with pytest.raises(SystemExit):
        parse_options(["--help"])
    told = " ".join(capsys.readouterr().out.split())

    assert [] == [
        code
        for code in ("0 done", "1 the turn", "2 usage", "20 conf", "127 codex", "130, 143, 129", "141 standard")
        if code not in told
    ]


# --- the prompt ---


@pytest.mark.parametrize("data", [b"", b"a\r\n", "\ufeff店\u2028\x00".encode()])
def test_bytes_are_kept(data: bytes) -> None:
    """Byte order mark, line ends and controls are the user's."""
    assert data == read_prompt(BytesIO(data), ENGLISH).encode()


def test_what_is_not_utf8_is_refused() -> None:
    """With the place of the first wrong byte."""
    with pytest.raises(RequestError, match=r"byte 3"):
        read_prompt(BytesIO(b"abc\xff"), ENGLISH)


@pytest.mark.parametrize("char", ["x", "店", "😀"])
def test_too_much_is_told_whatever_its_bytes(char: str) -> None:
    """The limit counts characters; a longer text is refused, also where it was cut inside a character."""
    fits = read_prompt(BytesIO((char * MAX_PROMPT_CHARS).encode()), ENGLISH)
    longer = read_prompt(BytesIO((char * (MAX_PROMPT_CHARS + 9)).encode()), ENGLISH)

    assert "" == prompt_problem(fits, ENGLISH)
    assert "characters" in prompt_problem(longer, ENGLISH)


@pytest.mark.parametrize("prompt", ["", " \n\t", "a\udcffb"])
def test_what_says_nothing_or_is_broken_is_refused(prompt: str) -> None:
    """An empty prompt, and an argument that was no UTF-8."""
    assert prompt_problem(prompt, ENGLISH)
