"""The command line: options of codex-auto, flags of Codex, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from case_files import read_groups
from fakes.codex.conversation import ENGLISH

from upbeat.adapters.codex.transport.exec.transport import MAX_PROMPT_CHARS
from upbeat.adapters.codex_auto.app.options import Options, parse_options, prompt_problem, read_prompt
from upbeat.core.errors import RequestError

CASES = read_groups(Path(__file__).with_name("options_cases.tsv"))


@pytest.mark.parametrize(("words", "fields"), CASES["accepted"])
def test_arguments_become_options(words: str, fields: str) -> None:
    """Arguments before -- are codex-auto's, those after it are Codex's."""
    options = Options(**json.loads(fields))

    assert replace(options, flags=tuple(options.flags)) == parse_options(json.loads(words))


@pytest.mark.parametrize("words", [words for (words,) in CASES["refused"]])
def test_invalid_options_are_refused(words: str) -> None:
    """Options that contradict each other, or are invalid, are an error."""
    with pytest.raises(RequestError):
        parse_options(json.loads(words))


def test_help_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """--help lists the exit codes."""
    with pytest.raises(SystemExit):
        parse_options(["--help"])
    output = " ".join(capsys.readouterr().out.split())

    assert [] == [
        code
        for code in ("0 done", "1 the turn", "2 usage", "20 conf", "127 codex", "130, 143, 129", "141 standard")
        if code not in output
    ]


# --- the prompt ---


@pytest.mark.parametrize("data", [b"", b"a\r\n", "\ufeff店\u2028\x00".encode()])
def test_the_prompt_is_unchanged(data: bytes) -> None:
    """A byte order mark, line ends and control characters are part of the prompt."""
    assert data == read_prompt(BytesIO(data), ENGLISH).encode()


@pytest.mark.parametrize("char", ["x", "店", "😀"])
def test_a_prompt_that_is_too_long_is_refused(char: str) -> None:
    """The limit counts characters, also where the input was truncated inside one."""
    fits = read_prompt(BytesIO((char * MAX_PROMPT_CHARS).encode()), ENGLISH)
    longer = read_prompt(BytesIO((char * (MAX_PROMPT_CHARS + 9)).encode()), ENGLISH)

    assert "" == prompt_problem(fits, ENGLISH)
    assert "characters" in prompt_problem(longer, ENGLISH)


@pytest.mark.parametrize("prompt", ["", " \n\t", "a\udcffb"])
def test_an_empty_or_invalid_prompt_is_refused(prompt: str) -> None:
    """An empty prompt, and an argument that is not UTF-8, is refused."""
    assert prompt_problem(prompt, ENGLISH)
