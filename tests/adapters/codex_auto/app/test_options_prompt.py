"""A prompt is read whole and left alone, or refused with a sentence."""

from __future__ import annotations

from io import BytesIO

import pytest
from fakes.codex.texts import ENGLISH

from upbeat.adapters.codex.transport.exec.transport import MAX_PROMPT_CHARS
from upbeat.adapters.codex_auto.app.options import prompt_problem, read_prompt
from upbeat.core.errors import RequestError


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
